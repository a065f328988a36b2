"""What every page knows of the player."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from accounts.guests import player_of

from . import selectors


def waiting(request: HttpRequest) -> dict[str, object]:
    """Give pages ``waiting_count``: how much waits for the player; asked for only where shown."""
    player = player_of(request.user)
    count = SimpleLazyObject(lambda: selectors.count_waiting(player) if player else 0)
    return {"waiting_count": count}
