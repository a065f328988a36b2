"""Computer players. Each sees one seat's view and the plays since the last deal, nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

from games.engine import Play, SeatView

from . import easy, hard, medium
from .belief import SeenPlay, seen_after

LEVELS: Final[dict[str, Callable[[SeatView, int, Sequence[SeenPlay]], Play]]] = {
    "easy": lambda view, seed, _past: easy.choose_play(view, seed),
    "medium": lambda view, seed, _past: medium.choose_play(view, seed),
    "hard": hard.choose_play,
}
"""The computer players by level, the weakest first."""


def choose_play(level: str, view: SeatView, seed: int, past: Sequence[SeenPlay] = ()) -> Play:
    """Return what the player of a level plays for the seat of ``view``, whose turn it is.

    ``past`` are the plays since the last deal, from which hard reads what the other holds. Equal
    arguments give equal plays. Raises ``KeyError`` for an unknown level and ``ValueError`` for a
    view whose seat is not to play.
    """
    return LEVELS[level](view, seed, past)


def seed_of(game_id: UUID, ply: int) -> int:
    """Return the seed for the dice of the play that is number ``ply`` of a game.

    It is no secret: the dice decide between plays that are equally good and which hands are looked
    at, and whoever knows them still does not know the hand they are thrown for.
    """
    return int.from_bytes(hashlib.sha256(game_id.bytes + ply.to_bytes(4)).digest()[:8])


__all__ = ["LEVELS", "SeenPlay", "choose_play", "seed_of", "seen_after"]
