"""`make check`: everything that can be seen without running the tests. `--fix` is `make fmt`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = sorted(str(path) for path in ROOT.glob("templates/**/*.html"))
PROGRAMS = Path(sys.executable).parent
DJADE = [str(PROGRAMS / "djade"), "--target-version", "6.0"]
PYTHON = [sys.executable, "-W", "ignore"]

# A host that is configured as docs/operations.md says.
PRODUCTION = {
    "ALLOWED_HOSTS": "basra.example",
    "BASRA_URL": "https://basra.example",
    "SMTP_HOST": "smtp.basra.example",
    "MAIL_FROM": "Basra <basra@basra.example>",
    "BASRA_OPERATOR": "The Basra Club, Cairo",
    "BASRA_CONTACT": "privacy@basra.example",
    "CSRF_TRUSTED_ORIGINS": "https://basra.example",
    "BASRA_BEHIND_PROXY": "yes",
    "DATABASE_URL": "postgresql://basra:password@127.0.0.1:5432/basra",
    "CELERY_BROKER_URL": "filesystem://",
}


def commands() -> list[tuple[str, list[str]]]:
    """Return what is checked, in the order of how quickly it answers."""
    return [
        ("ruff", [*PYTHON, "-m", "ruff", "check"]),
        ("ruff format", [*PYTHON, "-m", "ruff", "format", "--check"]),
        ("templates", [*PYTHON, "-m", "tools.templates"]),
        ("djade", [*DJADE, "--check", *TEMPLATES]),
        ("imports", [str(PROGRAMS / "lint-imports")]),
        ("settings", [*PYTHON, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]),
        # Seen from the code alone; that no database server answers is only a warning.
        ("migrations", [*PYTHON, "manage.py", "makemigrations", "--check", "--dry-run"]),
        ("mypy", [*PYTHON, "-m", "mypy"]),
    ]


def main() -> int:
    """Run every check, show what failed, and return 1 if anything did."""
    os.chdir(ROOT)
    if "--fix" in sys.argv[1:]:
        return fix()
    failed = []
    with tempfile.TemporaryDirectory() as var:
        environment = {**os.environ, **production(var)}
        environment.pop("BASRA_ENV_FILE", None)
        environment.pop("BASRA_DEVELOPMENT", None)
        for name, command in commands():
            done = subprocess.run(
                command,
                env=environment, check=False, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            print(f"{name}: {'failed' if done.returncode else 'ok'}", flush=True)
            if done.returncode:
                failed.append(name)
                print(done.stdout, flush=True)
    print(f"Failed: {', '.join(failed)}." if failed else "Everything is in order.")
    return 1 if failed else 0


def production(var: str) -> dict[str, str]:
    """Return the environment of a production host, with keys made for this run."""
    from basra_site.keys import fresh_settings

    return {**PRODUCTION, **fresh_settings(), "BASRA_VAR": var}


def fix() -> int:
    """Write everything in the project's style; what cannot be mended by itself is shown."""
    steps = [
        [*PYTHON, "-m", "ruff", "check", "--fix"],
        [*PYTHON, "-m", "ruff", "format"],
        [*DJADE, *TEMPLATES],
    ]
    codes = [subprocess.run(step, check=False).returncode for step in steps]
    # djade answers 1 when it has changed a file.
    return codes[0] or codes[1]


if __name__ == "__main__":
    sys.exit(main())
