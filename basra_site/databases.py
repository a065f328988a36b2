"""From DATABASE_URL to Django's DATABASES."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

if TYPE_CHECKING:
    from pathlib import Path

SQLITE = "sqlite:///"
POSTGRESQL = ("postgresql://", "postgres://")

# SQLite can damage a database in WAL mode that several processes write, up to 3.51.2.
WAL_IS_SAFE = (3, 51, 3)


def database(url: str, *, base: Path) -> dict[str, Any]:
    """Return the `DATABASES` entry for `url`.

    `sqlite:///name` is a file below `base`, `sqlite:////name` one from the root.
    `postgresql://user:password@host:port/name?option=value` is read by libpq's own parser, so
    a socket's directory may be given as `?host=`. Raises ValueError with a sentence for
    anything else.
    """
    if url.startswith(SQLITE) and url != SQLITE:
        return _sqlite(base / url.removeprefix(SQLITE))
    if url.startswith(POSTGRESQL):
        return _postgresql(url)
    raise ValueError("set DATABASE_URL to sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME")


def _sqlite(path: Path) -> dict[str, Any]:
    journal = "WAL" if sqlite3.sqlite_version_info >= WAL_IS_SAFE else "DELETE"
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "OPTIONS": {
            # A transaction takes the write lock at its start: one that reads first and writes
            # later would otherwise fail at once when another has written in between.
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            # FULL: an acknowledged move survives a power cut, in either journal mode.
            "init_command": f"PRAGMA journal_mode={journal}; PRAGMA synchronous=FULL;",
        },
        # A file: threads on a shared in-memory database do not wait for each other's locks.
        "TEST": {"NAME": path.with_name(f"test-{path.name}")},
    }


def _postgresql(url: str) -> dict[str, Any]:
    try:
        given = dict(conninfo_to_dict(url))
    except ProgrammingError:
        # Not chained: libpq's message can quote the password.
        raise ValueError("write DATABASE_URL as postgresql://USER:PASSWORD@HOST/NAME") from None
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": given.pop("dbname", ""),
        "USER": given.pop("user", ""),
        "PASSWORD": given.pop("password", ""),
        "HOST": given.pop("host", ""),
        "PORT": given.pop("port", ""),
        "OPTIONS": given,
        # Connections stay open; one that broke is replaced after the request that found out.
        "CONN_MAX_AGE": None,
    }
