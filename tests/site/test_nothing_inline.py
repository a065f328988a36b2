"""No page carries what the policy forbids: the policy would break the page, or be loosened for it.

That a browser has nothing to complain about is in tests/e2e/test_policy.py.
"""

from __future__ import annotations

import itertools
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from django.db import transaction
from django.test import Client

from .access import TABLE, expected
from .world import MAKER, NO_SUCH, OPPONENT, VISITOR, World, states_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .wire import Answer

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

LEAST_PAGES = 60
HTMX = {"HTTP_HX_REQUEST": "true"}
# htmx would evaluate these.
EVALUATED = re.compile(r"^\s*(js|javascript):", re.IGNORECASE)
FILTER = re.compile(r"\[")


class Scan(HTMLParser):
    """Collects what is inline, or comes from another place."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        if tag in ("style", "base", "iframe", "frame", "object", "embed", "applet"):
            self.found.append(f"<{tag}>")
        if tag == "script" and not given.get("src", "").startswith("/static/"):
            self.found.append(f"<script> of {given.get('src') or 'the page itself'}")
        if tag == "link" and not given.get("href", "").startswith("/static/"):
            self.found.append(f"<link> to {given.get('href')}")
        if tag == "meta" and "http-equiv" in given:
            self.found.append(f"<meta http-equiv={given['http-equiv']}>")
        for name, value in given.items():
            if name.startswith(("on", "hx-on")) or name in ("style", "srcdoc", "nonce"):
                self.found.append(f"{name} on <{tag}>")
            if EVALUATED.match(value):
                self.found.append(f"{name}={value} on <{tag}>")
            if name == "hx-trigger" and FILTER.search(value):
                self.found.append(f"a filter in {name}={value} on <{tag}>")


@pytest.mark.parametrize(
    "markup",
    [
        '<p style="color: red">', '<button onclick="x()">', '<a hx-on:click="x()">',
        "<script>x()</script>", '<script src="https://evil.example/x.js">', "<style>p {}</style>",
        '<a href=" javascript:x()">', "<p hx-vals='js:{a: x()}'>", '<iframe srcdoc="x">',
        '<p hx-trigger="click[x()]">',
    ],
)  # fmt: skip
def test_the_scan_sees(markup: str) -> None:
    assert Scan(markup).found


def test_no_page_and_no_part_of_one_carries_anything_inline() -> None:
    world = World()
    policy = Client().get("/").headers["Content-Security-Policy"]
    found: dict[str, list[str]] = {}
    pages = 0
    for route, state, actor, method, htmx in ways_to_ask():
        answer = asked(world, route, state, actor, method, htmx=htmx)
        where = f"{method} {route} by {actor}, {state}"
        if route == "mail_html" and answer.status == 200:
            continue  # a mail, in development, as mail programs show it: with a policy of its own
        assert answer.headers["Content-Security-Policy"] == policy, where
        if answer.headers.get("Content-Type", "").startswith("text/html"):
            pages += answer.status == 200
            if inline := Scan(answer.content).found:
                found[where] = inline
    assert found == {}
    assert pages >= LEAST_PAGES


def ways_to_ask() -> Iterator[tuple[str, str, str, str, bool]]:
    """Yield address, state, actor, method and whether htmx asks: what is let in, and a refusal."""
    yield "games:table", NO_SUCH, MAKER, "GET", False
    yield "games:table", NO_SUCH, MAKER, "GET", True
    for route, actor, method in itertools.product(
        TABLE, (MAKER, OPPONENT, VISITOR), ("GET", "POST")
    ):
        for state in states_of(route):
            if expected(route, method, actor, state) not in (404, 405):
                yield route, state, actor, method, False
                yield route, state, actor, method, True


def asked(world: World, route: str, state: str, actor: str, method: str, *, htmx: bool) -> Answer:
    """Ask for a page or post a form, sound in one way and empty in the other; it is taken back."""
    form = None
    if method == "POST":
        form = world.form(route, state) if htmx else {}
    with transaction.atomic():
        answer = world.ask(
            actor, method, world.address(route, state), form, **(HTMX if htmx else {})
        )
        transaction.set_rollback(True)
    return answer
