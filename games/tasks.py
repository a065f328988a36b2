"""What Celery runs: thin callers of the services, safe to run twice, late or not at all."""

from __future__ import annotations

import logging
from datetime import timedelta

from celery import shared_task

from . import selectors, services
from .snapshot import BrokenGame

logger = logging.getLogger(__name__)

_INTERRUPTED_FOR = timedelta(seconds=15)
_GAMES_A_RUN = 200


@shared_task
def finish_computer_replies() -> None:
    """Finish the computer's replies that were interrupted. Beat rings every 30 s."""
    waiting = selectors.awaiting_the_computer(for_at_least=_INTERRUPTED_FOR, limit=_GAMES_A_RUN)
    for game_id in waiting:
        try:
            services.computer_reply(selectors.game_by_id(game_id))
        except BrokenGame as broken:
            logger.error("broken game", extra={"game": str(game_id), "why": broken.why})
        except Exception:  # whatever is wrong with one game, the others are served
            logger.exception("a reply could not be finished", extra={"game": str(game_id)})


@shared_task
def close_challenges() -> None:
    """End the offers and games that nobody waits for. Beat rings every 5 min."""
    services.close_challenges()
    services.end_what_was_left()
