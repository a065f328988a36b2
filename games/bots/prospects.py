"""What the end of a deal is worth to a player who wants to win the game.

A round is won by points and a game by rounds, so two points now can be worth everything or
nothing. The worth of a standing is the chance to win from there, as far as a few averages tell
it, and a little for every point of the lead, so that a player goes on playing when all is decided.
In a game of one round nearly all is open until the last deal, and up to there points are counted.
"""

from __future__ import annotations

from collections import Counter
from math import erf, sqrt
from typing import Final

from games.engine import PACK, RuleSet, Seat, SeatView
from games.engine.rounds import HAND_SIZE, PLAYS_OF_A_DEAL

from .core import CARDS_MASK, POINTS, Core

THEIRS: Final = 24
"""Gains of both are one number: my own, and the other's ``<< THEIRS``."""
MINE: Final = (1 << THEIRS) - 1

# How far the lead in cards strays before the round ends: by the root of so many times the cards
# that are open. Fitted to 30,000 ends of deals in rounds of medium against itself. (Medium, which
# looks less far, plays better if it thinks that the lead strays further.)
_CARDS_AT_A_TIME = 4.0
# Measured on rounds of the medium player against itself: points of basras stray by the root of
# these shares of their squares for each deal to come, ...
_OF_BASRAS, _OF_SPECIAL_BASRAS = 0.22, 0.0125
# ... and so much does a player make in a round, and so far are the two apart after it.
_POINTS_OF_A_ROUND = 22.5
_APART_AFTER_A_ROUND = 35.0
# What one point of lead counts beside the chance to win: in a game of one round, and in one with
# rounds to come, where points are in the chance already.
_A_POINT, _A_POINT_OF_MANY = 0.004, 0.0005
# How much of what a floor offers goes to whoever plays to it first in the next deal, and what it is
# worth to them to find none; fitted to the same ends of deals.
_FIRST_TO_PLAY = 1.1
_EMPTY_FLOOR = 2.0


