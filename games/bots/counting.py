"""How a player who counts judges a play: what has gone is known, and one reply is looked ahead.

Every card that is neither in the own hand, nor on the floor, nor in a pile is unseen, and equally
likely to be in the other hand. A play is judged by where the round stands once the other has made
what they can be expected to make of the floor and the own hand has answered, and by the jacks and
the komi that the own hand keeps. Everything is in points, the other's taken off.

The medium player plays by this, and the hard one takes the other for somebody who does. That one
judges thousands of plays for one of its own, so what a floor leads to is worked out once for all
the hands that it is looked at from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul
from typing import Final, NamedTuple

from games.engine import PACK, Card, SeatView

from .core import CARDS_MASK, JACK_KIND, KOMI_KIND, POINTS, Core, Outcome

# The numbers below were found by letting variants of the medium player play each other.

# How far the lead in cards strays before the round ends: by the root of so many times the cards
# that are still open.
_STRAYS: Final = 8.0
# What a jack or the komi in the hand is worth, and for each turn that it can wait.
_SWEEPER: Final = 3.0
_SWEEPER_A_TURN: Final = 2.0
# How likely a play is not to capture, and so to leave the last capture where it was.
_NO_CAPTURE: Final = 0.6
# So many plays from its end one thinks of what will be left over.
_NEAR_THE_END: Final = 8
_FAR: Final = 99


# The floor after a reply, the points that it brought, and then the lead, the open cards, those on
# the floor, and as many of these as may be left over, below zero if they go to the other.
type _Reply = tuple[int, float, int, int, int, float]


class Standing(NamedTuple):
    """Where the round stands for a player."""

    lead: int
    """Cards captured more than the other."""
    open: int
    """Cards in no pile yet."""
    plays_left: int
    """Plays of the round that are still to come."""
    on_floor: int
    last: int
    """1 if the cards left over would be the player's as it stands, else -1."""


class Counting:
    """Judges the plays of a round. Keeps what it has worked out; for one choice of a play."""

    def __init__(self, core: Core, carried: int) -> None:
        rules = core.rules
        self.core = core
        self.work = 0
        """How many times it has worked out what a card does to a floor."""
        self._stake = rules.majority + carried
        self._left_over_counts = rules.left_over == "last capturer"
        self._last_is_plain = not rules.last_card_basra
        self._majority: dict[tuple[float, float], float] = {}
        self._replies: dict[tuple[int, Standing, int, int], _Replies] = {}

    def judge(
        self,
        outcome: Outcome,
        rest: tuple[int, ...],
        before: Standing,
        held: int,
        unseen: Sequence[int],
    ) -> float:
        """What the round can be expected to be worth when a card has done this.

        ``rest`` are the kinds that stay in the hand, ``held`` is how many cards the other can
        choose from next turn, and ``unseen`` how many of each kind the player has not seen.
        """
        floor, gain, _ = outcome
        lead, still_open, plays_left, on_floor, last = before
        plays_left -= 1
        turns = len(rest)
        points = float(gain >> POINTS)
        for kind in rest:
            points += _worth_in_hand(kind, turns)
        if gain:
            cards = gain & CARDS_MASK
            lead, still_open, on_floor, last = lead + cards, still_open - cards, on_floor - cards, 1
        on_floor += 1
        share = self.left_over_share(plays_left)
        if not held:
            return points + self.majority(lead, still_open, last * on_floor * share)
        if not share:
            # Far from the end it makes no difference what lies and who captured last.
            plays_left, on_floor, last = _FAR, 0, 0
        now = Standing(lead, still_open, plays_left, on_floor, last)
        replies = self._replies.get((floor, now, turns, held))
        if replies is None:
            replies = _Replies(self, floor, now, turns, held)
            self._replies[floor, now, turns, held] = replies
        return points + replies.worth(self, rest, unseen)

    def is_plain(self, plays_left: int) -> bool:
        """Whether a play that leaves so many is the last of the round and makes no basra."""
        return not plays_left and self._last_is_plain

    def left_over_share(self, plays_left: int) -> float:
        """How much of the cards that lie on the floor one thinks of as left over."""
        near = self._left_over_counts and plays_left <= _NEAR_THE_END
        return _NO_CAPTURE**plays_left if near else 0.0

    def majority(self, lead: float, still_open: float, left_over: float) -> float:
        """What the majority is worth, by how likely it is to be won.

        ``left_over`` are the cards that may be left over, below zero if they go to the other.
        """
        if left_over:
            lead, still_open = lead + left_over, still_open - abs(left_over)
        found = self._majority.get((lead, still_open))
        if found is None:
            if still_open > 0:
                share = math.erf(lead / math.sqrt(2 * _STRAYS * still_open))
            else:
                share = float((lead > 0) - (lead < 0))
            found = self._majority[lead, still_open] = self._stake * share
        return found


