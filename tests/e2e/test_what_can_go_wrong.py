"""Double clicks, the Back button, a second tab, and a network that fails."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from games.models import Game

from .table import Table, address, dealt_game, my_plays, play_elsewhere, sit_down

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator, Page, Route
    from pytest_django.live_server_helper import LiveServer

PLAY = "**/play/"


def test_a_double_click_on_play_sends_one_move(desktop: Page, live_server: LiveServer) -> None:
    player, game = dealt_game()
    table = sit_down(desktop, live_server.url, player, game)
    sent: list[str] = []
    desktop.on("request", lambda request: sent.append(request.method))
    version = table.version()
    table.label().click()
    table.play_button.dblclick()
    table.expect_board_after(version)
    table.expect_my_turn()
    assert sent.count("POST") == 1
    assert len(my_plays(game)) == 1
    assert table.chosen() == []


def test_a_double_click_without_javascript_lands_one_play(
    without_script: Page, live_server: LiveServer
) -> None:
    player, game = dealt_game()
    table = sit_down(without_script, live_server.url, player, game)
    version = table.version()
    table.label().click()
    table.play_button.dblclick()
    table.expect_board_after(version)
    table.expect_my_turn()
    assert len(my_plays(game)) == 1


def test_a_double_click_at_home_makes_one_game(desktop: Page, live_server: LiveServer) -> None:
    desktop.goto(live_server.url)
    desktop.get_by_role("button", name="Play the computer").dblclick()
    Table(desktop).expect_my_turn()
    assert Game.objects.count() == 1


def test_a_touch_beside_the_confirmation_plays_nothing(
    phone: Page, live_server: LiveServer
) -> None:
    player, game = dealt_game()
    table = sit_down(phone, live_server.url, player, game)
    table.label(0).tap()
    table.label(1).tap()
    table.floor.first.tap()
    assert len(table.chosen()) == 1
    phone.get_by_role("button", name="Cancel").tap()
    expect(table.play_button).to_be_hidden()
    assert table.chosen() == []
    assert my_plays(game) == []


def test_back_shows_the_board_as_it_is_now(desktop: Page, live_server: LiveServer) -> None:
    player, game = dealt_game()
    table = sit_down(desktop, live_server.url, player, game)
    table.play_first_card()
    desktop.get_by_role("link", name="Rules", exact=True).click()
    expect(desktop.get_by_role("heading", level=1)).to_be_visible()
    game = play_elsewhere(game, player)
    desktop.go_back()
    expect(table.board).to_have_attribute("data-version", str(game.version))


def test_back_without_javascript_shows_the_board_as_it_is_now(
    without_script: Page, live_server: LiveServer
) -> None:
    player, game = dealt_game()
    table = sit_down(without_script, live_server.url, player, game)
    table.play_first_card()
    without_script.get_by_role("link", name="Rules", exact=True).click()
    game = play_elsewhere(game, player)
    without_script.go_back()
    expect(table.board).to_have_attribute("data-version", str(game.version))


def test_a_board_that_back_brought_up_as_it_was_cannot_be_used_before_it_is_renewed(
    desktop: Page, live_server: LiveServer
) -> None:
    player, game = dealt_game()
    table = sit_down(desktop, live_server.url, player, game)
    table.play_first_card()
    before = table.version()
    game = play_elsewhere(game, player)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    desktop.route(address(live_server.url, game), hold)
    # Chromium loads a page that must not be stored anew; others bring it up with this event.
    desktop.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    wait_for(desktop, lambda: bool(held))
    expect(table.board).to_have_attribute("data-version", before)
    assert table.board.evaluate("board => board.inert")
    desktop.keyboard.press("1")
    assert table.chosen() == [], "a board that is not current takes no choice"
    held[0].continue_()
    expect(table.board).to_have_attribute("data-version", str(game.version))
    assert not table.board.evaluate("board => board.inert")
    table.play_first_card()


def test_a_stale_tab_is_told_and_renewed(desktop: Page, live_server: LiveServer) -> None:
    player, game = dealt_game()
    table = sit_down(desktop, live_server.url, player, game)
    other = desktop.context.new_page()
    other.goto(address(live_server.url, game))
    Table(other).play_first_card()
    landed = my_plays(game)

    desktop.bring_to_front()
    table.label(1).click()
    table.play_button.click()
    notice = desktop.get_by_role("alert")
    expect(notice).to_contain_text("your card was not played")
    expect(table.board).to_have_attribute("data-version", Table(other).version())
    assert my_plays(game) == landed
    table.expect_focus()

    table.play_first_card()
    expect(notice).to_be_visible()
    notice.get_by_role("link", name="Close").click()
    expect(notice).to_have_count(0)
    table.expect_focus()


def test_without_a_network_the_choice_is_kept_and_the_retry_lands_once(
    desktop: Page, live_server: LiveServer
) -> None:
    def fail(route: Route) -> None:
        route.abort()

    player, game = dealt_game()
    table = sit_down(desktop, live_server.url, player, game)
    assert_failure_is_told(table, fail)
    assert my_plays(game) == []
    try_again(table)
    assert len(my_plays(game)) == 1


def test_when_only_the_answer_is_lost_the_retry_does_not_play_again(
    desktop: Page, live_server: LiveServer
) -> None:
    def lose_the_answer(route: Route) -> None:
        route.fetch()
        route.abort()

    player, game = dealt_game()
    table = sit_down(desktop, live_server.url, player, game)
    assert_failure_is_told(table, lose_the_answer)
    assert len(my_plays(game)) == 1
    try_again(table)
    assert len(my_plays(game)) == 1
    expect(desktop.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_server_that_fails_leaves_the_board_and_the_choice(
    desktop: Page, live_server: LiveServer, status: int
) -> None:
    def fail(route: Route) -> None:
        page = '<section id="table"><h1>Back in a moment</h1><p data-sentence>Sorry.</p></section>'
        route.fulfill(status=status, content_type="text/html", body=page)

    player, game = dealt_game()
    table = sit_down(desktop, live_server.url, player, game)
    assert_failure_is_told(table, fail)
    try_again(table)
    assert len(my_plays(game)) == 1


def test_a_form_that_is_too_old_is_refused_beside_the_board(
    desktop: Page, live_server: LiveServer
) -> None:
    player, game = dealt_game()
    table = sit_down(desktop, live_server.url, player, game)
    desktop.context.clear_cookies(name="basra-csrf")
    table.label().click()
    table.play_button.click()
    notice = desktop.get_by_role("alert")
    expect(notice).to_contain_text("This form could not be checked")
    expect(table.play_button).to_be_visible()
    expect(desktop.get_by_role("banner")).to_have_count(1)
    assert my_plays(game) == []
    notice.get_by_role("link", name="Renew the table").click()
    expect(notice).to_have_count(0)
    table.play_first_card()
    assert len(my_plays(game)) == 1


def test_a_session_that_ended_is_told_beside_the_board(
    desktop: Page, live_server: LiveServer
) -> None:
    player, game = dealt_game()
    table = sit_down(desktop, live_server.url, player, game)
    desktop.context.clear_cookies(name="basra-session")
    table.label().click()
    table.play_button.click()
    expect(desktop.get_by_role("alert")).to_be_visible()
    expect(table.board).to_be_visible()
    expect(desktop.get_by_role("banner")).to_have_count(1)


def test_back_to_the_start_does_not_start_another_game(
    desktop: Page, live_server: LiveServer
) -> None:
    desktop.goto(live_server.url)
    desktop.get_by_role("button", name="Play the computer").click()
    table = Table(desktop)
    table.expect_my_turn()
    table.play_first_card()
    version = table.version()
    desktop.go_back()
    expect(desktop.get_by_role("heading", name="My games")).to_be_visible()
    desktop.go_forward()
    expect(table.board).to_have_attribute("data-version", version)
    desktop.reload()
    expect(table.board).to_have_attribute("data-version", version)
    expect(desktop.get_by_role("banner")).to_be_visible()
    assert Game.objects.count() == 1


def assert_failure_is_told(table: Table, fail: Callable[[Route], None]) -> None:
    """Check that a play that `fail` answers is told, with the choice kept and nothing moved."""
    page = table.page
    page.route(PLAY, fail)
    version = table.version()
    table.label(1).click()
    chosen = table.chosen()
    table.play_button.click()
    expect(notice_of(table)).to_be_visible()
    assert table.version() == version
    assert table.chosen() == chosen
    table.expect_focus()
    page.unroute(PLAY)


def try_again(table: Table) -> None:
    """Send it again, and wait for the board after it."""
    version = table.version()
    table.page.get_by_role("button", name="Try again").click()
    table.expect_board_after(version)
    expect(notice_of(table)).to_have_count(0)
    table.expect_focus()


def notice_of(table: Table) -> Locator:
    """The notice that the play was not sent."""
    return table.page.get_by_role("alert").filter(has_text=re.compile("^Not sent – try again"))


def wait_for(page: Page, true: Callable[[], bool]) -> None:
    """Let the page go on until it is `true`, for five seconds at most."""
    for _ in range(100):
        if true():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it did not happen")
