"""Between a game's row and the engine's state: the public part, and the encrypted hidden part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from . import engine
from .bots import SeenPlay
from .cipher import Undecipherable, decrypt, encrypt
from .engine import GameState, Outcome, Pair, Reason, RoundResult, RoundScore, RuleSet, Seat, Terms
from .models import Challenge, FinishedRound, Game, Play, Seal


class BrokenGame(Exception):
    """A game whose stored row is damaged or cannot be deciphered. It stops; the others go on."""

    def __init__(self, game_id: UUID, why: str) -> None:
        super().__init__(f"game {game_id}: {why}")
        self.game_id = game_id
        self.why = why


def terms_of(game: Game | Challenge) -> Terms:
    """Return the rule set and target of a game or of an offer to play. Raises ``BrokenGame``."""
    try:
        return Terms(RuleSet.from_json(game.rule_set), game.target)
    except engine.BasraError as error:
        raise BrokenGame(game.pk, "its rule set is damaged") from error


def published_anchor(game: Game) -> str:
    """Return the anchor that a selector read with the game. Raises ``BrokenGame``."""
    if game.anchor is None:
        raise BrokenGame(game.pk, "it has no seal")
    return game.anchor


def seal_of(game: Game) -> Seal:
    """Return the seal of a game. Raises ``BrokenGame`` where there is none."""
    seal = Seal.objects.filter(pk=game.pk).first()
    if seal is None:
        raise BrokenGame(game.pk, "it has no seal")
    return seal


def anchor_offered(challenge: Challenge) -> str:
    """Return the anchor under which a challenge is sealed. Raises ``BrokenGame``."""
    try:
        return challenge.seal.anchor
    except Seal.DoesNotExist as error:
        raise BrokenGame(challenge.pk, "it has no seal") from error


def seat_named(game: Game, letter: str) -> Seat:
    """Return the seat that a row of a game names. Raises ``BrokenGame``."""
    try:
        return Seat(letter)
    except ValueError as error:
        raise BrokenGame(game.pk, "a row of it names no seat") from error


def read_play(game: Game, text: str) -> tuple[engine.Card, tuple[engine.Card, ...], engine.Kind]:
    """Return what a stored play did: card, captured cards, kind. Raises ``BrokenGame``."""
    try:
        return engine.read_play(text)
    except engine.BasraError as error:
        raise BrokenGame(game.pk, "a play in its log is damaged") from error


def seen_play(game: Game, row: Play) -> SeenPlay:
    """Return a stored play as both players saw it. Raises ``BrokenGame``."""
    card, captured, _kind = read_play(game, row.text)
    return SeenPlay(seat_named(game, row.seat), card, captured)


def outcome_of(game: Game) -> Outcome | None:
    """Return how a game ended, from its row; ``None`` while it goes on. Raises ``BrokenGame``."""
    if game.status != Game.Status.FINISHED:
        return None
    try:
        return Outcome(Seat(game.winner) if game.winner else None, Reason(game.reason))
    except ValueError as error:
        raise BrokenGame(game.pk, "why it ended is damaged") from error


def read_state(game: Game) -> GameState:
    """Return the state stored in the game's row. Raises ``BrokenGame``."""
    terms = terms_of(game)
    try:
        hidden = decrypt(game.hidden, bound_to=_board(game))
        state = engine.load_state(terms, game.public, hidden)
    except (Undecipherable, engine.BasraError) as error:
        raise BrokenGame(game.pk, str(error)) from error
    if (state.turn or "") != game.turn:
        raise BrokenGame(game.pk, "the turn in its row is not the turn of its cards")
    return state


def write_state(state: GameState, game: Game) -> tuple[dict[str, Any], bytes]:
    """Return the public and the encrypted hidden part to store for ``game`` at its version."""
    public, hidden = engine.dump_state(state)
    return public, encrypt(hidden, bound_to=_board(game))


def _board(game: Game) -> str:
    # Bound to the version as well: an older hidden part put back does not open.
    return f"game {game.pk} at {game.version}"


def dump_result(result: RoundResult) -> dict[str, Any]:
    """Return a finished round's result as JSON; ``load_result`` reads it back."""
    return {
        "cards": list(result.cards),
        "left_over": engine.format_cards(result.left_over),
        "left_over_to": result.left_over_to,
        "score": [_dump_score(score) for score in result.score],
        "totals": list(result.totals),
        "carried": result.carried,
    }


def load_result(finished: FinishedRound) -> RoundResult:
    """Return the result that ``dump_result`` stored for a round. Raises ``BrokenGame``."""
    try:
        return _loaded_result(finished.number, finished.result or {})
    except (LookupError, TypeError, ValueError, engine.BasraError) as error:
        raise BrokenGame(finished.game_id, "the result of a round is damaged") from error


def _loaded_result(number: int, stored: dict[str, Any]) -> RoundResult:
    to = stored["left_over_to"]
    return RoundResult(
        number=number,
        cards=Pair(*stored["cards"]),
        left_over=engine.parse_cards(stored["left_over"]),
        left_over_to=Seat(to) if to else None,
        score=Pair(*(_load_score(score) for score in stored["score"])),
        totals=Pair(*stored["totals"]),
        carried=stored["carried"],
    )


def _dump_score(score: RoundScore) -> dict[str, Any]:
    return {
        "majority": score.majority,
        "carried_won": score.carried_won,
        "basra": score.basra,
        "jack": score.jack,
        "komi": score.komi,
        "singles": [[card.code, points] for card, points in score.singles],
    }


def _load_score(stored: dict[str, Any]) -> RoundScore:
    singles = tuple((engine.Card.parse(code), points) for code, points in stored["singles"])
    return RoundScore(**{**stored, "singles": singles})


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a game is, read from the public part of its row alone."""

    round_number: int
    totals: Pair[int]


def public_standing(game: Game) -> Standing:
    """Return the round and totals of a game without deciphering anything. Raises ``BrokenGame``."""
    try:
        first, second = (int(total) for total in game.public["totals"])
        return Standing(int(game.public["round_number"]), Pair(first, second))
    except (LookupError, TypeError, ValueError) as error:
        raise BrokenGame(game.pk, "the public part of its row is damaged") from error
