"""What holds for every page: policy, accessibility, and room on a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from accounts.guests import create_guest
from games import selectors, services
from tests import cast

from .table import (
    CHOICE,
    COMPUTER,
    CROWDED,
    Table,
    address,
    address_of_offer,
    dealt_game,
    lay,
    offer_of_the_computer,
    play_elsewhere,
    sign_in,
    sit_down,
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
        return Boolean(one.closest(".hidden"));
    };
    return [...document.querySelectorAll("body *")].filter(one => {
        const box = one.getBoundingClientRect();
        const out = box.left < -0.5 || box.right > document.documentElement.clientWidth + 0.5;
        return out && box.width > 1 && !scrolls(one);
    }).map(one => one.outerHTML.slice(0, 100));
}"""
MOST_REQUESTS = 6
FINGER = 44
"""Pixels that a finger needs."""
OF_THE_SIZE = {"runOnly": ["color-contrast", "target-size", "scrollable-region-focusable"]}
"""What axe finds on a phone and not in a larger window."""


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
        if name == "a new challenge":
            desktop.get_by_text("More: rules of your own").click()
            found += violations(desktop, "own rules")
        if name == "an offer to end the game":
            expect(desktop.get_by_text("You are asked to end this game uncounted.")).to_be_visible()
            found += violations(desktop, "with its notice")
        if name == "a choice":
            desktop.keyboard.press("2")
            found += violations(desktop, "a card is chosen")
            desktop.keyboard.press("?")
            found += violations(desktop, "the help is open")
    assert found == []


def test_every_page_is_accessible_on_a_phone(phone: Page, live_server: LiveServer) -> None:
    phone.emulate_media(reduced_motion="reduce")
    player = create_guest()
    sign_in(phone, live_server.url, player)
    found: list[str] = []
    for name, page in pages_of(live_server.url, player).items():
        phone.goto(page)
        for summary in phone.locator("summary").all():
            summary.tap()
        found += told(name, Axe().run(phone, options=OF_THE_SIZE).response["violations"])
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
        if name == "a new challenge":
            phone.get_by_text("More: rules of your own").tap()
        found[name] = phone.evaluate(WHAT_OVERFLOWS, direction)
        own_name = phone.get_by_role("banner").locator(".me-link")
        box = own_name.bounding_box()
        assert box is not None
        assert box["width"] >= FINGER, name
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
    sealed = offer_of_the_computer(player)
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
        **pages_with_another_player(site, player),
        "home": site,
        "words": f"{address_of_offer(site, sealed)}?words=own",
        "a fresh table": address(site, fresh),
        "a choice": address(site, choice),
        "a crowded floor": address(site, crowded),
        "a round is over": address(site, counted),
        "the game is over": address(site, over),
        "the log": f"{address(site, over)}log/",
        "the check of a deal": f"{address(site, counted)}fairness/",
        "the rules of a game": f"{address(site, over)}rules/",
        "rules": f"{site}/rules/",
        "a rule set": f"{site}/rules/standard/",
        "my name": f"{site}/account/settings/",
    }


def pages_with_another_player(site: str, player: User) -> dict[str, str]:
    """The pages of `player` with somebody else: offers, and a game in every state."""
    other = cast.person("M" * 24)
    mine, listed, gone = (cast.offer(player, seed=seed, listed=seed == 2) for seed in (1, 2, 3))
    services.withdraw_challenge(challenge_id=gone.pk, player=player)
    theirs = cast.offer(other, seed=4, listed=True)
    asked = cast.sit_down(other, player, seed=5)
    services.offer_to_cancel(game_id=asked.pk, player=other)
    waiting = cast.play_until_ply(cast.sit_down(other, player, seed=6), 2)
    if cast.player_to_play(waiting) == player:
        waiting = cast.play_one(waiting)
    services.offer_to_cancel(game_id=waiting.pk, player=player)
    over, offered, accepting = (
        services.resign(game_id=cast.sit_down(other, player, seed=seed).pk, player=other)
        for seed in (7, 8, 9)
    )
    services.offer_rematch(game_id=offered.pk, player=player)
    rematch = services.offer_rematch(game_id=accepting.pk, player=other)
    return {
        "a new challenge": f"{site}/challenges/new/",
        "the open table": f"{site}/challenges/",
        "my offer": address_of_offer(site, mine),
        "my offer in the list": address_of_offer(site, listed),
        "an offer taken back": address_of_offer(site, gone),
        "an offer": address_of_offer(site, theirs),
        "a rematch": address_of_offer(site, rematch),
        "an offer to end the game": address(site, asked),
        "waiting, with my offer to end the game": address(site, waiting),
        "more": f"{address(site, asked)}more/",
        "resigning": f"{address(site, asked)}resign/",
        "calling off": f"{address(site, asked)}abort/",
        "a game with somebody is over": address(site, over),
        "my rematch is offered": address(site, offered),
        "a rematch is offered to me": address(site, accepting),
    }


def violations(page: Page, name: str) -> list[str]:
    """What axe finds wrong with the page as it is, and with its contrast in the dark."""
    page.emulate_media(color_scheme="light")
    found = told(name, Axe().run(page).response["violations"])
    page.emulate_media(color_scheme="dark")
    # The script is in the page by now; only the colours have changed.
    dark = page.evaluate("axe.run({runOnly: ['color-contrast']}).then(one => one.violations)")
    return found + told(name, dark)


def told(name: str, found: list[Any]) -> list[str]:
    """Each fault in a line."""
    return [f"{name}: {one['id']}: {node['html'][:120]}" for one in found for node in one["nodes"]]
