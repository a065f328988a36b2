"""Two players part: one has blocked the other."""

from __future__ import annotations

from typing import Any

from accounts.models import User

from ..models import Challenge, Invitation
from .challenges import end_by_key


def part(blocker: User, blocked: User) -> None:
    """Close what waits between two: what ``blocker`` was offered is declined, the rest taken back.

    That is how it looks to ``blocked`` too. Games that run go on. A challenge that was mailed by
    ``blocker`` stays, for its maker does not know that it went to ``blocked``, and waits for
    nobody from then on.
    """
    waiting = Challenge.objects.filter(state=Challenge.State.WAITING)
    received = waiting.filter(maker=blocked, opponent=blocker)
    mailed = waiting.filter(maker=blocked, invitation__recipient=blocker)
    for challenges, state in (
        (received, Challenge.State.DECLINED),
        (mailed, Challenge.State.DECLINED),
        (waiting.filter(maker=blocker, opponent=blocked), Challenge.State.WITHDRAWN),
    ):
        for key in list(challenges.order_by("pk").values_list("pk", flat=True)):
            end_by_key(key, state)
    theirs = Invitation.objects.filter(challenge__maker=blocker, recipient=blocked)
    theirs.update(recipient=None)


def on_players_parted(*, blocker: User, blocked: User, **_sent: Any) -> None:
    """Receive ``accounts.signals.players_parted``."""
    part(blocker, blocked)
