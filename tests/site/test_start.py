"""How the programs start, or refuse to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from basra_site.keys import fresh_settings

ROOT = Path(__file__).resolve().parent.parent.parent
BARE = {"PATH": os.environ["PATH"], "DJANGO_SETTINGS_MODULE": "basra_site.settings"}


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env={**BARE, **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def production(tmp_path: Path, **changes: str) -> dict[str, str]:
    return {
        **fresh_settings(),
        "ALLOWED_HOSTS": "basra.example",
        "BASRA_URL": "https://basra.example",
        "BASRA_OPERATOR": "The Basra Club, Cairo",
        "BASRA_CONTACT": "privacy@basra.example",
        "SMTP_HOST": "smtp.basra.example",
        "MAIL_FROM": "basra@basra.example",
        "DATABASE_URL": f"sqlite:///{tmp_path}/basra.sqlite3",
        "BASRA_VAR": str(tmp_path / "var"),
        **changes,
    }


@pytest.mark.parametrize(
    "command",
    [
        ("manage.py", "check"),
        ("manage.py", "serve"),
        ("-c", "import basra_site.wsgi"),
        ("-m", "celery", "--app", "basra_site.celery", "worker"),
    ],
    ids=["manage.py", "serve", "web", "worker"],
)
def test_a_bare_start_refuses_with_one_sentence(command: tuple[str, ...]) -> None:
    done = run(*command)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "Basra cannot start: please set SECRET_KEY" in done.stderr
    for name in ("BASRA_CARD_KEYS", "ALLOWED_HOSTS", "DATABASE_URL"):
        assert f"set {name}" in done.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SECRET_KEY", "short"),
        ("BASRA_CARD_KEYS", "not-a-key"),
        ("ALLOWED_HOSTS", "*"),
        ("DATABASE_URL", "mysql://localhost/basra"),
        ("BASRA_DEBUG", "yes"),
        ("BASRA_LOG_LEVEL", "LOUD"),
        ("SMTP_PORT", "70000"),
        ("SMTP_HOST", ""),
        ("MAIL_FROM", "Basra"),
        ("MAIL_FROM", ""),
        ("SMTP_USER", "basra"),
        ("BASRA_URL", ""),
        ("BASRA_URL", "http://basra.example"),
        ("BASRA_URL", "basra.example"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, name: str, value: str) -> None:
    done = run("manage.py", "check", **production(tmp_path, **{name: value}))
    assert done.returncode != 0
    assert done.stderr.startswith("Basra cannot start: please set " + name)
    assert "Traceback" not in done.stderr


def test_a_redis_broker_without_its_client_is_refused(tmp_path: Path) -> None:
    done = run("manage.py", "check", **production(tmp_path, CELERY_BROKER_URL="redis://localhost"))
    assert done.returncode != 0
    assert "its client is not installed" in done.stderr


SHOW = """
import django, json; django.setup()
from django.conf import settings
names = '''SESSION_COOKIE_NAME CSRF_COOKIE_NAME SESSION_COOKIE_SECURE CSRF_COOKIE_SECURE
SECURE_SSL_REDIRECT SECURE_HSTS_SECONDS DEBUG SESSION_COOKIE_HTTPONLY'''.split()
print(json.dumps({name: getattr(settings, name) for name in names}))
"""


def test_production_speaks_tls_alone(tmp_path: Path) -> None:
    done = run("-c", SHOW, **production(tmp_path))
    assert done.returncode == 0, done.stderr
    for expected in (
        '"SESSION_COOKIE_NAME": "__Host-session"',
        '"CSRF_COOKIE_NAME": "__Host-csrf"',
        '"SESSION_COOKIE_SECURE": true',
        '"CSRF_COOKIE_SECURE": true',
        '"SECURE_SSL_REDIRECT": true',
        '"SECURE_HSTS_SECONDS": 31536000',
        '"DEBUG": false',
    ):
        assert expected in done.stdout


def test_the_deployment_checks_have_nothing_to_say(tmp_path: Path) -> None:
    done = run("manage.py", "check", "--deploy", "--fail-level", "WARNING", **production(tmp_path))
    assert done.returncode == 0, done.stderr


def test_production_collects_hashed_files_that_are_all_there(tmp_path: Path) -> None:
    done = run("manage.py", "collectstatic", "--noinput", **production(tmp_path))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "var" / "static" / "staticfiles.json").exists()
