"""What a game publishes about its deal, for anybody to check (docs/fair-shuffle.md)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from . import engine, selectors
from .engine import Seat
from .models import Fingerprint, Game
from .snapshot import seal_of, seat_named, terms_of

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
            published["first_dealer"] = _WHO[seat_named(game, finished.dealer)]
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


@dataclass(frozen=True, slots=True)
class OpenedRound:
    """A round that is over: its secret, and the pack as the secret shuffles it."""

    number: int
    secret: str
    deck: str


@dataclass(frozen=True, slots=True)
class Words:
    """The fingerprint of the words that ``name``, who joined, gave, or the server for them."""

    name: str
    by_server: bool
    sha256: str
    at: datetime


@dataclass(frozen=True, slots=True)
class FairnessView:
    """What the fairness page shows of a game."""

    game_id: UUID
    anchor: str
    sealed_at: datetime
    rounds_sealed: int
    words: Words | None
    rounds: tuple[OpenedRound, ...]
    is_over: bool


def fairness_view(game: Game) -> FairnessView:
    """Return what the fairness page shows of a game. Raises ``BrokenGame``."""
    seal = seal_of(game)
    fingerprint = selectors.fingerprint_of(game)
    return FairnessView(
        game_id=game.pk,
        anchor=seal.anchor,
        sealed_at=seal.at,
        rounds_sealed=seal.rounds_sealed,
        words=_words(game, fingerprint) if fingerprint else None,
        rounds=tuple(
            OpenedRound(one.number, one.secret, one.deck) for one in selectors.finished_rounds(game)
        ),
        is_over=game.status == Game.Status.FINISHED,
    )


def _words(game: Game, fingerprint: Fingerprint) -> Words:
    return Words(
        name=game.player_b.shown_name,
        by_server=fingerprint.words_by == Fingerprint.By.SERVER,
        sha256=fingerprint.words_sha256,
        at=fingerprint.at,
    )
