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
    sealed = cast.offer(cast.the_computer(), mona, seed=3)
    tables = [
        ("accounts", "User", rows_of(User, skeleton="name_key")),
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


# As long as there was one computer player.
ONE_COMPUTER = [
    ("accounts", "0002_presence_and_after_move"),
    ("games", "0006_uploaded_record"),
    ("sealing", "0002_tips_of_challenges"),
]


def the_computer_of_before() -> None:
    """Make the tables of Amm Sayed those of the one computer there was."""
    before = migrate(ONE_COMPUTER)
    users = before.get_model("accounts", "User")._default_manager
    assert users.filter(username="computer", name="The computer", kind="computer").count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_newest_state_afterwards")
def test_the_computer_of_before_plays_on_as_amm_sayed() -> None:
    mona = cast.person("Mona")
    medium = User.Level.MEDIUM
    running = cast.play_one(cast.sit_down_with_the_computer(mona, level=medium, seed=1))
    finished = cast.sit_down_with_the_computer(mona, level=medium, seed=2)
    services.resign(game_id=finished.pk, player=mona)
    sealed = cast.offer(cast.the_computer(medium), mona, seed=3)
    the_computer_of_before()
    migrate()

    computer = User.objects.get(kind=User.Kind.COMPUTER)
    assert (computer.level, computer.shown_name) == (medium, "Amm Sayed")
    assert services.computer_player(medium) == computer
    assert User.objects.get(name="Mona").level == ""
    assert services.computer_reply(cast.as_it_is(running)).plies == running.plies + 1
    browser = cast.browser_of(mona)
    home = cast.text_of(cast.look(browser, "home"))
    assert home.count("Against <bdi>Amm Sayed</bdi>") == 3
    assert "You won 0, lost 1." in home
    assert cast.post(browser, "accept", sealed, {"words": "mine"}).status_code == 302
    assert audited() == "3 games audited, 0 damaged"


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_newest_state_afterwards")
def test_a_guest_who_was_called_amm_sayed_before_keeps_the_name_and_the_computer_has_its_own() -> (
    None
):
    cast.the_computer(User.Level.MEDIUM)
    guest = cast.person("Amm Sayed", kind=User.Kind.GUEST)
    the_computer_of_before()
    migrate()
    guest.refresh_from_db()
    assert guest.name == "Amm Sayed"
    assert cast.the_computer(User.Level.MEDIUM).shown_name == "Amm Sayed"


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_newest_state_afterwards")
def test_of_people_whose_names_look_the_same_the_oldest_keeps_it_and_the_others_get_numbers() -> (
    None
):
    computer = cast.the_computer()
    before = migrate([("accounts", "0004_people")])
    users = before.get_model("accounts", "User")._default_manager
    names = ("Karim", "Mona", "Кагім", "Ka-rim", "Karim 2", "M" * 24, "М" * 24, "www.evil.ru")
    for name in names:
        users.create(username=f"of {name}", name=name, skeleton=name.casefold())
    migrate()
    people = User.objects.exclude(pk=computer.pk).order_by("pk")
    assert [person.name for person in people] == [
        "Karim", "Mona", "Кагім 2", "Ka-rim 3", "Karim 2 2", "M" * 24, "М" * 22 + " 2",
        "www evil ru",
    ]  # fmt: skip
    assert cast.the_computer() == computer
    for person in people:
        skeleton = person.skeleton
        person.save()
        assert person.skeleton == skeleton


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_newest_state_afterwards")
def test_everybody_of_before_gets_an_id_of_their_own() -> None:
    before = migrate([("accounts", "0003_levels"), ("games", "0006_uploaded_record")])
    users = before.get_model("accounts", "User")._default_manager
    for number in range(700):
        name = f"Guest {number}"
        fields: Row = {"username": name, "name": name, "name_key": name.casefold()}
        users.create(**fields, kind="guest")
    migrate()
    ids = set(User.objects.values_list("public_id", flat=True))
    assert len(ids) == User.objects.count() >= 700
    assert {one.version for one in ids} == {4}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kind", "level"),
    [("guest", "easy"), ("member", "hard"), ("computer", ""), ("computer", "harder")],
)
def test_the_database_knows_that_computers_and_nobody_else_have_a_level(
    kind: str, level: str
) -> None:
    with pytest.raises(IntegrityError, match="a_level_for_each_computer"), transaction.atomic():
        User.objects.create(username="x", name="X", kind=kind, level=level)