class Prospects:
    """What gains in the deal being played are worth to the seat that sees ``view``."""

    def __init__(self, core: Core, view: SeatView, unseen: list[int]) -> None:
        seat = view.own_seat
        rules = core.rules
        self._core = core
        self._unseen = Counter(unseen)
        self._hidden = len(unseen)
        self._target = view.terms.target
        self._majority = rules.majority + view.carried
        # Whoever has 27 cards has the majority.
        self._a_card = self._majority / 27
        self._my_total, self._their_total = view.totals[seat], view.totals[seat.other]
        self._my_cards, self._my_points = _so_far(core, view, seat)
        self._their_cards, self._their_points = _so_far(core, view, seat.other)
        self._basras_to_come = _basras_to_come(rules, view.stock_count // PLAYS_OF_A_DEAL)
        self._known: dict[int, float] = {}
        self._offered: dict[int, float] = {}
        a_point = (self._later(5 << POINTS) - self._later(5 << POINTS << THEIRS)) / 10
        leads = view.dealer is not seat
        self._a_point_to_them = a_point if leads else -a_point

    def at_last(self, gains: int) -> float:
        """What it is worth to have ended the round with these gains."""
        known = self._known.get(gains)
        if known is None:
            my_cards, their_cards, mine, theirs = self._standing(gains)
            if my_cards > their_cards:
                mine += self._majority
            elif their_cards > my_cards:
                theirs += self._majority
            known = self._known[gains] = self._worth(mine, theirs)
        return known

    def before_deal(self, gains: int, floor: int) -> float:
        """What it is worth to have ended a deal, not the last, with these gains and this floor."""
        known = self._known.get(gains)
        if known is None:
            known = self._known[gains] = self._later(gains)
        offered = self._offered.get(floor)
        if offered is None:
            offered = self._offered[floor] = (
                _FIRST_TO_PLAY * self._offer(floor) if floor else _EMPTY_FLOOR
            )
        return known + self._a_point_to_them * offered

    def _offer(self, floor: int) -> float:
        """What the best card of a hand can be expected to make of a floor, in points."""
        outcomes = self._core.outcomes
        worths = sorted(
            [
                (self._points_of(outcomes(floor, kind)[0][1]), count)
                for kind, count in self._unseen.items()
            ],
            reverse=True,
        )
        # The best card counts if it is held, the second best if not the best but it, and so on.
        expected, none_better, hidden = 0.0, 1.0, self._hidden
        for worth, count in worths:
            none = none_better
            for _each in range(count):
                none *= max(0.0, 1.0 - HAND_SIZE / hidden)
                hidden -= 1
            if not worth or not none_better:
                break
            expected += (none_better - none) * worth
            none_better = none
        return expected

    def _points_of(self, gain: int) -> float:
        """A gain of one player in points, its cards as parts of the majority."""
        return (gain >> POINTS) + self._a_card * (gain & CARDS_MASK)

    def _later(self, gains: int) -> float:
        my_cards, their_cards, mine, theirs = self._standing(gains)
        still_open = len(PACK) - my_cards - their_cards
        lead = (my_cards - their_cards) / sqrt(_CARDS_AT_A_TIME * max(1, still_open))
        majority, mine_by = self._majority, _normal(lead)
        if self._target is None:
            # With so much to come, more points are the better chance.
            return (mine - theirs + majority * (2 * mine_by - 1)) / _APART_AFTER_A_ROUND
        return sum(
            chance
            * (
                mine_by * self._worth(mine + max(0, step) + majority, theirs - min(0, step))
                + (1 - mine_by) * self._worth(mine + max(0, step), theirs - min(0, step) + majority)
            )
            for step, chance in self._basras_to_come
        )

    def _standing(self, gains: int) -> tuple[int, int, int, int]:
        mine, theirs = gains & MINE, gains >> THEIRS
        return (
            self._my_cards + (mine & CARDS_MASK),
            self._their_cards + (theirs & CARDS_MASK),
            self._my_points + (mine >> POINTS),
            self._their_points + (theirs >> POINTS),
        )

    def _worth(self, mine: int, theirs: int) -> float:
        """What the round is worth that brings me and them so many points."""
        lead = mine - theirs
        if self._target is None:
            return _result(lead) + _A_POINT * lead
        return self._chance(mine + self._my_total, theirs + self._their_total) + (
            _A_POINT_OF_MANY * lead
        )

    def _chance(self, mine: int, theirs: int) -> float:
        """How likely I win a game of several rounds that stands so."""
        short = (self._target or 0) - max(mine, theirs)
        if short <= 0:
            return _result(mine - theirs)
        rounds = max(1.0, short / _POINTS_OF_A_ROUND)
        return _normal((mine - theirs) / (_APART_AFTER_A_ROUND * sqrt(rounds)))


def _so_far(core: Core, view: SeatView, seat: Seat) -> tuple[int, int]:
    """Cards and points that a seat has from the deals before."""
    rules, made, pile = core.rules, view.basras[seat], view.piles[seat]
    basras = made.basra * rules.basra + made.jack * rules.jack_basra
    basras += made.komi * (rules.komi_basra or 0)
    return len(pile), basras + (core.gain_of(core.floor(pile)) >> POINTS)


def _basras_to_come(rules: RuleSet, deals: int) -> list[tuple[int, float]]:
    """How many points more than the other I may make by basras in so many deals, and how likely."""
    special = rules.jack_basra**2 + (rules.komi_basra or 0) ** 2
    strays = sqrt(deals * (_OF_BASRAS * rules.basra**2 + _OF_SPECIAL_BASRAS * special))
    if not strays:
        return [(0, 1.0)]
    unit = rules.basra or max(rules.jack_basra, rules.komi_basra or 0)
    steps = [unit * times for times in range(-6, 7)]
    return [
        (step, _normal((step + unit / 2) / strays) - _normal((step - unit / 2) / strays))
        for step in steps
    ]


def _result(lead: int) -> float:
    return 0.5 if lead == 0 else float(lead > 0)


def _normal(deviations: float) -> float:
    """How likely a normally distributed chance is to stay below so many standard deviations."""
    return 0.5 + 0.5 * erf(deviations / sqrt(2))
