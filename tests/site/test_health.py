"""/livez and /readyz."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.db import OperationalError
from django.db.backends.utils import CursorWrapper
from django.test import Client
from django.utils import timezone

from basra_site.models import Heartbeat
from basra_site.tasks import beat_heart


def down(*args: Any, **kwargs: Any) -> None:
    raise OperationalError("connection refused")


def test_alive_asks_no_database(client: Client) -> None:
    # Without the mark, pytest-django refuses every access to the database.
    response = client.get("/livez")
    assert response.status_code == 200
    assert response.json() == {"status": "ok"}


@pytest.mark.django_db
def test_ready_with_a_migrated_database(client: Client) -> None:
    response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json() == {
        "status": "ok",
        "database": "ok",
        "migrations": "ok",
        "worker": "never",
    }


@pytest.mark.django_db
def test_ready_asks_the_database_little(client: Client, django_assert_max_num_queries: Any) -> None:
    client.get("/readyz")
    with django_assert_max_num_queries(4):
        client.get("/readyz")


@pytest.mark.django_db
def test_the_worker_is_late_when_its_heart_stopped(client: Client) -> None:
    beat_heart()
    assert client.get("/readyz").json()["worker"] == "ok"
    Heartbeat.objects.update(at=timezone.now() - timedelta(minutes=3))
    response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json()["worker"] == "late"


@pytest.mark.django_db
def test_the_heart_beats_in_one_row() -> None:
    beat_heart()
    beat_heart()
    assert Heartbeat.objects.count() == 1


@pytest.mark.django_db
def test_not_ready_while_a_migration_is_missing(client: Client) -> None:
    with patch(
        "basra_site.health._newest_migrations", return_value=frozenset({("games", "9999_later")})
    ):
        response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["migrations"] == "pending"


@pytest.mark.django_db
def test_without_the_database_a_page_says_so_and_ready_is_not() -> None:
    client = Client(raise_request_exception=False)
    client.cookies["basra-session"] = "a" * 32
    with patch.object(CursorWrapper, "execute", down):
        ready, page = client.get("/readyz"), client.get("/")
    assert ready.status_code == 503
    assert ready.json() == {"status": "unavailable", "database": "down"}
    assert page.status_code == 503
    assert page.headers["Retry-After"] == "5"
    assert "try again in a moment" in page.content.decode()
    assert client.get("/").status_code == 200
