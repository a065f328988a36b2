"""`manage.py audit`: clean for what was played, and naming what was damaged by hand."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from accounts.models import User
from games import engine, services
from games.engine import Reason, Seat
from games.models import Game
from games.services.advancing import open_seal, revealed_round
from games.snapshot import write_state
from tests import cast

pytestmark = pytest.mark.django_db


def audit(*games: Game) -> tuple[list[str], str | None]:
    """Return what the audit prints, line by line, and how it ends if it ends with an error."""
    printed = io.StringIO()
    try:
        call_command("audit", *(str(game.pk) for game in games), stdout=printed)
    except CommandError as error:
        return printed.getvalue().splitlines(), str(error)
    return printed.getvalue().splitlines(), None


def between_computers(seed: int, *, rules: str = "standard", target: int | None = None) -> Game:
    easy, medium = cast.the_computer(User.Level.EASY), cast.the_computer(User.Level.MEDIUM)
    return services.computer_reply(
        cast.sit_down(easy, medium, rules=rules, target=target, seed=seed)
    )


def test_games_of_the_computer_against_itself_are_clean() -> None:
    for seed in range(8):
        rules = list(engine.RULE_SETS)[seed % 4]
        game = between_computers(seed, rules=rules, target=(None, 51)[seed // 4])
        assert game.status == Game.Status.FINISHED
    assert audit() == (["8 games audited, 0 damaged"], None)


def test_games_at_every_stage_are_clean_and_nothing_is_changed() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    cast.offer(mona, karim, seed=1)
    for number, ply in enumerate((0, 1, 7, 20, 47, 49, 100)):
        cast.play_until_ply(cast.sit_down(mona, karim, target=201, seed=10 + number), ply)
    cast.play_one(cast.sit_down_with_the_computer(mona, seed=2))
    stored = cast.everything_stored()
    assert audit() == (["8 games audited, 0 damaged"], None)
    assert cast.everything_stored() == stored


@pytest.mark.parametrize(
    ("reason", "winner"),
    [
        (Reason.RESIGNED, Seat.B),
        (Reason.ABORTED, None),
        (Reason.CANCELLED, None),
        (Reason.TIME, Seat.A),
    ],
)
def test_a_game_that_was_broken_off_is_clean(reason: Reason, winner: Seat | None) -> None:
    game = cast.play_until_ply(cast.sit_down(cast.person("Mona"), cast.person("Karim")), 5)
    before = cast.state_of(game)
    state = engine.end(before, reason, winner)
    opened = revealed_round(game, before, 1, open_seal(game))
    opened.at = game.now
    opened.save()
    game.version += 1
    game.public, game.hidden = write_state(state, game)
    game.status, game.turn = Game.Status.FINISHED, ""
    game.reason, game.winner, game.finished_at = reason, winner or "", game.now
    game.save()
    assert audit(game) == (["1 games audited, 0 damaged"], None)


def test_only_the_games_that_are_named_are_audited() -> None:
    first, second = between_computers(1), between_computers(2)
    assert audit(first) == (["1 games audited, 0 damaged"], None)
    assert audit(first, second)[0] == ["2 games audited, 0 damaged"]


type Value = str | int | bytes | UUID


def sql(statement: str, *values: Value) -> None:
    """Damage something, as somebody at the database could."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        assert cursor.rowcount == 1


@contextmanager
def triggers_off(table: str) -> Iterator[None]:
    """What the owner of a database can do and nobody else."""
    name = f"{table}_insert_only"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL session_replication_role = replica")
            yield
            cursor.execute("SET LOCAL session_replication_role = DEFAULT")
            return
        cursor.execute("SELECT sql FROM sqlite_master WHERE name = %s", [name])
        (created,) = cursor.fetchone()
        cursor.execute(f"DROP TRIGGER {name}")
        yield
        cursor.execute(created)


def key(game: Game) -> Value:
    return game.pk if connection.vendor == "postgresql" else game.pk.hex


def set_game(game: Game, column: str, value: Value) -> None:
    sql(f"UPDATE games_game SET {column} = %s WHERE id = %s", value, key(game))  # noqa: S608 - ours


def set_challenge(game: Game, column: str, value: Value) -> None:
    sql(f"UPDATE games_challenge SET {column} = %s WHERE id = %s", value, key(game))  # noqa: S608 - ours


