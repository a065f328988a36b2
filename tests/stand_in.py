"""The stand-in for Facebook as the tests meet it: a process of its own, and how people use it."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.urls import reverse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.http import HttpResponse
    from django.test import Client

AMIRA, BASSEM, DINA, EMAD, FATMA, GAMAL = (f"1000000000000000{n}" for n in range(1, 7))
SECONDS_TO_START = 20


class StandIn:
    """Facebook, as far as these tests go."""

    def __init__(self) -> None:
        self.origin = os.environ["FACEBOOK_ORIGIN"]
        self.address = urlsplit(self.origin).netloc

    def tell(self, **what: Any) -> None:
        """Tell it what to be, and how to misbehave."""
        self._ask("POST", "/_told", json.dumps(what))

    def asked(self) -> list[dict[str, Any]]:
        """Return what was asked of it."""
        answer: list[dict[str, Any]] = json.loads(self._ask("GET", "/_told")[1])["asked"]
        return answer

    def begin(self, browser: Client, *, wanted: str = "", process: str = "") -> str:
        """Press "Continue with Facebook"; return the address of the dialog."""
        query = {"next": wanted, "process": process}
        query = {name: value for name, value in query.items() if value}
        response = browser.post(reverse("facebook_login", query=query))
        assert response.status_code == 302, response.content.decode()
        assert response.headers["Location"].startswith(self.origin)
        return response.headers["Location"]

    def answer(self, dialog: str, person: str | None, *, shares: tuple[str, ...] = ()) -> str:
        """Agree in the dialog, or cancel without a person; return where that leads."""
        path, _, query = dialog.removeprefix(self.origin).partition("?")
        status, _page = self._ask("GET", f"{path}?{query}")
        assert status == 200, _page
        form = dict(parse_qsl(query))
        form |= {"person": person} if person else {"cancel": "yes"}
        form |= {f"share-{scope}": "on" for scope in shares}
        connection = self._connection()
        connection.request("POST", path, urlencode(form))
        response = connection.getresponse()
        response.read()
        where = response.headers["Location"]
        connection.close()
        assert where, response.status
        return where.partition("#")[0]

    def sign_in(
        self,
        browser: Client,
        person: str | None = AMIRA,
        *,
        shares: tuple[str, ...] = ("email", "user_friends"),
        wanted: str = "",
        process: str = "",
    ) -> HttpResponse:
        """Go the whole way, and return the site's answer to what Facebook sends back."""
        dialog = self.begin(browser, wanted=wanted, process=process)
        return self.come_back(browser, self.answer(dialog, person, shares=shares))

    @staticmethod
    def come_back(browser: Client, where: str) -> HttpResponse:
        """Return the site's answer to the address that Facebook has sent the browser to."""
        parts = urlsplit(where)
        response: Any = browser.get(f"{parts.path}?{parts.query}")
        return response  # type: ignore[no-any-return]

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.address, timeout=10)

    def _ask(self, method: str, path: str, body: str | None = None) -> tuple[int, str]:
        connection = self._connection()
        connection.request(method, path, body)
        response = connection.getresponse()
        try:
            return response.status, response.read().decode()
        finally:
            connection.close()


@contextmanager
def running() -> Iterator[StandIn]:
    """Start the stand-in, and end it."""
    process = subprocess.Popen([sys.executable, "-m", "tools.facebook_stand_in"])
    facebook = StandIn()
    until = time.monotonic() + SECONDS_TO_START
    while True:
        try:
            facebook.asked()
            break
        except OSError:
            assert process.poll() is None, "the stand-in has ended"
            assert time.monotonic() < until, "the stand-in does not answer"
            time.sleep(0.05)
    yield facebook
    process.terminate()
    process.wait(10)
