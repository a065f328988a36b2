"""From DATABASE_URL to Django's settings."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection

from basra_site.databases import database

BASE = Path("/srv/basra")


def test_a_sqlite_path_is_below_the_project_or_from_the_root() -> None:
    assert database("sqlite:///var/basra.db", base=BASE)["NAME"] == BASE / "var/basra.db"
    assert database("sqlite:////data/basra.db", base=BASE)["NAME"] == Path("/data/basra.db")


def test_the_tests_use_a_file_of_their_own() -> None:
    entry = database("sqlite:////data/basra.db", base=BASE)
    assert entry["TEST"]["NAME"] == Path("/data/test-basra.db")


def test_postgresql_may_be_reached_over_a_network_or_a_socket() -> None:
    entry = database(
        "postgresql://mona:pass%20word@db.example:5433/games?sslmode=require", base=BASE
    )
    assert entry["NAME"] == "games"
    assert entry["USER"] == "mona"
    assert entry["PASSWORD"] == "pass word"
    assert entry["HOST"] == "db.example"
    assert entry["PORT"] == "5433"
    assert entry["OPTIONS"] == {"sslmode": "require"}
    assert database("postgresql://mona@/games?host=/run/pg", base=BASE)["HOST"] == "/run/pg"


@pytest.mark.parametrize(
    "url", ["", "sqlite:///", "mysql://localhost/basra", "postgresql://mona:secret@[/games"]
)
def test_any_other_address_is_refused_without_telling_the_password(url: str) -> None:
    with pytest.raises(ValueError, match="DATABASE_URL") as refused:
        database(url, base=BASE)
    assert "secret" not in str(refused.value)


@pytest.mark.django_db
def test_sqlite_waits_for_the_disk_at_every_commit() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("about SQLite")
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA synchronous")
        assert cursor.fetchone() == (2,)
