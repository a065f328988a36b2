"""Ending a game before its cards do: giving up, calling it off, agreeing to cancel it.

None of these names a version of the board: each means the same on every board. Where a play lands
in between, what is possible is asked again on the board after it.
"""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from uuid import UUID

from django.db import transaction

from accounts.models import User

from .. import engine, selectors
from ..engine import GameState, Reason, Seat
from ..models import Event, FinishedRound, Game
from ..snapshot import read_state
from .advancing import Advance, StaleBoard, log, open_seal, revealed_round, store

MOST_ABORTED_GAMES_A_DAY = 3
PLIES_BETWEEN_OFFERS = 8
"""So many cards must be played before somebody offers again to cancel the game."""

_ATTEMPTS = 5


class Why(StrEnum):
    """Why something cannot be done now."""

    TOO_LATE = "each has played once"
    TOO_OFTEN = "it was done too often"
    NO_OFFER = "there is no offer"
    COMPUTER = "the computer agrees to nothing"


class NotPossible(Exception):
    """This cannot be done now; nothing was changed."""

    def __init__(self, why: Why) -> None:
        super().__init__(why)
        self.why = why


def resign(*, game_id: UUID, player: User) -> Game:
    """Give up, on turn or not; the other player wins. Sent again it is answered as once.

    Raises ``GameNotFound``, ``GameOver`` or ``BrokenGame``.
    """
    return _end(game_id, player, Event.Kind.RESIGNED)


def abort(*, game_id: UUID, player: User) -> Game:
    """Call a game off before each has played once. Nobody wins, but it is counted.

    Three a day: else it would be a free choice of cards. Raises ``GameNotFound``, ``GameOver``,
    ``NotPossible`` or ``BrokenGame``.
    """
    return _end(game_id, player, Event.Kind.ABORTED)


def agree_to_cancel(*, game_id: UUID, player: User) -> Game:
    """End the game uncounted, as the other player offered.

    Raises ``GameNotFound``, ``GameOver``, ``NotPossible`` or ``BrokenGame``.
    """
    return _end(game_id, player, Event.Kind.CANCELLED)


def offer_to_cancel(*, game_id: UUID, player: User) -> Game:
    """Offer to end the game uncounted; where the other player offered it too, that is agreed.

    The offer stays until it is answered or the other player plays on. Raises ``GameNotFound``,
    ``GameOver``, ``NotPossible`` or ``BrokenGame``.
    """
    with transaction.atomic():
        game = selectors.game_of(player, game_id)
        seat = game.seat_of(player)
        if game.status == Game.Status.FINISHED:
            raise engine.GameOver("The game is over.")
        if game.player(seat.other).is_computer:
            raise NotPossible(Why.COMPUTER)
        if game.cancel_offer == seat:
            return game
        if not game.cancel_offer:
            if not may_offer_to_cancel(game, seat):
                raise NotPossible(Why.TOO_OFTEN)
            unanswered = Game.objects.filter(
                pk=game.pk, status=Game.Status.RUNNING, cancel_offer=""
            )
            if unanswered.update(cancel_offer=seat):
                log(game, Event.Kind.CANCEL_OFFERED, seat)
                game.cancel_offer = seat
                return game
    return agree_to_cancel(game_id=game_id, player=player)


def decline_to_cancel(*, game_id: UUID, player: User) -> Game:
    """Answer the other player's offer with no; again is harmless. Raises ``GameNotFound``."""
    with transaction.atomic():
        game = selectors.game_of(player, game_id)
        seat = game.seat_of(player)
        offered = Game.objects.filter(pk=game.pk, cancel_offer=seat.other)
        if offered.update(cancel_offer=""):
            game.cancel_offer = ""
            log(game, Event.Kind.CANCEL_DECLINED, seat)
        return game


def may_be_aborted(game: Game) -> bool:
    """Return whether not each has played once."""
    return game.status == Game.Status.RUNNING and game.plies < len(Seat)


def may_offer_to_cancel(game: Game, seat: Seat) -> bool:
    """Return whether enough cards were played since ``seat`` last offered."""
    offers = Event.objects.filter(game=game, kind=Event.Kind.CANCEL_OFFERED, seat=seat)
    last = offers.order_by("-after_ply").first()
    return last is None or game.plies >= last.after_ply + PLIES_BETWEEN_OFFERS


def _end(game_id: UUID, player: User, how: Event.Kind) -> Game:
    for _attempt in range(_ATTEMPTS):
        with transaction.atomic():
            game = selectors.game_of(player, game_id)
            seat = game.seat_of(player)
            if game.status == Game.Status.FINISHED:
                if Event.objects.filter(game=game, kind=how, seat=seat).exists():
                    return game  # it was this that ended it, sent again
                raise engine.GameOver("The game is over.")
            state = read_state(game)
            ended = _ended(game, state, seat, how)
            broken_off: tuple[FinishedRound, ...] = ()
            if state.round is not None:
                broken_off = (revealed_round(game, state, state.round_number, open_seal(game)),)
            led_to = Advance(ended, (), broken_off)
            agreed_with = seat.other if how is Event.Kind.CANCELLED else None
            if store(game, led_to, answered=game.version, agreed_with=agreed_with):
                log(game, how, seat)
                return game
    raise StaleBoard


def _ended(game: Game, state: GameState, seat: Seat, how: Event.Kind) -> GameState:
    match how:
        case Event.Kind.RESIGNED:
            return engine.resign(state, seat)
        case Event.Kind.ABORTED:
            _check_abort(game, game.player(seat))
            return engine.end(state, Reason.ABORTED)
        case _:
            if game.cancel_offer != seat.other:
                raise NotPossible(Why.NO_OFFER)
            return engine.end(state, Reason.CANCELLED)


def _check_abort(game: Game, player: User) -> None:
    if not may_be_aborted(game):
        raise NotPossible(Why.TOO_LATE)
    # Of two games called off at once the second counts the first (SQLite has one writer anyway).
    User.objects.select_for_update(no_key=True).get(pk=player.pk)
    if selectors.count_aborted(player, within=timedelta(days=1)) >= MOST_ABORTED_GAMES_A_DAY:
        raise NotPossible(Why.TOO_OFTEN)
