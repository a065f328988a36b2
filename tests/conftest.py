"""Fixtures that every part of the suite shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import connections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
