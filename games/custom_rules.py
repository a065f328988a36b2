"""Custom rule sets: the form in which a player sets every value, and what each value does.

Whatever an example says was played or counted by the engine under the values at hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from . import engine, wording
from .engine import (
    Capture,
    Card,
    GameState,
    Kind,
    Pair,
    Play,
    Played,
    RoundState,
    RuleSet,
    Seat,
    Terms,
)
from .engine.rulesets import MOST_POINTS
from .examples import Example, ExamplePlay

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

_YES_NO = {"yes": True, "no": False}
_CHOOSE = dict.fromkeys(("required", "invalid_choice"), gettext_lazy("Choose one of these."))


def _choice_field(key: str, explanation: StrPromise) -> forms.ChoiceField:
    return forms.ChoiceField(
        label=wording.value_label(key),
        help_text=explanation,
        choices=list(wording.value_choices(key).items()),
        widget=forms.RadioSelect,
        error_messages=_CHOOSE,
    )


def _yes_no_field(key: str, explanation: StrPromise) -> forms.TypedChoiceField:
    labels = wording.value_choices(key)
    return forms.TypedChoiceField(
        label=wording.value_label(key),
        help_text=explanation,
        choices=[(posted, labels[value]) for posted, value in _YES_NO.items()],
        coerce=_YES_NO.__getitem__,
        widget=forms.RadioSelect,
        error_messages=_CHOOSE,
    )


def _points_field(
    key: str, explanation: StrPromise, *, required: bool = True
) -> forms.IntegerField:
    sentence = gettext_lazy("Give a whole number from 0 to 100.")
    return forms.IntegerField(
        label=wording.value_label(key),
        help_text=explanation,
        required=required,
        min_value=0,
        max_value=MOST_POINTS,
        # Not a number input: a browser would hold the whole form back for a number that is wrong
        # in a part of the page that is folded away, and say nothing.
        widget=forms.TextInput(attrs={"inputmode": "numeric", "size": 4}),
        error_messages=dict.fromkeys(("required", "invalid", "min_value", "max_value"), sentence),
    )


class CustomRulesForm(forms.Form):
    """Every value of a rule set, to stand inside a larger form; the fields begin ``custom-``.

    ``base`` is the named rule set that the values were taken from to begin with.
    """

    prefix = "custom"
    # As for numbers: the values may be folded away.
    use_required_attribute = False

    base = forms.ChoiceField(
        label=gettext_lazy("Start from"),
        choices=[(name, wording.RULE_SET_NAMES[name]) for name in engine.RULE_SETS],
        widget=forms.HiddenInput,
        error_messages=dict.fromkeys(
            ("required", "invalid_choice"),
            gettext_lazy("Say which rule set these values start from."),
        ),
    )

    komi_basra_test = _choice_field(
        "komi_basra_test",
        gettext_lazy(
            "The komi, the seven of diamonds, always takes the whole floor; this says when that "
            "is a basra."
        ),
    )
    komi_on_lone_jack = _choice_field(
        "komi_on_lone_jack",
        gettext_lazy("What it is when the komi is played on a jack that lies alone on the floor."),
    )
    komi_alone = _choice_field(
        "komi_alone",
        gettext_lazy(
            "When the komi lies alone on the floor, either every card takes it, which is a komi "
            "basra, or only a card that could take any other seven."
        ),
    )
    jack_on_lone_komi = _choice_field(
        "jack_on_lone_komi",
        gettext_lazy("What it is when a jack takes the komi that lies alone on the floor."),
    )
    komi_among_others = _choice_field(
        "komi_among_others",
        gettext_lazy(
            "When the komi lies on the floor among other cards, either every card takes it besides "
            "what else it takes, or it is a seven like any other."
        ),
    )
    majority = _points_field(
        "majority",
        gettext_lazy("The points of the player who has more cards when the round is over."),
    )
    equal_cards = _choice_field(
        "equal_cards",
        gettext_lazy(
            "When both have 26 cards, the points for most cards are lost, or wait for whoever has "
            "most cards in a later round."
        ),
    )
    basra = _points_field(
        "basra",
        gettext_lazy("The points for taking everything that lies on the floor with one card."),
    )
    jack_basra = _points_field(
        "jack_basra", gettext_lazy("The points for taking a jack that lies alone with a jack.")
    )
    komi_basra = _points_field(
        "komi_basra",
        gettext_lazy(
            "The points for taking the komi when it lies alone on the floor; may stay empty if "
            "that never makes a komi basra."
        ),
        required=False,
    )
    single_cards = _choice_field(
        "single_cards",
        gettext_lazy("Whether some cards bring points to the player who has taken them."),
    )
    last_card_basra = _yes_no_field(
        "last_card_basra",
        gettext_lazy(
            "Whether the very last card of a round can make a basra, of whatever kind, or only "
            "take cards."
        ),
    )
    left_over = _choice_field(
        "left_over",
        gettext_lazy(
            "Who gets the cards that lie on the floor after the last play; they are never a basra."
        ),
    )
    replaced = _choice_field(
        "replaced",
        gettext_lazy(
            "No jack and no komi may lie in the first floor; another card takes its place, and "
            "this says where it goes in the stock."
        ),
    )

    @classmethod
    def of(cls, rules: RuleSet) -> CustomRulesForm:
        """Return a form that shows the values of ``rules``."""
        return cls(initial=_field_values(rules))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        counted = ("majority", "basra", "jack_basra", "komi_basra")
        if cleaned.get("single_cards") == "none" and not any(cleaned.get(key) for key in counted):
            self.add_error("majority", _("By these rules nothing counts; nobody could win."))
        possible = (
            cleaned.get("komi_alone") == "any card" or cleaned.get("jack_on_lone_komi") == "komi"
        )
        if possible and cleaned.get("komi_basra", 0) is None:
            self.add_error(
                "komi_basra",
                _("Say what a komi basra counts: by these values a card can make one."),
            )
        return cleaned

    def rules(self) -> RuleSet:
        """Return the rule set of a valid form; a named one if the values are all its own."""
        values = {key: value for key, value in self.cleaned_data.items() if value is not None}
        for name in engine.RULE_SETS:
            rules = RuleSet.from_json({**values, "base": name})
            if rules.name == name:
                return rules
        return RuleSet.from_json(values)


def _field_values(rules: RuleSet) -> dict[str, object]:
    values = asdict(rules)
    del values["name"]
    values["last_card_basra"] = "yes" if rules.last_card_basra else "no"
    return values


# Examples


def examples_of(rules: RuleSet) -> dict[str, Example]:
    """Return for every value of a rule set what it does, as the engine has it.

    Where a value is one of several, the example shows what each of them would do, the other
    values being those of ``rules``; where it is a number, what this one brings.
    """
    return {
        "komi_basra_test": _captures(rules, "komi_basra_test", "9H 5S 4C", "7D"),
        "komi_on_lone_jack": _captures(rules, "komi_on_lone_jack", "JH", "7D"),
        "komi_alone": _captures(rules, "komi_alone", "7D", "5C"),
        "jack_on_lone_komi": _captures(rules, "jack_on_lone_komi", "7D", "JS"),
        "komi_among_others": _captures(rules, "komi_among_others", "7D QS 3H", "QC"),
        "majority": Example(words=(_most_cards(rules),)),
        "equal_cards": Example(
            words=tuple(
                _of_choice(label, _equal_cards(changed))
                for label, changed in _changed(rules, "equal_cards")
            )
        ),
        "basra": _capture(rules, "10H 5S 4C AD", "10C"),
        "jack_basra": _capture(rules, "JH", "JS"),
        "komi_basra": _komi_basra(rules),
        "single_cards": _single_cards(rules),
        "last_card_basra": _last_card_basra(rules),
        "left_over": _left_over(rules),
        "replaced": _replaced(rules),
    }


def _changed(rules: RuleSet, key: str) -> Iterator[tuple[StrPromise, RuleSet]]:
    """The rules with each choice there is for ``key`` in turn, and the words for the choice."""
    for value, label in wording.value_choices(key).items():
        change: dict[str, Any] = {key: value}
        changed = replace(rules, **change)
        if changed.makes_komi_basras and changed.komi_basra is None:
            changed = replace(changed, komi_basra=changed.basra)  # it has to be given: see clean
        yield label, changed


def _of_choice(label: StrPromise, sentence: str) -> str:
    return _("“%(choice)s”: %(sentence)s") % {"choice": label, "sentence": sentence}


def _captures(rules: RuleSet, key: str, floor: str, card: str) -> Example:
    """One card on one floor, under each choice for ``key``."""
    lying = engine.parse_cards(floor)
    plays = []
    for label, changed in _changed(rules, key):
        play = _play_on(changed, lying, Card.parse(card))
        plays.append(replace(play, sentence=_of_choice(label, str(play.sentence))))
    return Example(lying, tuple(plays))


def _capture(rules: RuleSet, floor: str, card: str) -> Example:
    lying = engine.parse_cards(floor)
    return Example(lying, (_play_on(rules, lying, Card.parse(card)),))


def _play_on(rules: RuleSet, floor: tuple[Card, ...], card: Card) -> ExamplePlay:
    capture = engine.captures(rules, floor, card)[0]
    return ExamplePlay(card, capture.cards, _sentence(capture))


def _sentence(capture: Capture | Played) -> str:
    """What "you" did, whether with a card on a floor or in a game."""
    taken = capture.cards if isinstance(capture, Capture) else capture.captured
    if not taken:
        return _("You played %(card)s. It takes nothing and stays on the floor.") % {
            "card": wording.isolated_symbol(capture.card)
        }
    return wording.play_sentence(None, capture.card, taken, capture.kind, capture.points)


def _komi_basra(rules: RuleSet) -> Example:
    floor = (engine.KOMI,)
    for card in engine.PACK:
        if card != engine.KOMI and engine.captures(rules, floor, card)[0].kind is Kind.KOMI:
            return Example(floor, (_play_on(rules, floor, card),))
    return Example(words=(_("By these values no card makes a komi basra."),))


def _last_play(rules: RuleSet, floor: str, card: str, *, mine: int, carried: int = 0) -> Played:
    """The last play of a round, by a player who captured before and has ``mine`` cards."""
    lying, last = engine.parse_cards(floor), Card.parse(card)
    others = tuple(one for one in engine.PACK if one != last and one not in lying)
    table = RoundState(
        dealer=Seat.A,
        hands=Pair((last,), ()),
        floor=lying,
        stock=(),
        piles=Pair(others[:mine], others[mine:]),
        basras=Pair(engine.Basras(), engine.Basras()),
        last_capturer=Seat.A,
    )
    game = GameState(
        terms=Terms(rules, rules.default_target),
        round_number=2,
        round=table,
        totals=Pair(0, 0),
        carried=carried,
        next_dealer=Seat.B,
        outcome=None,
    )
    return engine.play(game, Seat.A, Play(last))[1]


def _result(played: Played) -> engine.RoundResult:
    if played.finished is None:
        raise AssertionError("The last play of a round counts it.")
    return played.finished


def _most_cards(rules: RuleSet) -> str:
    result = _result(_last_play(rules, "4H", "4C", mine=25))
    points = result.score.a.majority
    return ngettext(
        "You have %(mine)d cards and the other player has %(theirs)d: you get %(points)d point.",
        "You have %(mine)d cards and the other player has %(theirs)d: you get %(points)d points.",
        points,
    ) % {"mine": result.cards.a, "theirs": result.cards.b, "points": points}


def _equal_cards(rules: RuleSet) -> str:
    tie = _result(_last_play(rules, "4H", "4C", mine=24))
    if not tie.carried:
        return _("With %(cards)d cards each, nobody gets points for most cards.") % {
            "cards": tie.cards.a
        }
    following = _result(_last_play(rules, "4H", "4C", mine=25, carried=tie.carried)).score.a
    points = following.majority + following.carried_won
    return ngettext(
        "With %(cards)d cards each, nobody gets points yet; most cards in the next round then "
        "bring %(points)d point.",
        "With %(cards)d cards each, nobody gets points yet; most cards in the next round then "
        "bring %(points)d points.",
        points,
    ) % {"cards": tie.cards.a, "points": points}


def _single_cards(rules: RuleSet) -> Example:
    pile = engine.parse_cards("JS AH 10D 2C 2S")
    words = [_("You have taken %(cards)s.") % {"cards": _symbols(pile)}]
    for label, changed in _changed(rules, "single_cards"):
        counted = engine.single_cards(changed, pile)
        words.append(_of_choice(label, _counted(counted)))
    return Example(words=tuple(words))


def _counted(counted: tuple[tuple[Card, int], ...]) -> str:
    if not counted:
        return _("No card counts by itself.")
    points = sum(worth for _card, worth in counted)
    return ngettext(
        "%(cards)s count %(points)d point together.",
        "%(cards)s count %(points)d points together.",
        points,
    ) % {"cards": _symbols(tuple(card for card, _worth in counted)), "points": points}


def _last_card_basra(rules: RuleSet) -> Example:
    floor, plays = "5D 4H", []
    for label, changed in _changed(rules, "last_card_basra"):
        played = _last_play(changed, floor, "9C", mine=25)
        sentence = _("The last card of the round: %(sentence)s") % {"sentence": _sentence(played)}
        plays.append(ExamplePlay(played.card, played.captured, _of_choice(label, sentence)))
    return Example(engine.parse_cards(floor), tuple(plays))


def _left_over(rules: RuleSet) -> Example:
    floor, plays = "KC 2S 9H", []
    for label, changed in _changed(rules, "left_over"):
        played = _last_play(changed, floor, "4D", mine=25)
        result = _result(played)
        if result.left_over_to is Seat.A:
            sentence = _(
                "After your %(card)s, the last card of the round, you get %(cards)s, since you "
                "took last."
            )
        else:
            sentence = _("After your %(card)s, the last card of the round, nobody gets %(cards)s.")
        sentence %= {
            "card": wording.isolated_symbol(played.card),
            "cards": _symbols(result.left_over),
        }
        plays.append(ExamplePlay(played.card, played.captured, _of_choice(label, sentence)))
    return Example(engine.parse_cards(floor), tuple(plays))


# Of the deals with secrets this plain, one that turns up a single jack among the floor cards.
_SECRET = bytes([66]) * 32


def _replaced(rules: RuleSet) -> Example:
    words: list[str] = []
    for label, changed in _changed(rules, "replaced"):
        deal = engine.deal_round(
            secret=_SECRET,
            game_id=UUID(int=0),
            round_number=1,
            words_sha256=engine.words_digest(""),
            replaced=changed.replaced,
        )
        turned_up = deal.deck[8:12]
        ((gone, instead),) = [
            pair for pair in zip(turned_up, deal.floor, strict=True) if pair[0] != pair[1]
        ]
        if not words:
            sentence = _("%(cards)s are turned up; %(instead)s takes the place of %(gone)s.")
            words.append(
                sentence
                % {
                    "cards": _symbols(turned_up),
                    "instead": wording.isolated_symbol(instead),
                    "gone": wording.isolated_symbol(gone),
                }
            )
        sentence = _("%(gone)s is now card %(place)d of the %(count)d in the stock.") % {
            "gone": wording.isolated_symbol(gone),
            "place": deal.stock.index(gone) + 1,
            "count": len(deal.stock),
        }
        words.append(_of_choice(label, sentence))
    return Example(words=tuple(words))


def _symbols(cards: tuple[Card, ...]) -> str:
    return " ".join(wording.isolated_symbol(card) for card in cards)
