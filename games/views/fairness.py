"""What a game publishes of its deal, for anybody to check: a page, a document, a program."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.guests import player_of
from basra_site.http import Request

from .. import selectors
from ..fairness import document, fairness_view
from ..models import Game
from .access import says_when_broken

_PROGRAM = settings.BASE_DIR / "tools" / "verify_shuffle.py"
_PROGRAM_TEXT = _PROGRAM.read_bytes()


@never_cache
@require_safe
@says_when_broken
def fairness(request: Request, game_id: UUID) -> HttpResponse:
    """The seal of a game in plain words, and its check in the browser.

    Both players may read it at any time, everybody once the game is over.
    """
    game = _game_to_check(request, game_id)
    context = {
        "fairness": fairness_view(game),
        "at_the_table": request.user in (game.player_a, game.player_b),
    }
    return render(request, "games/fairness.html", context)


@never_cache
@require_safe
@says_when_broken
def fairness_document(request: Request, game_id: UUID) -> HttpResponse:
    """The seal of a game and the secrets of its finished rounds (docs/fair-shuffle.md).

    For the same readers as the page.
    """
    return JsonResponse(document(_game_to_check(request, game_id)))


@require_safe
def verify_shuffle(request: Request) -> HttpResponse:
    """The program that checks the document on a computer of one's own."""
    del request
    return HttpResponse(
        _PROGRAM_TEXT,
        content_type="text/x-python; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{_PROGRAM.name}"'},
    )


def _game_to_check(request: Request, game_id: UUID) -> Game:
    try:
        return selectors.game_to_check(player_of(request.user), game_id)
    except selectors.GameNotFound:
        raise Http404 from None
