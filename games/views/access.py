"""What every page asks first: who is there, which game, and can it be read."""

from __future__ import annotations

import logging
import secrets
import uuid
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.guests import player_of
from accounts.models import User
from basra_site.errors import error_response
from basra_site.http import Request

from .. import selectors
from ..forms import signed_proposal
from ..models import Challenge, Game
from ..snapshot import BrokenGame, anchor_offered

logger = logging.getLogger(__name__)

type View = Callable[..., HttpResponseBase]


def says_when_broken(view: View) -> View:
    """Answer a damaged game with a page that says so; the operator finds its id in the log."""

    @wraps(view)
    def answer(request: Request, game_id: UUID) -> HttpResponseBase:
        try:
            return view(request, game_id)
        except BrokenGame as broken:
            logger.error("broken game", extra={"game": str(broken.game_id), "why": broken.why})
            return error_response(
                request,
                HTTPStatus.SERVICE_UNAVAILABLE,
                _("This game is being repaired"),
                _("Its stored cards cannot be read at the moment. Your other games go on."),
                onwards=reverse("games:next", query={"after": str(game_id)}),
            )

    return answer


def player_or_404(request: Request) -> User:
    """Return who is signed in, guests included; answer 404 to a visitor."""
    player = player_of(request.user)
    if player is None:
        raise Http404
    return player


def game_or_404(player: User, game_id: UUID) -> Game:
    """Return a game of ``player``; answer 404, in the same words, to anything else."""
    try:
        return selectors.game_of(player, game_id)
    except selectors.GameNotFound:
        raise Http404 from None


def wants_board(request: Request) -> bool:
    """Return whether htmx asks for a part of the page and not for the whole."""
    return bool(request.htmx) and not request.htmx.history_restore_request


def too_many_games() -> str:
    """Return the sentence for somebody who cannot begin another game."""
    return _(
        "You have as many running games and open offers as one can have. "
        "Finish some or take some back first."
    )


def deal_form(challenge: Challenge, words: str | None) -> dict[str, Any]:
    """Return what ``games/_deal_form.html`` shows; ``words`` are those that were typed, if any."""
    proposed = secrets.token_hex(8)
    return {
        "anchor": anchor_offered(challenge),
        "form_key": uuid.uuid4(),
        "proposal": signed_proposal(challenge.pk, proposed),
        "words": proposed if words is None else words,
        "words_are_typed": words is not None,
    }