def somebody_else(game: Game) -> int:
    """The key of a player who does not sit at the table."""
    seated = (game.player_a_id, game.player_b_id)
    return int(User.objects.exclude(pk__in=seated).values_list("pk", flat=True)[0])


def set_play(game: Game, column: str, value: Value, ply: int = 9) -> None:
    sql(
        f"UPDATE games_play SET {column} = %s WHERE game_id = %s AND ply = %s",  # noqa: S608 - ours
        value, key(game), ply,
    )  # fmt: skip


def set_round(game: Game, column: str, value: Value) -> None:
    sql(
        f"UPDATE games_finishedround SET {column} = %s WHERE game_id = %s AND number = 1",  # noqa: S608 - ours
        value, key(game),
    )  # fmt: skip


def public(game: Game, **changed: object) -> str:
    return json.dumps({**game.public, **changed})


def result(game: Game, **changed: object) -> str:
    return json.dumps({**(game.finished_rounds.get(number=1).result or {}), **changed})


def another_secret(game: Game) -> str:
    return engine.secret_of_round(cast.tip_of(1), 128, 2).hex()


def anchor_changed(game: Game) -> None:
    with triggers_off("games_seal"):
        sql("UPDATE games_seal SET anchor = %s WHERE challenge_id = %s", "0" * 64, key(game))


def words_changed(game: Game) -> None:
    with triggers_off("games_fingerprint"):
        sql(
            "UPDATE games_fingerprint SET words_sha256 = %s WHERE game_id = %s", "0" * 64, key(game)
        )


def other_card(game: Game, ply: int) -> str:
    """A card that was played later in the round."""
    return str(engine.parse_play(game.plays.get(ply=ply + 2).text).card)


def play_removed(game: Game, ply: int) -> None:
    sql("DELETE FROM games_play WHERE game_id = %s AND ply = %s", key(game), ply)


def play_added(game: Game) -> None:
    row = game.plays.latest("ply")
    row.pk, row.ply, row.move_id = None, row.ply + 1, None
    row.save(force_insert=True)


OTHER_SEAT = {"A": "B", "B": "A", "": "A"}

