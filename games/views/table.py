"""The table of a game: looking, playing, and its log."""

from __future__ import annotations

import uuid
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect, ptag

from accounts.guests import player_of
from accounts.models import User
from basra_site.http import Request

from .. import engine, selectors, services, wording
from ..forms import AfterMoveForm, ComputerGameForm, PlayForm, SeenForm
from ..hints import Hint
from ..models import Game
from ..selectors import Pulse
from ..services import may_be_aborted
from ..snapshot import published_anchor, read_state
from ..table import Phase, TableView, game_row, log_rounds, table_view
from .access import game_or_404, player_or_404, says_when_broken, wants_board


def _tag(request: Request, game_id: UUID) -> str | None:
    """Return what an open table watches; asked only for a poll, in one statement."""
    player = player_of(request.user)
    if player is None or "HX-PTag" not in request.headers:
        return None
    now = selectors.pulse(player, game_id)
    return now[1] if now else None


@never_cache
@require_safe
@says_when_broken
@ptag(_tag)
def table(request: Request, game_id: UUID) -> HttpResponse:
    """The table of one of my games; the board alone when htmx asks for it, if it is a new one."""
    player = player_or_404(request)
    return table_page(request, game_or_404(player, game_id), player)


@never_cache
@require_POST
@says_when_broken
def play(request: Request, game_id: UUID) -> HttpResponse:
    """Play a card. Whatever is wrong with it is said beside the board as it is."""
    player = player_or_404(request)
    form = PlayForm(request.POST)
    if not form.is_valid():
        notice = _("The table could not read that play. Nothing was played.")
        game = game_or_404(player, game_id)
        return table_page(request, game, player, HTTPStatus.BAD_REQUEST, notice)
    try:
        game = services.play_card(
            game_id=game_id,
            player=player,
            play=form.cleaned_data["play"],
            version=form.cleaned_data["version"],
            move_id=form.cleaned_data["move_id"],
        )
    except selectors.GameNotFound:
        raise Http404 from None
    except services.StaleBoard:
        status, notice = (
            HTTPStatus.CONFLICT,
            _(
                "The game had gone on since you saw it, so your card was not played. "
                "Here is the table as it is now."
            ),
        )
    except engine.GameOver:
        status, notice = HTTPStatus.CONFLICT, _("This game is over. Nothing was played.")
    except engine.NotYourTurn:
        status, notice = HTTPStatus.CONFLICT, _("It is not your turn. Nothing was played.")
    except engine.IllegalPlay:
        status, notice = (
            HTTPStatus.UNPROCESSABLE_ENTITY,
            _("That play is not possible here. Nothing was played."),
        )
    else:
        return _go_on(request, player, services.computer_reply(game))
    return table_page(request, game_or_404(player, game_id), player, status, notice)


@never_cache
@require_POST
@says_when_broken
def seen(request: Request, game_id: UUID) -> HttpResponse:
    """Put away the summary of a round."""
    player = player_or_404(request)
    game = game_or_404(player, game_id)
    form = SeenForm(request.POST)
    if not form.is_valid():
        notice = _("There is no such round to put away.")
        return table_page(request, game, player, HTTPStatus.BAD_REQUEST, notice)
    services.dismiss_summary(game=game, player=player, round_number=form.cleaned_data["round"])
    return moved(request, player, game)


@never_cache
@require_safe
@says_when_broken
def more(request: Request, game_id: UUID) -> HttpResponse:
    """What is seldom done at a table: choosing where a move leads, and ending the game."""
    player = player_or_404(request)
    return _more(request, game_or_404(player, game_id), player)


@never_cache
@require_POST
@says_when_broken
def after_move(request: Request, game_id: UUID) -> HttpResponse:
    """Choose where I go after a move, in this game and all others."""
    player = player_or_404(request)
    game = game_or_404(player, game_id)
    form = AfterMoveForm(request.POST)
    if not form.is_valid():
        return _more(request, game, player, form)
    player.after_move = User.AfterMove(form.cleaned_data["after_move"])
    player.save(update_fields=["after_move"])
    return redirect("games:table", game.pk)


