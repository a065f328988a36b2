"""The rules for a computer player that thinks ahead: what a card does, as a few whole numbers.

The engine answers with cards, captures and a new state. A search asks for the same few things
many thousand times a second, so here a floor is one integer and a play is one look into a dict.
What a floor and a card do that have not met yet is worked out once and remembered. Which numerals
add up is the engine's own search, and all that is not plain (the komi's basras, jacks on jacks,
cards with points of their own) is asked of the engine as a whole. So there is little here to get
wrong, and that little is held equal to the engine by test.

Only what can make a difference is told apart. Suits never do but for the komi, and for the
ten of diamonds and one two where the rules give them points; so cards come in sixteen *kinds*, and
a floor counts how many of each lie there, four bits a kind. Floors that differ in other suits are
the same floor, which makes what is remembered small and often met again.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from games.engine import KOMI, PACK, Capture, Card, RuleSet, SeatView, captures, single_cards
from games.engine.captures import maximal_groups

KINDS: Final = 16
"""Thirteen ranks, and the komi, the ten of diamonds and the two that counts by themselves."""
JACK_KIND: Final = 10
KOMI_KIND: Final = 13
_ACE, _TEN, _TWO = 0, 14, 15
_JACKS = 0b1111 << 4 * JACK_KIND
_SEVEN, _SEVENS, _KOMI = 1 << 4 * 6, 0b1111 << 4 * 6, 1 << 4 * KOMI_KIND
# A floor below this has only cards that are their rank and no more.
_PLAIN = 1 << 4 * KOMI_KIND

POINTS: Final = 6
"""A gain is ``points << POINTS | cards``; 52 cards fit below."""
CARDS_MASK: Final = (1 << POINTS) - 1

type Outcome = tuple[int, int, int]
"""The floor after a play, what was gained, and what was gained where it makes no basra.

