"""Hard: looks through the rest of the deal for hands that the other player may hold.

All four cards of a hand are played before new ones come, so each deal is a short game of its own,
and what comes after it nobody can know. The search draws hands for the other player from the cards
that its seat has not seen (all such hands where they are few), looks through the deal to its end,
and takes the play that is best on average.

It must not make use of what it has drawn: whoever looks at one hand after the other finds for each
the answer that only somebody who sees it could give. So the hands are looked through together. The
other plays from each what looks best from behind their own cards (:meth:`Search.by_habit`), and
where they play the same card from different hands, there is one answer to all of these.

In the last deal of a round the unseen cards *are* the other hand, and the play is exact: the best
against one who plays the best (:meth:`Search.mine`).

There is no clock in it: how long it thinks is counted in positions, and the dice are seeded, so
that equal views and seeds give equal plays.
"""

from __future__ import annotations

import random
from itertools import combinations
from math import comb, inf
from typing import TYPE_CHECKING, Final

from games.engine import PACK, Capture, Play, Seat, SeatView

from .core import JACK_KIND, KOMI_KIND, Outcome, core_of
from .prospects import HAND_SIZE, THEIRS, Prospects

if TYPE_CHECKING:
    from collections.abc import Sequence

    type Hand = tuple[int, ...]
    type Choice = tuple[int, Outcome]
    # Gain, kind of the card, floor after it, gain where it makes no basra: so that they sort.
    type Move = tuple[int, int, int, int]

EFFORT: Final = 24_000
"""How many positions it may look at for one play: within 100 ms of one core."""

_COST_OF_A_FLOOR: Final = 8
"""As how many positions it counts to judge what a floor offers."""
_POSITIONS_A_HAND: Final = 135
"""How many of them are set aside for each hand that the other may hold; most take fewer."""
_MOST_CAPTURES: Final = 2
"""How many captures of a card are looked at further on; in the last deal it is all of them."""
_ALL: Final = 1 << 10
_MOST_CHOICES: Final = 12
"""How many choices are left where there are too many for the effort: some floors that no play
leads to give one card dozens of captures."""

_NOBODY, _ME, _OTHER = 0, 1, 2

# What a jack or the komi still in the hand is worth in points, to one who plays by habit, and how
# much of what a floor offers they expect to lose.
_SWEEPER = 5.0
_CAUTION = 0.9


def choose_play(view: SeatView, seed: int, effort: int = EFFORT) -> Play:
    """Return a legal play for the seat that ``view`` belongs to; it must be that seat's turn.

    Equal views, seeds and efforts give equal plays.
    """
    if view.seat is None or view.turn is not view.seat:
        raise ValueError("a computer player plays for its seat, on its turn")
    choices = choices_of(view)
    best, *others = choices
    if others:
        best = Search(view, effort).best(list(choices), seed)
    capture = choices[best]
    return Play(capture.card, frozenset(capture.cards))


def choices_of(view: SeatView) -> dict[Choice, Capture]:
    """All plays that differ in more than suits, the most promising first."""
    core = core_of(view.terms.rules)
    floor = core.floor(view.floor)
    choices: dict[Choice, Capture] = {}
    for card, options in view.options().items():
        for capture in options:
            choices.setdefault((core.kind(card), core.outcome(floor, capture)), capture)
    return {choice: choices[choice] for choice in sorted(choices, key=_gain, reverse=True)}


class _Spent(Exception):
    """The effort allowed is used up."""


