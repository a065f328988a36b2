"""A player's own language and time zone, for each request."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, available_timezones

from django.conf import settings
from django.utils import timezone, translation

from .guests import player_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse


_HEALTH = ("/livez", "/readyz")


class PreferencesMiddleware:
    """Shows pages in the language and the time of whoever asks, where they have chosen any.

    A browser without a session is not asked who is there, and neither is a health check: it answers
    without the database too.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        asks = settings.SESSION_COOKIE_NAME in request.COOKIES and request.path not in _HEALTH
        player = player_of(request.user) if asks else None
        if player is None:
            return self.get_response(request)
        if player.language in dict(settings.LANGUAGES):
            translation.activate(player.language)
            request.LANGUAGE_CODE = translation.get_language()
        if player.time_zone not in time_zones():
            return self.get_response(request)
        with timezone.override(ZoneInfo(player.time_zone)):
            return self.get_response(request)


def time_zones() -> frozenset[str]:
    """Return the names of the time zones that one can choose."""
    return _TIME_ZONES


# Those named for a place; the others are abbreviations and what is kept for old programs.
_AREAS = (
    "Africa/", "America/", "Antarctica/", "Arctic/", "Asia/", "Atlantic/", "Australia/", "Europe/",
    "Indian/", "Pacific/",
)  # fmt: skip
_TIME_ZONES = frozenset(one for one in available_timezones() if one.startswith(_AREAS)) | {"UTC"}
