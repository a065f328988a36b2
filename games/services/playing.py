"""Playing: a card of a person, the computer's reply, a summary put away.

A move is one transaction guarded by an expected version (docs/architecture.md, "A move"): the
game's row is updated only if its version is still the one the player saw, so of any number of
simultaneous, repeated or late requests one lands and the rest are told apart afterwards.
"""

from __future__ import annotations

import logging
from uuid import UUID

from django.db import IntegrityError, transaction

from accounts.models import User

from .. import bots, engine, selectors
from ..engine import GameState, Seat
from ..models import FinishedRound, Game
from ..models import Play as PlayRow
from ..snapshot import read_play, read_state
from .advancing import StaleBoard, advance, store

logger = logging.getLogger(__name__)


def play_card(
    *, game_id: UUID, player: User, play: engine.Play, version: int, move_id: UUID
) -> Game:
    """Play a card for ``player`` on the board of ``version`` and return the game as it is then.

    A move that landed before (the same ``move_id``, or the same play by the same player on the
    same board) is answered as success. Raises ``GameNotFound``, ``StaleBoard``, ``NotYourTurn``,
    ``GameOver``, ``IllegalPlay`` or ``BrokenGame``; then nothing was changed.
    """
    try:
        with transaction.atomic():
            game = selectors.game_of(player, game_id)
            seat = game.seat_of(player)
            if game.version == version and game.status == Game.Status.RUNNING:
                state, played = engine.play(read_state(game), seat, play)
                led_to = advance(game, state, None, played)
                if store(game, led_to, answered=version, move_id=move_id):
                    return game
                game = selectors.game_of(player, game_id)  # somebody was faster
    except IntegrityError:  # a move that landed on an earlier board, sent for this one
        game = selectors.game_of(player, game_id)
    if _landed_before(game, seat, play, version, move_id):
        return game
    if game.status == Game.Status.FINISHED:
        raise engine.GameOver("The game is over.")
    raise StaleBoard


def _landed_before(game: Game, seat: Seat, play: engine.Play, version: int, move_id: UUID) -> bool:
    rows = PlayRow.objects.filter(game=game, seat=seat)
    for row in rows.filter(move_id=move_id) | rows.filter(answered_version=version, forced=False):
        if row.move_id == move_id:
            return True
        card, captured, _kind = read_play(game, row.text)
        if card == play.card and (play.capture is None or play.capture == frozenset(captured)):
            return True
    return False


def computer_reply(game: Game) -> Game:
    """Play for the computer until it is somebody else's turn; return the game as it is then.

    Each card is a transaction of its own. The computer thinks before it opens, on its seat's view.
    Where it fails it plays a legal card all the same and the failure is logged. When another
    process was faster, that is the end of it.
    """
    while game.turn and game.player(Seat(game.turn)).is_computer:
        state = read_state(game)
        seat = Seat(game.turn)
        play = _computer_choice(game, state, seat)
        with transaction.atomic():
            after, played = engine.play(state, seat, play)
            stored = store(game, advance(game, after, None, played), answered=game.version)
        if not stored:
            return selectors.game_by_id(game.pk)
    return game


def _computer_choice(game: Game, state: GameState, seat: Seat) -> engine.Play:
    view, level = engine.seat_view(state, seat), game.player(seat).level
    legal = engine.legal_plays(state)
    try:
        past = selectors.plays_since_the_deal(game)
        play = bots.choose_play(level, view, bots.seed_of(game.pk, game.plies + 1), past)
        if play in legal:
            return play
        logger.error("the computer chose a play that is not legal", extra={"game": str(game.id)})
    except Exception:  # whatever goes wrong in a computer player, its opponent's game goes on
        logger.exception("the computer failed to choose a play", extra={"game": str(game.id)})
    return legal[0]


def dismiss_summary(*, game: Game, player: User, round_number: int) -> None:
    """Put away the summary of a finished round for ``player``; again or out of turn is harmless."""
    field = game.seen_field(game.seat_of(player))
    if not FinishedRound.objects.filter(
        game=game, number=round_number, result__isnull=False
    ).exists():
        return
    Game.objects.filter(pk=game.pk, **{f"{field}__lt": round_number}).update(
        **{field: round_number}
    )
    game.refresh_from_db(fields=[field])
