"""`manage.py serve`, really started."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from basra_site.keys import fresh_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS = 60


def free_port() -> int:
    for port in range(21000, 22000):
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port
    raise AssertionError("no free port")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONUNBUFFERED": "1",
        "BASRA_DEVELOPMENT": "yes",
        "BASRA_VAR": str(tmp_path),
        "PORT": str(free_port()),
        **fresh_settings(),
    }


@pytest.fixture
def served(environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "manage.py", "serve", "--migrate", "--workers", "1"]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if "Basra is at" in line:
                    break
            else:
                pytest.fail("it never said where it is")
            yield process
        finally:
            # Not killed: it could not end its children then.
            process.terminate()
            process.wait(SECONDS)


def descendants(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return all its children and theirs, once the worker is among them."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        found = psutil.Process(process.pid).children(recursive=True)
        if any(is_the_worker(child) for child in found):
            return found
        time.sleep(0.1)
    raise AssertionError("the worker did not start")


def is_the_worker(process: psutil.Process) -> bool:
    try:
        return "celery" in process.cmdline()
    except psutil.Error:  # it has ended since it was listed
        return False


def test_it_answers_once_it_says_so_and_leaves_nothing_behind(
    served: subprocess.Popen[str], environment: dict[str, str]
) -> None:
    with urllib.request.urlopen(f"http://127.0.0.1:{environment['PORT']}/livez") as answer:
        assert answer.status == 200
    children = descendants(served)
    served.send_signal(signal.SIGINT)
    assert served.wait(SECONDS) == 0
    gone, alive = psutil.wait_procs(children, timeout=1)
    assert not alive
    assert len(gone) == len(children)


def test_when_one_part_dies_the_others_are_stopped(served: subprocess.Popen[str]) -> None:
    children = descendants(served)
    worker = next(child for child in children if is_the_worker(child))
    worker.kill()
    output, _ = served.communicate(timeout=SECONDS)
    assert served.returncode == 1
    assert "The worker ended by itself" in output
    assert not psutil.wait_procs(children, timeout=1)[1]


def test_a_port_that_is_taken_is_named(environment: dict[str, str]) -> None:
    with closing(socket.socket()) as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", int(environment["PORT"])))
        taken.listen()
        done = subprocess.run(
            [sys.executable, "manage.py", "serve"],
            cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SECONDS,
            check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert f"Port {environment['PORT']} at 127.0.0.1 cannot be used" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1", "8000 ", "٨٠٠٠"])
def test_a_port_that_is_none_is_refused(environment: dict[str, str], port: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "serve", "--port", port],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
