"""My games, and what starts another."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.guests import create_guest, keep_signed_in, player_of
from basra_site.http import Request

from .. import selectors, services
from ..forms import ComputerGameForm
from ..models import Game
from ..table import GameRow, Phase, game_row

_PAGE = re.compile("[1-9][0-9]{0,3}", re.ASCII)


@never_cache
@require_safe
def home(request: Request) -> HttpResponse:
    """My games, those that wait for me first, and a game against the computer in one click."""
    page = request.GET.get("page", "1")
    if not _PAGE.fullmatch(page):
        raise Http404
    return _home(request, ComputerGameForm(), page=int(page))


def _home(
    request: Request, form: ComputerGameForm, status: int = HTTPStatus.OK, page: int = 1
) -> HttpResponse:
    context: dict[str, Any] = {"form": form, "page": page}
    player = player_of(request.user)
    if player is not None:
        finished, more = selectors.finished_games(player, page)
        games = [*(selectors.open_games(player) if page == 1 else []), *finished]
        context["blocks"] = _blocks([game_row(game, game.seat_of(player)) for game in games])
        context["older"] = page + 1 if more else None
    return render(request, "home.html", context, status=status)


def _blocks(rows: list[GameRow]) -> list[tuple[str, list[GameRow]]]:
    """Group listed games by what they want of me, what waits for me first."""
    blocks = (
        (_("Your turn"), (Phase.PLAY, Phase.DEAL)),
        (_("Waiting"), (Phase.WAIT,)),
        (_("Finished"), (Phase.OVER,)),
    )
    grouped = [(title, [row for row in rows if row.phase in phases]) for title, phases in blocks]
    return [(title, some) for title, some in grouped if some]


@never_cache
@require_POST
def play_computer(request: Request) -> HttpResponse:
    """Create and seal a game against the computer. A visitor becomes a guest by it."""
    form = ComputerGameForm(request.POST)
    if not form.is_valid():
        return _home(request, form, HTTPStatus.UNPROCESSABLE_ENTITY)
    visitor = player_of(request.user)
    player = visitor or create_guest()
    try:
        game = services.seal_computer_game(
            player=player,
            rules=form.rules(),
            target=form.cleaned_data["target"],
            form_key=form.cleaned_data["form_key"],
        )
    except services.TooManyGames:
        form.add_error(
            None, _("You have as many running games as one can have. Finish some first.")
        )
        return _home(request, form, HTTPStatus.CONFLICT)
    if visitor is None:
        keep_signed_in(request, player)
    query = {"words": "own"} if form.cleaned_data["own_words"] else None
    return redirect(_table_url(game, query))


def _table_url(game: Game, query: dict[str, str] | None) -> str:
    return reverse("games:table", args=[game.pk], query=query)
