"""What a player takes along of their games: everything but cards that are still hidden."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from accounts.exporting import exporter
from accounts.models import User

from . import engine, replaying, selectors
from .engine import RecordedRound, Seat
from .engine.rounds import DEALS, HAND_SIZE, PLAYS_OF_A_DEAL
from .models import Challenge, Game, Invitation, UploadedRecord
from .snapshot import BrokenGame, outcome_of, read_state

_FLOOR_SIZE = 4


@exporter("games", _("Games"), covers=("games.Game",))
def export_games(user: User) -> list[dict[str, Any]]:
    """Return each game of ``user`` with all plays, and own hands as far as they may be seen."""
    games = selectors.all_games().filter(selectors.games_with(user)).order_by("created_at", "pk")
    return [_game(game, game.seat_of(user)) for game in games.iterator(chunk_size=100)]


@exporter("challenges", _("Offers to play"), covers=("games.Challenge",))
def export_challenges(user: User) -> list[dict[str, Any]]:
    """Return each offer that ``user`` made or that was made to ``user``."""
    challenges = Challenge.objects.filter(Q(maker=user) | Q(opponent=user))
    rows = challenges.select_related("maker", "opponent").order_by("created_at", "pk")
    return [
        {
            "id": row.pk,
            "made_by_me": row.maker_id == user.pk,
            "from": row.maker.shown_name,
            "to": row.opponent.shown_name if row.opponent else None,
            "on_the_open_table": row.listed,
            "rematch_of": row.rematch_of_id,
            "rules": row.rule_set,
            "target": row.target,
            "state": row.state,
            "made_at": row.created_at,
            "ends_at": row.expires_at,
            "answered_at": row.answered_at,
        }
        for row in rows
    ]


@exporter("invitations_sent", _("Invitations that I have sent"))
def export_invitations_sent(user: User) -> list[dict[str, Any]]:
    """Return each invitation that ``user`` has mailed, with the address while it is stored."""
    return _invitations(Invitation.objects.filter(challenge__maker=user))


@exporter("invitations_received", _("Invitations to my address"), covers=("games.Invitation",))
def export_invitations_received(user: User) -> list[dict[str, Any]]:
    """Return each invitation to a confirmed address of ``user``."""
    return _invitations(Invitation.objects.filter(recipient=user))


def _invitations(invitations: QuerySet[Invitation]) -> list[dict[str, Any]]:
    rows = invitations.select_related("challenge__maker").order_by("created_at", "pk")
    return [
        {
            "offer": row.challenge_id,
            "from": row.challenge.maker.shown_name,
            "address": row.address,
            "language": row.language,
            "made_at": row.created_at,
            "state": row.challenge.state,
        }
        for row in rows
    ]


@exporter("uploaded_records", _("Records that I have brought"), covers=("games.UploadedRecord",))
def export_uploads(user: User) -> list[dict[str, Any]]:
    """Return each record that ``user`` has brought, as text."""
    rows = UploadedRecord.objects.filter(owner=user).order_by("uploaded_at", "pk")
    return [{"id": row.pk, "brought_at": row.uploaded_at, "text": row.text} for row in rows]


def _game(game: Game, seat: Seat) -> dict[str, Any]:
    """A game as its player may see it. What cannot be read is left out, and said to be."""
    told: dict[str, Any] = {
        "id": game.pk,
        "opponent": game.player(seat.other).shown_name,
        "seat": seat.value,
        "rules": game.rule_set,
        "target": game.target,
        "status": game.status,
        "my_turn": game.turn == seat,
        "result": None,
        "reason": game.reason or None,
        "began_at": game.created_at,
        "changed_at": game.changed_at,
        "ended_at": game.finished_at,
        "summaries_put_away": game.seen(seat),
        "plays": [
            {
                "id": play.ply,
                "round": play.round_number,
                "by_me": play.seat == seat,
                "play": play.text,
                "forced": play.forced,
                "at": play.at,
            }
            for play in selectors.all_plays(game)
        ],
        "events": [
            {"what": event.kind, "by_me": event.seat == seat, "at": event.at}
            for event in selectors.events(game)
        ],
    }
    try:
        told |= _cards(game, seat)
    except BrokenGame:
        told["damaged"] = True
    return told


def _cards(game: Game, seat: Seat) -> dict[str, Any]:
    """What needs the cards: own hands, how it ended, the record of what is published."""
    record = replaying.record_of(game)
    outcome = outcome_of(game)
    told: dict[str, Any] = {
        "hands": [
            {"round": number, "hands": _hands(one, seat)}
            for number, one in enumerate(record.rounds, 1)
        ],
        "record": engine.format_record(record),
    }
    if outcome is not None:
        winner = outcome.winner
        told["result"] = "no winner" if winner is None else "won" if winner is seat else "lost"
    else:
        # The one seat's own view, as its page has it; nothing else of the running round.
        told["hand_now"] = list(map(str, engine.seat_view(read_state(game), seat).hand))
    return told


def _hands(played: RecordedRound, seat: Seat) -> list[str]:
    """The hands that ``seat`` was dealt in a round whose pack is published."""
    deals = min(DEALS, len(played.plays) // PLAYS_OF_A_DEAL + 1)
    first = 0 if seat is not played.dealer else HAND_SIZE
    starts = [
        first + (_FLOOR_SIZE if deal else 0) + deal * PLAYS_OF_A_DEAL for deal in range(deals)
    ]
    return [engine.format_cards(played.cards[start : start + HAND_SIZE]) for start in starts]
