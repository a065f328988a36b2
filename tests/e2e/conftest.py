"""A real browser on a real server.

`phone`, `desktop` and `without_script` are fresh pages; `live_server.url` is where the site is.
Each fails its test when the page broke the content security policy or raised an error.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import sync_playwright

from tools import browser as chromium

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

# Playwright's own event loop runs in this thread; Django would refuse its database to it.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

HERE = os.path.dirname(__file__)  # noqa: PTH120 - compared with pytest's strings
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
PHONE: dict[str, Any] = {
    "viewport": {"width": 360, "height": 640},
    "has_touch": True,
    "is_mobile": True,
    "device_scale_factor": 2,
}
DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
SECONDS_TO_WAIT = 10


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test here, and let it see what the server's threads commit."""
    for item in items:
        if str(item.path).startswith(HERE):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.django_db(transaction=True))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Launch the browser once. Without one the tests are skipped; under CI they fail."""
    path = chromium.find()
    if path is None:
        message = "no Chromium or Chrome: `make test` fetches one, or name it by BASRA_CHROMIUM"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture
def phone(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A phone of 360×640 with touch."""
    yield from _page(browser, request, PHONE)


@pytest.fixture
def desktop(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A desktop window of 1280×800."""
    yield from _page(browser, request, DESKTOP)


@pytest.fixture
def without_script(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A desktop window that runs no JavaScript."""
    yield from _page(browser, request, {**DESKTOP, "java_script_enabled": False})


def _page(
    browser: Browser, request: pytest.FixtureRequest, options: dict[str, Any]
) -> Iterator[Page]:
    context = browser.new_context(**options)
    context.set_default_timeout(SECONDS_TO_WAIT * 1000)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda message: (
            complaints.append(message.text) if "Content Security Policy" in message.text else None
        ),
    )
    yield page
    _picture(page, request)
    context.close()
    assert complaints == []


def _picture(page: Page, request: pytest.FixtureRequest) -> None:
    """Keep a picture of the page in the folder that BASRA_PICTURES names."""
    folder = os.environ.get("BASRA_PICTURES")
    if folder:
        name: Path = request.path.with_suffix("")
        page.screenshot(path=f"{folder}/{name.name}-{request.node.name}.png", full_page=True)
