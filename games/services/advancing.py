"""From a state to the next moment in which somebody has a choice, and into the database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from .. import dealing, engine
from ..dealing import BrokenSeal, SealedDeals
from ..engine import GameState, Played, Seat
from ..models import Event, FinishedRound, Game
from ..models import Play as PlayRow
from ..snapshot import BrokenGame, dump_result, terms_of, write_state


class StaleBoard(Exception):
    """The game went on after the board that was answered; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Advance:
    """A state with all that led to it: chosen and forced plays, finished rounds, fresh deals."""

    state: GameState
    plays: tuple[tuple[Played, int, bool], ...]  # with the round's number, and whether forced
    rounds: tuple[FinishedRound, ...]


def advance(game: Game, state: GameState, seal: SealedDeals | None, *played: Played) -> Advance:
    """Go on from ``state`` until somebody has a choice: forced plays, round ends and next deals."""
    plays = [(one, state.round_number, False) for one in played]
    rounds: list[FinishedRound] = []
    latest = played[-1] if played else None
    while True:
        if latest is not None and (latest.deals_next or latest.finished):
            seal = seal or open_seal(game)
            if latest.finished is not None:
                number = latest.finished.number
                rounds.append(revealed_round(game, state, number, seal, latest.finished))
                if state.outcome is None:
                    state = engine.deal(state, seal.deal(state.round_number + 1))
            _check_deal(game, state, seal)
        forced = engine.forced_play(state)
        if forced is None or state.turn is None or not _plays_by_itself(game, state.turn):
            return Advance(state, tuple(plays), tuple(rounds))
        round_number = state.round_number
        state, latest = engine.play(state, state.turn, forced)
        plays.append((latest, round_number, True))


def _plays_by_itself(game: Game, seat: Seat) -> bool:
    return game.player(seat).plays_forced_cards


def open_seal(game: Game) -> SealedDeals:
    """Open the deals of a game. Raises ``BrokenGame``."""
    try:
        return dealing.open_seal(game.pk, terms_of(game).rules.replaced)
    except BrokenSeal as error:
        raise BrokenGame(game.pk, str(error)) from error


def _check_deal(game: Game, state: GameState, seal: SealedDeals) -> None:
    try:
        seal.check(state)
    except BrokenSeal as error:
        raise BrokenGame(game.pk, str(error)) from error


def revealed_round(
    game: Game,
    state: GameState,
    number: int,
    seal: SealedDeals,
    result: engine.RoundResult | None = None,
) -> FinishedRound:
    """Return what is published of a round that is final; one that was broken off has no result."""
    return FinishedRound(
        game=game,
        number=number,
        dealer=_dealer_of_the_last_round(state),
        secret=seal.secret(number).hex(),
        deck=engine.format_cards(seal.deal(number).deck),
        result=dump_result(result) if result else None,
    )


def _dealer_of_the_last_round(state: GameState) -> Seat:
    if state.next_dealer is None:
        raise ValueError("no round has been dealt")
    return state.next_dealer.other


def store(
    game: Game,
    led_to: Advance,
    *,
    answered: int,
    move_id: UUID | None = None,
    agreed_with: Seat | None = None,
) -> bool:
    """Write the advance if the game is still at version ``answered``; return whether it was.

    One conditional update, then the plays and rounds. ``game`` then holds what was written. A
    play of one player ends the other's offer to cancel the game. With ``agreed_with`` the offer of
    that seat must still stand.
    """
    first_ply, offer = game.plies, game.cancel_offer
    lapses = bool(offer and led_to.plays and led_to.plays[0][0].seat != offer)
    write_into(game, led_to)
    fields = [*_WRITTEN]
    if lapses or game.status == Game.Status.FINISHED:
        game.cancel_offer = ""
        fields.append("cancel_offer")
    still = Game.objects.filter(pk=game.pk, version=answered, status=Game.Status.RUNNING)
    if agreed_with is not None:
        still = still.filter(cancel_offer=agreed_with)
    if not still.update(**{field: getattr(game, field) for field in fields}):
        return False
    if lapses:
        log(game, Event.Kind.CANCEL_LAPSED, Seat(offer).other, after_ply=first_ply)
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
            at=game.changed_at,
        )
        for number, (played, round_number, forced) in enumerate(led_to.plays, start=1)
    )
    FinishedRound.objects.bulk_create(led_to.rounds)
    return True


def write_into(game: Game, led_to: Advance) -> None:
    """Set the fields of ``game`` to where ``led_to`` leads, one version on; nothing is saved."""
    state = led_to.state
    now: datetime = game.now
    game.version += 1
    game.plies += len(led_to.plays)
    game.turn = state.turn or ""
    game.changed_at = now
    if state.outcome is not None:
        game.status = Game.Status.FINISHED
        game.winner = state.outcome.winner or ""
        game.reason = state.outcome.reason
        game.finished_at = now
    game.public, game.hidden = write_state(state, game)
    for finished in led_to.rounds:
        finished.at = now


def log(game: Game, kind: Event.Kind, seat: Seat, *, after_ply: int | None = None) -> None:
    """Note in the log of the game what ``seat`` did besides playing."""
    game.has_events = True
    Event.objects.create(
        game=game, kind=kind, seat=seat, after_ply=game.plies if after_ply is None else after_ply
    )


_WRITTEN = (
    "version", "plies", "turn", "changed_at", "status", "winner", "reason", "finished_at",
    "public", "hidden",
)  # fmt: skip
