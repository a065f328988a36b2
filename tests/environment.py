"""The environment of the tests; loaded by `-p tests.environment`, before the settings are read.

A conftest would be too late: pytest-django reads the settings first.
"""

from __future__ import annotations

import os
import random
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography.fernet import Fernet

if TYPE_CHECKING:
    import pytest

VAR = Path(__file__).resolve().parent.parent / "var" / "tests"

VAR.mkdir(parents=True, exist_ok=True)


def _free_port() -> int:
    """Return a port for the stand-in for Facebook: the settings have to name it before it runs.

    Below those that are given out by the system, so that it stays free until then.
    """
    chance = random.SystemRandom()
    while True:
        port = chance.randrange(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


os.environ.pop("BASRA_ENV_FILE", None)
os.environ.update(
    {
        "BASRA_DEVELOPMENT": "yes",
        "BASRA_VAR": str(VAR),
        "SECRET_KEY": "a key for tests alone, long enough for nobody to mind it",
        "BASRA_CARD_KEYS": Fernet.generate_key().decode("ascii"),
        "ALLOWED_HOSTS": "testserver,localhost,127.0.0.1",
        "DATABASE_URL": os.environ.get("BASRA_TEST_DATABASE_URL", f"sqlite:///{VAR}/site.sqlite3"),
        "FACEBOOK_ORIGIN": f"http://127.0.0.1:{_free_port()}",
        "FACEBOOK_CLIENT_ID": "1234567890",
        "FACEBOOK_CLIENT_SECRET": "test-app-secret",
        "FACEBOOK_GRAPH_VERSION": "v24.0",
        "FACEBOOK_FRIENDS": "yes",
    }
)
os.environ.pop("CELERY_BROKER_URL", None)
os.environ.pop("BASRA_DEBUG", None)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """For the second database, keep the tests that it can tell more of than the first."""
    if os.environ.get("BASRA_TEST_ONLY_DATABASE") != "yes":
        return
    left_out = [item for item in items if not _touches_the_database(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if _touches_the_database(item)]


def _touches_the_database(item: pytest.Item) -> bool:
    if item.get_closest_marker("one_database") is not None:
        return False
    fixtures = getattr(item, "fixturenames", ())
    return item.get_closest_marker("django_db") is not None or "db" in fixtures
