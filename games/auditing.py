"""Proving that what is stored is what was played.

A game is replayed from its seal and its plays alone; everything else in its rows, the snapshot
included, must come out of that. Nothing is repaired: the audit only names what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from . import dealing, engine, selectors
from .dealing import BrokenSeal, SealedDeals
from .engine import BasraError, GameState, Played, Reason, Seat
from .models import Challenge, FinishedRound, Game, Play
from .snapshot import BrokenGame, dump_result, read_state, terms_of


def problems_of(game: Game) -> list[str]:
    """Return everything that is wrong with a game's rows, in sentences; empty for a sound game."""
    return list(_problems(game))


def _problems(game: Game) -> Iterator[str]:
    versions = (game.rules_version, game.shuffle_version)
    if versions != (engine.RULES_VERSION, engine.SHUFFLE_VERSION):
        yield "nothing here knows its versions of the rules and of the shuffle"
        return
    if game.anchor is None:
        yield "it has no seal"
        return
    yield from _problems_of_terms(game)
    try:
        seal = dealing.open_seal(game.pk, terms_of(game).rules.replaced)
    except (BrokenSeal, BrokenGame) as error:
        yield str(error)
        return
    plays = list(selectors.all_plays(game))
    rounds = list(selectors.finished_rounds(game))
    if [play.ply for play in plays] != list(range(1, len(plays) + 1)):
        yield "its plies are not counted 1, 2, 3 …"
    if len(plays) != game.plies:
        yield f"it counts {game.plies} plies, but has {len(plays)}"
    yield from _problems_of_versions(game, plays)
    try:
        state, results = _replayed(game, seal, plays)
    except _Wrong as wrong:
        yield str(wrong)
        return
    if _broken_off(game) and state.round is not None:
        results[state.round_number] = (state.round.dealer, None)
    yield from _problems_of_rounds(seal, rounds, results)
    yield from _problems_of_row(game, state)


class _Wrong(Exception):
    """The first play that does not follow from the seal and the plays before it."""


def _problems_of_terms(game: Game) -> Iterator[str]:
    challenge = Challenge.objects.filter(pk=game.pk).first()
    if challenge is None or challenge.state != Challenge.State.ACCEPTED:
        yield "there is no challenge that was accepted"
        return
    for name in ("rule_set", "target", "rules_version", "shuffle_version"):
        if getattr(game, name) != getattr(challenge, name):
            yield f"its {name} is not what was offered"
    if game.player_a_id != challenge.maker_id:
        yield "its seat A is not who made the challenge"
    if challenge.opponent_id not in (None, game.player_b_id):
        yield "its seat B is not who was challenged"


def _broken_off(game: Game) -> bool:
    return game.reason in list(Reason) and Reason(game.reason).breaks_off


def _problems_of_versions(game: Game, plays: list[Play]) -> Iterator[str]:
    # The deal made version 1; after that every version answers the one before with a play, but
    # for the last one of a game that was broken off.
    answered = [version for version, _plays in groupby(play.answered_version for play in plays)]
    led_to = game.version - _broken_off(game)
    if answered != list(range(1, led_to)):
        yield f"its plays do not lead to version {game.version}"


def _replayed(
    game: Game, seal: SealedDeals, plays: list[Play]
) -> tuple[GameState, dict[int, tuple[Seat, engine.RoundResult | None]]]:
    state = engine.deal(engine.new_game(terms_of(game)), seal.deal(1))
    results: dict[int, tuple[Seat, engine.RoundResult | None]] = {}
    for play in plays:
        if state.round is None and state.outcome is None:
            state = engine.deal(state, seal.deal(state.round_number + 1))
        dealer = state.round.dealer if state.round is not None else None
        state, played = _replay_one(state, play)
        if played.finished is not None and dealer is not None:
            results[played.finished.number] = (dealer, played.finished)
    if state.round is None and state.outcome is None:
        state = engine.deal(state, seal.deal(state.round_number + 1))
    return state, results


def _replay_one(state: GameState, play: Play) -> tuple[GameState, Played]:
    where = f"ply {play.ply} ({play.seat} {play.text})"
    try:
        card, captured, _kind = engine.read_play(play.text)
        if play.round_number != state.round_number:
            raise _Wrong(f"{where} stands in round {play.round_number}, not {state.round_number}")
        after, played = engine.play(state, Seat(play.seat), engine.Play(card, frozenset(captured)))
    except (BasraError, ValueError) as error:
        raise _Wrong(f"{where} does not follow: {error}") from error
    if engine.format_play(played) != play.text:
        raise _Wrong(f"{where} did {engine.format_play(played)}")
    return after, played


def _problems_of_rounds(
    seal: SealedDeals,
    rounds: list[FinishedRound],
    results: dict[int, tuple[Seat, engine.RoundResult | None]],
) -> Iterator[str]:
    if [finished.number for finished in rounds] != sorted(results):
        yield "its finished rounds are not the rounds that were played"
        return
    for finished in rounds:
        dealer, result = results[finished.number]
        facts = {
            "dealer": (finished.dealer, dealer),
            "secret": (finished.secret, seal.secret(finished.number).hex()),
            "deck": (finished.deck, engine.format_cards(seal.deal(finished.number).deck)),
            "result": (finished.result, dump_result(result) if result else None),
        }
        for name, (stored, replayed) in facts.items():
            if stored != replayed:
                yield f"the {name} of round {finished.number} is not what was played"


def _problems_of_row(game: Game, state: GameState) -> Iterator[str]:
    outcome = state.outcome
    if outcome is None and _broken_off(game):
        # The plays cannot say why a game was broken off; the row does, and the snapshot with it.
        try:
            stated = Seat(game.winner) if game.winner else None
            state = engine.end(state, Reason(game.reason), stated)
        except BasraError as error:
            yield str(error)
        outcome = state.outcome
    finished = outcome is not None
    status = Game.Status.FINISHED if finished else Game.Status.RUNNING
    if game.status != status:
        yield f"it is {game.status}, but should be {status}"
    if game.turn != (state.turn or ""):
        yield f"it says that {game.turn or 'nobody'} is to play, not {state.turn or 'nobody'}"
    if game.winner != ((outcome.winner or "") if outcome else ""):
        yield "its winner is not who won"
    if game.reason != (outcome.reason if outcome else ""):
        yield "its reason is not why it ended"
    if finished != (game.finished_at is not None):
        yield "the time of its end does not fit its status"
    if finished and game.cancel_offer:
        yield "it is over, but an offer to cancel it stands"
    if max(game.seen_a, game.seen_b) > state.rounds_counted:
        yield "the summary of a round was put away that is not finished"
    try:
        if read_state(game) != state:
            yield "its snapshot is not what its plays lead to"
    except BrokenGame as broken:
        yield f"its snapshot cannot be read: {broken.why}"
