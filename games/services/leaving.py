"""Somebody's account is deleted: what they leave at the tables of others.

All of it happens in the transaction in which the account goes (``accounts.closing``), and on an
account that is inactive already.
"""

from __future__ import annotations

import logging
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from accounts.models import User

from .. import engine, selectors
from ..models import Challenge, Game, Invitation, UploadedRecord
from ..snapshot import BrokenGame
from .challenges import end_by_key
from .ending import resign

logger = logging.getLogger(__name__)


def leave(player: User) -> None:
    """Give up the running games with people, take back offers, and drop what is nobody else's.

    Finished games with people stay, for they are the others' too. Done again it is harmless. For
    the caller's transaction.
    """
    # Whoever has accepted an offer by now holds this row until the game is there; whoever comes
    # later waits for it and finds that the player is not here any more.
    User.objects.select_for_update().filter(pk=player.pk).first()
    _take_back_offers(player)
    _drop_games_with_the_computer(player)
    _resign_running_games(player)
    UploadedRecord.objects.filter(owner=player).delete()


def end_what_was_left(limit: int = 200) -> int:
    """Give up running games in which a former player sits; return how many that were.

    There should be none: what is missed when somebody leaves would else wait for ever.
    """
    former = User.Kind.FORMER
    left = Game.objects.filter(
        Q(player_a__kind=former) | Q(player_b__kind=former), status=Game.Status.RUNNING
    ).select_related("player_a", "player_b")
    games = list(left.order_by("pk")[:limit])
    for game in games:
        logger.error("a former player still played", extra={"game": str(game.pk)})
        leaver = game.player_a if game.player_a.kind == former else game.player_b
        _resign(game.pk, leaver)
    return len(games)


def on_account_closing(*, user: User, **_sent: Any) -> None:
    """Receive ``accounts.signals.account_closing``."""
    leave(user)


def plays_with_a_person() -> Q:
    """Return the condition that a player is in a running game with another person.

    A game against the computer alone is waited for by nobody once its guest is away.
    """
    running = Game.objects.filter(status=Game.Status.RUNNING)
    as_a = running.filter(player_a=OuterRef("pk")).exclude(player_b__kind=User.Kind.COMPUTER)
    as_b = running.filter(player_b=OuterRef("pk")).exclude(player_a__kind=User.Kind.COMPUTER)
    return Q(Exists(as_a)) | Q(Exists(as_b))


def _take_back_offers(player: User) -> None:
    """Withdraw what the player offers, and decline what was offered to the player alone."""
    waiting = Challenge.objects.filter(state=Challenge.State.WAITING)
    mine = Q(maker=player) | Q(opponent=player) | Q(invitation__recipient=player)
    # By key, in one order: two who have offered each other games may leave at the same time.
    offers = waiting.filter(mine).order_by("pk")
    for key, maker in list(offers.values_list("pk", "maker_id")):
        is_mine = maker == player.pk
        end_by_key(key, Challenge.State.WITHDRAWN if is_mine else Challenge.State.DECLINED)
    invitations = Invitation.objects.filter(Q(challenge__maker=player) | Q(recipient=player))
    invitations.exclude(address="").update(address="")
    Invitation.objects.filter(recipient=player).update(recipient=None)


def _drop_games_with_the_computer(player: User) -> None:
    """Delete what nobody else has played in: games against the computer, and offers of them."""
    computer = User.Kind.COMPUTER
    games = Game.objects.filter(
        Q(player_a=player, player_b__kind=computer) | Q(player_b=player, player_a__kind=computer)
    )
    # The games' rows first, so that no reply of the computer is stored while its game goes.
    locked = Game.objects.select_for_update().filter(
        pk__in=list(games.values_list("pk", flat=True))
    )
    keys = list(locked.order_by("pk").values_list("pk", flat=True))
    Game.objects.filter(pk__in=keys).delete()
    offers = Q(maker=player, opponent__kind=computer) | Q(opponent=player, maker__kind=computer)
    Challenge.objects.filter(offers | Q(pk__in=keys)).delete()


def _resign_running_games(player: User) -> None:
    running = Game.objects.filter(selectors.games_with(player), status=Game.Status.RUNNING)
    for key in list(running.order_by("pk").values_list("pk", flat=True)):
        _resign(key, player)


def _resign(key: UUID, player: User) -> None:
    with transaction.atomic():
        # A move that is on its way lands before, or finds the game over.
        Game.objects.select_for_update().filter(pk=key).first()
        try:
            resign(game_id=key, player=player)
        except engine.GameOver:
            return
        except BrokenGame as broken:  # it has stopped for good or until it is repaired
            logger.error("broken game", extra={"game": str(key), "why": broken.why})
