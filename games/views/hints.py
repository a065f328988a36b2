"""What the computer thinks: a hint on my turn, and why it played a card, told after the round."""

from __future__ import annotations

import logging
from http import HTTPStatus
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.models import User
from basra_site.http import Request

from .. import bots, engine, hints, replaying, selectors
from ..forms import HintForm
from ..models import Game
from ..snapshot import read_state
from .access import game_or_404, player_or_404, says_when_broken
from .table import has_a_summary, table_page

logger = logging.getLogger(__name__)


@never_cache
@require_POST
@says_when_broken
def hint(request: Request, game_id: UUID) -> HttpResponse:
    """Say beside the board what the hard player would play for me, and why. Nothing is changed."""
    player = player_or_404(request)
    game = _game_with_the_computer_or_404(player, game_id)
    form = HintForm(request.POST)
    if not form.is_valid():
        notice = _("The table could not read that. Nothing was changed.")
        return table_page(request, game, player, HTTPStatus.BAD_REQUEST, notice)
    notice = _why_there_is_none(game, player, form.cleaned_data["version"])
    if notice:
        return table_page(request, game, player, HTTPStatus.CONFLICT, notice)
    view = engine.seat_view(read_state(game), game.seat_of(player))
    seed, past = bots.seed_of(game.pk, game.plies + 1), selectors.plays_since_the_deal(game)
    try:
        given = hints.hint(view, seed, past)
    except Exception:  # whatever goes wrong in a computer player, the game goes on
        logger.exception("no hint could be given", extra={"game": str(game.pk)})
        notice = _("No hint can be given here. The game goes on.")
        return table_page(request, game, player, HTTPStatus.CONFLICT, notice)
    return table_page(request, game, player, hint=given)


def _why_there_is_none(game: Game, player: User, version: int) -> str:
    """Return in a sentence why no hint can be given on the board of ``version``, if so."""
    if game.status == Game.Status.FINISHED:
        return _("This game is over, so there is nothing to hint at.")
    if game.version != version:
        return _("The game had gone on since you saw it. Here is the table as it is now.")
    if game.turn != game.seat_of(player):
        return _("It is not your turn. You can ask for a hint when it is.")
    if has_a_summary(game, player):
        return _("Put the summary of the round away first.")
    return ""


@never_cache
@require_safe
@says_when_broken
def why(request: Request, game_id: UUID) -> HttpResponse:
    """Why the computer played a card, with what it saw then, once the round is over."""
    player = player_or_404(request)
    game = _game_with_the_computer_or_404(player, game_id)
    computer = game.player(game.seat_of(player).other)
    try:
        choice = replaying.choice_at(game, request.GET.get("ply", ""))
    except replaying.NoSuchPosition:
        raise Http404 from None
    if choice.view.seat is game.seat_of(player):
        raise Http404
    context = {
        "game_id": game.pk,
        "ply": choice.ply,
        "before": choice.ply - 1,
        "name": computer.shown_name,
        "counts_nothing": computer.level == User.Level.EASY,
        "choice": hints.explanation(
            choice.view,
            choice.play,
            choice.past,
            level=computer.level,
            seed=bots.seed_of(game.pk, choice.ply),
            name=computer.shown_name,
        ),
    }
    return render(request, "games/why.html", context)


def _game_with_the_computer_or_404(player: User, game_id: UUID) -> Game:
    game = game_or_404(player, game_id)
    if not game.player(game.seat_of(player).other).is_computer:
        raise Http404
    return game
