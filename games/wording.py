"""Cards, plays, rule sets and results in the reader's language: plain text, no markup."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext, pgettext_lazy

from accounts.names import isolated_name

from .engine import RULE_SETS, Card, Kind, Outcome, Pair, Reason, RuleSet, Terms

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

# A card's name is a phrase for its suit with the name of its rank in it.
_SUITS = {
    0: ("♣", gettext_lazy("%(rank)s of clubs")),
    1: ("♦", gettext_lazy("%(rank)s of diamonds")),
    2: ("♥", gettext_lazy("%(rank)s of hearts")),
    3: ("♠", gettext_lazy("%(rank)s of spades")),
}
_RANKS = {
    1: ("A", pgettext_lazy("card", "ace")),
    2: ("2", pgettext_lazy("card", "two")),
    3: ("3", pgettext_lazy("card", "three")),
    4: ("4", pgettext_lazy("card", "four")),
    5: ("5", pgettext_lazy("card", "five")),
    6: ("6", pgettext_lazy("card", "six")),
    7: ("7", pgettext_lazy("card", "seven")),
    8: ("8", pgettext_lazy("card", "eight")),
    9: ("9", pgettext_lazy("card", "nine")),
    10: ("10", pgettext_lazy("card", "ten")),
    11: ("J", pgettext_lazy("card", "jack")),
    12: ("Q", pgettext_lazy("card", "queen")),
    13: ("K", pgettext_lazy("card", "king")),
}

RULE_SET_NAMES = {
    "egyptian_basra": gettext_lazy("Egyptian Basra"),
    "egyptian_basra_v2": gettext_lazy("Egyptian Basra v2"),
    "egyptian_basra_2": gettext_lazy("Egyptian Basra 2"),
    "standard": gettext_lazy("Standard"),
    "custom": gettext_lazy("Custom rules"),
}
RULE_SET_DIFFERENCES = {
    "egyptian_basra": gettext_lazy("Every basra counts 10."),
    "egyptian_basra_v2": gettext_lazy("Every card takes the komi; a jack basra counts 30."),
    "egyptian_basra_2": gettext_lazy("A jack basra and a komi basra count 30."),
    "standard": gettext_lazy("The komi is a basra on ten or less only; equal cards are carried."),
    "custom": gettext_lazy("Values set by hand."),
}

LEVEL_CHARACTERS = {
    "easy": gettext_lazy("A friendly beginner."),
    "medium": gettext_lazy("Counts the cards and punishes mistakes."),
    "hard": gettext_lazy("Thinks ahead; expect no gifts."),
}


def card_symbol(card: Card) -> str:
    """Return the short form of a card, such as "10♦"."""
    return _RANKS[card.rank][0] + _SUITS[card.suit][0]


def card_name(card: Card) -> str:
    """Return the spoken name of a card, such as "seven of diamonds – komi"."""
    name = str(_SUITS[card.suit][1]) % {"rank": _RANKS[card.rank][1]}
    if card.is_komi:
        return _("%(card)s – komi") % {"card": name}
    return name


def rank_names(cards: Iterable[Card]) -> str:
    """Return the spoken names of ranks, such as "ten"; the komi is one of its own."""
    names = (pgettext("card", "komi") if card.is_komi else _RANKS[card.rank][1] for card in cards)
    return pgettext("between cards that are spoken", ", ").join(map(str, names))


def isolated_symbol(card: Card) -> str:
    """Return ``card_symbol`` for the middle of a sentence: never turned round in Arabic text."""
    return f"\u2066{card_symbol(card)}\u2069"


def _symbols(cards: Iterable[Card]) -> str:
    return " ".join(isolated_symbol(card) for card in cards)


def _names(cards: Iterable[Card]) -> str:
    return pgettext("between cards that are spoken", ", ").join(card_name(card) for card in cards)


def capture_sentence(
    captured: tuple[Card, ...], kind: str, points: int, *, spoken: bool = False
) -> str:
    """Return what a card would take, and whether that is a basra; ``spoken`` as for a play."""
    if not captured:
        return _("Takes nothing and stays on the floor.")
    cards = _names(captured) if spoken else _symbols(captured)
    if kind == Kind.NONE:
        return _("Takes %(cards)s.") % {"cards": cards}
    return _("Takes %(cards)s – %(basra)s!") % {
        "cards": cards,
        "basra": basra_phrase(kind, points),
    }


def suggestion_sentence(card: Card, captured: tuple[Card, ...], *, spoken: bool = False) -> str:
    """Return the advice to play a card, and to take what it takes; ``spoken`` as for a play."""
    show: Callable[[Iterable[Card]], str] = _names if spoken else _symbols
    values = {"card": show([card]), "cards": show(captured)}
    if not captured:
        return _("Play %(card)s.") % values
    return _("Play %(card)s and take %(cards)s.") % values


def alternative_sentence(name: str, card: Card, captured: tuple[Card, ...]) -> str:
    """Return what another player would have played in the place of what was played."""
    values = {"name": isolated_name(name), "card": _symbols([card]), "cards": _symbols(captured)}
    if not captured:
        return _("%(name)s would have played %(card)s.") % values
    return _("%(name)s would have played %(card)s and taken %(cards)s.") % values


def basra_phrase(kind: str, points: int) -> str:
    """Return a basra's kind with its points, such as "a jack basra, 30 points"."""
    phrases = {
        Kind.BASRA: ngettext("a basra, %(points)d point", "a basra, %(points)d points", points),
        Kind.JACK: ngettext(
            "a jack basra, %(points)d point", "a jack basra, %(points)d points", points
        ),
        Kind.KOMI: ngettext(
            "a komi basra, %(points)d point", "a komi basra, %(points)d points", points
        ),
    }
    return phrases[Kind(kind)] % {"points": points}


