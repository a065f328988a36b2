"""Hard: looks through the rest of the deal for the hands that the other player may hold.

All four cards of a hand are played before new ones come, so each deal is a short game of its own,
and what comes after it nobody can know. The search takes hands that the other may hold, weighed by
how well they explain what the other has played so far (:mod:`.belief`), looks through the deal to
its end, and takes the play that is best on average.

It must not make use of what it has supposed: whoever looks at one hand after the other finds for
each the answer that only somebody who sees it could give. So the hands are looked through
together. The other plays from each as one who counts would (:mod:`.counting`), and where they play
the same card from different hands, there is one answer to all of these.

In the last deal of a round the unseen cards *are* the other hand, and the play is exact: the best
against one who plays the best.

There is no clock in it: how long it thinks is counted in looks at what a card does, and the dice
are seeded, so that equal views, pasts and seeds give equal plays.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf
from typing import Final

from games.engine import PACK, Capture, Play, SeatView
from games.engine.rounds import HAND_SIZE

from .belief import Hand, SeenPlay, possible_hands
from .core import CARDS_MASK, Choice, choices_of, core_of
from .counting import Counting, Standing, unseen_by, without
from .prospects import MINE, THEIRS, Prospects

type Move = tuple[int, int, int, int]
"""Gain, kind of the card, floor after it, gain where it makes no basra: so that they sort."""
type Supposed = tuple[float, Hand, list[int]]
"""A hand that the other may hold now, its weight, and the cards unseen beside the hand dealt."""

EFFORT: Final = 50_000
"""How much it may look at for one play: within 100 ms of one core."""

_DRAWS: Final = 200
"""How many hands are weighed where they cannot all be."""
_FEWEST_HANDS: Final = 4
_LOOKS_A_JUDGEMENT: Final = 10
"""How many looks are set aside to judge a card in a hand; most take half of them."""
_COST_OF_A_FLOOR: Final = 8
"""How many looks it is to judge what a floor offers to whoever plays next."""
_MOST_CAPTURES: Final = 2
"""How many captures of a card are looked at further on; in the last deal it is all of them."""
_ALL: Final = 1 << 10
_MOST_CHOICES: Final = 12
"""How many choices are left where there are too many for the effort: some floors that no play
leads to give one card dozens of captures."""

_NOBODY, _ME, _OTHER = 0, 1, 2


def choose_play(
    view: SeatView, seed: int, past: Sequence[SeenPlay] = (), effort: int = EFFORT
) -> Play:
    """Return a legal play for the seat that ``view`` belongs to; it must be that seat's turn.

    ``past`` are the plays since the last deal. Equal arguments give equal plays.
    """
    if view.seat is None or view.turn is not view.seat:
        raise ValueError("a computer player plays for its seat, on its turn")
    choices = ordered_choices(view)
    best, *others = choices
    if others:
        with _garbage_left_alone():
            best = Search(view, past, effort).best(list(choices), seed)
    capture = choices[best]
    return Play(capture.card, frozenset(capture.cards))


@contextmanager
def _garbage_left_alone() -> Iterator[None]:
    """Look for no garbage meanwhile: a search makes much that is small, and nothing in cycles.

    Python would go through it all again and again, which takes as long as the search itself.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def ordered_choices(view: SeatView) -> dict[Choice, Capture]:
    """One play for each choice of a seat, the most promising first."""
    choices = choices_of(view)
    return {choice: choices[choice][0] for choice in sorted(choices, key=_gain, reverse=True)}


class _Spent(Exception):
    """The effort allowed is used up."""


