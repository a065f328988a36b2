"""What the other may hold: every hand, weighed by how well it explains what they have played.

Who lays a queen where another card of their hand would have taken four does not hold that other
card. So each card that the other has played in this deal is looked at from behind each hand that
they may have had, and a hand from which a player who counts (:mod:`.counting`) would have played
it weighs more than one from which they would not.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from math import comb
from typing import Final, NamedTuple

from games.engine import PACK, Card, Played, Seat, SeatView, captures

from .core import Outcome
from .counting import Counting, Standing, unseen_by, without

type Hand = tuple[int, ...]

# How many points apart two plays must be before a player who counts tells them well apart, and how
# often somebody plays what no counting explains.
_CARELESS_BY: Final = 0.7
_UNEXPLAINED: Final = 0.04
# From here on a play is as good as never made; it keeps the exponential within bounds.
_FAR_BETTER: Final = 50.0


class SeenPlay(NamedTuple):
    """A play that both have seen: who played which card, and what it took."""

    seat: Seat
    card: Card
    captured: tuple[Card, ...]


def seen_after(past: Sequence[SeenPlay], played: Played) -> list[SeenPlay]:
    """Return the plays since the last deal when ``played`` has come after ``past``."""
    if played.deals_next:
        return []
    return [*past, SeenPlay(played.seat, played.card, played.captured)]


class _Observed(NamedTuple):
    """A play of the other, and the table before it as they saw it, their hand apart."""

    kind: int
    outcome: Outcome
    floor: int
    before: Standing
    held: int
    not_public: list[int]
    """How many of each kind were in no pile and not on the floor."""


def possible_hands(
    counting: Counting,
    view: SeatView,
    past: Sequence[SeenPlay],
    *,
    at_most: int,
    draws: int,
    seed: int,
) -> list[tuple[float, Hand]]:
    """Return at most so many hands of the other, kinds in order, each with its weight.

    ``past`` are the plays since the cards were dealt that are in the hands now. Where there are too
    many hands to look at, ``draws`` of them are drawn.
    """
    chance = random.Random(seed)  # noqa: S311 - the same seed, the same play
    observed = list(_observed(counting, view, past))
    hands = [
        (times * _explains(counting, hand, observed), hand)
        for hand, times in _dealt(counting, view, draws, chance)
    ]
    return hands if len(hands) <= at_most else _drawn(hands, at_most, chance)


def _dealt(
    counting: Counting, view: SeatView, draws: int, chance: random.Random
) -> Iterator[tuple[Hand, int]]:
    """Hands by what was dealt alone, and how many ways there are to each."""
    size = view.hand_counts[view.own_seat.other]
    kinds = sorted(map(counting.core.kind, unseen_by(view)))
    unseen = Counter(kinds)
    if comb(len(unseen) + size - 1, size) > draws:
        drawn = Counter(tuple(sorted(chance.sample(kinds, size))) for _ in range(draws))
        yield from drawn.items()
        return
    for hand in combinations_with_replacement(unseen, size):
        ways = math.prod(comb(unseen[kind], count) for kind, count in Counter(hand).items())
        if ways:
            yield hand, ways


def _explains(counting: Counting, hand: Hand, observed: Sequence[_Observed]) -> float:
    """How well a hand explains the plays, of which the last comes first."""
    likely = 1.0
    had = hand
    for play in observed:
        had = tuple(sorted((*had, play.kind)))
        likely *= _UNEXPLAINED + (1.0 - _UNEXPLAINED) * _likely(counting, had, play)
    return likely


def _likely(counting: Counting, had: Hand, play: _Observed) -> float:
    """How likely one who counts plays this from such a hand."""
    unseen = list(play.not_public)
    for kind in had:
        unseen[kind] -= 1
    values = {}
    for kind in set(had):
        rest = without(had, kind)
        for outcome in counting.core.outcomes(play.floor, kind):
            values[kind, outcome] = counting.judge(outcome, rest, play.before, play.held, unseen)
    played = values[play.kind, play.outcome]
    return 1.0 / sum(
        math.exp(min(_FAR_BETTER, (value - played) / _CARELESS_BY)) for value in values.values()
    )


def _observed(counting: Counting, view: SeatView, past: Sequence[SeenPlay]) -> Iterator[_Observed]:
    """The other's plays, the last first, with what the table was like before each."""
    core = counting.core
    seat = view.own_seat
    not_public = core.count([*unseen_by(view), *view.hand])
    floor, plays_left = set(view.floor), view.stock_count + sum(view.hand_counts)
    piles = {one: len(view.piles[one]) for one in Seat}
    hands = {one: view.hand_counts[one] for one in Seat}
    for played in reversed(past):
        plays_left += 1
        hands[played.seat] += 1
        not_public[core.kind(played.card)] += 1
        if played.captured:
            floor.update(played.captured)
            piles[played.seat] -= 1 + len(played.captured)
        else:
            floor.remove(played.card)
        if played.seat is seat:
            continue
        lying = sorted(floor)
        capture = next(
            one
            for one in captures(core.rules, lying, played.card)
            if set(one.cards) == set(played.captured)
        )
        before = Standing(
            lead=piles[seat.other] - piles[seat],
            open=len(PACK) - sum(piles.values()),
            plays_left=plays_left,
            on_floor=len(lying),
            last=-1,  # which is not thought of so far from the end
        )
        yield _Observed(
            kind=core.kind(played.card),
            outcome=core.outcome(core.floor(lying), capture),
            floor=core.floor(lying),
            before=before,
            held=hands[seat],
            not_public=list(not_public),
        )


def _drawn(
    hands: Sequence[tuple[float, Hand]], number: int, chance: random.Random
) -> list[tuple[float, Hand]]:
    """So many draws, evenly spread by weight; a hand drawn twice weighs twice."""
    step = math.fsum(weight for weight, _ in hands) / number
    at, passed = chance.random() * step, 0.0
    drawn: list[tuple[float, Hand]] = []
    for weight, hand in hands:
        passed += weight
        times = 0
        while at < passed:
            times += 1
            at += step
        if times:
            drawn.append((float(times), hand))
    return drawn
