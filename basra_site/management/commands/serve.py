"""`manage.py serve`: web server, worker and beat as one command, for a small host."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

if TYPE_CHECKING:
    from django.core.management.base import CommandParser

# A thread waits for the body of its request: one would let one phone that lost its network in the
# middle of a form hold up everybody. Granian warns of more than this.
THREADS = str(min(8, 2 * (os.cpu_count() or 1) + 1))
SECONDS_TO_STOP = 8
SECONDS_TO_START = 30
TICK = 0.1


class Command(BaseCommand):
    """Runs the children, each in a process group of its own, and ends them together.

    1. Each child starts in a new session: a Ctrl-C in the terminal reaches this command alone.
    2. When one child ends by itself, the others are stopped and the command fails.
    3. On SIGINT, SIGTERM or SIGHUP every group gets SIGTERM, and after `SECONDS_TO_STOP`
       seconds SIGKILL.
    """

    help = "Run web server, worker and beat together, until Ctrl-C."

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stopping = False
        self.children: dict[str, subprocess.Popen[bytes]] = {}

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the address to listen on."""
        parser.add_argument("--host", default=os.environ.get("HOST") or "127.0.0.1")
        parser.add_argument("--port", default=os.environ.get("PORT") or "8000")
        parser.add_argument("--workers", type=int, default=2, help="web processes")
        parser.add_argument(
            "--beside", action="append", default=[], metavar="MODULE", help="run this program too"
        )
        parser.add_argument("--migrate", action="store_true", help="migrate the database first")

    def handle(self, *args: Any, **options: Any) -> None:
        """Start, watch and stop."""
        del args
        host, port = options["host"], _port(options["port"])
        _refuse_a_taken_port(host, port)
        signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        previous = {number: signal.signal(number, self._stop) for number in signals}
        try:
            if options["migrate"]:
                call_command("migrate", verbosity=0)
            for module in options["beside"]:
                self._start(module, module)
            self._start(
                "web server", "granian", "--interface", "wsgi", "--host", host,
                "--port", str(port), "--workers", str(options["workers"]),
                "--blocking-threads", THREADS, "--no-ws", "--log-level", "warning",
                "--workers-kill-timeout", "3", "--respawn-failed-workers",
                "basra_site.wsgi:application",
            )  # fmt: skip
            self._wait_for_an_answer(host, port)
            # Only now: the page should be there before the two share the processor.
            self._start(
                "worker", "celery", "--quiet", "--app", "basra_site.celery", "worker", "--beat",
                "--pool", "threads", "--concurrency", "2", "--loglevel", "warning",
                "--without-gossip", "--without-mingle", "--without-heartbeat",
            )  # fmt: skip
            while not self.stopping:
                self._fail_if_one_ended()
                time.sleep(TICK)
            self.stdout.write("Stopping …")
        finally:
            self._end()
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: Any) -> None:
        # Only a mark: an exception here could come between a child's start and its name.
        del number, frame
        self.stopping = True

    def _start(self, name: str, program: str, *arguments: str) -> None:
        # A newcomer in a container is root, and need not worry about it.
        quiet = ("-W", "ignore:You're running the worker") if settings.DEVELOPMENT else ()
        if not self.stopping:
            self.children[name] = subprocess.Popen(  # noqa: S603 - our own programs
                [sys.executable, *quiet, "-m", program, *arguments],
                cwd=settings.BASE_DIR,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def _wait_for_an_answer(self, host: str, port: int) -> None:
        until = time.monotonic() + SECONDS_TO_START
        while not self.stopping:
            if _answers(host, port):
                return self._tell(host, port)
            self._fail_if_one_ended()
            if time.monotonic() > until:
                raise CommandError("The web server does not answer.")
            time.sleep(TICK)
        return None

    def _fail_if_one_ended(self) -> None:
        for name, child in self.children.items():
            if child.poll() is not None:
                raise CommandError(f"The {name} ended by itself (exit code {child.returncode}).")

    def _end(self) -> None:
        for child in self.children.values():
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGTERM)
        until = time.monotonic() + SECONDS_TO_STOP
        for child in self.children.values():
            with suppress(subprocess.TimeoutExpired):
                child.wait(max(0.0, until - time.monotonic()))
            # Also what the child itself left behind.
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()

    def _tell(self, host: str, port: int) -> None:
        self.stdout.write(f"Basra is at http://{reached_at(host)}:{port}/ (Ctrl-C stops it)")
        if settings.DEVELOPMENT:
            self.stdout.write(f"What it mails is at http://{reached_at(host)}:{port}/mail/")
        self.stdout.flush()


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) <= 5 and 0 < int(text) < 65536:
        return int(text)
    raise CommandError(f"PORT is a whole number from 1 to 65535, not {text!r}.")


def _refuse_a_taken_port(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with closing(socket.socket(family, socket.SOCK_STREAM)) as probe:
        # As the server does: a port that was used a moment ago is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CommandError(
                f"Port {port} at {host} cannot be used ({error.strerror}). "
                f"Is Basra running already? Another port: PORT={port + 1 if port < 65535 else 8000}"
            ) from None


def _answers(host: str, port: int) -> bool:
    target = "127.0.0.1" if _is_any(host) else host
    with closing(http.client.HTTPConnection(target, port, timeout=2)) as connection:
        try:
            name = settings.ALLOWED_HOSTS[0].lstrip(".")
            connection.request("GET", "/livez", headers={"Host": name})
            return connection.getresponse().status < 500
        except (OSError, http.client.HTTPException):
            return False


def _is_any(host: str) -> bool:
    return host in {"0.0.0.0", "::"}  # noqa: S104 - compared, not listened on


def reached_at(host: str) -> str:
    """Return the name or address under which a server that listens on `host` is reached."""
    if host in {"localhost", "::1"} or host.startswith("127."):
        return "localhost"
    if not _is_any(host):
        return host
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as probe:
        try:
            # Sends nothing: it only asks the routing table. The address is one for examples.
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "localhost"
        return str(probe.getsockname()[0])
