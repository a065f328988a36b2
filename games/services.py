"""What can happen to a game: one function each, which checks, writes and commits.

A move is one transaction guarded by an expected version (docs/architecture.md, "A move"): the
game's row is updated only if its version is still the one the player saw, so of any number of
simultaneous, repeated or late requests one lands and the rest are told apart afterwards.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction

from accounts.models import User

from . import bots, dealing, engine, selectors
from .dealing import BrokenSeal, SealedDeals
from .engine import GameState, Played, RuleSet, Seat
from .models import Fingerprint, FinishedRound, Game
from .models import Play as PlayRow
from .snapshot import BrokenGame, dump_result, read_state, terms_of, write_state

logger = logging.getLogger(__name__)

COMPUTER_USERNAME = "computer"


class StaleBoard(Exception):
    """The game went on after the board that was answered; nothing was changed."""


class TooManyGames(Exception):
    """The player has as many running games as one can have."""


@dataclass(frozen=True, slots=True)
class _Advance:
    """A state with all that led to it: chosen and forced plays, finished rounds, fresh deals."""

    state: GameState
    plays: tuple[tuple[Played, int, bool], ...]  # with the round's number, and whether forced
    rounds: tuple[FinishedRound, ...]


def computer_player() -> User:
    """Return the user that plays for the computer, made when it is first asked for."""
    computer, _made = User.objects.get_or_create(
        username=COMPUTER_USERNAME,
        defaults={"name": "The computer", "kind": User.Kind.COMPUTER},
    )
    return computer


def seal_computer_game(
    *, player: User, rules: RuleSet, target: int | None, form_key: UUID | None = None
) -> Game:
    """Create a game against the computer and seal its deals; dealing is the next request.

    The human is the one who joins (seat B), so that the words that shape the deal come from the
    human and after the sealing. Posting one form twice (``form_key``) makes one game.
    Raises ``TooManyGames``.
    """
    made = Game.objects.filter(player_b=player, form_key=form_key)
    if form_key is not None and (earlier := made.first()) is not None:
        return earlier
    if selectors.count_open_games(player) >= selectors.MOST_OPEN_GAMES:
        raise TooManyGames
    try:
        with transaction.atomic():
            return seal_game(computer_player(), player, rules, target, form_key)
    except IntegrityError:  # the same form, posted twice at once
        return made.get()


def seal_game(
    player_a: User,
    player_b: User,
    rules: RuleSet,
    target: int | None,
    form_key: UUID | None = None,
) -> Game:
    """Create a game between its creator (seat A) and who joins (seat B), and seal its deals."""
    game = Game.objects.create(
        form_key=form_key,
        player_a=player_a,
        player_b=player_b,
        rule_set=rules.to_json(),
        target=target,
        rules_version=engine.RULES_VERSION,
        shuffle_version=engine.SHUFFLE_VERSION,
    )
    dealing.seal(game)
    return game


def deal_first_round(*, game_id: UUID, player: User, words: str, words_by: Fingerprint.By) -> Game:
    """Freeze the joining player's words and deal round 1.

    Dealing twice with the same words is answered as once. Raises ``GameNotFound``,
    ``InvalidInput`` (the words), ``StaleBoard`` (other words were frozen, or another player is to
    add them) or ``BrokenGame``.
    """
    with transaction.atomic():
        game = selectors.game_of(player, game_id)
        # The row is claimed before the words are frozen: of two deals sent at once one is first.
        claimed = game.player_b_id == player.pk and Game.objects.filter(
            pk=game.pk, status=Game.Status.SEALED
        ).update(status=Game.Status.RUNNING)
        if claimed:
            dealing.freeze_words(game, words, words_by)
            seal = _open_seal(game)
            state = engine.deal(engine.new_game(terms_of(game)), seal.deal(1))
            _store(game, _advance(game, state, seal), answered=game.version)
            return game
    fingerprint = selectors.fingerprint_of(game)
    if fingerprint is None or not dealing.are_frozen(words, fingerprint):
        raise StaleBoard
    return selectors.game_of(player, game_id)


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
                advance = _advance(game, state, None, played)
                if _store(game, advance, answered=version, move_id=move_id):
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
        landed = engine.parse_play(row.text)
        if landed.card == play.card and play.capture in (None, landed.capture):
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
            stored = _store(game, _advance(game, after, None, played), answered=game.version)
        if not stored:
            return selectors.game_by_id(game.pk)
    return game


def _computer_choice(game: Game, state: GameState, seat: Seat) -> engine.Play:
    view = engine.seat_view(state, seat)
    legal = engine.legal_plays(state)
    try:
        play = bots.choose_play(view)
        if play in legal:
            return play
        logger.error("the computer chose a play that is not legal", extra={"game": str(game.id)})
    except Exception:  # whatever goes wrong in a computer player, its opponent's game goes on
        logger.exception("the computer failed to choose a play", extra={"game": str(game.id)})
    return legal[0]


def dismiss_summary(*, game: Game, player: User, round_number: int) -> None:
    """Put away the summary of a finished round for ``player``; again or out of turn is harmless."""
    field = game.seen_field(game.seat_of(player))
    if not FinishedRound.objects.filter(game=game, number=round_number).exists():
        return
    Game.objects.filter(pk=game.pk, **{f"{field}__lt": round_number}).update(
        **{field: round_number}
    )
    game.refresh_from_db(fields=[field])


def _advance(game: Game, state: GameState, seal: SealedDeals | None, *played: Played) -> _Advance:
    """Go on from ``state`` until somebody has a choice: forced plays, round ends and next deals."""
    plays = [(one, state.round_number, False) for one in played]
    rounds: list[FinishedRound] = []
    latest = played[-1] if played else None
    while True:
        if latest is not None and (latest.deals_next or latest.finished):
            seal = seal or _open_seal(game)
            if latest.finished is not None:
                rounds.append(_finished_round(game, state, latest.finished, seal))
                if state.outcome is None:
                    state = engine.deal(state, seal.deal(state.round_number + 1))
            _check_deal(game, state, seal)
        forced = engine.forced_play(state)
        if forced is None or state.turn is None or not _plays_by_itself(game, state.turn):
            return _Advance(state, tuple(plays), tuple(rounds))
        round_number = state.round_number
        state, latest = engine.play(state, state.turn, forced)
        plays.append((latest, round_number, True))


def _plays_by_itself(game: Game, seat: Seat) -> bool:
    return game.player(seat).plays_forced_cards


def _open_seal(game: Game) -> SealedDeals:
    try:
        return dealing.open_seal(game.pk, terms_of(game).rules.replaced)
    except BrokenSeal as error:
        raise BrokenGame(game.pk, str(error)) from error


def _check_deal(game: Game, state: GameState, seal: SealedDeals) -> None:
    try:
        seal.check(state)
    except BrokenSeal as error:
        raise BrokenGame(game.pk, str(error)) from error


def _finished_round(
    game: Game, state: GameState, result: engine.RoundResult, seal: SealedDeals
) -> FinishedRound:
    deal = seal.deal(result.number)
    return FinishedRound(
        game=game,
        number=result.number,
        dealer=_dealer_of_the_last_round(state),
        secret=seal.secret(result.number).hex(),
        deck=engine.format_cards(deal.deck),
        result=dump_result(result),
    )


def _dealer_of_the_last_round(state: GameState) -> Seat:
    if state.next_dealer is None:
        raise ValueError("no round has been dealt")
    return state.next_dealer.other


def _store(game: Game, advance: _Advance, *, answered: int, move_id: UUID | None = None) -> bool:
    """Write the advance if the game is still at version ``answered``; return whether it was.

    One conditional update, then the plays and rounds. ``game`` then holds what was written.
    """
    state = advance.state
    now: datetime = game.now
    first_ply = game.plies
    game.version = answered + 1
    game.plies = first_ply + len(advance.plays)
    game.turn = state.turn or ""
    game.changed_at = now
    game.status = Game.Status.RUNNING
    if state.outcome is not None:
        game.status = Game.Status.FINISHED
        game.winner = state.outcome.winner or ""
        game.reason = state.outcome.reason
        game.finished_at = now
    game.public, game.hidden = write_state(state, game)
    written = Game.objects.filter(pk=game.pk, version=answered, status=Game.Status.RUNNING).update(
        **{field: getattr(game, field) for field in _WRITTEN}
    )
    if not written:
        return False
    PlayRow.objects.bulk_create(
        PlayRow(
            game=game,
            ply=first_ply + number,
            round_number=round_number,
            seat=played.seat,
            text=engine.format_play(played),
            forced=forced,
            answered_version=answered,
            move_id=move_id if number == 1 else None,
            at=now,
        )
        for number, (played, round_number, forced) in enumerate(advance.plays, start=1)
    )
    for finished in advance.rounds:
        finished.at = now
    FinishedRound.objects.bulk_create(advance.rounds)
    return True


_WRITTEN = (
    "version", "plies", "turn", "changed_at", "status", "winner", "reason", "finished_at",
    "public", "hidden",
)  # fmt: skip
