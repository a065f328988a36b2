"""The table of a game: looking, dealing, playing, and its log."""

from __future__ import annotations

import secrets
import uuid
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.models import User
from basra_site.http import Request

from .. import engine, selectors, services
from ..forms import ComputerGameForm, DealForm, PlayForm, SeenForm, signed_proposal
from ..models import Game
from ..snapshot import read_state, seal_of, terms_of
from ..table import TableView, game_row, log_rounds, table_view
from .access import game_or_404, player_or_404, says_when_broken, wants_board


@never_cache
@require_safe
@says_when_broken
def table(request: Request, game_id: UUID) -> HttpResponse:
    """The table of one of my games; the board alone when htmx asks for it."""
    player = player_or_404(request)
    return _table(request, game_or_404(player, game_id), player)


@never_cache
@require_POST
@says_when_broken
def deal(request: Request, game_id: UUID) -> HttpResponse:
    """Freeze my words and deal the first round."""
    player = player_or_404(request)
    game = game_or_404(player, game_id)
    form = DealForm(request.POST)
    if not form.is_valid():
        notice = _("The words are one line of at most 200 characters. Please change them.")
        typed = form["words"].value() or ""
        return _table(request, game, player, HTTPStatus.UNPROCESSABLE_ENTITY, notice, typed)
    try:
        game = services.deal_first_round(
            game_id=game.pk,
            player=player,
            words=form.cleaned_data["words"],
            words_by=form.words_by(game.pk),
        )
    except services.StaleBoard:
        notice = _("The cards were dealt already; these words are not part of the shuffle.")
        return _table(request, game_or_404(player, game_id), player, HTTPStatus.CONFLICT, notice)
    return _moved(request, player, services.computer_reply(game))


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
        return _table(request, game, player, HTTPStatus.BAD_REQUEST, notice)
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
        return _moved(request, player, services.computer_reply(game))
    return _table(request, game_or_404(player, game_id), player, status, notice)


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
        return _table(request, game, player, HTTPStatus.BAD_REQUEST, notice)
    services.dismiss_summary(game=game, player=player, round_number=form.cleaned_data["round"])
    return _moved(request, player, game)


@never_cache
@require_safe
@says_when_broken
def log(request: Request, game_id: UUID) -> HttpResponse:
    """Every play of a game in words, round by round."""
    player = player_or_404(request)
    game = game_or_404(player, game_id)
    seat = game.seat_of(player)
    rounds = log_rounds(
        game, list(selectors.all_plays(game)), list(selectors.finished_rounds(game)), seat
    )
    context = {"row": game_row(game, seat), "rounds": rounds}
    return render(request, "games/log.html", context)


def _moved(request: Request, player: User, game: Game) -> HttpResponse:
    """Answer a move that landed: the board for htmx, else a redirect that Back cannot repeat."""
    if wants_board(request):
        return _table(request, game, player)
    return redirect("games:table", game.pk)


def _table(
    request: Request,
    game: Game,
    player: User,
    status: int = HTTPStatus.OK,
    notice: str = "",
    words: str | None = None,
) -> HttpResponse:
    sealed = game.status == Game.Status.SEALED
    proposed = secrets.token_hex(8) if sealed else ""
    context: dict[str, Any] = {
        "table": _table_view(game, player),
        "move_id": uuid.uuid4(),
        "notice": notice,
        "proposal": signed_proposal(game.pk, proposed) if sealed else "",
        "words": proposed if words is None else words,
        "deal_at_once": sealed and not notice and request.GET.get("words") != "own",
    }
    if game.status == Game.Status.FINISHED:
        context["play_again_form"] = ComputerGameForm(initial=_same_terms(game))
    template = "games/table.html#board" if wants_board(request) else "games/table.html"
    response = render(request, template, context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _table_view(game: Game, player: User) -> TableView:
    seat = game.seat_of(player)
    if game.status == Game.Status.SEALED:
        state = engine.new_game(terms_of(game))
    else:
        state = read_state(game)
    return table_view(
        game,
        engine.seat_view(state, seat),
        plays=selectors.latest_plays(game),
        anchor=seal_of(game).anchor,
        unseen=selectors.unseen_round(game, seat, state.rounds_counted),
    )


def _same_terms(game: Game) -> dict[str, Any]:
    return {"rule_set": game.rule_set, "target": game.target or "round"}
