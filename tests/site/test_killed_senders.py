"""Mail is sent at most once, whenever the process that sends it is killed."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from django.conf import settings as _of_this_process

from basra_site.keys import fresh_settings
from tests.post_office import open_post_office
from tests.site.test_serve import ROOT, SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.post_office import PostOffice

MAILS, KILLS = 80, 8
SENDER = """
import sys, django; django.setup()
from datetime import timedelta
from accounts import mails, outbox
outbox.composer("test")(lambda mail: mails.Letter("A subject", "The text.", "<p>The text.</p>"))
if sys.argv[1] == "put":
    outbox._ring = lambda mail_id: None
    for number in range(int(sys.argv[2])):
        outbox.put(kind="test", key=f"test {number}", address=f"friend{number}@example.com",
                   language="en", lasts=timedelta(days=1))
else:
    print("begins", flush=True)
    outbox.sweep()
"""


class Settings:
    """What is put into the settings of the site in the other process."""

    MAILERS: dict[str, dict[str, dict[str, object]]]


@pytest.fixture
def office() -> Iterator[tuple[PostOffice, int]]:
    assert _of_this_process.configured
    settings = Settings()
    with open_post_office(settings) as office:
        port = settings.MAILERS["default"]["OPTIONS"]["port"]
        assert isinstance(port, int)
        yield office, port


def test_a_killed_sender_sends_nothing_twice_and_loses_nothing_silently(
    tmp_path: Path, office: tuple[PostOffice, int]
) -> None:
    received, port = office
    received.counter.seconds_to_answer = 0.02
    database = tmp_path / "basra.sqlite3"
    environment = {
        "PATH": os.environ["PATH"],
        "DJANGO_SETTINGS_MODULE": "basra_site.settings",
        "BASRA_DEVELOPMENT": "yes",
        "BASRA_VAR": str(tmp_path),
        "SMTP_HOST": "127.0.0.1",
        "SMTP_PORT": str(port),
        "SMTP_TLS": "no",
        **fresh_settings(),
    }

    def run(*arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def in_the_database(statement: str) -> list[tuple[str, int]]:
        with closing(sqlite3.connect(database, timeout=20)) as connection, connection:
            return connection.execute(statement).fetchall()

    for arguments in (("manage.py", "migrate"), ("-c", SENDER, "put", str(MAILS))):
        with run(*arguments) as process:
            assert process.wait(SECONDS) == 0
    chance = random.Random(5)
    for _ in range(KILLS):
        with run("-c", SENDER, "send") as sender:
            assert sender.stdout is not None
            assert sender.stdout.readline() == "begins\n"
            time.sleep(chance.uniform(0.0, 0.15))
            sender.kill()
    begun = dict(in_the_database("SELECT state, count(*) FROM accounts_mail GROUP BY state"))
    assert begun.get("new", 0) > 0, "all were sent before the last was killed"
    in_the_database("UPDATE accounts_mail SET not_before = created_at WHERE state = 'new'")
    in_the_database("UPDATE accounts_mail SET started_at = '2020-01-01' WHERE state = 'started'")
    with run("-c", SENDER, "send") as sender:
        assert sender.wait(SECONDS) == 0

    ended = dict(in_the_database("SELECT state, count(*) FROM accounts_mail GROUP BY state"))
    assert set(ended) <= {"sent", "unknown"}, ended
    assert sum(ended.values()) == MAILS
    assert ended.get("unknown", 0) <= KILLS
    arrived = Counter(mail["Message-ID"] for mail in received.mails)
    assert set(arrived.values()) == {1}
    assert ended["sent"] <= len(arrived) <= MAILS
