"""`make play`: settings of its own on the first run, then `manage.py serve`."""

from __future__ import annotations

import os
import secrets
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
    from basra_site.env import Env

    env = Env(os.environ)
    if not env.text("BASRA_URL", ""):
        os.environ["BASRA_URL"] = address(os.environ.get("HOST", ""), os.environ.get("PORT", ""))
    if not env.text("SMTP_HOST", ""):
        os.environ.update(own_mail_server(os.environ.get("PORT", "")))
        command += ["--beside", "tools.mail_server"]
    if not env.text("FACEBOOK_CLIENT_ID", ""):
        os.environ.update(own_facebook(os.environ.get("PORT", "")))
        command += ["--beside", "tools.facebook_stand_in"]
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


def address(host: str, port: str) -> str:
    """Return where the site is reached: what links in mails begin with."""
    from basra_site.management.commands.serve import reached_at

    return f"http://{reached_at(host or '127.0.0.1')}:{port or 8000}"


def own_mail_server(port: str) -> dict[str, str]:
    """Return the settings for a mail server of one's own, on a port near the site's."""
    site = int(port) if port.isascii() and port.isdigit() else 8000
    near = site + 25 if site + 25 < 65536 else site - 25
    return {"SMTP_HOST": "127.0.0.1", "SMTP_PORT": str(near), "SMTP_TLS": "no"}


def own_facebook(port: str) -> dict[str, str]:
    """Return the settings for a stand-in for Facebook, on a port near the site's.

    It listens on this machine alone, so that only a browser on it can sign in that way.
    """
    site = int(port) if port.isascii() and port.isdigit() else 8000
    near = site + 32 if site + 32 < 65536 else site - 32
    return {
        "FACEBOOK_ORIGIN": f"http://127.0.0.1:{near}",
        "FACEBOOK_CLIENT_ID": "1234567890",
        "FACEBOOK_CLIENT_SECRET": secrets.token_hex(16),
        "FACEBOOK_FRIENDS": "yes",
    }


def more_hosts(host: str) -> str:
    """Return the names under which the site is reached when it listens beyond this machine."""
    if not host:
        return ""
    from basra_site.management.commands.serve import reached_at

    return ",".join(dict.fromkeys(["localhost", "127.0.0.1", "[::1]", reached_at(host)]))


if __name__ == "__main__":
    main()
