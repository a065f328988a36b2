"""The environment of the tests; loaded by `-p tests.environment`, before the settings are read.

A conftest would be too late: pytest-django reads the settings first.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography.fernet import Fernet

if TYPE_CHECKING:
    import pytest

VAR = Path(__file__).resolve().parent.parent / "var" / "tests"

VAR.mkdir(parents=True, exist_ok=True)
os.environ.pop("BASRA_ENV_FILE", None)
os.environ.update(
    {
        "BASRA_DEVELOPMENT": "yes",
        "BASRA_VAR": str(VAR),
        "SECRET_KEY": "a key for tests alone, long enough for nobody to mind it",
        "BASRA_CARD_KEYS": Fernet.generate_key().decode("ascii"),
        "ALLOWED_HOSTS": "testserver,localhost,127.0.0.1",
        "DATABASE_URL": os.environ.get("BASRA_TEST_DATABASE_URL", f"sqlite:///{VAR}/site.sqlite3"),
    }
)
os.environ.pop("CELERY_BROKER_URL", None)
os.environ.pop("BASRA_DEBUG", None)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """For the second database, keep the tests that touch one: the others told all they can."""
    if os.environ.get("BASRA_TEST_ONLY_DATABASE") != "yes":
        return
    left_out = [item for item in items if not _touches_the_database(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if _touches_the_database(item)]


def _touches_the_database(item: pytest.Item) -> bool:
    fixtures = getattr(item, "fixturenames", ())
    return item.get_closest_marker("django_db") is not None or "db" in fixtures