class _Replies:
    """What the other can make of a floor with each kind of card, and the own hand after it."""

    def __init__(
        self, counting: Counting, floor: int, now: Standing, turns: int, held: int
    ) -> None:
        lead, still_open, plays_left, on_floor, last = now
        plays_left -= 1
        self._turns = turns
        self._held = held
        self._plays_left = plays_left
        share = counting.left_over_share(plays_left)
        is_plain = counting.is_plain(plays_left)
        majority, known, find = counting.majority, counting.core.known, counting.core.outcomes
        captures: list[tuple[int, _Reply]] = []
        lays: list[tuple[int, _Reply]] = []
        for kind in counting.core.can_come(floor):
            after, gain, plain = (known[kind].get(floor) or find(floor, kind))[0]
            if gain:
                cards = gain & CARDS_MASK
                # What they spend of a jack or the komi they have no more.
                points = _worth_in_hand(kind, held - 1) - ((plain if is_plain else gain) >> POINTS)
                lying = on_floor - cards + 1
                reply = after, points, lead - cards, still_open - cards, lying, -lying * share
                captures.append((kind, reply))
            else:
                lying = on_floor + 1
                lays.append((kind, (after, 0.0, lead, still_open, lying, last * lying * share)))
        self._kinds = [kind for kind, _ in (*captures, *lays)]
        self._replies = [reply for _, reply in (*captures, *lays)]
        self._captures = len(captures)
        self._unanswered = [
            points + majority(lead, still_open, left_over)
            for _, points, lead, still_open, _, left_over in self._replies
        ]
        self._answers: dict[int, list[float]] = {}
        counting.work += len(self._kinds)

    def worth(self, counting: Counting, rest: tuple[int, ...], unseen: Sequence[int]) -> float:
        """What can be expected of the other's reply and the answer of ``rest``."""
        worths = self._unanswered
        for own in rest:
            answers = self._answers.get(own)
            if answers is None:
                answers = self._answers[own] = self._answered_by(counting, own)
            worths = list(map(max, worths, answers))
        counts = [unseen[kind] for kind in self._kinds]
        captures = self._captures
        layable = sum(counts[captures:])
        laid = (
            sum(map(mul, worths[captures:], counts[captures:])) / layable if layable else math.inf
        )
        # They make the capture that is worst for us if they hold a card for it, else the next
        # worst, and so on; when none of those is worse for us than a card laid down, they lay one.
        hidden = sum(counts)
        expected, holds_none = 0.0, 1.0
        for worth, count in sorted(zip(worths[:captures], counts[:captures], strict=True)):
            if worth >= laid:
                break
            held_none_before = holds_none
            for _each in range(count):
                holds_none *= max(0.0, 1.0 - self._held / hidden)
                hidden -= 1
            expected += (held_none_before - holds_none) * worth
        return expected + holds_none * laid if holds_none else expected

    def _answered_by(self, counting: Counting, own: int) -> list[float]:
        """What each reply leads to if this card of the own hand answers it, where it can."""
        counting.work += len(self._replies)
        share = counting.left_over_share(self._plays_left - 1)
        is_plain = counting.is_plain(self._plays_left - 1)
        known, find, majority = counting.core.known[own], counting.core.outcomes, counting.majority
        spent = _worth_in_hand(own, self._turns - 1)
        answered = []
        for floor, points, lead, still_open, lying, _ in self._replies:
            _, gain, plain = (known.get(floor) or find(floor, own))[0]
            if gain:
                cards = gain & CARDS_MASK
                left_over = (lying - cards + 1) * share
                worth = majority(lead + cards, still_open - cards, left_over)
                answered.append(worth + points + ((plain if is_plain else gain) >> POINTS) - spent)
            else:
                answered.append(-math.inf)
        return answered


def _worth_in_hand(kind: int, turns: int) -> float:
    """What a card is worth in a hand that will be played in so many turns."""
    return _SWEEPER + _SWEEPER_A_TURN * turns if kind in (JACK_KIND, KOMI_KIND) else 0.0


def unseen_by(view: SeatView) -> list[Card]:
    """Return the cards that a seat has not seen in this round, in pack order."""
    seen = {*view.hand, *view.floor, *view.piles.a, *view.piles.b}
    return [card for card in PACK if card not in seen]


def without(hand: tuple[int, ...], kind: int) -> tuple[int, ...]:
    """Return a hand less one card of a kind that is in it."""
    at = hand.index(kind)
    return hand[:at] + hand[at + 1 :]
