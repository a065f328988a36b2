"""Players, their sessions, and games at which their moves are known in advance."""

from __future__ import annotations

import uuid
from collections import deque
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import HttpRequest

from accounts.guests import keep_signed_in
from accounts.models import User
from games import bots, engine, services
from games.engine import Seat
from games.models import Fingerprint
from games.snapshot import read_state
from games.table import capture_value

if TYPE_CHECKING:
    from games.models import Game

LEVEL = User.Level.MEDIUM
RULES = engine.RULE_SETS[engine.DEFAULT_RULE_SET]


@dataclass(frozen=True, slots=True)
class Move:
    """A play that is legal when its turn comes: who makes it, on which version of the board."""

    player: User
    version: int
    play: engine.Play

    def form(self) -> dict[str, str]:
        """Return what the table's form posts for it."""
        card, capture = self.play.card.code, tuple(sorted(self.play.capture or ()))
        return {
            "card": card,
            f"capture-{card}": capture_value(capture),
            "version": str(self.version),
            "move_id": str(uuid.uuid4()),
        }


def session_of(player: User) -> str:
    """Sign a player in and return the key of the session."""
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore()
    keep_signed_in(request, player)
    request.session.save()
    return str(request.session.session_key)


def dealt_game(joining: User, other: User | None = None, target: int | None = None) -> Game:
    """Return a dealt game between the computer, or `other`, and the player who joins."""
    if other is None:
        challenge = services.challenge_by_the_computer(
            player=joining, level=LEVEL, rules=RULES, target=target
        )
    else:
        challenge = services.make_challenge(player=other, rules=RULES, target=target, listed=False)
    game = services.accept_challenge(
        challenge_id=challenge.pk, player=joining, words="", words_by=Fingerprint.By.OPPONENT
    )
    return services.computer_reply(game)


def next_move(game: Game) -> Move | None:
    """Return the move that the person whose turn it is would make; `None` when the game is over."""
    state = read_state(game)
    if state.turn is None:
        return None
    play = _choice(game, state, state.turn, game.plies + 1)
    return Move(game.player(state.turn), game.version, play)


def _choice(game: Game, state: engine.GameState, seat: Seat, ply: int) -> engine.Play:
    view = engine.seat_view(state, seat)
    return bots.choose_play(LEVEL, view, bots.seed_of(game.pk, ply))


def make(game: Game, move: Move) -> Game:
    """Play a move and the computer's reply, and return the game as it is then."""
    return services.computer_reply(
        services.play_card(
            game_id=game.pk,
            player=move.player,
            play=move.play,
            version=move.version,
            move_id=uuid.uuid4(),
        )
    )


def moves_of_the_round(game: Game) -> deque[Move]:
    """Return all moves that people will make in the round, if everybody plays like the computer.

    The computer's own plays are foreseen, since equal views and seeds give equal plays.
    """
    moves: deque[Move] = deque()
    state, version, plies = read_state(game), game.version, game.plies
    while (seat := state.turn) is not None:
        play = _choice(game, state, seat, plies + 1)
        player = game.player(seat)
        if not player.is_computer:
            moves.append(Move(player, version, play))
        state, plays = _played(state, seat, play)
        version, plies = version + 1, plies + plays
    return moves


def _played(state: engine.GameState, seat: Seat, play: engine.Play) -> tuple[engine.GameState, int]:
    """Return the state after a play and the forced ones that follow, and how many plays that is."""
    state, _played = engine.play(state, seat, play)
    plays = 1
    while state.turn is not None and (forced := engine.forced_play(state)) is not None:
        state, _played = engine.play(state, state.turn, forced)
        plays += 1
    return state, plays
