"""A guest is signed in for the games, and nobody yet for the pages where one signs in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import AnonymousUser

from .guests import player_of
from .models import User

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse


class GuestsSignInMiddleware:
    """Shows allauth's views a guest as a visitor, and remembers the guest in ``request.guest``.

    Its session stays the guest's until somebody signs in: see ``accounts.joining``.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, *args: Any) -> None:
        """Hide the guest where the view is one of allauth's."""
        del args
        if view.__module__.startswith("allauth."):
            player = player_of(request.user)
            if player is not None and player.is_guest:
                request.guest = player  # type: ignore[attr-defined]
                request.user = AnonymousUser()


def guest_of(request: HttpRequest) -> User | None:
    """Return the guest of whom a page of allauth knows nothing, if there is one."""
    return getattr(request, "guest", None)
