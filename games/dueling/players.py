"""Who can play in a duel, by name.

A player is given the whole state. All but ``cheat`` look at no more of it than their seat sees.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from games.bots import easy, medium, search
from games.engine import GameState, Play, SeatView, legal_plays, seat_view

from . import cheat

type Player = Callable[[GameState, int], Play]


def _at_random(state: GameState, seed: int) -> Play:
    return random.Random(seed).choice(legal_plays(state))  # noqa: S311 - the same every time


def _seated(choose_play: Callable[[SeatView, int], Play]) -> Player:
    return lambda state, seed: choose_play(seat_view(state, state.turn), seed)


PLAYERS: dict[str, Player] = {
    "random": _at_random,
    "easy": _seated(easy.choose_play),
    "medium": _seated(medium.choose_play),
    "hard": _seated(search.choose_play),
    "cheat": cheat.choose_play,
}
