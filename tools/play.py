"""`make play`: settings of its own on the first run, then `manage.py serve`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = ROOT / "var" / "development.env"
HEAD = "# Settings and keys for this machine, made by `make play`. Keep them with var/: without\n"
HEAD += "# the card keys the games in the database cannot be read.\n"


def main() -> None:
    """Become `manage.py serve` with the development settings."""
    write_settings(SETTINGS)
    os.environ.setdefault("BASRA_ENV_FILE", str(SETTINGS))
    if hosts := more_hosts(os.environ.get("HOST", "")):
        os.environ["ALLOWED_HOSTS"] = hosts
    os.chdir(ROOT)
    command = [sys.executable, "manage.py", "serve", "--migrate", "--workers", "1"]
    os.execv(sys.executable, command)  # noqa: S606 - our own command, without a shell


def write_settings(path: Path) -> None:
    """Write fresh settings, readable by their owner alone, unless there are some."""
    if path.exists():
        return
    from basra_site.keys import fresh_settings

    values = {"BASRA_DEVELOPMENT": "yes", **fresh_settings()}
    path.parent.mkdir(parents=True, exist_ok=True)
    # Complete or not there at all, even if this is interrupted.
    draft = path.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(HEAD)
        file.writelines(f"{name}={value}\n" for name, value in values.items())
    draft.rename(path)


def more_hosts(host: str) -> str:
    """Return the names under which the site is reached when it listens beyond this machine."""
    if not host:
        return ""
    from basra_site.management.commands.serve import reached_at

    return ",".join(dict.fromkeys(["localhost", "127.0.0.1", "[::1]", reached_at(host)]))


if __name__ == "__main__":
    main()
