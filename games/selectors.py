"""Reads: games as the services and the pages need them, each in a bounded number of statements."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Now

from accounts.models import User

from .engine import Seat
from .models import Fingerprint, FinishedRound, Game, Play

PLAYS_AT_THE_TABLE = 8
FINISHED_GAMES_ON_A_PAGE = 20
MOST_OPEN_GAMES = 50  # about, that one can have: the list shows them all


class GameNotFound(Exception):
    """There is no such game, or it is not this player's: the answer is the same."""


# Named by a mapping, since Game itself declares what selectors add to it.
_CLOCK = {"now": Now()}


def _games() -> QuerySet[Game]:
    # The clock of a move is the database's, read once with the game.
    return Game.objects.select_related("player_a", "player_b", "seal").annotate(**_CLOCK)


def games_with(player: User) -> Q:
    """Return the condition that a game is ``player``'s."""
    return Q(player_a=player) | Q(player_b=player)


def game_of(player: User, game_id: UUID) -> Game:
    """Return a game of ``player`` with both players and ``now``; raise ``GameNotFound``."""
    game = _games().filter(games_with(player), pk=game_id).first()
    if game is None:
        raise GameNotFound
    return game


def game_to_check(player: User | None, game_id: UUID) -> Game:
    """Return a game whose fairness ``player`` may check: an own one, or any that is over."""
    over = Q(status=Game.Status.FINISHED)
    game = _games().filter(over | games_with(player) if player else over, pk=game_id).first()
    if game is None:
        raise GameNotFound
    return game


def game_by_id(game_id: UUID) -> Game:
    """Return a game for the server's own work, with both players and ``now``."""
    return _games().get(pk=game_id)


def count_open_games(player: User) -> int:
    """Return how many games of ``player`` are sealed or running."""
    return Game.objects.filter(games_with(player)).exclude(status=Game.Status.FINISHED).count()


def open_games(player: User) -> QuerySet[Game]:
    """Return the sealed and running games of ``player``, the latest change first."""
    return _listed(player).exclude(status=Game.Status.FINISHED)


def finished_games(player: User, page: int) -> tuple[list[Game], bool]:
    """Return a page of the finished games of ``player``, the latest first, and whether more follow.

    Pages count from 1.
    """
    start = (page - 1) * FINISHED_GAMES_ON_A_PAGE
    games = list(
        _listed(player).filter(status=Game.Status.FINISHED)[
            start : start + FINISHED_GAMES_ON_A_PAGE + 1
        ]
    )
    return games[:FINISHED_GAMES_ON_A_PAGE], len(games) > FINISHED_GAMES_ON_A_PAGE


def _listed(player: User) -> QuerySet[Game]:
    last_play = Play.objects.filter(game=OuterRef("pk")).order_by("-ply")
    added = {
        "last_seat": Subquery(last_play.values("seat")[:1]),
        "last_text": Subquery(last_play.values("text")[:1]),
    }
    return (
        _games()
        .defer("hidden")
        .filter(games_with(player))
        .annotate(**added)
        .order_by("-changed_at", "pk")
    )


def latest_plays(game: Game) -> list[Play]:
    """Return the last plays of a game in order, at most as many as the table shows."""
    return list(reversed(game.plays.order_by("-ply")[:PLAYS_AT_THE_TABLE]))


def all_plays(game: Game) -> QuerySet[Play]:
    """Return every play of a game in order."""
    return game.plays.order_by("ply")


def unseen_round(game: Game, seat: Seat, finished: int) -> FinishedRound | None:
    """Return the first of the ``finished`` rounds whose summary ``seat`` has not put away."""
    seen: int = getattr(game, game.seen_field(seat))
    if seen >= finished:
        return None
    return game.finished_rounds.filter(number__gt=seen).order_by("number").first()


def finished_rounds(game: Game) -> QuerySet[FinishedRound]:
    """Return the finished rounds of a game in order."""
    return game.finished_rounds.order_by("number")


def fingerprint_of(game: Game) -> Fingerprint | None:
    """Return the fingerprint of the joining player's words, once they are frozen."""
    return Fingerprint.objects.filter(game=game).first()


def awaiting_the_computer(*, for_at_least: timedelta, limit: int) -> list[UUID]:
    """Return running games in which the computer has owed a play for ``for_at_least``."""
    computers = Q(turn=Seat.A, player_a__kind=User.Kind.COMPUTER) | Q(
        turn=Seat.B, player_b__kind=User.Kind.COMPUTER
    )
    return list(
        Game.objects.filter(
            computers, status=Game.Status.RUNNING, changed_at__lt=Now() - for_at_least
        )
        .order_by("changed_at")
        .values_list("pk", flat=True)[:limit]
    )
