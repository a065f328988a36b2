"""Fixtures that every part of the suite shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.core.cache import cache
from django.db import connections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.post_office import PostOffice
    from tests.stand_in import StandIn

    type InThreads = Callable[[list[Callable[[], object]]], list[object]]


@pytest.fixture(autouse=True)
def _tasks_run_at_once(settings: object) -> Iterator[None]:
    """Run a task where it is rung for: no test waits for a worker."""
    del settings
    from basra_site.celery import app

    before = app.conf.task_always_eager, app.conf.task_eager_propagates
    app.conf.task_always_eager = app.conf.task_eager_propagates = True
    yield
    app.conf.task_always_eager, app.conf.task_eager_propagates = before


@pytest.fixture(scope="session", autouse=True)
def _passwords_are_quick() -> None:
    """Let a password cost what it costs nobody to wait for; the kind of hash is the site's."""
    from django.contrib.auth.hashers import Argon2PasswordHasher

    Argon2PasswordHasher.time_cost = Argon2PasswordHasher.parallelism = 1
    Argon2PasswordHasher.memory_cost = 64


@pytest.fixture(autouse=True)
def _nothing_was_counted(request: pytest.FixtureRequest) -> None:
    """Begin each test with no tries counted: their table is none that the end of a test empties."""
    marker = request.node.get_closest_marker("django_db")
    wanted = {"db", "transactional_db"} & set(request.fixturenames)
    if marker is None and not wanted:
        return
    commits = "transactional_db" in wanted or (marker and marker.kwargs.get("transaction"))
    request.getfixturevalue("transactional_db" if commits else "db")
    cache.clear()


@pytest.fixture
def in_threads() -> InThreads:
    """Run functions at the same time, each in a thread with its own connection.

    Returns what they return, in order; an exception is returned as itself. For tests marked
    `django_db(transaction=True)`: the threads must see what the test has committed.
    """
    from concurrent.futures import ThreadPoolExecutor
    from threading import Barrier

    def run(functions: list[Callable[[], object]]) -> list[object]:
        start = Barrier(len(functions))

        def one(function: Callable[[], object]) -> object:
            try:
                start.wait(30)
                return function()
            except Exception as error:  # noqa: BLE001 - the test looks at it
                return error
            finally:
                # Else the test database could not be dropped.
                connections.close_all()

        with ThreadPoolExecutor(len(functions)) as pool:
            return list(pool.map(one, functions))

    return run


@pytest.fixture
def post_office(settings: object) -> Iterator[PostOffice]:
    """The mail server that the site sends to; see `tests.post_office`."""
    from tests.post_office import open_post_office

    with open_post_office(settings) as office:
        yield office


@pytest.fixture(scope="session")
def facebook_process() -> Iterator[StandIn]:
    """The stand-in for Facebook, a process of its own; see `tests.stand_in`."""
    from tests.stand_in import running

    with running() as facebook:
        yield facebook


@pytest.fixture
def facebook(facebook_process: StandIn) -> StandIn:
    """The stand-in for Facebook, as at the start."""
    facebook_process.tell(forget=True)
    return facebook_process
