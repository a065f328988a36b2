"""A view that does what any correct move must do, and knows no rules.

Session, user and CSRF token; in one transaction a select, an update on the condition of the
version, and an insert, of the rows that a real move reads and writes; then the board of a sample
game as the answer, either from the site's own template or as a text that was rendered before.
"""

from __future__ import annotations

import uuid
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models.functions import Now
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.template import engines
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from accounts.guests import player_of
from games import engine, selectors
from games.forms import AfterMoveForm
from games.models import Game, Play
from games.snapshot import published_anchor, read_state
from games.table import TableView, table_view

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest

BOARD = "games/table.html#board"
STAND_IN = "stands in for whoever asks"


@never_cache
@require_POST
def move(
    request: HttpRequest, rendering: str, sample: UUID, seat: str, game_id: UUID
) -> HttpResponse:
    """Store a play that nobody checks, and answer with the sample's board as `seat` sees it."""
    if player_of(request.user) is None:
        raise Http404
    with transaction.atomic():
        game = Game.objects.get(pk=game_id)
        written = Game.objects.filter(pk=game_id, version=game.version).update(
            version=game.version + 1,
            plies=game.plies + 1,
            public=game.public,
            hidden=game.hidden,
            changed_at=Now(),
        )
        if not written:
            return HttpResponse(status=HTTPStatus.CONFLICT)
        Play.objects.create(
            game=game,
            ply=game.plies + 1,
            round_number=1,
            seat=seat,
            text=request.POST["card"],
            answered_version=game.version,
            move_id=uuid.UUID(request.POST["move_id"]),
            at=timezone.now(),
        )
    if rendering == "text":
        return HttpResponse(_text(sample, seat).render({}, request))
    return render(request, BOARD, _context(_view(sample, seat)))


@lru_cache
def _view(sample: UUID, seat: str) -> TableView:
    game = selectors.game_by_id(sample)
    view = engine.seat_view(read_state(game), engine.Seat(seat))
    plays = selectors.latest_plays(game)
    anchor = published_anchor(game)
    return table_view(
        game, view, plays=plays, events=[], anchor=anchor, unseen=None, pulse=selectors.Pulse(0)
    )


@lru_cache
def _text(sample: UUID, seat: str) -> Any:
    context = _context(_view(sample, seat)) | {"csrf_token": STAND_IN}
    # A form still has the token of whoever asks.
    parts = render_to_string(BOARD, context).split(STAND_IN)
    text = "{% endverbatim %}{{ csrf_token }}{% verbatim %}".join(parts)
    return engines["django"].from_string("{% verbatim %}" + text + "{% endverbatim %}")


def _context(view: TableView) -> dict[str, Any]:
    return {
        "table": view,
        "move_id": uuid.uuid4(),
        "notice": "",
        "after_move_form": AfterMoveForm(),
    }
