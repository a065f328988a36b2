"""Signing in by Facebook, in browsers, against the stand-in as a process of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from accounts.models import User
from games.models import Game

from .table import Table, my_plays

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
    from pytest_django.live_server_helper import LiveServer

    from tests.stand_in import StandIn

CONTINUE = "Facebook (local stand-in)"


def press_facebook(page: Page, live_server: LiveServer, *, wanted: str = "") -> None:
    page.goto(f"{live_server.url}/account/login/" + (f"?next={wanted}" if wanted else ""))
    page.get_by_role("button", name=CONTINUE).click()
    expect(page.get_by_role("heading", name="This is not Facebook")).to_be_visible()


def agree_as(page: Page, name: str) -> None:
    page.get_by_role("button", name=f"Continue as {name}").click()


def test_a_guest_who_plays_and_signs_in_finds_the_game_under_the_new_name_and_elsewhere(
    phone: Page, browser: Browser, live_server: LiveServer, facebook: StandIn
) -> None:
    phone.goto(live_server.url)
    phone.get_by_role("button", name="Play the computer").tap()
    table = Table(phone)
    table.expect_my_turn()
    version = table.version()
    table.label().tap()
    table.play_button.tap()
    table.expect_board_after(version)
    address = phone.url.partition("#")[0]

    press_facebook(phone, live_server)
    agree_as(phone, "Amira Hassan")
    expect(phone.get_by_role("heading", name="What shall we call you?")).to_be_visible()
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    phone.get_by_label("Name").fill("Amira of Cairo")
    phone.get_by_role("button", name="Begin").tap()

    expect(phone.get_by_role("link", name="Your name: Amira of Cairo")).to_be_visible()
    expect(phone.get_by_text("We have written to amira@example.org")).to_be_visible()
    expect(phone.locator(f'a[href*="{address.removeprefix(live_server.url)}"]')).to_be_visible()
    phone.goto(address)
    table.expect_my_turn()
    player = User.objects.get(name="Amira of Cairo")
    game = Game.objects.get()
    assert player in {game.player_a, game.player_b}
    plays = len(my_plays())
    assert plays == 1

    # On another device the same person plays on.
    context = browser.new_context()
    other = context.new_page()
    press_facebook(other, live_server, wanted=address.removeprefix(live_server.url))
    agree_as(other, "Amira Hassan")
    there = Table(other)
    there.expect_my_turn()
    assert other.url.startswith(address)
    version = there.version()
    there.label().click()
    there.play_button.click()
    there.expect_board_after(version)
    assert len(my_plays()) == plays + 1
    context.close()


def test_the_page_that_was_wanted_comes_after_the_first_sign_in_without_javascript(
    without_script: Page, live_server: LiveServer, facebook: StandIn
) -> None:
    page = without_script
    press_facebook(page, live_server, wanted="/rules/")
    agree_as(page, "Bassem Fawzy")
    expect(page.get_by_label("Name")).to_have_value("Bassem Fawzy")
    page.get_by_role("button", name="Begin").click()
    expect(page).to_have_url(f"{live_server.url}/rules/")
    expect(page.get_by_role("link", name="Your name: Bassem Fawzy")).to_be_visible()


def test_whoever_cancels_can_go_on_by_another_way_to_the_same_page(
    desktop: Page, live_server: LiveServer, facebook: StandIn
) -> None:
    press_facebook(desktop, live_server, wanted="/rules/")
    desktop.get_by_role("button", name="Cancel").click()
    expect(desktop.get_by_role("heading", name="You are not signed in")).to_be_visible()
    expect(desktop.get_by_role("link", name="Play as a guest")).to_be_visible()
    desktop.get_by_role("link", name="Sign in another way").click()
    assert "next=%2Frules%2F" in desktop.url or "next=/rules/" in desktop.url
    desktop.get_by_role("button", name=CONTINUE).click()
    agree_as(desktop, "Dina Samir")
    desktop.get_by_role("button", name="Begin").click()
    expect(desktop).to_have_url(f"{live_server.url}/rules/")


def test_no_page_loads_anything_from_facebook(
    desktop: Page, live_server: LiveServer, facebook: StandIn
) -> None:
    asked: list[str] = []
    desktop.on("request", lambda request: asked.append(request.url))
    for path in ("/", "/account/login/", "/account/signup/", "/account/facebook/login/"):
        desktop.goto(live_server.url + path)
    assert asked
    assert all(url.startswith(live_server.url) for url in asked)