# A game of one round that is finished, and a game to 201 in its second round.
DAMAGES: dict[str, tuple[Callable[[Game], None], str]] = {
    "a play's card": (
        lambda game: set_play(game, "text", other_card(game, 9)), "does not follow|did"),
    "a play's capture": (
        lambda game: set_play(game, "text", f"{other_card(game, 8)}:AS+2S"), "does not follow|did"),
    "a play's mark": (
        lambda game: set_play(game, "text", game.plays.get(ply=9).text + "*J"), "not follow|did"),
    "a play that is no play": (lambda game: set_play(game, "text", "7X"), "does not follow"),
    "a play's seat": (
        lambda game: set_play(game, "seat", OTHER_SEAT[game.plays.get(ply=9).seat]),
        "does not follow"),
    "a play's seat that is no seat": (lambda game: set_play(game, "seat", "C"), "does not follow"),
    "a play's round": (lambda game: set_play(game, "round_number", 2, ply=5), "stands in round"),
    "a play's version": (lambda game: set_play(game, "answered_version", 99), "lead to version"),
    "a play removed": (lambda game: play_removed(game, 9), "plies are not counted"),
    "the last play removed": (lambda game: play_removed(game, game.plies), "plies, but has"),
    "a gap in the plies": (lambda game: set_play(game, "ply", 900), "plies are not counted"),
    "a play added": (play_added, "plies, but has"),
    "the count of plies": (lambda game: set_game(game, "plies", 7), "it counts 7 plies"),
    "the version": (lambda game: set_game(game, "version", game.version + 1), "lead to version"),
    "the turn": (lambda game: set_game(game, "turn", OTHER_SEAT[game.turn]), "is to play, not"),
    "the totals": (
        lambda game: set_game(game, "public", public(game, totals=[1, 2])), "snapshot"),
    "the carried points": (
        lambda game: set_game(game, "public", public(game, carried=30)), "snapshot"),
    "the whole public part": (lambda game: set_game(game, "public", "{}"), "snapshot"),
    "the hidden part": (lambda game: set_game(game, "hidden", b"x"), "snapshot"),
    "the winner": (lambda game: set_game(game, "winner", OTHER_SEAT[game.winner]), "winner"),
    "the reason": (lambda game: set_game(game, "reason", "round_limit"), "reason"),
    "the status": (
        lambda game: set_game(
            game, "status", "running" if game.status == "finished" else "finished"),
        "should"),
    "a status that is none": (lambda game: set_game(game, "status", "sealed"), "should"),
    "who made the challenge": (
        lambda game: set_challenge(game, "maker_id", somebody_else(game)), "seat A"),
    "who was challenged": (
        lambda game: set_challenge(game, "opponent_id", somebody_else(game)), "seat B"),
    "the terms that were offered": (
        lambda game: set_challenge(game, "target", 121), "target is not what was offered"),
    "the rules that were offered": (
        lambda game: set_challenge(game, "rule_set", '"standard"'), "not what was offered"),
    "the answer to the challenge": (
        lambda game: set_challenge(game, "state", "declined"), "no challenge that was accepted"),
    "the rule set": (lambda game: set_game(game, "rule_set", '"egyptian_basra"'), ""),
    "an unknown rule set": (lambda game: set_game(game, "rule_set", '"poker"'), "rule set"),
    "the version of the rules": (lambda game: set_game(game, "rules_version", 99), "versions of"),
    "the version of the shuffle": (
        lambda game: set_game(game, "shuffle_version", "basra-shuffle-v0"), "versions of"),
    "the summaries seen": (lambda game: set_game(game, "seen_b", 9), "put away"),
    "a round's result": (
        lambda game: set_round(game, "result", result(game, totals=[500, 0])), "the result of"),
    "a round's secret": (
        lambda game: set_round(game, "secret", another_secret(game)), "the secret of"),
    "a round's deck": (
        lambda game: set_round(game, "deck", engine.format_cards(engine.PACK)), "the deck of"),
    "a round's dealer": (
        lambda game: set_round(
            game, "dealer", OTHER_SEAT[game.finished_rounds.get(number=1).dealer]),
        "the dealer of"),
    "a round's number": (lambda game: set_round(game, "number", 5), "finished rounds"),
    "a round removed": (
        lambda game: sql("DELETE FROM games_finishedround WHERE game_id = %s", key(game)),
        "finished rounds"),
    "the anchor": (anchor_changed, "anchor"),
    "the words": (words_changed, ""),
    "the tip": (
        lambda game: sql(
            "UPDATE sealing_sealedtip SET tip = %s WHERE challenge_id = %s", b"x", key(game)),
        "tip cannot be read"),
    "the tip removed": (
        lambda game: sql("DELETE FROM sealing_sealedtip WHERE challenge_id = %s", key(game)),
        "seal is not complete"),
    "the words removed": (
        lambda game: sql("DELETE FROM games_fingerprint WHERE game_id = %s", key(game)),
        "seal is not complete"),
    "the seal removed": (
        lambda game: sql("DELETE FROM games_seal WHERE challenge_id = %s", key(game)), "no seal"),
}  # fmt: skip


@pytest.mark.parametrize("stage", ["finished", "running"])
def test_every_damage_is_named_and_the_sound_game_beside_it_is_not(stage: str) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    cast.person("Salma")
    target, ply = (None, 48) if stage == "finished" else (201, 61)
    damaged = cast.play_until_ply(cast.sit_down(mona, karim, target=target, seed=1), ply)
    sound = cast.play_until_ply(cast.sit_down(mona, karim, target=target, seed=2), ply)
    assert damaged.status == stage
    assert audit()[1] is None
    for name, (damage, says) in DAMAGES.items():
        with transaction.atomic():
            damage(cast.as_it_is(damaged))
            lines, ended = audit()
            transaction.set_rollback(True)
        assert ended == "2 games audited, 1 damaged", name
        assert lines, name
        assert all(line.startswith(f"game {damaged.pk}: ") for line in lines), name
        assert any(re.search(says, line) for line in lines), (name, lines)
        assert not [line for line in lines if str(sound.pk) in line], name
    assert audit()[1] is None


def test_an_offer_to_cancel_stands_in_a_running_game_only() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    running, finished = cast.sit_down(mona, karim, seed=1), cast.sit_down(mona, karim, seed=2)
    cast.play_to_the_end(finished)
    for game in (running, finished):
        set_game(game, "cancel_offer", "A")
    lines, ended = audit()
    assert ended == "2 games audited, 1 damaged"
    assert lines == [f"game {finished.pk}: it is over, but an offer to cancel it stands"]
