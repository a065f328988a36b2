"""My games, the next one that waits for me, and a game against the computer in one click."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.forms.boundfield import BoundWidget
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.guests import became, create_guest, keep_signed_in, player_of
from basra_site.http import Request

from .. import selectors, services, wording
from ..forms import ComputerGameForm
from ..selectors import Tally
from ..table import ChallengeRow, GameRow, Phase, challenge_row, game_row
from .access import too_many_games

_PAGE = re.compile("[1-9][0-9]{0,3}", re.ASCII)

type Block = tuple[str, list[GameRow | ChallengeRow]]


@never_cache
@require_safe
def home(request: Request) -> HttpResponse:
    """My games, those that wait for me first, and the ways to another one."""
    page = request.GET.get("page", "1")
    if not _PAGE.fullmatch(page):
        raise Http404
    return _home(request, page=int(page))


@never_cache
@require_safe
def next_game(request: Request) -> HttpResponse:
    """Go to the game that waits for me next, after the one I come from; home if none does."""
    player = player_of(request.user)
    following = selectors.next_waiting(player, _after(request)) if player else None
    if following is None:
        return redirect("games:home")
    page, key = following
    return redirect(f"games:{page}", key)


@never_cache
@require_POST
def play_computer(request: Request) -> HttpResponse:
    """Let the computer challenge me. A visitor becomes a guest by it."""
    form = ComputerGameForm(request.POST)
    if not form.is_valid():
        return _home(request, form, HTTPStatus.UNPROCESSABLE_ENTITY)
    visitor = player_of(request.user)
    player = visitor or create_guest(form.cleaned_data["form_key"])
    try:
        challenge = services.challenge_by_the_computer(
            player=player,
            level=form.cleaned_data["level"],
            rules=form.rules(),
            target=form.cleaned_data["target"],
            form_key=form.cleaned_data["form_key"],
        )
    except services.TooManyGames:
        form.add_error(None, too_many_games())
        return _home(request, form, HTTPStatus.CONFLICT)
    except services.TakesNoChallenge:  # who asks has just left, in another browser
        raise Http404 from None
    if visitor is None:
        keep_signed_in(request, player)
    query = {"words": "own"} if form.cleaned_data["own_words"] else None
    return redirect(reverse("games:challenge", args=[challenge.pk], query=query))


def _after(request: Request) -> UUID | None:
    try:
        return UUID(request.GET.get("after", ""))
    except ValueError:
        return None


def _home(
    request: Request,
    form: ComputerGameForm | None = None,
    status: int = HTTPStatus.OK,
    page: int = 1,
) -> HttpResponse:
    player = player_of(request.user)
    records = selectors.records_against_the_computer(player) if player else {}
    form = form or ComputerGameForm(initial=_the_last_opponent(records))
    context: dict[str, Any] = {"form": form, "opponents": _opponents(form, records), "page": page}
    if player is None:
        context["became"] = became(request)
    else:
        finished, more = selectors.finished_games(player, page)
        games = [*(selectors.open_games(player) if page == 1 else []), *finished]
        offers = selectors.waiting_challenges(player) if page == 1 else []
        context["blocks"] = _blocks(
            [game_row(game, game.seat_of(player)) for game in games],
            [challenge_row(challenge, player) for challenge in offers],
        )
        context["older"] = page + 1 if more else None
    return render(request, "home.html", context, status=status)


def _the_last_opponent(records: dict[str, Tally]) -> dict[str, str]:
    return {"level": max(records, key=lambda level: records[level].latest)} if records else {}


def _opponents(form: ComputerGameForm, records: dict[str, Tally]) -> list[tuple[BoundWidget, str]]:
    """The button of each computer player, with my games against it in short, if any count."""
    in_short = {level: wording.record_in_short(*one.figures) for level, one in records.items()}
    return [(button, in_short.get(button.data["value"], "")) for button in form["level"]]


def _blocks(games: list[GameRow], challenges: list[ChallengeRow]) -> list[Block]:
    """Group what is listed by what it wants of me, what waits for me first."""

    def asks(row: GameRow) -> bool:
        return row.phase is Phase.WAIT and row.needs_answer

    blocks: list[Block] = [
        (_("Your turn"), [row for row in games if row.phase is Phase.PLAY]),
        (
            _("Needs an answer"),
            [*filter(asks, games), *(row for row in challenges if not row.is_mine)],
        ),
        (
            _("Waiting"),
            [
                *(row for row in games if row.phase is Phase.WAIT and not row.needs_answer),
                *(row for row in challenges if row.is_mine),
            ],
        ),
        (_("Finished"), [row for row in games if row.phase is Phase.OVER]),
    ]
    return [(title, rows) for title, rows in blocks if rows]
