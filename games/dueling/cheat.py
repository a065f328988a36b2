"""A player that sees every card, the stock as well: how much there is to win by knowing more.

It is there to measure the others by and is out of the site's reach: it takes a whole state, and
nothing but duels imports it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from games.bots.core import CARDS_MASK, POINTS, core_of
from games.engine import PACK, GameState, Play, captures

type Hand = tuple[int, ...]

# It looks ahead to the end of the deal, and at least so many plays.
_AHEAD = 8
# How far the lead in cards strays before the round ends: by the root of so many times the cards
# that are still open.
_STRAYS = 6.0


def choose_play(state: GameState) -> Play:
    """Return the play that is best against another who sees everything and looks as far.

    What counts is points of the round.
    """
    seat, table = state.turn, state.round
    if seat is None or table is None:
        raise ValueError("nobody is to play")
    search = _Search(state)
    core = search.core
    before = _Position(
        floor=core.floor(table.floor),
        hand=tuple(core.kind(card) for card in table.hands[seat]),
        other=tuple(core.kind(card) for card in table.hands[seat.other]),
        points=0,
        lead=len(table.piles[seat]) - len(table.piles[seat.other]),
        open=len(PACK) - len(table.piles.a) - len(table.piles.b),
        last=0 if table.last_capturer is None else 1 if table.last_capturer is seat else -1,
        dealt=0,
    )
    ahead = max(_AHEAD, len(before.hand) + len(before.other))
    best, most = None, -math.inf
    for card in table.hands[seat]:
        for capture in captures(state.terms.rules, table.floor, card):
            outcome = core.outcome(before.floor, capture)
            worth = -search.worth(
                search.after(before, core.kind(card), outcome), ahead - 1, -math.inf, -most
            )
            if best is None or worth > most:
                best, most = capture, worth
    if best is None:
        raise ValueError("there is no card to play")
    return Play(best.card, frozenset(best.cards))


@dataclass(slots=True)
class _Position:
    """A round with open cards, from the side of the player to move; cards are the core's kinds."""

    floor: int
    hand: Hand
    other: Hand
    points: int
    """Won since the search began, less what the other won."""
    lead: int
    open: int
    last: int
    """Who captured last: 1 the player to move, -1 the other, 0 nobody."""
    dealt: int
    """Cards of the stock that have been dealt since the search began."""


class _Search:
    """Negamax with alpha-beta; a worth is that for the player to move."""

    def __init__(self, state: GameState) -> None:
        if state.round is None:
            raise ValueError("no round is being played")
        self.rules = state.terms.rules
        self.core = core_of(self.rules)
        self.stock = tuple(self.core.kind(card) for card in state.round.stock)
        self.stake = self.rules.majority + state.carried

    def worth(self, position: _Position, ahead: int, low: float, high: float) -> float:
        if not position.hand:
            if position.dealt == len(self.stock):
                return self.at_the_end(position)
            dealt = position.dealt
            position.hand = self.stock[dealt : dealt + 4]
            position.other = self.stock[dealt + 4 : dealt + 8]
            position.dealt += 8
        if not ahead:
            return self.estimate(position)
        moves = [
            (outcome[1], kind, outcome)
            for kind in set(position.hand)
            for outcome in self.core.outcomes(position.floor, kind)
        ]
        moves.sort(reverse=True)
        for _gain, kind, outcome in moves:
            after = self.after(position, kind, outcome)
            low = max(low, -self.worth(after, ahead - 1, -high, -low))
            if low >= high:
                break
        return low

    def after(self, before: _Position, kind: int, outcome: tuple[int, int, int]) -> _Position:
        """The position after a play, from the side of the other."""
        floor, gain, without_basra = outcome
        at = before.hand.index(kind)
        hand = before.hand[:at] + before.hand[at + 1 :]
        if not hand and not before.other and before.dealt == len(self.stock):
            gain = gain if self.rules.last_card_basra else without_basra
        cards = gain & CARDS_MASK
        return _Position(
            floor=floor,
            hand=before.other,
            other=hand,
            points=-(before.points + (gain >> POINTS)),
            lead=-(before.lead + cards),
            open=before.open - cards,
            last=-1 if cards else -before.last,
            dealt=before.dealt,
        )

    def at_the_end(self, position: _Position) -> float:
        points, lead = position.points, position.lead
        if position.floor and self.rules.left_over == "last capturer":
            # The player to move would be the one who leads: with no capture the dealer gets it.
            sign = 1 if position.last == 1 else -1
            gain = self.core.gain_of(position.floor)
            points += sign * (gain >> POINTS)
            lead += sign * (gain & CARDS_MASK)
        return points + self.stake * ((lead > 0) - (lead < 0))

    def estimate(self, position: _Position) -> float:
        spread = math.sqrt(2 * _STRAYS * position.open)
        return position.points + self.stake * math.erf(position.lead / spread)