class Search:
    """One search, from one view."""

    def __init__(self, view: SeatView, effort: int) -> None:
        seat = view.seat or Seat.A
        self.core = core_of(view.terms.rules)
        self.known = self.core.known
        self.effort = self.left = effort
        seen = {*view.hand, *view.floor, *view.piles.a, *view.piles.b}
        self.unseen = [self.core.kind(card) for card in PACK if card not in seen]
        # In the order of kinds, so that equal cards lie side by side.
        self.unseen.sort()
        self.hand = tuple(sorted(self.core.kind(card) for card in view.hand))
        self.other_hand_size = view.hand_counts[seat.other]
        self.in_last_deal = not view.stock_count
        self.captured_last = {None: _NOBODY, seat: _ME, seat.other: _OTHER}[view.last_capturer]
        self.deals = view.dealer is seat
        self.last_is_plain = self.in_last_deal and not self.core.rules.last_card_basra
        self.captures = _ALL if self.in_last_deal else _MOST_CAPTURES
        self.prospects = Prospects(self.core, view, self.unseen)
        self.habits: dict[int, dict[int, tuple[float, int, Outcome]]] = {}
        self.offers: dict[tuple[int, int], float] = {}

    def best(self, choices: Sequence[Choice], seed: int) -> Choice:
        """Return the choice that is best on average over the hands looked at."""
        hands = self.hands(seed)
        for looked_at in (hands, hands[: 1 + len(hands) // 8]):
            try:
                return max(choices, key=lambda choice: self.worth(choice, looked_at))
            except _Spent:
                self.left = self.effort // 4
        # There is more to choose from than in any play. The first few choices against one hand,
        # each card taking its most, are a few thousand positions whatever the floor.
        self.left, self.captures = _ALL * _ALL, 1
        return max(choices[:_MOST_CHOICES], key=lambda choice: self.worth(choice, hands[:1]))

    def hands(self, seed: int) -> list[Hand]:
        """Hands that the other may hold: every one if they are few, else a sample."""
        size = self.other_hand_size
        enough = max(1, self.left // _POSITIONS_A_HAND)
        if comb(len(self.unseen), size) <= enough:
            return list(combinations(self.unseen, size))
        chance = random.Random(seed)  # noqa: S311 - the same seed, the same play
        return [tuple(chance.sample(self.unseen, size)) for _ in range(enough)]

    def worth(self, choice: Choice, hands: Sequence[Hand]) -> float:
        """What a choice is worth, summed over hands of the other."""
        kind, (floor, gain, plain) = choice
        hand = _without(self.hand, kind)
        if not self.in_last_deal:
            return self.by_habit(floor, gain, hand, hands)
        (other,) = hands
        if self.last_is_plain and not hand and not other:
            gain = plain
        last = _ME if gain else self.captured_last
        return self.theirs(floor, gain, last, hand, other, -inf, inf)

    def mine(
        self, floor: int, gains: int, last: int, hand: Hand, other: Hand, low: float, high: float
    ) -> float:
        """The most that I can get, to play, from one who sees my cards as I see theirs.

        ``low`` is what I am sure of elsewhere, and ``high`` what the other would not let me
        reach: what lies outside of the two need not be told exactly.
        """
        if not hand:
            return self.at_end(floor, gains, last)
        self.spend()
        plain_only = self.last_is_plain and not other and len(hand) == 1
        for gain, kind, after, plain in self.moves(floor, hand):
            if plain_only:
                gain = plain
            rest = _without(hand, kind)
            captured = _ME if gain else last
            worth = self.theirs(after, gains + gain, captured, rest, other, low, high)
            if worth > low:
                if worth >= high:
                    return worth
                low = worth
        return low

    def theirs(
        self, floor: int, gains: int, last: int, hand: Hand, other: Hand, low: float, high: float
    ) -> float:
        """The least that the other can leave me, to play, seeing my cards."""
        if not other:
            # Who leads has no card left when the one who follows has one.
            return self.mine(floor, gains, last, hand, other, low, high)
        self.spend()
        plain_only = self.last_is_plain and not hand and len(other) == 1
        for gain, kind, after, plain in self.moves(floor, other):
            if plain_only:
                gain = plain
            rest = _without(other, kind)
            captured = _OTHER if gain else last
            gain <<= THEIRS
            worth = self.mine(after, gains + gain, captured, hand, rest, low, high)
            if worth < high:
                if worth <= low:
                    return worth
                high = worth
        return high

    def by_habit(self, floor: int, gains: int, hand: Hand, others: Sequence[Hand]) -> float:
        """What I can get, the other to play, from one who plays by habit; the sum over hands.

        I see what they play and not what they keep: where they play the same from different
        hands, I have one answer for all of these.
        """
        looks = self.habits.setdefault(floor, {})
        seen: dict[tuple[int, int], list[Hand]] = {}
        for other in others:
            if other:
                try:
                    _, kind, (after, gain, _) = max([looks[kind] for kind in other])
                except KeyError:
                    looks.update({kind: self.habit(floor, kind) for kind in other})
                    _, kind, (after, gain, _) = max([looks[kind] for kind in other])
                rest = _without(other, kind)
                seen.setdefault((after, gains + (gain << THEIRS)), []).append(rest)
            else:
                seen.setdefault((floor, gains), []).append(other)
        total = 0.0
        for (floor_now, gains_now), rest_of in seen.items():
            self.spend()
            if not hand:
                total += len(rest_of) * self.at_end(floor_now, gains_now, _NOBODY)
            else:
                total += max(
                    self.by_habit(after, gains_now + gain, _without(hand, kind), rest_of)
                    for gain, kind, after, _ in self.moves(floor_now, hand)
                )
        return total

    def habit(self, floor: int, kind: int) -> tuple[float, int, Outcome]:
        """What a card does for one who plays by habit, and how good that looks.

        They look at what it brings and at what the floor it leaves may offer.
        """
        looks = [
            (
                self.prospects.points_of(gain) - _CAUTION * self.offer(after, self.other_hand_size),
                (after, gain, plain),
            )
            for after, gain, plain in self.core.outcomes(floor, kind)
        ]
        good, outcome = max(looks)
        return good - (_SWEEPER if kind in (JACK_KIND, KOMI_KIND) else 0.0), kind, outcome

    def offer(self, floor: int, cards: int) -> float:
        """What a floor offers to so many of the cards that I do not see.

        That looks at every kind of card, so it counts as several positions.
        """
        found = self.offers.get((floor, cards))
        if found is None:
            self.left -= _COST_OF_A_FLOOR
            found = self.offers[floor, cards] = self.prospects.offer(floor, cards)
        return found

    def at_end(self, floor: int, gains: int, last: int) -> float:
        """What the end of the deal is worth."""
        if not self.in_last_deal:
            offered = self.offer(floor, HAND_SIZE) if floor else 0.0
            return self.prospects.before_deal(gains, offered)
        if floor and self.core.rules.left_over != "nobody":
            mine = last == _ME or (last == _NOBODY and self.deals)
            gain = self.core.gain_of(floor)
            gains += gain if mine else gain << THEIRS
        return self.prospects.at_last(gains)

    def spend(self) -> None:
        """Count a position; raise :class:`_Spent` where it is one too many."""
        self.left -= 1
        if self.left < 0:
            raise _Spent

    def moves(self, floor: int, hand: Hand) -> list[Move]:
        """What the cards of a hand can do, the most promising first."""
        moves: list[Move] = []
        before = -1
        for kind in hand:
            if kind == before:
                continue
            before = kind
            try:
                outcomes = self.known[kind][floor]
            except KeyError:
                outcomes = self.core.outcomes(floor, kind)
            for after, gain, plain in outcomes[: self.captures]:
                moves.append((gain, kind, after, plain))
        if len(moves) > 1:
            moves.sort(reverse=True)
        return moves


def _gain(choice: Choice) -> int:
    return choice[1][1]


def _without(hand: Hand, kind: int) -> Hand:
    at = hand.index(kind)
    return hand[:at] + hand[at + 1 :]
