"""When somebody was here last: coarse on purpose, and a write only now and then."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.translation import gettext as _

from .guests import player_of
from .models import User

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

NOTED_EVERY = timedelta(minutes=5)
_HERE_NOW = 2 * NOTED_EVERY


class PresenceMiddleware:
    """Notes the visit of a signed-in player, at most once in ``NOTED_EVERY``.

    A poll is no visit: a page that was left open somewhere asks for ever.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if "HX-PTag" not in request.headers and response.status_code < 500:
            _note(request)
        return response


def _note(request: HttpRequest) -> None:
    # A page that never asked who is there does not load the user for this.
    user = player_of(request.user) if getattr(request, "_cached_user", None) else None
    now = timezone.now()
    if user is not None and now - user.seen_at > NOTED_EVERY:
        User.objects.filter(pk=user.pk).update(seen_at=now)


def how_lately(user: User) -> str:
    """Return in coarse words when ``user`` was here. Ask ``relations.may_see_presence`` first."""
    away = timezone.now() - user.seen_at
    if away < _HERE_NOW:
        return _("here now")
    if away < timedelta(days=1):
        return _("here within the last day")
    if away < timedelta(days=7):
        return _("here within the last week")
    return _("not here for more than a week")
