"""What holds for every page: policy, accessibility, and room on a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from accounts.guests import create_guest
from games import selectors, services

from .table import (
    CHOICE,
    COMPUTER,
    CROWDED,
    Table,
    address,
    dealt_game,
    lay,
    play_elsewhere,
    sealed_game,
    sign_in,
    sit_down,
    watch,
)

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from pytest_django.live_server_helper import LiveServer

    from accounts.models import User

WHAT_OVERFLOWS = """dir => {
    document.documentElement.dir = dir;
    const scrolls = one => {
        for (let up = one.parentElement; up; up = up.parentElement) {
            if (/auto|scroll/.test(getComputedStyle(up).overflowX)) return true;
        }
        return false;
    };
    return [...document.querySelectorAll("body *")].filter(one => {
        const box = one.getBoundingClientRect();
        const out = box.left < -0.5 || box.right > document.documentElement.clientWidth + 0.5;
        return out && box.width > 1 && !scrolls(one);
    }).map(one => one.outerHTML.slice(0, 100));
}"""
MOST_REQUESTS = 6


def test_no_page_breaks_a_policy_or_asks_another_site(
    desktop: Page, live_server: LiveServer
) -> None:
    player = create_guest()
    sign_in(desktop, live_server.url, player)
    complaints = watch(desktop, live_server.url)
    for page in pages_of(live_server.url, player).values():
        desktop.goto(page)
    assert complaints == []


def test_a_first_visit_to_the_table_takes_few_requests(
    desktop: Page, live_server: LiveServer
) -> None:
    player, game = dealt_game()
    asked: list[str] = []
    desktop.on("request", lambda request: asked.append(request.url))
    sit_down(desktop, live_server.url, player, game)
    desktop.wait_for_load_state("networkidle")
    assert 0 < len(asked) <= MOST_REQUESTS


def test_every_page_is_accessible(desktop: Page, live_server: LiveServer) -> None:
    # What still fades in has not its contrast yet.
    desktop.emulate_media(reduced_motion="reduce")
    desktop.goto(live_server.url)
    found = violations(desktop, "home of a visitor")
    player = create_guest()
    sign_in(desktop, live_server.url, player)
    for name, page in pages_of(live_server.url, player).items():
        desktop.goto(page)
        found += violations(desktop, name)
        if name == "a choice":
            desktop.keyboard.press("2")
            found += violations(desktop, "a card is chosen")
            desktop.keyboard.press("?")
            found += violations(desktop, "the help is open")
    assert found == []


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_nothing_is_cut_off_on_a_phone(
    phone: Page, live_server: LiveServer, direction: str
) -> None:
    player = create_guest()
    player.name = "W" * 24
    player.save()
    phone.goto(live_server.url)
    found = {"home of a visitor": phone.evaluate(WHAT_OVERFLOWS, direction)}
    sign_in(phone, live_server.url, player)
    for name, page in pages_of(live_server.url, player).items():
        phone.goto(page)
        if phone.get_by_role("group", name="Your hand").count():
            Table(phone).label(1).tap()
        found[name] = phone.evaluate(WHAT_OVERFLOWS, direction)
        assert phone.evaluate("document.documentElement.scrollWidth") <= 360, name
    assert {name: parts for name, parts in found.items() if parts} == {}


def test_cards_have_names(desktop: Page, live_server: LiveServer) -> None:
    player, game = dealt_game()
    lay(game, mine="7D KC", theirs="2H 9D", floor="10H AS")
    table = sit_down(desktop, live_server.url, player, game)
    expect(table.hand.first).to_have_accessible_name("king of clubs")
    expect(table.hand.last).to_have_accessible_name("seven of diamonds – komi")
    expect(table.hand.last).to_have_accessible_description("Takes ten of hearts, ace of spades.")
    for name in ("ten of hearts", "ace of spades"):
        expect(table.floor.get_by_role("img", name=name, exact=True)).to_be_visible()


def pages_of(site: str, player: User) -> dict[str, str]:
    """The pages of `player`, who has a game in every phase, each with its address."""
    sealed = sealed_game(player)
    _, fresh = dealt_game(player=player)
    _, choice = dealt_game(player=player)
    lay(choice, *CHOICE)
    _, crowded = dealt_game(player=player)
    lay(crowded, *CROWDED)
    _, counted = dealt_game(target=51, player=player)
    lay(counted, mine="QC", theirs="QD", floor="2S", first=COMPUTER)
    services.computer_reply(selectors.game_by_id(counted.pk))
    _, over = dealt_game(player=player)
    lay(over, mine="QC KC", theirs="QD KD", floor="2S")
    play_elsewhere(over, player)
    return {
        "home": site,
        "words": f"{address(site, sealed)}?words=own",
        "a fresh table": address(site, fresh),
        "a choice": address(site, choice),
        "a crowded floor": address(site, crowded),
        "a round is over": address(site, counted),
        "the game is over": address(site, over),
        "the log": f"{address(site, over)}log/",
        "rules": f"{site}/rules/",
        "a rule set": f"{site}/rules/standard/",
        "my name": f"{site}/account/name/",
    }


def violations(page: Page, name: str) -> list[str]:
    """What axe finds wrong with the page as it is, and with its contrast in the dark."""
    page.emulate_media(color_scheme="light")
    found = Axe().run(page).response["violations"]
    page.emulate_media(color_scheme="dark")
    # The script is in the page by now; only the colours have changed.
    found += page.evaluate("axe.run({runOnly: ['color-contrast']}).then(one => one.violations)")
    return [f"{name}: {one['id']}: {node['html'][:120]}" for one in found for node in one["nodes"]]
