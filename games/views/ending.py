"""Ending a game before its cards do. Giving up and calling off are asked about on a page first."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.names import isolated_name
from basra_site.http import Request

from .. import engine, selectors, services
from ..models import Game
from .access import game_or_404, player_or_404, says_when_broken
from .table import moved, table_page

_OFFER, _AGREE, _DECLINE = "offer", "agree", "decline"


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@says_when_broken
def resign(request: Request, game_id: UUID) -> HttpResponse:
    """Ask once more, then give the game up."""
    player = player_or_404(request)
    if request.method == "POST":
        return _ended(request, game_id, services.resign)
    game = game_or_404(player, game_id)
    other = isolated_name(game.player(game.seat_of(player).other).shown_name)
    consequence = _("The game ends now, and %(name)s wins it.") % {"name": other}
    return _ask(request, game, _("Resign the game?"), consequence, _("Resign"))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@says_when_broken
def abort(request: Request, game_id: UUID) -> HttpResponse:
    """Ask once more, then call the game off."""
    player = player_or_404(request)
    if request.method == "POST":
        return _ended(request, game_id, services.abort)
    game = game_or_404(player, game_id)
    most = services.MOST_ABORTED_GAMES_A_DAY
    consequence = ngettext(
        "Nobody wins or loses. Others see how often you do it: at most %(most)d time a day.",
        "Nobody wins or loses. Others see how often you do it: at most %(most)d times a day.",
        most,
    ) % {"most": most}
    return _ask(request, game, _("Call the game off?"), consequence, _("Call it off"))


@never_cache
@require_POST
@says_when_broken
def cancel(request: Request, game_id: UUID) -> HttpResponse:
    """Offer to end the game uncounted, or answer such an offer."""
    answers = {
        _OFFER: services.offer_to_cancel,
        _AGREE: services.agree_to_cancel,
        _DECLINE: services.decline_to_cancel,
    }
    answer = answers.get(request.POST.get("answer", ""))
    if answer is None:
        player = player_or_404(request)
        notice = _("The table could not read that. Nothing was changed.")
        game = game_or_404(player, game_id)
        return table_page(request, game, player, HTTPStatus.BAD_REQUEST, notice)
    return _ended(request, game_id, answer)


def _ask(
    request: Request, game: Game, question: str, consequence: str, button: str
) -> HttpResponse:
    if game.status == Game.Status.FINISHED:
        return redirect("games:table", game.pk)
    context = {
        "game_id": game.pk,
        "question": question,
        "consequence": consequence,
        "button": button,
    }
    return render(request, "games/ask.html", context)


def _ended(request: Request, game_id: UUID, service: Callable[..., Game]) -> HttpResponse:
    player = player_or_404(request)
    try:
        game = service(game_id=game_id, player=player)
    except selectors.GameNotFound:
        raise Http404 from None
    except engine.GameOver:
        notice = _("This game is over already. Nothing was changed.")
    except services.NotPossible as refused:
        notice = _sentence(refused.why)
    except services.StaleBoard:
        notice = _("The table moved on at the same moment. Please try again.")
    else:
        return moved(request, player, game)
    game = game_or_404(player, game_id)
    return table_page(request, game, player, HTTPStatus.CONFLICT, notice)


def _sentence(why: services.Why) -> str:
    match why:
        case services.Why.TOO_LATE:
            return _("Each of you has played already, so the game cannot be called off.")
        case services.Why.TOO_OFTEN:
            return _("You did that too often lately. Please play on for now.")
        case services.Why.NO_OFFER:
            return _("There is no such offer any more. The game goes on.")
        case services.Why.COMPUTER:
            return _("The computer always plays on. You can resign.")
