"""Every page of the site in a browser that enforces the policy: it has nothing to complain about.

That no page carries anything inline is in tests/site/test_nothing_inline.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.conf import settings

from tests.site.access import TABLE, expected
from tests.site.world import MAKER, OPPONENT, VISITOR, World, states_of

from .table import watch

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from pytest_django.live_server_helper import LiveServer

# A browser saves these, or shows them as text; a mail, in development, has a policy of its own.
DOCUMENTS = {
    "livez", "readyz", "games:fairness_document", "games:verify_shuffle", "games:record",
    "mail_html",
}  # fmt: skip
OPEN_EVERYTHING = "document.querySelectorAll('details').forEach(one => { one.open = true; })"
KEYS = ("2", "?", "ArrowRight")
LEAST_PAGES = {MAKER: 45, OPPONENT: 40, VISITOR: 20}


def pages_for(world: World, actor: str) -> list[str]:
    """Return the address of every page that the table of access gives somebody."""
    return [
        world.address(route, state)
        for route in TABLE
        if route not in DOCUMENTS
        for state in states_of(route)
        if expected(route, "GET", actor, state) == 200
    ]


@pytest.mark.parametrize("actor", [MAKER, OPPONENT, VISITOR])
def test_no_page_breaks_the_policy(desktop: Page, live_server: LiveServer, actor: str) -> None:
    world = World()
    if actor in world.sessions:
        name, value = settings.SESSION_COOKIE_NAME, world.sessions[actor]
        desktop.context.add_cookies([{"name": name, "value": value, "url": live_server.url}])
    complaints = watch(desktop, live_server.url)
    pages = pages_for(world, actor)
    assert len(pages) >= LEAST_PAGES[actor]
    for page in pages:
        answer = desktop.goto(live_server.url + page)
        assert answer is not None
        assert answer.status == 200, page
        assert "unsafe" not in answer.headers["content-security-policy"]
        desktop.evaluate(OPEN_EVERYTHING)
        for key in KEYS:
            desktop.keyboard.press(key)
        assert complaints == [], page
