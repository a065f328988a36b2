"""Where the bench plays: the site with production's settings, on a database of its own."""

from __future__ import annotations

import http.client
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import closing, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from basra_site.keys import fresh_settings
from tools.with_postgres import postgresql

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent.parent
HOST = "basra.example"
SECONDS_TO_START = 30
SECONDS_TO_STOP = 10


@contextmanager
def site(database: str) -> Iterator[None]:
    """Set the site up in this process, on "postgresql" or "sqlite"; nothing of it stays.

    The settings are production's: hashed and compressed files, secure cookies, a proxy in front.
    PostgreSQL waits for the disk, as it has to. Can be entered once in a process.
    """
    with tempfile.TemporaryDirectory(prefix="basra-bench-", dir="/tmp") as folder:
        if database == "sqlite":
            with _set_up(folder, f"sqlite:///{folder}/basra.sqlite3"):
                yield
        else:
            with postgresql() as url, _set_up(folder, url):
                yield


@contextmanager
def _set_up(folder: str, url: str) -> Iterator[None]:
    for name in ("BASRA_ENV_FILE", "BASRA_DEVELOPMENT", "BASRA_DEBUG"):
        os.environ.pop(name, None)
    os.environ |= {
        **fresh_settings(),
        "DJANGO_SETTINGS_MODULE": "basra_site.settings",
        "ALLOWED_HOSTS": HOST,
        "BASRA_URL": f"https://{HOST}",
        "BASRA_OPERATOR": "nobody",
        "BASRA_CONTACT": f"nobody@{HOST}",
        "MAIL_FROM": f"basra@{HOST}",
        # The port of discarding: what is mailed here reaches nobody.
        "SMTP_HOST": "127.0.0.1",
        "SMTP_PORT": "9",
        "BASRA_BEHIND_PROXY": "yes",
        "BASRA_VAR": folder,
        "BASRA_LOG_LEVEL": "ERROR",
        "CELERY_BROKER_URL": "filesystem://",
        "DATABASE_URL": url,
        "STATIC_ROOT": f"{folder}/static",
    }
    import django
    from django.core.management import call_command
    from django.db import connections

    django.setup()
    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    try:
        yield
    finally:
        connections.close_all()


@contextmanager
def server(settings: str) -> Iterator[tuple[int, int]]:
    """Serve the site as production does, by one worker; yield its port and its process id."""
    port = _free_port()
    command = [
        sys.executable, "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1",
        "--port", str(port), "--workers", "1", "--blocking-threads", "1", "--no-ws",
        "--log-level", "warning", "--workers-kill-timeout", "3", "basra_site.wsgi:application",
    ]  # fmt: skip
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": settings, "BASRA_LOG_LEVEL": "INFO"}
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        try:
            _wait(process, port)
            yield port, process.pid
        finally:
            process.terminate()
            try:
                process.wait(SECONDS_TO_STOP)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _free_port() -> int:
    # Below the range from which other programs' connections are numbered.
    for port in range(21000, 32768):
        with closing(socket.socket()) as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("There is no free port.")


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + SECONDS_TO_START
    while process.poll() is None and time.monotonic() < until:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=2)) as connection:
            try:
                connection.request("GET", "/livez", headers={"Host": HOST})
                if connection.getresponse().status == 200:
                    return
            except OSError:
                time.sleep(0.1)
    raise RuntimeError("The server does not answer.")


def postmaster() -> int:
    """Return the process id of the PostgreSQL server that `site` has started."""
    folder = os.environ["DATABASE_URL"].partition("?host=")[2]
    return int((Path(folder) / "data" / "postmaster.pid").read_text().splitlines()[0])


def cpu_seconds(root: int) -> float:
    """Return the processor time that a process and all its descendants have used so far."""
    stats = [_stat(path) for path in Path("/proc").glob("[0-9]*/stat")]
    children: dict[int, list[int]] = {}
    used: dict[int, int] = {}
    for pid, parent, ticks in filter(None, stats):
        children.setdefault(parent, []).append(pid)
        used[pid] = ticks
    family, ticks = [root], 0
    while family:
        pid = family.pop()
        ticks += used.get(pid, 0)
        family += children.get(pid, [])
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat(path: Path) -> tuple[int, int, int] | None:
    try:
        text = path.read_text()
    except OSError:  # it has just ended
        return None
    # After the name: state, parent, …; at 11 to 14 its own time and that of children it waited for.
    fields = text.rpartition(")")[2].split()
    return int(path.parent.name), int(fields[1]), sum(map(int, fields[11:15]))


def machine() -> dict[str, str | int]:
    """Return what the figures depend on most."""
    packages = {name: version(name) for name in ("django", "granian", "psycopg")}
    return {"cores": os.cpu_count() or 0, "python": platform.python_version(), **packages}
