"""The pages of the games app. Every action is a POST that answers with the board as it is then."""

from __future__ import annotations

import logging
import re
import secrets
import uuid
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.guests import create_guest, keep_signed_in, player_of
from accounts.models import User
from basra_site.errors import error_response
from basra_site.http import Request

from . import engine, fairness, selectors, services, wording
from .examples import EXAMPLES
from .forms import ComputerGameForm, DealForm, PlayForm, SeenForm, signed_proposal
from .models import Game
from .snapshot import BrokenGame, read_state, seal_of, terms_of
from .table import GameRow, Phase, TableView, game_row, log_rounds, table_view

logger = logging.getLogger(__name__)

_PAGE = re.compile("[1-9][0-9]{0,3}", re.ASCII)

type View = Callable[..., HttpResponseBase]


def _says_when_broken(view: View) -> View:
    """Answer a damaged game with a page that says so; the operator finds its id in the log."""

    @wraps(view)
    def answer(request: Request, game_id: UUID) -> HttpResponseBase:
        try:
            return view(request, game_id)
        except BrokenGame as broken:
            logger.error("broken game", extra={"game": str(broken.game_id), "why": broken.why})
            return error_response(
                request,
                HTTPStatus.SERVICE_UNAVAILABLE,
                _("This game is being repaired"),
                _("Its stored cards cannot be read at the moment. Your other games go on."),
            )

    return answer


def _player_or_404(request: Request) -> User:
    player = player_of(request.user)
    if player is None:
        raise Http404
    return player


def _game_or_404(player: User, game_id: UUID) -> Game:
    try:
        return selectors.game_of(player, game_id)
    except selectors.GameNotFound:
        raise Http404 from None


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


@never_cache
@require_safe
@_says_when_broken
def table(request: Request, game_id: UUID) -> HttpResponse:
    """The table of one of my games; the board alone when htmx asks for it."""
    player = _player_or_404(request)
    return _table(request, _game_or_404(player, game_id), player)


@never_cache
@require_POST
@_says_when_broken
def deal(request: Request, game_id: UUID) -> HttpResponse:
    """Freeze my words and deal the first round."""
    player = _player_or_404(request)
    game = _game_or_404(player, game_id)
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
        return _table(request, _game_or_404(player, game_id), player, HTTPStatus.CONFLICT, notice)
    return _moved(request, player, services.computer_reply(game))


@never_cache
@require_POST
@_says_when_broken
def play(request: Request, game_id: UUID) -> HttpResponse:
    """Play a card. Whatever is wrong with it is said beside the board as it is."""
    player = _player_or_404(request)
    form = PlayForm(request.POST)
    if not form.is_valid():
        notice = _("The table could not read that play. Nothing was played.")
        game = _game_or_404(player, game_id)
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
    return _table(request, _game_or_404(player, game_id), player, status, notice)


@never_cache
@require_POST
@_says_when_broken
def seen(request: Request, game_id: UUID) -> HttpResponse:
    """Put away the summary of a round."""
    player = _player_or_404(request)
    game = _game_or_404(player, game_id)
    form = SeenForm(request.POST)
    if not form.is_valid():
        notice = _("There is no such round to put away.")
        return _table(request, game, player, HTTPStatus.BAD_REQUEST, notice)
    services.dismiss_summary(game=game, player=player, round_number=form.cleaned_data["round"])
    return _moved(request, player, game)


@never_cache
@require_safe
@_says_when_broken
def log(request: Request, game_id: UUID) -> HttpResponse:
    """Every play of a game in words, round by round."""
    player = _player_or_404(request)
    game = _game_or_404(player, game_id)
    seat = game.seat_of(player)
    rounds = log_rounds(
        game, list(selectors.all_plays(game)), list(selectors.finished_rounds(game)), seat
    )
    context = {"row": game_row(game, seat), "rounds": rounds}
    return render(request, "games/log.html", context)


@never_cache
@require_safe
@_says_when_broken
def fairness_document(request: Request, game_id: UUID) -> HttpResponse:
    """The seal of a game and the secrets of its finished rounds (docs/fair-shuffle.md).

    Both players may read it at any time, everybody once the game is over.
    """
    try:
        game = selectors.game_to_check(player_of(request.user), game_id)
    except selectors.GameNotFound:
        raise Http404 from None
    return JsonResponse(fairness.document(game))


@require_safe
def rules(request: Request, name: str | None = None) -> HttpResponse:
    """The rules in plain words, and what each rule set makes of them."""
    if name is not None and name not in engine.RULE_SETS:
        raise Http404
    context = {
        "rule_sets": wording.rule_set_pages(),
        "selected": name,
        "examples": EXAMPLES,
    }
    return render(request, "games/rules.html", context)


def _moved(request: Request, player: User, game: Game) -> HttpResponse:
    """Answer a move that landed: the board for htmx, else a redirect that Back cannot repeat."""
    if _wants_board(request):
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
    template = "games/table.html#board" if _wants_board(request) else "games/table.html"
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


def _wants_board(request: Request) -> bool:
    return bool(request.htmx) and not request.htmx.history_restore_request


def _same_terms(game: Game) -> dict[str, Any]:
    return {"rule_set": game.rule_set, "target": game.target or "round"}


def _table_url(game: Game, query: dict[str, str] | None) -> str:
    return reverse("games:table", args=[game.pk], query=query)
