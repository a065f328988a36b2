"""Who can play in a duel, by name.

A player is given the whole state. All but ``cheat`` look at no more of it than their seat sees.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from games import bots
from games.bots import SeenPlay
from games.engine import GameState, Play, legal_plays, seat_view

from . import cheat

type Player = Callable[[GameState, int, Sequence[SeenPlay]], Play]
"""Chooses from a state, a seed and the plays since the last deal."""


def _at_random(state: GameState, seed: int, _past: Sequence[SeenPlay]) -> Play:
    return random.Random(seed).choice(legal_plays(state))  # noqa: S311 - the same every time


def _cheating(state: GameState, _seed: int, _past: Sequence[SeenPlay]) -> Play:
    return cheat.choose_play(state)


def _seated(level: str) -> Player:
    return lambda state, seed, past: bots.choose_play(
        level, seat_view(state, state.turn), seed, past
    )


PLAYERS: dict[str, Player] = {
    "random": _at_random,
    **{level: _seated(level) for level in bots.LEVELS},
    "cheat": _cheating,
}