A gain of 0 is a card that took nothing. Points are those of a basra and of single cards.
"""

type Choice = tuple[int, Outcome]
"""A kind of card, and what it does."""

# An entry takes some 250 bytes, so this is up to 32 MB a rule set.
_REMEMBERED = 1 << 17
_RULE_SETS_REMEMBERED = 4


class Core:
    """What each card does to each floor by one rule set; get it from :func:`core_of`."""

    def __init__(self, rules: RuleSet) -> None:
        self.rules = rules
        self._basra = rules.basra << POINTS
        self._ace = 0 if rules.single_cards == "none" else 1
        self._komi_is_a_seven = rules.komi_among_others == "ordinary seven"
        self._kinds = {card: _kind_of(rules, card) for card in PACK}
        self._cards_of_kind = [
            [card for card in PACK if self._kinds[card] == kind] for kind in range(KINDS)
        ]
        self._in_pack = [
            (kind, len(cards)) for kind, cards in enumerate(self._cards_of_kind) if cards
        ]
        self.known: list[dict[int, tuple[Outcome, ...]]] = [{} for _ in range(KINDS)]
        """For each kind, by floor, what :meth:`outcomes` has found so far; for quick reading."""

    def kind(self, card: Card) -> int:
        """Which of the kinds a card is."""
        return self._kinds[card]

    def floor(self, cards: tuple[Card, ...] | list[Card]) -> int:
        """The number that stands for a floor."""
        return sum(1 << 4 * self._kinds[card] for card in cards)

    def count(self, cards: Iterable[Card]) -> list[int]:
        """How many cards of each kind there are."""
        counts = [0] * KINDS
        for card in cards:
            counts[self._kinds[card]] += 1
        return counts

    def can_come(self, floor: int) -> list[int]:
        """The kinds of which not all cards lie on this floor."""
        return [kind for kind, cards in self._in_pack if floor >> 4 * kind & 0b1111 < cards]

    def outcomes(self, floor: int, kind: int) -> tuple[Outcome, ...]:
        """What a card of this kind can do: one outcome for every maximal capture that differs.

        The one that gains the most points, then the most cards, comes first.
        """
        known = self.known[kind]
        found = known.get(floor)
        if found is None:
            if len(known) >= _REMEMBERED // KINDS:
                known.clear()
            found = known[floor] = self._find(floor, kind)
        return found

    def gain_of(self, floor: int) -> int:
        """What the cards of a floor count for whoever gets them left over."""
        return self._gain(self._lying(floor), 0)

    def outcome(self, floor: int, capture: Capture) -> Outcome:
        """What a capture of the engine does to this floor."""
        card = capture.card
        if not capture.cards:
            return floor + (1 << 4 * self._kinds[card]), 0, 0
        after = floor - self.floor(capture.cards)
        cards = [card, *capture.cards]
        return after, self._gain(cards, capture.points), self._gain(cards, 0)

    def _find(self, floor: int, kind: int) -> tuple[Outcome, ...]:
        if kind >= KOMI_KIND or (kind == JACK_KIND and floor & _JACKS):
            return self._ask(floor, kind)
        if floor < _PLAIN:
            return self._plain(floor, kind)
        seven_lies = floor - _KOMI + _SEVEN
        if seven_lies < _PLAIN and self._komi_is_a_seven and kind != JACK_KIND:
            return self._with_komi(seven_lies, kind)
        return self._ask(floor, kind)

    def _with_komi(self, floor: int, kind: int) -> tuple[Outcome, ...]:
        """Outcomes where the one seven of a floor is the komi, and no more than a seven."""
        if floor & _SEVENS != _SEVEN or floor == _SEVEN:
            return self._ask(floor - _SEVEN + _KOMI, kind)
        return tuple(
            (after - _SEVEN + _KOMI if after & _SEVENS else after, gain, plain)
            for after, gain, plain in self._plain(floor, kind)
        )

    def _plain(self, floor: int, kind: int) -> tuple[Outcome, ...]:
        """Outcomes of an ordinary card where nothing but ordinary cards lies."""
        unit = 1 << 4 * kind
        own = floor & 0b1111 * unit
        vectors: tuple[int, ...] = (0,)
        if kind < JACK_KIND:
            vectors = maximal_groups(kind + 1, floor & unit - 1)
        elif kind == JACK_KIND:
            own = floor
        found = []
        for vector in vectors:
            taken = own + vector
            if not taken:
                return ((floor + unit, 0, 0),)
            after = floor - taken
            # Sixteen leaves one over fifteen, and so do its powers: what is over is the sum of the
            # counts. No more than fifteen cards can lie: ten ranks, three doubles, queen and king.
            cards = 1 + (taken % 15 or 15)
            points = self._ace * ((taken & 0b1111) + (kind in (_ACE, JACK_KIND)))
            plain = points << POINTS | cards
            basra = after == 0 and kind != JACK_KIND
            found.append((after, plain + self._basra if basra else plain, plain))
        if len(found) > 1:
            found.sort(key=_best_first)
        return tuple(found)

    def _ask(self, floor: int, kind: int) -> tuple[Outcome, ...]:
        card = self._cards_of_kind[kind][0]
        made = captures(self.rules, self._lying(floor), card)
        found = {self.outcome(floor, capture) for capture in made}
        return tuple(sorted(found, key=_best_first))

    def _lying(self, floor: int) -> list[Card]:
        return [
            card
            for kind, cards in enumerate(self._cards_of_kind)
            for card in cards[: floor >> 4 * kind & 0b1111]
        ]

    def _gain(self, cards: list[Card], points: int) -> int:
        points += sum(worth for _card, worth in single_cards(self.rules, cards))
        return points << POINTS | len(cards)


def choices_of(view: SeatView) -> dict[Choice, list[Capture]]:
    """All plays of a seat: those that differ in suits alone are one choice."""
    core = core_of(view.terms.rules)
    floor = core.floor(view.floor)
    choices: dict[Choice, list[Capture]] = {}
    for card, options in view.options().items():
        for option in options:
            choices.setdefault((core.kind(card), core.outcome(floor, option)), []).append(option)
    return choices


@lru_cache(maxsize=_RULE_SETS_REMEMBERED)
def core_of(rules: RuleSet) -> Core:
    """The core for a rule set, with all that it remembers."""
    return Core(rules)


def _best_first(outcome: Outcome) -> tuple[int, int]:
    return -outcome[1], outcome[0]


def _kind_of(rules: RuleSet, card: Card) -> int:
    if card == KOMI:
        return KOMI_KIND
    if rules.single_cards != "none":
        if card.code == "10D":
            return _TEN
        if card.code == rules.single_cards:
            return _TWO
    return card.rank - 1