def play_sentence(
    name: str | None,
    card: Card,
    captured: tuple[Card, ...],
    kind: str,
    points: int,
    *,
    spoken: bool = False,
) -> str:
    """Return a play in words; ``name`` is ``None`` where the reader made it.

    ``spoken`` gives the cards by name ("eight of hearts"), for a screen reader.
    """
    show: Callable[[Iterable[Card]], str] = _names if spoken else _symbols
    values = {"card": show([card]), "cards": show(captured)}
    if name is not None:
        values["name"] = isolated_name(name)
    if not captured:
        if name is None:
            return _("You played %(card)s.") % values
        return _("%(name)s played %(card)s.") % values
    if kind == Kind.NONE:
        if name is None:
            return _("You played %(card)s and took %(cards)s.") % values
        return _("%(name)s played %(card)s and took %(cards)s.") % values
    values["basra"] = basra_phrase(kind, points)
    if name is None:
        return _("You played %(card)s and took %(cards)s – %(basra)s!") % values
    return _("%(name)s played %(card)s and took %(cards)s – %(basra)s!") % values


def rule_set_name(rules: RuleSet) -> str:
    """Return the name a rule set has on pages."""
    return str(RULE_SET_NAMES[rules.name])


_VALUES: dict[str, dict[object, StrPromise]] = {
    "replaced": {
        "bottom": gettext_lazy("to the bottom of the stock"),
        "random place": gettext_lazy("to a random place in the stock"),
    },
    "komi_basra_test": {
        "any value": gettext_lazy("if one card could take the whole floor"),
        "ten or less": gettext_lazy("if the floor has no face card and adds up to ten or less"),
    },
    "komi_on_lone_jack": {
        "jack": gettext_lazy("a jack basra"),
        "none": gettext_lazy("no basra"),
    },
    "komi_alone": {
        "any card": gettext_lazy("every card"),
        "ordinary seven": gettext_lazy("only what takes a seven"),
    },
    "jack_on_lone_komi": {
        "komi": gettext_lazy("a komi basra"),
        "none": gettext_lazy("no basra"),
    },
    "komi_among_others": {
        "any card": gettext_lazy("every card"),
        "ordinary seven": gettext_lazy("only what takes a seven"),
    },
    "equal_cards": {
        "nobody": gettext_lazy("nobody"),
        "carried": gettext_lazy("carried to the next round's majority"),
    },
    "single_cards": {
        "none": gettext_lazy("none"),
        "2C": gettext_lazy("each jack 1, each ace 1, ten of diamonds 3, two of clubs 2"),
        "2S": gettext_lazy("each jack 1, each ace 1, ten of diamonds 3, two of spades 2"),
    },
    "last_card_basra": {True: gettext_lazy("yes"), False: gettext_lazy("no")},
    "left_over": {
        "last capturer": gettext_lazy("whoever captured last"),
        "nobody": gettext_lazy("nobody"),
    },
}
_VALUE_LABELS = {
    "replaced": gettext_lazy("A jack or the komi in the first floor goes"),
    "komi_basra_test": gettext_lazy("The komi played makes a basra"),
    "komi_on_lone_jack": gettext_lazy("The komi on a jack lying alone"),
    "komi_alone": gettext_lazy("The komi lying alone is taken by"),
    "jack_on_lone_komi": gettext_lazy("A jack on the komi lying alone"),
    "komi_among_others": gettext_lazy("The komi among other cards is taken by"),
    "majority": gettext_lazy("Most cards"),
    "equal_cards": gettext_lazy("Equal cards: the points go to"),
    "basra": gettext_lazy("A basra"),
    "jack_basra": gettext_lazy("A jack basra"),
    "komi_basra": gettext_lazy("A komi basra"),
    "single_cards": gettext_lazy("Points for single cards"),
    "last_card_basra": gettext_lazy("A basra on the very last card counts"),
    "left_over": gettext_lazy("Cards left on the floor go to"),
}


