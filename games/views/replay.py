"""A game to look at again, its record to take away, and records that people bring."""

from __future__ import annotations

import logging
from http import HTTPStatus
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import ptag

from accounts.guests import create_guest, keep_signed_in, player_of
from accounts.models import User
from basra_site.errors import error_response
from basra_site.http import Request

from .. import engine, replaying, selectors, uploads
from ..engine import Seat
from ..models import Game
from ..replaying import LAST, ReplayView
from .access import player_or_404, says_when_broken, wants_board

logger = logging.getLogger(__name__)


def _polled_version(request: Request, game_id: UUID) -> str | None:
    """The version by which a poll for the latest position is told that nothing has changed."""
    polls = wants_board(request) and request.GET.get("ply") == LAST
    return replaying.version_of(game_id) if polls and "HX-PTag" in request.headers else None


@never_cache
@require_safe
@says_when_broken
@ptag(_polled_version)
def replay(request: Request, game_id: UUID) -> HttpResponse:
    """A position of a game, for anybody who has its address; the board alone for htmx.

    Hands are shown once the game is over.
    """
    try:
        game = selectors.game_by_id(game_id)
    except Game.DoesNotExist:
        raise Http404 from None
    seat = _seat_of(player_of(request.user), game)
    try:
        view = replaying.game_replay(game, seat, request.GET.get("ply", ""))
    except replaying.NoSuchPosition:
        raise Http404 from None
    over = game.status == Game.Status.FINISHED
    computer = seat is not None and game.player(seat.other).is_computer
    context = {
        "game_id": game.pk,
        "plays_here": seat is not None,
        "over": over,
        "explained": over and computer,
    }
    return _board(request, view, context)


@never_cache
@require_safe
@says_when_broken
def record(request: Request, game_id: UUID) -> HttpResponse:
    """The record of a finished game as a file, for everybody (docs/record.md)."""
    try:
        game = selectors.game_to_check(player_of(request.user), game_id)
    except selectors.GameNotFound:
        raise Http404 from None
    if game.status != Game.Status.FINISHED or game.finished_at is None:
        raise Http404
    text = engine.format_record(replaying.record_of(game))
    name = f"basra-{game.finished_at:%Y-%m-%d}-{game.pk.hex[:8]}.txt"
    return HttpResponse(
        text,
        content_type="text/plain; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def records(request: Request) -> HttpResponse:
    """The records that I have brought, and a form for another. A visitor becomes a guest by it."""
    player = player_of(request.user)
    if request.method != "POST":
        return _records(request, player, uploads.RecordForm())
    form = uploads.RecordForm(request.POST)
    if not form.is_valid():
        return _records(request, player, form, HTTPStatus.UNPROCESSABLE_ENTITY)
    owner = player or create_guest(form.cleaned_data["form_key"])
    try:
        kept = uploads.keep_record(
            player=owner, record=form.record, form_key=form.cleaned_data["form_key"]
        )
    except uploads.TooManyRecords:
        form.add_error(None, _("You keep as many records as one can. Delete one first."))
        return _records(request, player, form, HTTPStatus.CONFLICT)
    if player is None:
        keep_signed_in(request, owner)
    return redirect("games:uploaded", kept.pk)


@never_cache
@require_safe
def uploaded(request: Request, record_id: UUID) -> HttpResponse:
    """A position of a record that I have brought."""
    player = player_or_404(request)
    try:
        kept = uploads.record_of(player, record_id)
        asked = request.GET.get("ply", "")
        view = replaying.record_replay(engine.parse_record(kept.text), asked)
    except (uploads.RecordNotFound, replaying.NoSuchPosition):
        raise Http404 from None
    except engine.BasraError:
        logger.exception("broken record", extra={"record": str(record_id)})
        return error_response(
            request,
            HTTPStatus.SERVICE_UNAVAILABLE,
            _("This record is being repaired"),
            _("It cannot be read at the moment. Your games go on."),
        )
    return _board(request, view, {"record_id": kept.pk})


@never_cache
@require_POST
def delete_uploaded(request: Request, record_id: UUID) -> HttpResponse:
    """Delete a record that I have brought; again is harmless."""
    uploads.drop_record(player=player_or_404(request), record_id=record_id)
    return redirect("games:records")


def _seat_of(player: User | None, game: Game) -> Seat | None:
    try:
        return game.seat_of(player) if player else None
    except LookupError:
        return None


def _board(request: Request, view: ReplayView, context: dict[str, object]) -> HttpResponse:
    template = "games/replay.html#board" if wants_board(request) else "games/replay.html"
    tag = replaying.version_tag(view.version)
    response = render(request, template, {**context, "replay": view, "tag": tag})
    patch_vary_headers(response, ["HX-Request"])
    return response


def _records(
    request: Request, player: User | None, form: uploads.RecordForm, status: int = HTTPStatus.OK
) -> HttpResponse:
    kept = list(uploads.records_of(player)) if player else []
    return render(request, "games/records.html", {"form": form, "records": kept}, status=status)
