"""What a game publishes of its deal, for anybody to check."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.guests import player_of
from basra_site.http import Request

from .. import fairness, selectors
from .access import says_when_broken


@never_cache
@require_safe
@says_when_broken
def fairness_document(request: Request, game_id: UUID) -> HttpResponse:
    """The seal of a game and the secrets of its finished rounds (docs/fair-shuffle.md).

    Both players may read it at any time, everybody once the game is over.
    """
    try:
        game = selectors.game_to_check(player_of(request.user), game_id)
    except selectors.GameNotFound:
        raise Http404 from None
    return JsonResponse(fairness.document(game))