def value_label(key: str) -> StrPromise:
    """Return what a page calls the value of a rule set that is stored under ``key``."""
    return _VALUE_LABELS[key]


def value_choices(key: str) -> dict[object, StrPromise]:
    """Return in words what the value under ``key`` can be; nothing where it is a number."""
    return _VALUES.get(key, {})


def rule_values(rules: RuleSet) -> list[tuple[str, str]]:
    """Return every value of a rule set in words, as (label, value), in the order of the rules."""
    return [(str(label), _rule_value(rules, key)) for key, label in _VALUE_LABELS.items()]


def _rule_value(rules: RuleSet, key: str) -> str:
    value = getattr(rules, key)
    if key == "komi_basra" and not rules.makes_komi_basras:
        return "–"
    if key in _VALUES:
        return str(_VALUES[key][value])
    return "–" if value is None else str(value)


def rule_set_pages() -> list[dict[str, object]]:
    """Return the named rule sets as the rules page shows them."""
    return [
        {
            "slug": name,
            "name": rule_set_name(rules),
            "difference": rule_set_difference(rules),
            "values": rule_values(rules),
            "default_target": rules.default_target,
        }
        for name, rules in RULE_SETS.items()
    ]


def rule_set_difference(rules: RuleSet) -> str:
    """Return the one line that tells a rule set from the others."""
    return str(RULE_SET_DIFFERENCES[rules.name])


def waiting_for(name: str) -> str:
    """Return that the other player is to play."""
    return _("Waiting for %(name)s …") % {"name": isolated_name(name)}


def record_in_short(won: int, lost: int, drawn: int) -> str:
    """Return the reader's games against a player that count; empty where none does."""
    figures = {"won": won, "lost": lost, "drawn": drawn}
    if drawn:
        return _("You won %(won)d, lost %(lost)d, drew %(drawn)d.") % figures
    return _("You won %(won)d, lost %(lost)d.") % figures if won or lost else ""


def record_sentence(name: str, won: int, lost: int, drawn: int) -> str:
    """Return how many of the games against a player that count the reader has won, if any."""
    count = won + lost + drawn
    if not count:
        return ""
    values = {"won": won, "drawn": drawn, "count": count, "name": isolated_name(name)}
    if drawn:
        sentence = ngettext(
            "You have won %(won)d and drawn %(drawn)d of %(count)d game against %(name)s.",
            "You have won %(won)d and drawn %(drawn)d of %(count)d games against %(name)s.",
            count,
        )
    else:
        sentence = ngettext(
            "You have won %(won)d of %(count)d game against %(name)s.",
            "You have won %(won)d of %(count)d games against %(name)s.",
            count,
        )
    return sentence % values


