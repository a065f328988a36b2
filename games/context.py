"""What every page knows of the player."""

from __future__ import annotations

from functools import cache

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from accounts.guests import player_of

from . import selectors


def waiting(request: HttpRequest) -> dict[str, object]:
    """Give pages ``waiting_count``: how much waits for the player; asked for only where shown.

    And ``asks_count``: how many players ask for friendship.
    """
    player = player_of(request.user)

    @cache
    def counts() -> tuple[int, int]:
        return selectors.waiting_counts(player) if player else (0, 0)

    return {
        "waiting_count": SimpleLazyObject(lambda: counts()[0]),
        "asks_count": SimpleLazyObject(lambda: counts()[1]),
    }
