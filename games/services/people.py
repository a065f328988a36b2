"""What becomes of games when people change: a guest who becomes a member keeps them all."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import User

from .. import engine, selectors
from ..engine import Reason
from ..models import Challenge, Event, FinishedRound, Game, Invitation, UploadedRecord
from ..snapshot import BrokenGame, read_state
from .advancing import Advance, StaleBoard, log, open_seal, revealed_round, store

_ATTEMPTS = 5


def take_over(*, guest: User, member: User) -> None:
    """Seat ``member`` wherever ``guest`` sits, and hand over challenges, invitations and uploads.

    A running game of the two against each other ends uncounted, since they were one person, and
    what they have offered each other is withdrawn; at those tables the guest stays. Again is
    harmless. Nothing but the player is changed, so that a play that lands meanwhile lands.
    """
    with transaction.atomic():
        _hold_all_of(guest)
        both = Q(maker=guest, opponent=member) | Q(maker=member, opponent=guest)
        waiting = Challenge.objects.filter(both, state=Challenge.State.WAITING)
        waiting.update(state=Challenge.State.WITHDRAWN, answered_at=Now())
        # The challenges first: a game that one of them has just become is found below.
        made = Challenge.objects.filter(maker=guest)
        made.exclude(opponent=member).update(maker=member)
        Challenge.objects.filter(opponent=guest).exclude(maker=member).update(opponent=member)
        Invitation.objects.filter(recipient=guest, challenge__maker=member).update(recipient=None)
        Invitation.objects.filter(recipient=guest).update(recipient=member)
        UploadedRecord.objects.filter(owner=guest).update(owner=member)
        one_person = Q(player_a=guest, player_b=member) | Q(player_a=member, player_b=guest)
        running = Game.objects.filter(one_person, status=Game.Status.RUNNING)
        for game_id in list(running.values_list("pk", flat=True)):
            _end_between(guest, member, game_id)
        Game.objects.filter(player_a=guest).exclude(player_b=member).update(player_a=member)
        Game.objects.filter(player_b=guest).exclude(player_a=member).update(player_b=member)


def _hold_all_of(guest: User) -> None:
    """Wait for all that will be changed, in the order in which everybody waits.

    Two guests who have played each other may join at the same time.
    """
    challenges = Challenge.objects.filter(Q(maker=guest) | Q(opponent=guest))
    games = Game.objects.filter(selectors.games_with(guest))
    for rows in (challenges, games):
        held = rows.select_for_update(no_key=True).order_by("pk")
        list(held.values_list("pk", flat=True))


def on_guest_joined(*, guest: User, member: User, **_signal: Any) -> None:
    """Receive ``accounts.signals.guest_joined``."""
    take_over(guest=guest, member=member)


def _end_between(guest: User, member: User, game_id: Any) -> None:
    """End the game of somebody against themselves; it does not count."""
    for _attempt in range(_ATTEMPTS):
        game = selectors.game_of(guest, game_id)
        if game.status == Game.Status.FINISHED:
            return
        try:
            state = read_state(game)
            rounds: tuple[FinishedRound, ...] = ()
            if state.round is not None:
                rounds = (revealed_round(game, state, state.round_number, open_seal(game)),)
            led_to = Advance(engine.end(state, Reason.CANCELLED), (), rounds)
        except BrokenGame:
            return  # it has stopped already, and the sign-in must go on
        if store(game, led_to, answered=game.version):
            log(game, Event.Kind.SAME_PERSON, game.seat_of(member))
            return
    raise StaleBoard
