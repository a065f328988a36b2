"""A whole game against the computer: by touch, by keyboard alone, and without JavaScript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from games.models import Game

from .table import Table, expect_score_adds_up, my_plays, press_tab_to, watch

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page
    from pytest_django.live_server_helper import LiveServer

MOST_PLAYS = 24
"""What one seat plays in a round."""


def test_a_whole_game_by_touch_on_a_phone(phone: Page, live_server: LiveServer) -> None:
    phone.goto(live_server.url)
    phone.get_by_role("button", name="Play the computer").tap()
    table = Table(phone)
    table.expect_my_turn()

    plays = 0
    while not table.is_over():
        version, before = table.version(), len(my_plays())
        table.label().tap()
        expect(table.hand.first).to_be_checked()
        assert_all_in_view(phone, [*table.floor.all(), *labels(table), table.play_button])
        assert len(my_plays()) == before, "a card is played by its confirmation alone"
        table.play_button.tap()
        table.expect_board_after(version)
        plays += 1
        assert plays <= MOST_PLAYS

    assert len(my_plays()) == plays
    expect_score_adds_up(phone)
    table.play_again.tap()
    table.expect_my_turn()
    assert Game.objects.count() == 2


def test_el_usta_is_chosen_by_his_face_and_is_still_chosen_next_time(
    phone: Page, live_server: LiveServer
) -> None:
    phone.goto(live_server.url)
    play = phone.get_by_role("button", name="Play the computer")
    assert_all_in_view(phone, [play])
    expect(phone.get_by_role("radio", name="Simsim")).to_be_checked()
    phone.locator("label", has_text="El Usta").locator(".portrait").tap()
    play.tap()
    table = Table(phone)
    table.expect_my_turn()
    opponent = phone.get_by_role("region", name="El Usta")
    expect(opponent.locator(".portrait")).to_be_visible()
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    phone.get_by_role("link", name="My games").tap()
    expect(phone.get_by_role("radio", name="El Usta")).to_be_checked()


def test_an_opponent_is_chosen_by_the_arrow_keys(desktop: Page, live_server: LiveServer) -> None:
    desktop.goto(live_server.url)
    press_tab_to(desktop, desktop.get_by_role("radio", name="Simsim"))
    desktop.keyboard.press("ArrowDown")
    expect(desktop.get_by_role("radio", name="Amm Sayed")).to_be_checked()
    desktop.keyboard.press("Enter")
    Table(desktop).expect_my_turn()
    expect(desktop.get_by_role("region", name="Amm Sayed")).to_be_visible()


def test_a_whole_game_by_keyboard_alone(desktop: Page, live_server: LiveServer) -> None:
    complaints = watch(desktop, live_server.url)
    desktop.goto(live_server.url)
    press_tab_to(desktop, desktop.get_by_role("button", name="Play the computer"))
    desktop.keyboard.press("Enter")
    table = Table(desktop)
    table.expect_my_turn()
    desktop.wait_for_load_state()  # its keys work from then on

    plays = 0
    while not table.is_over():
        version = table.version()
        if plays % 2:
            play_by_arrows(table)
        else:
            play_by_digits(table)
        table.expect_board_after(version)
        table.expect_focus()
        plays += 1
        assert plays <= MOST_PLAYS

    assert len(my_plays()) == plays
    expect_score_adds_up(desktop)
    press_tab_to(desktop, desktop.get_by_role("button", name="Put the summary away"))
    desktop.keyboard.press("Enter")
    expect(desktop.get_by_role("table", name="Final score")).to_be_visible()
    table.expect_focus()
    press_tab_to(desktop, table.play_again)
    desktop.keyboard.press("Enter")
    table.expect_my_turn()
    assert complaints == []


def test_a_whole_game_without_javascript(without_script: Page, live_server: LiveServer) -> None:
    page = without_script
    page.goto(live_server.url)
    page.get_by_role("button", name="Play the computer").click()
    page.get_by_role("button", name="Deal").click()
    table = Table(page)
    table.expect_my_turn()

    plays = 0
    while not table.is_over():
        version = table.version()
        table.label().click()
        table.play_button.click()
        table.expect_board_after(version)
        assert page.url.endswith("/"), "a play is answered by a redirect that Back cannot repeat"
        plays += 1
        assert plays <= MOST_PLAYS

    assert len(my_plays()) == plays
    expect_score_adds_up(page)
    page.get_by_role("button", name="Put the summary away").click()
    expect(page.get_by_role("table", name="Final score")).to_be_visible()
    table.play_again.click()
    page.get_by_role("button", name="Deal").click()
    table.expect_my_turn()


def play_by_digits(table: Table) -> None:
    """Choose the last card by its number, and confirm by Enter."""
    last = table.hand.count()
    table.page.keyboard.press(f"{last}")
    expect(table.hand.nth(last - 1)).to_be_checked()
    expect(table.hand.nth(last - 1)).to_be_focused()
    table.page.keyboard.press("Enter")


def play_by_arrows(table: Table) -> None:
    """Choose a card with Tab, arrows and Space, and confirm with the button."""
    page = table.page
    press_tab_to(page, table.hand)
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    assert len(table.chosen()) == 1
    press_tab_to(page, table.play_button)
    page.keyboard.press("Space")


def labels(table: Table) -> list[Locator]:
    """The pictures of the cards in hand."""
    return [table.label(index) for index in range(table.hand.count())]


def assert_all_in_view(page: Page, wanted: list[Locator]) -> None:
    """Check that nothing has to be scrolled to."""
    size = page.viewport_size
    assert size is not None
    assert page.evaluate("scrollY") == 0
    for one in wanted:
        box = one.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["y"] >= 0
        assert box["x"] + box["width"] <= size["width"]
        assert box["y"] + box["height"] <= size["height"]
