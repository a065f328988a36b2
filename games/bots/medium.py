"""The medium computer player: it counts what has gone, and looks one reply ahead.

Every card that is neither in the own hand, nor on the floor, nor in a pile is unseen, and equally
likely to be in the other hand. A play is judged by where the round stands once the other has made
what they can be expected to make of the floor and the own hand has answered, and by the jacks and
the komi that the own hand keeps. Everything is in points, the other's taken off.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import dataclass, replace

from games.engine import KOMI, PACK, Capture, Card, Play, SeatView
from games.engine.cards import JACK
from games.engine.rounds import HAND_SIZE

from .core import CARDS_MASK, POINTS, Core, Outcome, core_of

# The numbers below were found by letting variants of this player play each other.

# How far the lead in cards strays before the round ends: by the root of so many times the cards
# that are still open.
_STRAYS = 8.0
# What a jack or the komi in the hand is worth, and for each turn that it can wait.
_SWEEPER = 3.0
_SWEEPER_A_TURN = 2.0
# How likely a play is not to capture, and so to leave the last capture where it was.
_NO_CAPTURE = 0.6


def choose_play(view: SeatView, seed: int) -> Play:
    """Return a legal play for the seat that ``view`` belongs to; it must be that seat's turn.

    Equal views and seeds give equal plays. The seed decides between plays that are equally good.
    """
    counting = _Counting.of(view)
    # Many captures differ in suits alone: those are one choice, judged once.
    choices: dict[tuple[int, Outcome], list[Capture]] = {}
    for options in view.options().values():
        for option in options:
            choices.setdefault(counting.choice(option), []).append(option)
    # Rounded, so that equally good is not a matter of the last digit.
    worth = {choice: round(counting.judge(*choice), 6) for choice in choices}
    most = max(worth.values())
    best = [option for choice in choices if worth[choice] == most for option in choices[choice]]
    chosen = random.Random(seed).choice(best)  # noqa: S311 - the same seed, the same play
    return Play(chosen.card, frozenset(chosen.cards))


@dataclass(frozen=True, slots=True)
class _Standing:
    """Where the round stands: points since this turn began, and how the cards are shared."""

    points: float
    lead: int
    """Cards captured more than the other."""
    open: int
    """Cards in no pile yet."""
    on_floor: int
    plays_left: int
    captured_last: bool


@dataclass(frozen=True, slots=True)
class _Counting:
    """What the player has counted before its play; cards are the kinds of the core."""

    view: SeatView
    core: Core
    floor: int
    hand: tuple[int, ...]
    now: _Standing
    sweepers: tuple[int, int]
    unseen: Counter[int]
    held: int
    """How many of the unseen cards the other can choose from next turn."""

    @classmethod
    def of(cls, view: SeatView) -> _Counting:
        if view.seat is None or view.turn is not view.seat:
            raise ValueError("a computer player plays for its seat, on its turn")
        core = core_of(view.terms.rules)
        ours, theirs = view.piles[view.seat], view.piles[view.seat.other]
        now = _Standing(
            points=0.0,
            lead=len(ours) - len(theirs),
            open=len(PACK) - len(ours) - len(theirs),
            on_floor=len(view.floor),
            plays_left=view.stock_count + sum(view.hand_counts),
            # While nobody has captured, the dealer is the one to get what is left over.
            captured_last=(view.last_capturer or view.dealer) is view.seat,
        )
        seen = {*view.hand, *view.floor, *ours, *theirs}
        return cls(
            view=view,
            core=core,
            floor=core.floor(view.floor),
            hand=tuple(core.kind(card) for card in view.hand),
            now=now,
            sweepers=(core.kind(Card(0, JACK)), core.kind(KOMI)),
            unseen=Counter(core.kind(card) for card in PACK if card not in seen),
            # When they have none left, new ones are dealt before their turn.
            held=view.hand_counts[view.seat.other] or min(HAND_SIZE, view.stock_count),
        )

    def choice(self, option: Capture) -> tuple[int, Outcome]:
        """Which kind of card does what."""
        return self.core.kind(option.card), self.core.outcome(self.floor, option)

    def judge(self, kind: int, outcome: Outcome) -> float:
        """What the round can be expected to be worth when a card of ``kind`` has done this."""
        hand = list(self.hand)
        hand.remove(kind)
        kept = sum(self._worth_in_hand(card, len(hand)) for card in hand)
        standing = self._after(self.now, outcome, ours=True)
        return kept + self._after_their_reply(standing, outcome[0], hand)

    def _after_their_reply(self, standing: _Standing, floor: int, hand: list[int]) -> float:
        if not self.held:
            return self._worth(standing)
        captures, laid, layable = [], 0.0, 0
        for kind, count in self.unseen.items():
            reply = self.core.outcomes(floor, kind)[0]
            after = self._after(standing, reply, ours=False)
            worth = self._after_our_answer(after, reply[0], hand)
            if reply[1]:
                captures.append((worth + self._worth_in_hand(kind, self.held - 1), count))
            else:
                laid += worth * count
                layable += count
        laid = laid / layable if layable else math.inf
        # They make the capture that is worst for us if they hold a card for it, else the next
        # worst, and so on; when none of those is worse for us than a card laid down, they lay one.
        expected, holds_none, hidden = 0.0, 1.0, self.unseen.total()
        for worth, count in sorted(captures):
            if worth >= laid:
                break
            held_none_before = holds_none
            for _each in range(count):
                holds_none *= max(0.0, 1.0 - self.held / hidden)
                hidden -= 1
            expected += (held_none_before - holds_none) * worth
        return expected + holds_none * laid if holds_none else expected

    def _after_our_answer(self, standing: _Standing, floor: int, hand: list[int]) -> float:
        """What the round is worth after the best capture of ``hand``, or none."""
        best = self._worth(standing)
        for kind in hand:
            answer = self.core.outcomes(floor, kind)[0]
            if answer[1]:
                worth = self._worth(self._after(standing, answer, ours=True))
                best = max(best, worth - self._worth_in_hand(kind, len(hand) - 1))
        return best

    def _after(self, before: _Standing, outcome: Outcome, *, ours: bool) -> _Standing:
        """Where the round stands after a play, ours or theirs."""
        plays_left = before.plays_left - 1
        _floor, gain, without_basra = outcome
        if not gain:
            return replace(before, plays_left=plays_left, on_floor=before.on_floor + 1)
        if not plays_left and not self.view.terms.rules.last_card_basra:
            gain = without_basra
        points, cards, sign = gain >> POINTS, gain & CARDS_MASK, 1 if ours else -1
        return _Standing(
            points=before.points + sign * points,
            lead=before.lead + sign * cards,
            open=before.open - cards,
            on_floor=before.on_floor - (cards - 1),
            plays_left=plays_left,
            captured_last=ours,
        )

    def _worth(self, standing: _Standing) -> float:
        """The points made, and the majority by how likely it is."""
        rules = self.view.terms.rules
        stake = rules.majority + self.view.carried
        lead, still_open = float(standing.lead), float(standing.open)
        if rules.left_over == "last capturer":
            left_over = standing.on_floor * _NO_CAPTURE**standing.plays_left
            lead += left_over if standing.captured_last else -left_over
            still_open -= left_over
        if not standing.plays_left or still_open <= 0.0:
            return standing.points + stake * ((lead > 0) - (lead < 0))
        return standing.points + stake * math.erf(lead / math.sqrt(2 * _STRAYS * still_open))

    def _worth_in_hand(self, kind: int, turns: int) -> float:
        """What a card is worth in a hand that will be played in so many turns."""
        return _SWEEPER + _SWEEPER_A_TURN * turns if kind in self.sweepers else 0.0