def _more(
    request: Request, game: Game, player: User, form: AfterMoveForm | None = None
) -> HttpResponse:
    if game.status == Game.Status.FINISHED:
        return redirect("games:table", game.pk)
    seat = game.seat_of(player)
    context = {
        "game_id": game.pk,
        "other": game.player(seat.other),
        "form": form or AfterMoveForm(initial={"after_move": player.after_move}),
        "can_abort": may_be_aborted(game),
        "can_offer": not game.cancel_offer and not game.player(seat.other).is_computer,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form else HTTPStatus.OK
    return render(request, "games/more.html", context, status=status)


@never_cache
@require_safe
@says_when_broken
def log(request: Request, game_id: UUID) -> HttpResponse:
    """Everything that happened in a game in words, round by round."""
    player = player_or_404(request)
    game = game_or_404(player, game_id)
    seat = game.seat_of(player)
    rounds = log_rounds(
        game,
        list(selectors.all_plays(game)),
        list(selectors.finished_rounds(game)),
        selectors.events(game),
        seat,
    )
    context = {"row": game_row(game, seat), "rounds": rounds}
    return render(request, "games/log.html", context)


def moved(request: Request, player: User, game: Game) -> HttpResponse:
    """Answer what landed: the board for htmx, else a redirect that Back cannot repeat."""
    if wants_board(request):
        return table_page(request, game, player)
    return redirect("games:table", game.pk)


def _go_on(request: Request, player: User, game: Game) -> HttpResponse:
    """Answer a play that landed: where the player wants to be, once nothing is left to see here."""
    waits = game.status == Game.Status.RUNNING and game.turn != game.seat_of(player)
    if not waits or player.after_move == User.AfterMove.STAY or has_a_summary(game, player):
        return moved(request, player, game)
    following = None
    if player.after_move == User.AfterMove.NEXT:
        following = selectors.next_waiting(player, game.pk)
        if following is None:
            return moved(request, player, game)
    where = (
        reverse(f"games:{following[0]}", args=[following[1]])
        if following
        else reverse("games:home")
    )
    return HttpResponseClientRedirect(where) if wants_board(request) else redirect(where)


def has_a_summary(game: Game, player: User) -> bool:
    """Whether a round is over whose summary the player has not put away."""
    seat = game.seat_of(player)
    counted = read_state(game).rounds_counted
    return selectors.unseen_round(game, seat, counted) is not None


def table_page(
    request: Request,
    game: Game,
    player: User,
    status: int = HTTPStatus.OK,
    notice: str = "",
    hint: Hint | None = None,
) -> HttpResponse:
    """Answer with the table of a game as it is now, and a notice or a hint beside it."""
    table = _table_view(game, player)
    context: dict[str, Any] = {
        "table": table,
        "waiting_count": table.waiting,
        "move_id": uuid.uuid4(),
        "notice": notice,
        "hint": hint,
    }
    if table.phase is Phase.OVER and table.other.level:
        context["play_again_form"] = ComputerGameForm(initial=_same_terms(game, table.other.level))
        record = selectors.records_against_the_computer(player).get(table.other.level)
        if record is not None:
            context["record"] = wording.record_sentence(table.other.name, *record.figures)
    template = "games/table.html#board" if wants_board(request) else "games/table.html"
    response = render(request, template, context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _table_view(game: Game, player: User) -> TableView:
    seat = game.seat_of(player)
    state = read_state(game)
    against_the_computer = game.player(seat.other).is_computer
    now = selectors.pulse(player, game.pk)
    return table_view(
        game,
        engine.seat_view(state, seat),
        plays=selectors.latest_plays(game),
        # The computer is offered nothing, and the end is told by the result.
        events=[] if against_the_computer else selectors.events(game),
        anchor=published_anchor(game),
        unseen=selectors.unseen_round(game, seat, state.rounds_counted),
        pulse=now[0] if now else Pulse(0),
    )


def _same_terms(game: Game, level: str) -> dict[str, Any]:
    return {"level": level, "rule_set": game.rule_set, "target": game.target or "round"}