def event_sentence(kind: str, name: str | None) -> str:
    """Return what happened besides the plays; ``name`` is ``None`` where the reader did it."""
    mine = {
        "cancel_offered": _("You offered to end the game uncounted."),
        "cancel_declined": _("You declined to end the game."),
        "cancel_lapsed": _("You played on, so the offer to end the game is gone."),
        "cancelled": _("You agreed to end the game uncounted."),
        "resigned": _("You resigned."),
        "aborted": _("You called the game off."),
        "same_person": _("You were both players, so the game ended uncounted."),
    }
    theirs = {
        "cancel_offered": _("%(name)s offers to end the game uncounted."),
        "cancel_declined": _("%(name)s declined to end the game."),
        "cancel_lapsed": _("%(name)s played on, so the offer to end the game is gone."),
        "cancelled": _("%(name)s agreed to end the game uncounted."),
        "resigned": _("%(name)s resigned."),
        "aborted": _("%(name)s called the game off."),
        "same_person": _("%(name)s was both players, so the game ended uncounted."),
    }
    unknown = _("Something happened that cannot be read.")
    if name is None:
        return mine.get(kind, unknown)
    return theirs.get(kind, unknown) % {"name": isolated_name(name)}


def round_over(number: int) -> str:
    """Return that a round has ended."""
    return _("Round %(number)d is over.") % {"number": number}


def rematch_sentence(name: str) -> str:
    """Return that the other player offers another game."""
    return _("%(name)s offers a rematch.") % {"name": isolated_name(name)}


def target_label(target: int | None) -> str:
    """Return what a game is played to."""
    return _("one round") if target is None else _("to %(target)d") % {"target": target}


def terms_label(terms: Terms) -> str:
    """Return the rule set and the target of a game in one phrase."""
    return _("%(rules)s, %(target)s") % {
        "rules": rule_set_name(terms.rules),
        "target": target_label(terms.target),
    }


def outcome_sentence(outcome: Outcome, *, i_won: bool | None, other: str) -> str:
    """Return how a game ended, as ``other``'s opponent reads it."""
    if i_won is None:
        reasons = {
            Reason.SCORE: _("A draw: both have the same score."),
            Reason.ROUND_LIMIT: _("A draw: no winner after the last round there can be."),
            Reason.ABORTED: _("The game was called off before it began."),
            Reason.CANCELLED: _("You both agreed to end the game; it does not count."),
        }
        return reasons.get(outcome.reason, _("The game ended without a winner."))
    if outcome.reason is Reason.RESIGNED:
        if i_won:
            return _("You win: %(name)s resigned.") % {"name": isolated_name(other)}
        return _("You resigned. %(name)s wins.") % {"name": isolated_name(other)}
    if outcome.reason is Reason.TIME:
        if i_won:
            return _("You win: %(name)s ran out of time.") % {"name": isolated_name(other)}
        return _("You ran out of time. %(name)s wins.") % {"name": isolated_name(other)}
    return _("You win!") if i_won else _("%(name)s wins.") % {"name": isolated_name(other)}


def outcome_told(outcome: Outcome, names: Pair[str]) -> str:
    """Return how a game ended, as somebody reads it who did not play."""
    winner = outcome.winner
    if winner is None:
        reasons = {
            Reason.SCORE: _("A draw: both have the same score."),
            Reason.ROUND_LIMIT: _("A draw: no winner after the last round there can be."),
            Reason.ABORTED: _("The game was called off before it began."),
            Reason.CANCELLED: _("Both agreed to end the game; it does not count."),
        }
        return reasons.get(outcome.reason, _("The game ended without a winner."))
    said = {"winner": isolated_name(names[winner]), "loser": isolated_name(names[winner.other])}
    if outcome.reason is Reason.RESIGNED:
        return _("%(winner)s wins: %(loser)s resigned.") % said
    if outcome.reason is Reason.TIME:
        return _("%(winner)s wins: %(loser)s ran out of time.") % said
    return _("%(winner)s wins.") % said


def left_over_sentence(cards: tuple[Card, ...], *, to_nobody: bool, name: str | None) -> str:
    """Return where the cards went that lay at the end of a round; ``name`` as for a play."""
    if not cards:
        return ""
    values = {"cards": _symbols(cards)}
    if to_nobody:
        return _("%(cards)s stayed on the floor and went to nobody.") % values
    if name is None:
        return _("You took last, so the cards left on the floor went to you: %(cards)s") % values
    values["name"] = isolated_name(name)
    return _("The cards left on the floor went to %(name)s: %(cards)s") % values
