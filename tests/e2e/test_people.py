"""Settings, friends and players in a browser."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from accounts import friends
from accounts.models import Friendship, User
from games import services
from tests import cast

from .table import CHOICE, Table, address, dealt_game, lay, sign_in
from .test_pages import WHAT_OVERFLOWS, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
    from pytest_django.live_server_helper import LiveServer

LONG = "M" * 24


def people() -> tuple[User, User]:
    """Mona, who knows somebody in every way that there is, and her friend Karim."""
    mona, karim = cast.person("Mona"), cast.person("Karim")
    asks, asked, blocked = (cast.person(name) for name in ("منى الجميلة", LONG, "Tarek"))
    friends.ask(mona, karim)
    friends.accept(karim, mona)
    friends.ask(asks, mona)
    friends.ask(mona, asked)
    friends.block(mona, blocked)
    for seed, loser in enumerate((karim, mona, karim), start=1):
        services.resign(game_id=cast.sit_down(mona, karim, seed=seed).pk, player=loser)
    return mona, karim


def pages(site: str, karim: User, tarek: User) -> dict[str, str]:
    new = reverse("games:new_challenge", query={"friend": str(karim.public_id)})
    return {
        "settings": f"{site}/account/settings/",
        "friends": f"{site}/account/friends/",
        "a friend": site + reverse("games:player", args=[karim.public_id]),
        "somebody blocked": site + reverse("games:player", args=[tarek.public_id]),
        "a challenge to a friend": site + new,
    }


@pytest.mark.parametrize("size", ["phone", "desktop"])
def test_the_pages_of_people_are_accessible_and_fit(
    size: str, request: pytest.FixtureRequest, live_server: LiveServer
) -> None:
    page: Page = request.getfixturevalue(size)
    mona, karim = people()
    sign_in(page, live_server.url, mona)
    found = []
    folder = os.environ.get("BASRA_PICTURES")
    tarek = User.objects.get(name="Tarek")
    for name, url in pages(live_server.url, karim, tarek).items():
        page.goto(url)
        if folder:
            page.screenshot(path=f"{folder}/people-{size}-{name}.png", full_page=True)
        found += violations(page, name)
        for direction in ("ltr", "rtl"):
            found += [f"{name}: {one}" for one in page.evaluate(WHAT_OVERFLOWS, direction)]
        page.evaluate("document.documentElement.dir = 'ltr'")
    assert found == []


def test_two_become_friends_and_play(
    browser: Browser, desktop: Page, phone: Page, live_server: LiveServer
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    sign_in(desktop, live_server.url, mona)
    sign_in(phone, live_server.url, karim)
    desktop.goto(f"{live_server.url}/account/friends/")
    desktop.get_by_label("Ask somebody for friendship, by name").fill("karim")
    desktop.keyboard.press("Enter")
    expect(desktop.get_by_text("You have asked. If they agree")).to_be_visible()
    phone.goto(live_server.url)
    phone.get_by_role("link", name="1 player asks for your friendship.").click()
    phone.get_by_role("button", name="Agree").click()
    phone.get_by_role("link", name="Karim", exact=False).first.wait_for()
    expect(phone.get_by_role("heading", name="Your friends")).to_be_visible()
    phone.get_by_role("link", name="Offer a game").click()
    phone.get_by_role("button", name="Offer the game").click()
    expect(phone.get_by_role("heading", name="Waiting for Mona to answer")).to_be_visible()
    desktop.goto(live_server.url)
    desktop.get_by_role("link", name="Karim offers a game").click()
    desktop.get_by_role("button", name="Accept and deal").click()
    expect(Table(desktop).board).to_be_visible()


def test_who_is_blocked_and_unblocked_is_so(desktop: Page, live_server: LiveServer) -> None:
    mona, karim = people()
    sign_in(desktop, live_server.url, mona)
    desktop.goto(live_server.url + reverse("games:player", args=[karim.public_id]))
    desktop.get_by_text("Block this player").click()
    desktop.get_by_role("button", name=re.compile("^Block")).click()
    expect(desktop.get_by_text("You have blocked this player")).to_be_visible()
    assert not Friendship.objects.filter(accepted_at__isnull=False).exists()
    desktop.get_by_role("button", name="Unblock").click()
    expect(desktop.get_by_role("button", name="Ask for friendship")).to_be_visible()


def test_the_browser_proposes_its_time_zone(browser: Browser, live_server: LiveServer) -> None:
    mona = cast.person("Mona")
    context = browser.new_context(timezone_id="Africa/Cairo")
    page = context.new_page()
    sign_in(page, live_server.url, mona)
    page.goto(f"{live_server.url}/account/settings/")
    expect(page.get_by_label("Time zone")).to_have_value("Africa/Cairo")
    expect(page.get_by_text("Your browser says that this is your time zone.")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert User.objects.get(pk=mona.pk).time_zone == "Africa/Cairo"
    User.objects.filter(pk=mona.pk).update(time_zone="Asia/Kolkata")
    page.goto(f"{live_server.url}/account/settings/")
    expect(page.get_by_label("Time zone")).to_have_value("Asia/Kolkata")
    expect(page.get_by_text("Your browser says that")).to_be_hidden()
    context.close()


def test_four_colours_colour_the_suits(desktop: Page, live_server: LiveServer) -> None:
    player, game = dealt_game()
    User.objects.filter(pk=player.pk).update(deck="four")
    lay(game, mine="QC QD QH QS", theirs="KC KD KH KS", floor="5C 3D 3H 7S")
    sign_in(desktop, live_server.url, player)
    desktop.goto(address(live_server.url, game))
    colours = desktop.evaluate(
        """() => [...document.querySelectorAll(".in-hand use")].map(
            one => getComputedStyle(one).getPropertyValue("--c").trim())"""
    )
    assert len({one for one in colours if one}) == 2
    assert colours.count("") == 2


@pytest.mark.parametrize("which", ["desktop", "without_script"])
def test_a_card_is_played_by_choosing_it_where_nothing_is_asked(
    which: str, request: pytest.FixtureRequest, live_server: LiveServer
) -> None:
    page: Page = request.getfixturevalue(which)
    player, game = dealt_game()
    User.objects.filter(pk=player.pk).update(confirms_plays=False)
    mine, theirs, floor = CHOICE
    lay(game, mine=mine, theirs=theirs, floor=floor)
    sign_in(page, live_server.url, player)
    page.emulate_media(reduced_motion="reduce")  # nothing is half there while it is looked at
    page.goto(address(live_server.url, game))
    if which == "desktop":
        assert violations(page, "nothing is asked") == []
    # The eight takes the five with either three: that is asked.
    page.locator('[value="8S"] + label').click()
    expect(page.get_by_role("group", name=re.compile("2 ways"))).to_be_visible()
    page.locator('[value="KC"] + label').click()
    expect(page.locator("label.in-hand")).to_have_count(1)
    game = cast.as_it_is(game)
    assert game.plays.filter(text__startswith="KC").exists()


def test_keys_work_where_nothing_is_asked(desktop: Page, live_server: LiveServer) -> None:
    player, game = dealt_game()
    User.objects.filter(pk=player.pk).update(confirms_plays=False)
    lay(game, mine="QC KC 10C 2S", theirs="2H 9D QD JD", floor="5C 3D")
    sign_in(desktop, live_server.url, player)
    desktop.goto(address(live_server.url, game))
    before = game.plays.count()
    for key in "1324":
        desktop.keyboard.press(key)
        expect(desktop.locator(f'.pick[data-key="{key}"]')).to_be_focused()
    assert game.plays.count() == before
    desktop.keyboard.press("Enter")
    expect(desktop.locator(".in-hand")).to_have_count(3)
