"""Two people play on a real server that is killed between their requests, web and worker alike."""

from __future__ import annotations

import http.cookiejar
import os
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from basra_site.keys import fresh_settings
from tests.site.test_serve import ROOT, SECONDS, free_port

PLAYS = 18  # over two deals
KILLED_AFTER = {0, 3, 7, 8, 15, 17}

# What a page has anew each time it is asked for.
FRESH = re.compile(r'(?<=name="csrfmiddlewaretoken" value=")[^"]+|(?<=name="move_id" value=")[^"]+')


@dataclass
class Site:
    """The whole site on one port, with its files in one folder."""

    folder: Path
    port: int = field(default_factory=free_port)
    settings: dict[str, str] = field(default_factory=fresh_settings)
    process: subprocess.Popen[str] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "PYTHONUNBUFFERED": "1",
            "BASRA_DEVELOPMENT": "yes",
            "BASRA_VAR": str(self.folder),
            **self.settings,
        }

    def start(self) -> None:
        self.process = subprocess.Popen(
            [
                sys.executable, "manage.py", "serve", "--migrate", "--workers", "1",
                "--port", str(self.port),
            ],
            cwd=ROOT, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert self.process.stdout is not None
        assert any("Basra is at" in line for line in self.process.stdout)

    def kill(self) -> None:
        """End web, worker and beat at once, without a word to any of them."""
        assert self.process is not None
        doomed = [psutil.Process(self.process.pid)]
        doomed += doomed[0].children(recursive=True)
        for one in doomed:
            one.kill()
        psutil.wait_procs(doomed, timeout=SECONDS)
        self.process.communicate(timeout=SECONDS)

    def manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT, env=self.environment, text=True, capture_output=True, check=True,
        )  # fmt: skip
        return done.stdout


class Browser:
    """Keeps cookies, reads pages, and sends the forms that stand on them."""

    def __init__(self) -> None:
        jar = http.cookiejar.CookieJar()
        self._open = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar)).open
        self.url = ""
        self.page = ""

    def get(self, url: str) -> str:
        return self._read(urllib.request.Request(url))

    def send(self, action: str, **chosen: str) -> str:
        """Send the form of the page whose address ends with ``action``, as a browser would."""
        form = re.search(rf'<form[^>]*action="([^"]*{action})".*?</form>', self.page, re.DOTALL)
        assert form is not None, self.page
        values = {}
        for tag in re.findall(r"<input[^>]*>", form[0]):
            attributes = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
            if attributes.get("type") != "radio" or " checked" in tag:
                values[attributes.get("name", "")] = attributes.get("value", "")
        body = urllib.parse.urlencode(values | chosen).encode()
        url = urllib.parse.urljoin(self.url, form[1])
        return self._read(urllib.request.Request(url, body, {"Referer": self.url}))

    def _read(self, request: urllib.request.Request) -> str:
        with self._open(request, timeout=SECONDS) as answer:
            self.url, self.page = answer.url, answer.read().decode()
        return self.page

    def is_to_play(self) -> bool:
        return 'data-phase="play"' in self.page

    def plays_a_card(self) -> str:
        card = re.search(r'name="card"[^>]* value="(\w+)"', self.page)
        assert card is not None
        return self.send("/play/", card=card[1])


def test_killing_the_site_between_two_requests_changes_nothing_in_a_game(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.start()
    mona, karim = Browser(), Browser()

    def killed_and_started_again() -> None:
        before = [FRESH.sub("", one.get(one.url)) for one in (mona, karim) if one.url]
        site.kill()
        site.start()
        after = [FRESH.sub("", one.get(one.url)) for one in (mona, karim) if one.url]
        assert after == before

    try:
        mona.get(f"{site.address}/challenges/new/")
        mona.send("/challenges/new/", target="round")
        site.kill()
        site.start()
        karim.get(mona.url)
        site.kill()
        site.start()
        karim.send("/accept/")
        mona.get(mona.url)  # leads to the table now
        assert mona.url == karim.url
        for play in range(PLAYS):
            if play in KILLED_AFTER:
                killed_and_started_again()
            for one in (mona, karim):
                one.get(one.url)
                if one.is_to_play():
                    one.plays_a_card()
                    break
        assert site.manage("audit").strip() == "1 games audited, 0 damaged"
        assert re.search("Deal [34] of 6", mona.get(mona.url))
    finally:
        site.kill()
