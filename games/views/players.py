"""The page of a player."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.friends import NoSuchPlayer, player_at
from accounts.guests import player_of
from basra_site.http import Request

from .. import profiles


@never_cache
@require_safe
def player(request: Request, player_id: UUID) -> HttpResponse:
    """What a player shows to whoever asks, and what one can do about them."""
    try:
        about = player_at(player_id)
    except NoSuchPlayer:
        raise Http404 from None
    viewer = player_of(request.user)
    context = {"profile": profiles.profile_of(about, viewer), "who": about, "viewer": viewer}
    response = render(request, "games/profile.html", context)
    # A player is nobody's search result.
    response["X-Robots-Tag"] = "noindex"
    return response
