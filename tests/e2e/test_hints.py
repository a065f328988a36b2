"""A hint at the table and why the computer played a card, as somebody at a browser meets them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from games import services

from .table import (
    CHOICE,
    CROWDED,
    Table,
    address,
    dealt_game,
    lay,
    look_away,
    my_plays,
    play_elsewhere,
    press_tab_to,
    requests_of,
    sit_down,
)
from .test_pages import OF_THE_SIZE, WHAT_OVERFLOWS, told, violations
from .test_what_can_go_wrong import wait_for

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Route
    from pytest_django.live_server_helper import LiveServer

    from accounts.models import User
    from games.models import Game

A_BASRA = ("5C KD", "2H 9D", "5S")
"""For `lay`: the five makes a basra."""
WHAT_IS_SAID = (
    "Play five of clubs and take five of spades. It is a basra: 10 points. "
    "It leaves the floor empty: the next card can take nothing. "
    "It is the last deal: if nobody takes any more, what lies on the floor at the end goes to you. "
    "It brings you to 26 cards: the majority needs 1 more."
)
POLL_AGAINST_THE_COMPUTER = 31_000


def ask_button(page: Page) -> Locator:
    return page.get_by_role("button", name="Hint", exact=True)


def box(page: Page) -> Locator:
    """What the hint says, beside the hand."""
    return page.get_by_role("region", name="Hint", exact=True)


def laid(page: Page, site: str, cards: tuple[str, str, str] = A_BASRA) -> tuple[Table, User, Game]:
    """Sit down where the cards are laid out, and it is my turn."""
    player, game = dealt_game()
    lay(game, *cards)
    table = sit_down(page, site, player, game)
    # A button that is pressed before htmx has seen it loads the page anew, as without script.
    page.wait_for_function("!window.htmx || document.getElementById('hint')._htmx")
    return table, player, game


def expect_the_five_is_advised(table: Table) -> None:
    """Expect that the box and the mark say so, to eye and ear, and that nothing is chosen."""
    expect(box(table.page)).to_contain_text("It is a basra: 10 points.")
    expect(table.hand.first).to_have_accessible_name("five of clubs – the hint")
    expect(table.hand.last).to_have_accessible_name("king of diamonds")
    marks = [
        table.label(index).evaluate("one => getComputedStyle(one, '::after').content")
        for index in range(2)
    ]
    assert "★" in marks[0]
    assert marks[1] == "none"


def test_a_hint_comes_beside_the_hand_and_is_spoken(desktop: Page, live_server: LiveServer) -> None:
    table, _player, game = laid(desktop, live_server.url)
    before = desktop.url
    hand = table.hand.first.bounding_box()
    press_tab_to(desktop, ask_button(desktop))
    desktop.keyboard.press("Enter")
    expect_the_five_is_advised(table)
    expect(ask_button(desktop)).to_have_count(0)
    expect(desktop.get_by_role("heading", name="Hint")).to_be_focused()
    expect(desktop.locator("#announcer")).to_have_text(WHAT_IS_SAID)
    assert table.chosen() == []
    assert desktop.url == before
    assert my_plays(game) == []
    assert table.hand.first.bounding_box() == hand, "the hand stays where it was"
    desktop.keyboard.press("1")
    expect(box(desktop)).to_be_visible()
    desktop.keyboard.press("Enter")
    table.expect_board_after(table.version())
    expect(box(desktop)).to_have_count(0)
    assert my_plays(game)[0].startswith("5C")


def test_a_hint_by_key_leaves_what_is_chosen_and_where_one_is(
    desktop: Page, live_server: LiveServer
) -> None:
    table, _player, game = laid(desktop, live_server.url)
    desktop.keyboard.press("2")
    desktop.keyboard.press("h")
    expect_the_five_is_advised(table)
    expect(table.hand.last).to_be_checked()
    expect(table.hand.last).to_be_focused()
    expect(table.play_button).to_be_visible()
    desktop.keyboard.press("h")
    expect(desktop.get_by_role("heading", name="Hint")).to_be_focused()
    assert my_plays(game) == []
    desktop.keyboard.press("?")
    help_of_keys = desktop.get_by_role("dialog", name="Keys")
    expect(help_of_keys).to_contain_text("against the computer: ask for a hint")


def test_the_key_does_nothing_while_the_other_is_to_play_or_a_modifier_is_held(
    desktop: Page, live_server: LiveServer
) -> None:
    table, _player, _game = laid(desktop, live_server.url)
    for held in ("Control+h", "Alt+h", "Shift+H"):
        desktop.keyboard.press(held)
    desktop.wait_for_timeout(300)
    expect(ask_button(desktop)).to_be_visible()
    table.expect_my_turn()


def held(page: Page, what: str) -> list[Route]:
    """Hold back the requests to an address; they are let through by whoever gets the list."""
    routes: list[Route] = []

    def hold(route: Route) -> None:
        routes.append(route)

    page.route(what, hold)
    return routes


def test_a_card_played_before_the_hint_is_there_is_played_and_shown(
    desktop: Page, live_server: LiveServer
) -> None:
    table, _player, game = laid(desktop, live_server.url)
    before = table.version()
    hints, plays = held(desktop, "**/hint/"), held(desktop, "**/play/")
    desktop.keyboard.press("h")
    wait_for(desktop, lambda: bool(hints))
    desktop.keyboard.press("1")
    desktop.keyboard.press("Enter")
    wait_for(desktop, lambda: bool(plays))
    with desktop.expect_response("**/hint/"):
        hints[0].continue_()
    desktop.wait_for_timeout(200)
    expect(box(desktop)).to_have_count(0)
    plays[0].continue_()
    table.expect_board_after(before)
    assert my_plays(game)[0].startswith("5C")


def test_no_hint_is_asked_for_while_a_card_is_on_its_way(
    desktop: Page, live_server: LiveServer
) -> None:
    table, _player, _game = laid(desktop, live_server.url)
    before, asked, plays = table.version(), requests_of(desktop), held(desktop, "**/play/")
    desktop.keyboard.press("1")
    desktop.keyboard.press("Enter")
    wait_for(desktop, lambda: bool(plays))
    desktop.keyboard.press("h")
    desktop.wait_for_timeout(200)
    plays[0].continue_()
    table.expect_board_after(before)
    assert not [url for url in asked if "/hint/" in url]
    expect(desktop.get_by_role("alert")).to_have_count(0)


def test_a_hint_survives_polls_and_goes_with_a_new_board(
    desktop: Page, live_server: LiveServer
) -> None:
    desktop.clock.install()
    table, player, game = laid(desktop, live_server.url, CHOICE)
    ask_button(desktop).click()
    expect(box(desktop)).to_be_visible()
    for _poll in range(2):
        with desktop.expect_response(lambda response: response.status == 304):
            desktop.clock.fast_forward(POLL_AGAINST_THE_COMPUTER)
    look_away(desktop, hidden=True)
    look_away(desktop, hidden=False)
    desktop.wait_for_timeout(100)
    expect(box(desktop)).to_be_visible()
    before = table.version()
    play_elsewhere(game, player)
    desktop.clock.fast_forward(POLL_AGAINST_THE_COMPUTER)
    table.expect_board_after(before)
    expect(box(desktop)).to_have_count(0)


def test_a_hint_names_and_marks_the_capture_to_choose(
    desktop: Page, live_server: LiveServer
) -> None:
    table, _player, _game = laid(desktop, live_server.url, CHOICE)
    ask_button(desktop).click()
    expect(box(desktop)).to_contain_text(re.compile("Play eight of spades and take five of clubs"))
    table.label(table.codes().index("8S")).click()
    expect(desktop.locator(".option.advised")).to_have_count(1)
    expect(desktop.locator(".option.advised")).to_be_visible()


def test_without_script_the_whole_page_comes_and_one_plays_on_from_there(
    without_script: Page, live_server: LiveServer
) -> None:
    table, _player, game = laid(without_script, live_server.url)
    press_tab_to(without_script, ask_button(without_script))
    without_script.keyboard.press("Enter")
    expect_the_five_is_advised(table)
    table.expect_my_turn()
    assert my_plays(game) == []
    table.label().click()
    expect(box(without_script)).to_be_visible()
    table.play_button.click()
    expect(box(without_script)).to_have_count(0)
    assert without_script.url == address(live_server.url, game)
    assert my_plays(game)[0].startswith("5C")


def test_enter_on_a_card_plays_it_without_script_and_asks_for_no_hint(
    without_script: Page, live_server: LiveServer
) -> None:
    table, _player, game = laid(without_script, live_server.url)
    press_tab_to(without_script, table.hand)
    without_script.keyboard.press("Space")
    without_script.keyboard.press("Enter")
    expect(box(without_script)).to_have_count(0)
    assert len(my_plays(game)) >= 1


def test_a_hint_on_a_board_that_is_gone_shows_the_one_that_is(
    desktop: Page, live_server: LiveServer
) -> None:
    desktop.clock.install()
    table, player, game = laid(desktop, live_server.url, ("5C KD 6H", "2H 9D 3C", "5S"))
    before = table.version()
    game = play_elsewhere(game, player)
    ask_button(desktop).click()
    table.expect_board_after(before)
    expect(desktop.get_by_role("alert")).to_contain_text("The game had gone on since you saw it.")
    expect(box(desktop)).to_have_count(0)
    table.expect_focus()


def test_a_hint_that_did_not_arrive_is_asked_for_again(
    desktop: Page, live_server: LiveServer
) -> None:
    table, _player, _game = laid(desktop, live_server.url)
    desktop.keyboard.press("2")
    desktop.route("**/hint/", lambda route: route.abort())
    desktop.keyboard.press("h")
    expect(desktop.get_by_role("alert")).to_contain_text("Not sent")
    desktop.unroute("**/hint/")
    desktop.get_by_role("button", name="Try again").click()
    expect_the_five_is_advised(table)
    expect(table.hand.last).to_be_checked()
    expect(desktop.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
@pytest.mark.parametrize("cards", [A_BASRA, CHOICE, CROWDED], ids=["basra", "choice", "crowded"])
def test_a_hint_fits_a_phone_and_hides_nothing(
    phone: Page, live_server: LiveServer, direction: str, cards: tuple[str, str, str]
) -> None:
    phone.emulate_media(reduced_motion="reduce")
    table, _player, _game = laid(phone, live_server.url, cards)
    hand = table.label().bounding_box()
    ask_button(phone).tap()
    expect(box(phone)).to_be_visible()
    assert table.label().bounding_box() == hand
    assert phone.evaluate(WHAT_OVERFLOWS, direction) == []
    assert told("hint", Axe().run(phone, options=OF_THE_SIZE).response["violations"]) == []
    table.label(1).tap()
    expect(table.play_button).to_be_visible()
    assert phone.evaluate(WHAT_OVERFLOWS, direction) == []
    assert phone.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_hint_and_its_reasons_are_accessible(desktop: Page, live_server: LiveServer) -> None:
    desktop.emulate_media(reduced_motion="reduce")
    laid(desktop, live_server.url, CHOICE)
    ask_button(desktop).click()
    expect(box(desktop)).to_be_visible()
    assert violations(desktop, "a hint") == []


def broken_off(plays: int = 4) -> tuple[User, Game]:
    """A game of which some cards are played and that its player then gave up."""
    player, game = dealt_game()
    for _play in range(plays):
        game = play_elsewhere(game, player)
    return player, services.resign(game_id=game.pk, player=player)


@pytest.mark.parametrize("script", [True, False])
def test_from_the_log_one_comes_to_why_the_computer_played_a_card_and_back(
    desktop: Page, without_script: Page, live_server: LiveServer, script: bool
) -> None:
    page = desktop if script else without_script
    player, game = broken_off()
    table = sit_down(page, live_server.url, player, game)
    name = table.other_name()
    page.goto(f"{address(live_server.url, game)}log/")
    links = page.get_by_role("link", name=re.compile(r"^Why\? Play \d+$"))
    assert links.count() >= 3
    links.nth(1).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Why did {name} play that?")
    expect(page.get_by_role("listitem").filter(has_text="It ")).not_to_have_count(0)
    expect(page.get_by_role("heading", name=f"What {name} saw")).to_be_visible()
    page.get_by_role("link", name="Replay from here").click()
    expect(page.locator("#replay")).to_be_visible()
    page.go_back()
    page.get_by_role("link", name="Back to the log").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Log of the game")


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_why_fits_a_phone(phone: Page, live_server: LiveServer, direction: str) -> None:
    player, game = broken_off(6)
    sit_down(phone, live_server.url, player, game)
    for play in game.plays.filter(seat="A", forced=False):
        phone.goto(f"{address(live_server.url, game)}why/?ply={play.ply}")
        assert phone.evaluate(WHAT_OVERFLOWS, direction) == []
        assert phone.evaluate("document.documentElement.scrollWidth") <= 360
    found = told("why", Axe().run(phone, options=OF_THE_SIZE).response["violations"])
    assert found == []


def test_why_and_the_log_that_leads_there_are_accessible(
    desktop: Page, live_server: LiveServer
) -> None:
    player, game = broken_off()
    sit_down(desktop, live_server.url, player, game)
    ply = game.plays.filter(seat="A", forced=False)[0].ply
    found = []
    for page in (f"why/?ply={ply}", "log/", f"replay/?ply={ply}"):
        desktop.goto(f"{address(live_server.url, game)}{page}")
        found += violations(desktop, page)
    assert found == []