class Search:
    """One search, from one view."""

    def __init__(self, view: SeatView, past: Sequence[SeenPlay], effort: int) -> None:
        seat = view.own_seat
        self.view = view
        self.past = past
        self.core = core_of(view.terms.rules)
        self.known = self.core.known
        self.effort = self.left = effort
        unseen = unseen_by(view)
        # In the order of kinds, so that equal cards lie side by side.
        self.unseen = tuple(sorted(map(self.core.kind, unseen)))
        self.unseen_counts = self.core.count(unseen)
        self.hand = tuple(sorted(map(self.core.kind, view.hand)))
        self.other_hand_size = view.hand_counts[seat.other]
        self.lead = len(view.piles[seat.other]) - len(view.piles[seat])
        self.open = len(PACK) - len(view.piles.a) - len(view.piles.b)
        self.in_last_deal = not view.stock_count
        self.captured_last = {None: _NOBODY, seat: _ME, seat.other: _OTHER}[view.last_capturer]
        self.deals = view.dealer is seat
        self.last_is_plain = self.in_last_deal and not self.core.rules.last_card_basra
        self.captures = _ALL if self.in_last_deal else _MOST_CAPTURES
        self.counting = Counting(self.core, view.carried)
        self.prospects = Prospects(self.core, view, list(self.unseen))
        self.floors_left: set[int] = set()

    @property
    def spent(self) -> int:
        """How much it has looked at so far."""
        return self.effort - self.left + self.counting.work

    def best(self, choices: Sequence[Choice], seed: int) -> Choice:
        """Return the choice that is best on average over the hands looked at."""
        if self.in_last_deal:
            hands: list[Supposed] = [(1.0, self.unseen, [])]
        else:
            hands = self.suppose(len(choices), seed)
        for looked_at in (hands,) if self.in_last_deal else (hands, hands[::8]):
            try:
                return max(choices, key=lambda choice: self.worth(choice, looked_at))
            except _Spent:
                self.left = self.effort // 4 + self.counting.work
        # There is more to choose from than in any play. The first few choices against one hand,
        # each card taking its most, are a few thousand looks whatever the floor.
        self.left, self.captures = _ALL * _ALL, 1
        return max(choices[:_MOST_CHOICES], key=lambda choice: self.worth(choice, [max(hands)]))

    def suppose(self, choices: int, seed: int) -> list[Supposed]:
        """Hands that the other may hold, as many as there is effort for."""
        mine, theirs = len(self.hand), self.other_hand_size
        each = choices * (theirs**2 + 1 + _effort(mine - 1, theirs - 1))
        hands = possible_hands(
            self.counting,
            self.view,
            self.past,
            at_most=max(_FEWEST_HANDS, self.left // (_LOOKS_A_JUDGEMENT * each)),
            draws=_DRAWS,
            seed=seed,
        )
        supposed = []
        for weight, hand in hands:
            beside = list(self.unseen_counts)
            for kind in hand:
                beside[kind] -= 1
            supposed.append((weight, hand, beside))
        return supposed

    def worth(self, choice: Choice, hands: Sequence[Supposed]) -> float:
        """What a choice is worth, summed over hands of the other."""
        kind, (floor, gain, _) = choice
        hand = without(self.hand, kind)
        if not self.in_last_deal:
            return self.against_counting(floor, gain, hand, hands)
        ((_, other, _),) = hands
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
            rest = without(hand, kind)
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
            return self.at_end(floor, gains, last)
        self.spend()
        plain_only = self.last_is_plain and not hand and len(other) == 1
        for gain, kind, after, plain in self.moves(floor, other):
            if plain_only:
                gain = plain
            rest = without(other, kind)
            captured = _OTHER if gain else last
            gain <<= THEIRS
            worth = self.mine(after, gains + gain, captured, hand, rest, low, high)
            if worth < high:
                if worth <= low:
                    return worth
                high = worth
        return high

    def against_counting(
        self, floor: int, gains: int, hand: Hand, hands: Sequence[Supposed]
    ) -> float:
        """What I can get, the other to play, from one who counts; the weighed sum over hands.

        I see what they play and not what they keep: where they play the same from different
        hands, I have one answer for all of these.
        """
        seen: dict[tuple[int, int], list[Supposed]] = {}
        mine, theirs = gains & MINE & CARDS_MASK, gains >> THEIRS & CARDS_MASK
        before = Standing(
            self.lead + theirs - mine, self.open - mine - theirs, len(PACK), on_floor=0, last=0
        )
        held = len(hand) or HAND_SIZE
        for weight, other, beside in hands:
            if not other:
                seen[floor, gains] = list(hands)
                break
            kind, (after, gain, _) = self.by_counting(floor, other, before, held, hand, beside)
            key = after, gains + (gain << THEIRS)
            seen.setdefault(key, []).append((weight, without(other, kind), beside))
        total = 0.0
        for (floor_now, gains_now), rest_of in seen.items():
            self.spend()
            if not hand:
                weight = sum(weight for weight, _, _ in rest_of)
                total += weight * self.at_end(floor_now, gains_now, _NOBODY)
            else:
                total += max(
                    self.against_counting(after, gains_now + gain, without(hand, kind), rest_of)
                    for gain, kind, after, _ in self.moves(floor_now, hand)
                )
        return total

    def by_counting(
        self, floor: int, other: Hand, before: Standing, held: int, mine: Hand, beside: list[int]
    ) -> Choice:
        """What the other plays from a hand if they count, and do not know mine."""
        known, find = self.known, self.core.outcomes
        if len(other) == 1:
            (kind,) = other
            return kind, (known[kind].get(floor) or find(floor, kind))[0]
        unseen = list(beside)
        for kind in mine:
            unseen[kind] += 1
        judge = self.counting.judge
        most, earlier = -inf, -1
        for kind in other:
            if kind == earlier:
                continue
            earlier = kind
            rest = without(other, kind)
            for outcome in (known[kind].get(floor) or find(floor, kind))[:_MOST_CAPTURES]:
                worth = judge(outcome, rest, before, held, unseen)
                if worth > most:
                    most, best = worth, (kind, outcome)
        return best

    def at_end(self, floor: int, gains: int, last: int) -> float:
        """What the end of the deal is worth."""
        if not self.in_last_deal:
            if floor not in self.floors_left:
                self.floors_left.add(floor)
                self.left -= _COST_OF_A_FLOOR
            return self.prospects.before_deal(gains, floor)
        if floor and self.core.rules.left_over == "last capturer":
            mine = last == _ME or (last == _NOBODY and self.deals)
            gain = self.core.gain_of(floor)
            gains += gain if mine else gain << THEIRS
        return self.prospects.at_last(gains)

    def spend(self) -> None:
        """Count a position; raise :class:`_Spent` where it is one too many."""
        self.left -= 1
        if self.left < self.counting.work:
            raise _Spent

    def moves(self, floor: int, hand: Hand) -> list[Move]:
        """What the cards of a hand can do, the most promising first."""
        moves: list[Move] = []
        before = -1
        for kind in hand:
            if kind == before:
                continue
            before = kind
            outcomes = self.known[kind].get(floor) or self.core.outcomes(floor, kind)
            for after, gain, plain in outcomes[: self.captures]:
                moves.append((gain, kind, after, plain))
        if len(moves) > 1:
            moves.sort(reverse=True)
        return moves


def _effort(mine: int, theirs: int) -> int:
    """About how much it is to look through the rest of a deal from one hand of the other."""
    if mine <= 0:
        return 0
    return mine * (max(theirs, 0) ** 2 + 1 + _effort(mine - 1, theirs - 1))


def _gain(choice: Choice) -> int:
    return choice[1][1]
