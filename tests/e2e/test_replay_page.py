"""The replay in a browser: keys, fingers, links to a position, and an onlooker at a live game."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from games import engine, services
from tests import cast
from tests.engine.helpers import recorded_game

from .table import sign_in
from .test_pages import WHAT_OVERFLOWS, violations

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator, Page
    from pytest_django.live_server_helper import LiveServer

    from games.models import Game

A_POLL = 3_500
"""Milliseconds, a little more than between two polls."""
SWIPE = """([from, to]) => {
    const floor = document.querySelector("#replay .floor");
    const box = floor.getBoundingClientRect();
    const touch = x => new Touch({identifier: 1, target: floor, clientX: x, clientY: box.top + 20});
    const send = (kind, touches, changed) => floor.dispatchEvent(new TouchEvent(kind, {
        bubbles: true, touches: touches, changedTouches: changed}));
    send("touchstart", [touch(from)], [touch(from)]);
    send("touchend", [], [touch(to)]);
}"""


def a_game(*, over: bool = True, target: int | None = None, plies: int = 9) -> Game:
    mona, karim = (cast.person(name, forced=False) for name in ("Mona", "Karim"))
    game = cast.sit_down(mona, karim, target=target, seed=12)
    return cast.play_to_the_end(game) if over else cast.play_until_ply(game, plies)


def address(site: str, game: Game, query: str = "") -> str:
    return f"{site}/games/{game.pk}/replay/{query}"


def where(page: Page) -> Locator:
    """What says which position is shown."""
    return page.locator("#replay .where")


def expect_position(page: Page, ply: int, last: int = 48) -> None:
    expect(where(page)).to_have_text(f"{ply} of {last}")


def way(page: Page, name: str) -> Locator:
    return page.get_by_role("link", name=name, exact=True)


def test_the_keys_go_through_the_game_and_the_address_says_where(
    desktop: Page, live_server: LiveServer
) -> None:
    game = a_game()
    desktop.goto(f"{live_server.url}/rules/")
    desktop.goto(address(live_server.url, game))
    expect_position(desktop, 0)
    for key, ply in (
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("ArrowLeft", 1),
        ("ArrowLeft", 0),
        ("ArrowLeft", 0),
        ("End", 48),
        ("ArrowRight", 48),
        ("ArrowLeft", 47),
        ("Home", 0),
    ):
        desktop.keyboard.press(key)
        expect_position(desktop, ply)
    desktop.keyboard.press("ArrowRight")
    expect_position(desktop, 1)
    expect(desktop).to_have_url(address(live_server.url, game, "?ply=1"))
    expect(desktop).to_have_title(re.compile("^1 of 48"))
    # A link to the position shows the position, and Back leaves the replay.
    desktop.reload()
    expect_position(desktop, 1)
    desktop.go_back()
    expect(desktop).to_have_url(f"{live_server.url}/rules/")


def test_keys_that_are_pressed_fast_are_not_lost_one_by_one(
    desktop: Page, live_server: LiveServer
) -> None:
    game = a_game()
    desktop.goto(address(live_server.url, game))
    desktop.keyboard.press("ArrowRight")
    desktop.keyboard.press("ArrowRight")
    expect_position(desktop, 2)


def test_in_a_page_from_right_to_left_the_left_arrow_is_forward(
    desktop: Page, live_server: LiveServer
) -> None:
    game = a_game()
    desktop.goto(address(live_server.url, game))
    desktop.evaluate("document.documentElement.dir = 'rtl'")
    desktop.keyboard.press("ArrowLeft")
    expect_position(desktop, 1)
    desktop.keyboard.press("ArrowRight")
    expect_position(desktop, 0)


def test_the_keys_rest_while_a_dialog_is_open_or_with_another_key_held(
    desktop: Page, live_server: LiveServer
) -> None:
    game = a_game()
    desktop.goto(address(live_server.url, game, "?ply=5"))
    desktop.keyboard.press("?")
    expect(desktop.get_by_role("dialog")).to_be_visible()
    desktop.keyboard.press("ArrowRight")
    desktop.keyboard.press("Escape")
    desktop.keyboard.press("Shift+ArrowRight")
    desktop.wait_for_timeout(300)
    expect_position(desktop, 5)


def test_a_pressed_control_keeps_the_focus_and_each_play_is_spoken(
    desktop: Page, live_server: LiveServer
) -> None:
    game = a_game()
    desktop.goto(address(live_server.url, game, "?ply=46"))
    for ply in (47, 48):
        way(desktop, "Next play").click()
        expect_position(desktop, ply)
        expect(way(desktop, "Next play")).to_be_focused()
        expect(desktop.locator("#announcer")).to_contain_text("played")
    expect(way(desktop, "Next play")).to_have_attribute("aria-disabled", "true")
    expect(desktop.locator("#announcer")).to_contain_text("wins")
    desktop.keyboard.press("Enter")
    way(desktop, "First position").press("Enter")
    expect_position(desktop, 0)


def test_a_swipe_turns_to_the_next_play_and_back(phone: Page, live_server: LiveServer) -> None:
    game = a_game()
    phone.goto(address(live_server.url, game))
    phone.evaluate(SWIPE, [250, 100])
    expect_position(phone, 1)
    phone.evaluate(SWIPE, [250, 235])  # a tap that slipped
    phone.evaluate(SWIPE, [250, 100])
    expect_position(phone, 2)
    phone.evaluate(SWIPE, [100, 250])
    expect_position(phone, 1)
    way(phone, "Next play").tap()
    expect_position(phone, 2)


def test_without_script_every_way_is_a_link(without_script: Page, live_server: LiveServer) -> None:
    game = a_game(target=51)
    last = game.plies
    page = without_script
    page.goto(address(live_server.url, game))
    way(page, "Next play").click()
    expect_position(page, 1, last)
    way(page, "Latest position").click()
    expect_position(page, last, last)
    way(page, "Previous play").click()
    expect_position(page, last - 1, last)
    page.get_by_role("link", name="Round 2", exact=True).click()
    expect_position(page, 48, last)
    way(page, "First position").click()
    page.get_by_text("Plays of round 1").click()
    page.locator(".log a").nth(6).click()
    expect_position(page, 7, last)


def test_the_log_stays_open_and_leads_to_a_position(desktop: Page, live_server: LiveServer) -> None:
    game = a_game()
    desktop.goto(address(live_server.url, game))
    desktop.get_by_text("Plays of round 1").click()
    desktop.locator(".log a").nth(6).click()
    expect_position(desktop, 7)
    expect(desktop.locator(".log a[aria-current]")).to_have_count(1)
    expect(desktop.locator(".log a").first).to_be_visible()


def test_an_onlooker_follows_a_running_game_and_sees_no_hand(
    desktop: Page, live_server: LiveServer
) -> None:
    game = a_game(over=False)
    desktop.goto(address(live_server.url, game))
    expect_position(desktop, 9, 9)
    expect(desktop.get_by_text("The game goes on.")).to_be_visible()
    game = cast.play_one(game)
    expect(where(desktop)).to_have_text("10 of 10", timeout=2 * A_POLL)
    hands = desktop.locator(".shown-hand use")
    assert hands.count() > 0
    drawn = hands.evaluate_all("all => all.map(use => use.getAttribute('href'))")
    assert {href.partition("#")[2] for href in drawn} == {"back"}
    # Who looks back is not pulled away by the next play.
    desktop.keyboard.press("ArrowLeft")
    expect_position(desktop, 9, 10)
    cast.play_one(game)
    desktop.wait_for_timeout(A_POLL)
    expect_position(desktop, 9, 10)
    desktop.keyboard.press("End")
    expect_position(desktop, 11, 11)
    cast.play_to_the_end(game)
    expect(where(desktop)).to_have_text("48 of 48", timeout=2 * A_POLL)
    expect(desktop.locator(".shown-hand use")).to_have_count(0)
    expect(desktop.get_by_text("The game goes on.")).to_have_count(0)


def test_a_record_goes_from_the_game_to_a_file_and_back_into_the_site(
    desktop: Page, live_server: LiveServer, tmp_path: Path
) -> None:
    game = a_game()
    sign_in(desktop, live_server.url, game.player_a)
    desktop.goto(address(live_server.url, game))
    with desktop.expect_download() as download:
        desktop.get_by_role("link", name="The record as a file").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    assert file.name == f"basra-{game.finished_at:%Y-%m-%d}-{str(game.pk)[:8]}.txt"
    desktop.goto(f"{live_server.url}/records/")
    desktop.get_by_label("A file with a record").set_input_files(file)
    expect(desktop.get_by_label("Record", exact=True)).to_have_value(file.read_text())
    desktop.get_by_role("button", name="Look at it").click()
    expect_position(desktop, 0)
    desktop.keyboard.press("ArrowRight")
    expect_position(desktop, 1)
    assert "/records/" in desktop.url
    desktop.get_by_role("button", name="Delete this record").click()
    expect(desktop.get_by_role("heading", name="My records")).to_be_visible()
    expect(desktop.get_by_text("Brought earlier")).to_have_count(0)


def test_a_file_that_is_too_large_is_not_read(
    desktop: Page, live_server: LiveServer, tmp_path: Path
) -> None:
    (tmp_path / "large.txt").write_text("#" * 60_001)
    desktop.goto(f"{live_server.url}/records/")
    desktop.get_by_label("A file with a record").set_input_files(tmp_path / "large.txt")
    expect(desktop.get_by_text("This file is too large for a record.")).to_be_visible()
    expect(desktop.get_by_label("Record", exact=True)).to_have_value("")


def test_a_record_is_pasted_without_script(without_script: Page, live_server: LiveServer) -> None:
    record, _ = recorded_game(engine.Terms(engine.RULE_SETS["standard"], None), 4)
    page = without_script
    page.goto(f"{live_server.url}/records/")
    expect(page.get_by_label("A file with a record")).to_be_hidden()
    page.get_by_label("Record", exact=True).fill("no record")
    page.get_by_role("button", name="Look at it").click()
    expect(page.get_by_role("alert").first).to_contain_text("basra-record")
    page.get_by_label("Record", exact=True).fill(engine.format_record(record))
    page.get_by_role("button", name="Look at it").click()
    expect_position(page, 0)


def test_the_pages_are_accessible(desktop: Page, live_server: LiveServer) -> None:
    desktop.emulate_media(reduced_motion="reduce")
    game = a_game(target=51)
    found: list[str] = []
    for query in ("", "?ply=48", "?ply=last"):
        desktop.goto(address(live_server.url, game, query))
        desktop.locator("#log summary").click()
        found += violations(desktop, f"replay {query}")
    salma, tarek = cast.person("Salma"), cast.person("Tarek")
    running = cast.play_until_ply(cast.sit_down(salma, tarek, seed=13), 20)
    desktop.goto(address(live_server.url, running))
    found += violations(desktop, "a running game")
    desktop.goto(f"{live_server.url}/records/")
    desktop.get_by_role("button", name="Look at it").click()
    found += violations(desktop, "records, with an error")
    assert found == []


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_nothing_is_cut_off_on_a_phone(
    phone: Page, live_server: LiveServer, direction: str
) -> None:
    mona, karim = cast.person("W" * 24), cast.person("M" * 24)
    game = cast.play_until_ply(cast.sit_down(mona, karim, target=51, seed=12), 60)
    game = services.resign(game_id=game.pk, player=mona)
    found = {}
    for query in ("", "?ply=20", "?ply=48", "?ply=last"):
        phone.goto(address(live_server.url, game, query))
        phone.locator("#log summary").tap()
        found[query] = phone.evaluate(WHAT_OVERFLOWS, direction)
        assert phone.evaluate("document.documentElement.scrollWidth") <= 360, query
    phone.goto(f"{live_server.url}/records/")
    found["records"] = phone.evaluate(WHAT_OVERFLOWS, direction)
    assert {name: parts for name, parts in found.items() if parts} == {}
