"""An installation of before goes on where it was: the games, their seals, and what guards them."""

from __future__ import annotations

import io
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps.registry import Apps as StateApps
from django.core.management import call_command
from django.db import IntegrityError, connection, models, transaction
from django.db.migrations.executor import MigrationExecutor

from accounts.models import User
from games import engine, services
from games.models import Challenge, Fingerprint, FinishedRound, Game, Play, Seal
from games.sealing.models import SealedTip
from tests import cast

# As long as games were sealed by themselves, before there were challenges.
BEFORE_CHALLENGES = [
    ("accounts", "0001_initial"),
    ("games", "0002_insert_only"),
    ("sealing", "0001_initial"),
]

type Row = dict[str, Any]


def migrate(targets: list[tuple[str, str]] | None = None) -> StateApps:
    """Bring the database to a state, the newest by default, and return the models of that state."""
    executor = MigrationExecutor(connection)
    targets = targets or executor.loader.graph.leaf_nodes()
    executor.migrate(targets)
    return executor.loader.project_state(targets).apps


@pytest.fixture
def _newest_state_afterwards(transactional_db: None) -> Iterator[None]:
    del transactional_db
    yield
    migrate()


def rows_of(model: type[models.Model], **but: str) -> list[Row]:
    """Return the rows of a table; ``but`` gives columns the names that they had before."""
    return [
        {
            but.get(field.attname, field.attname): getattr(row, field.attname)
            for field in model._meta.concrete_fields
        }
        for row in model._default_manager.all()
    ]


def without_ids(rows: list[Row]) -> list[Row]:
    """Leave the numbering to the database, which goes on from there."""
    return [{name: value for name, value in row.items() if name != "id"} for row in rows]


def stored_before(apps: StateApps, app: str, name: str, rows: list[Row]) -> None:
    model = apps.get_model(app, name)
    columns = {field.attname for field in model._meta.concrete_fields}
    for row in rows:
        model._default_manager.create(**{
            column: value for column, value in row.items() if column in columns
        })  # fmt: skip


def games_of_before() -> tuple[Game, Game, Challenge]:
    """Leave a running, a finished and a sealed game as they were stored before challenges."""
    mona, karim = cast.person("Mona"), cast.person("Karim")
    running = cast.play_until_ply(cast.sit_down(mona, karim, target=201, seed=1), 57)
    finished = cast.play_to_the_end(cast.sit_down(karim, mona, seed=2))
    sealed = cast.offer(services.computer_player(), mona, seed=3)
    tables = [
        ("accounts", "User", rows_of(User)),
        ("games", "Game", [*rows_of(Game), a_sealed_game(sealed)]),
        ("games", "Play", without_ids(rows_of(Play))),
        ("games", "FinishedRound", without_ids(rows_of(FinishedRound))),
        ("games", "Seal", rows_of(Seal, challenge_id="game_id")),
        ("games", "Fingerprint", rows_of(Fingerprint)),
        ("sealing", "SealedTip", rows_of(SealedTip, challenge_id="game_id")),
    ]
    for model in (Game, Challenge, User):
        model._default_manager.all().delete()
    before = migrate(BEFORE_CHALLENGES)
    for app, name, rows in tables:
        stored_before(before, app, name, rows)
    return running, finished, sealed


def a_sealed_game(challenge: Challenge) -> Row:
    return {
        "id": challenge.pk,
        "form_key": uuid.uuid4(),
        "status": "sealed",
        "player_a_id": challenge.maker_id,
        "player_b_id": challenge.opponent_id,
        "rule_set": challenge.rule_set,
        "target": challenge.target,
        "rules_version": challenge.rules_version,
        "shuffle_version": challenge.shuffle_version,
        "created_at": challenge.created_at,
        "changed_at": challenge.created_at,
    }


def audited() -> str:
    printed = io.StringIO()
    call_command("audit", stdout=printed)
    return printed.getvalue().strip()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_newest_state_afterwards")
def test_games_of_before_challenges_go_on_and_those_that_were_sealed_wait_for_words() -> None:
    running, finished, sealed = games_of_before()
    migrate()

    assert dict(Seal.objects.values_list("pk", "anchor")) == {
        game.pk: engine.anchor_of(cast.tip_of(seed), engine.ROUNDS_SEALED).hex()
        for seed, game in enumerate((running, finished, sealed), start=1)
    }
    assert dict(Challenge.objects.values_list("pk", "state")) == {
        running.pk: Challenge.State.ACCEPTED,
        finished.pk: Challenge.State.ACCEPTED,
        sealed.pk: Challenge.State.WAITING,
    }
    assert set(Game.objects.values_list("pk", flat=True)) == {running.pk, finished.pk}
    assert audited() == "2 games audited, 0 damaged"

    mona = User.objects.get(name="Mona")
    browser = cast.browser_of(mona)
    page = cast.text_of(cast.look(browser, "home"))
    for block in ("Needs an answer", "Finished"):
        assert f">{block}</h2>" in page
    assert cast.post(browser, "accept", sealed, {"words": "mine"}).status_code == 302
    for game in (running, sealed):
        assert cast.play_one(cast.as_it_is(Game.objects.get(pk=game.pk)))
    assert audited() == "3 games audited, 0 damaged"


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_newest_state_afterwards")
def test_the_database_still_refuses_to_change_a_seal_or_a_fingerprint_of_before() -> None:
    games_of_before()
    migrate()
    assert Seal.objects.count() == 3
    assert Fingerprint.objects.count() == 2
    for rows, column in ((Seal.objects, "anchor"), (Fingerprint.objects, "words_sha256")):
        with pytest.raises(IntegrityError, match="insert-only"), transaction.atomic():
            rows.update(**{column: "0" * 64})
