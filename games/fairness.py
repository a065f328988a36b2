"""What a game publishes about its deal, for anybody to check (docs/fair-shuffle.md)."""

from __future__ import annotations

from typing import Any

from . import engine, selectors
from .engine import Seat
from .models import Game
from .snapshot import seal_of, terms_of

_WHO = {Seat.A: "creator", Seat.B: "opponent"}


def document(game: Game) -> dict[str, Any]:
    """Return the fairness document of a game: anchor, fingerprint, and finished rounds only."""
    seal = seal_of(game)
    fingerprint = selectors.fingerprint_of(game)
    rounds: list[dict[str, Any]] = []
    for finished in selectors.finished_rounds(game):
        published = {
            "round": finished.number,
            "secret": finished.secret,
            "deck": finished.deck,
        }
        if finished.number == 1:
            published["first_dealer"] = _WHO[Seat(finished.dealer)]
        rounds.append(published)
    return {
        "version": engine.SHUFFLE_VERSION,
        "game_id": str(game.pk),
        "rounds_sealed": seal.rounds_sealed,
        "anchor": seal.anchor,
        "words_sha256": fingerprint.words_sha256 if fingerprint else None,
        "words_by": fingerprint.words_by if fingerprint else None,
        "replaced": terms_of(game).rules.replaced,
        "rounds": rounds,
    }
