"""Taking one's data along and deleting the account, in a browser."""

from __future__ import annotations

import json
import zipfile
from datetime import timedelta
from typing import TYPE_CHECKING
from unittest.mock import patch

from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import DataExport, User
from accounts.tasks import look_after_data
from games.models import Game
from tests import belongings, cast
from tests.belongings import Somebody
from tests.post_office import PostOffice, links_of

if TYPE_CHECKING:
    from pytest_django.live_server_helper import LiveServer


def sign_in(page: Page, live_server: LiveServer, player: User) -> None:
    """Be signed in without the ways to it, which have tests of their own."""
    browser = cast.browser_of(player)
    [(name, cookie)] = [
        (name, cookie) for name, cookie in browser.cookies.items() if "session" in name
    ]
    page.context.add_cookies([{"name": name, "value": cookie.value, "url": live_server.url}])


def give_the_password(page: Page) -> None:
    page.get_by_label("Password").fill(belongings.PASSWORD)
    page.get_by_role("main").get_by_role("button").first.click()


def test_somebody_takes_their_data_along(
    phone: Page, live_server: LiveServer, tmp_path_factory: object
) -> None:
    somebody = Somebody()
    sign_in(phone, live_server, somebody.user)
    phone.goto(f"{live_server.url}/account/settings/")
    phone.get_by_role("link", name="Take your data along").click()
    with patch("accounts.exporting._ring"):  # the queue is slow today
        phone.get_by_role("button", name="Make the file").click()
        give_the_password(phone)
        expect(phone.get_by_role("status")).to_contain_text("is being made")
    DataExport.objects.update(asked_at=timezone.now() - timedelta(minutes=11))
    look_after_data()
    phone.get_by_role("link", name="Look again").click()
    with phone.expect_download() as fetched:
        phone.get_by_role("button", name="Download").click()
    assert fetched.value.suggested_filename == "basra-data.zip"
    with zipfile.ZipFile(fetched.value.path()) as packed:
        data = json.loads(packed.read("data.json"))
        page_in_it = packed.read("data.html").decode()
    assert data["profile"]["name"] == belongings.NAME
    assert len(data["games"]) == 6
    phone.set_content(page_in_it)
    expect(phone.get_by_role("heading", name="My Basra data")).to_be_visible()
    assert not phone.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_somebody_changes_their_mind_by_the_link_in_the_mail(
    desktop: Page, without_script: Page, live_server: LiveServer, post_office: PostOffice
) -> None:
    somebody = Somebody()
    sign_in(desktop, live_server, somebody.user)
    desktop.goto(f"{live_server.url}/account/close/")
    desktop.get_by_role("button", name="Delete my account").click()
    give_the_password(desktop)
    expect(desktop.get_by_role("main")).to_contain_text("Your account will be deleted on")
    [mail] = [
        mail
        for mail in post_office.mails_to(belongings.ADDRESS)
        if "will be deleted" in mail["Subject"]
    ]
    [link] = [link for link in links_of(mail) if "/close/keep/" in link]
    without_script.goto(link.replace("http://localhost:8000", live_server.url))
    without_script.get_by_role("button", name="Keep my account").click()
    expect(without_script.get_by_role("status")).to_contain_text("The account stays")
    desktop.goto(live_server.url)
    expect(desktop.get_by_text("will be deleted")).to_have_count(0)


def test_after_seven_days_the_account_is_gone_and_the_opponent_has_won(
    phone: Page, desktop: Page, live_server: LiveServer
) -> None:
    somebody = Somebody()
    sign_in(phone, live_server, somebody.user)
    sign_in(desktop, live_server, somebody.friend)
    table = f"{live_server.url}/games/{somebody.running.pk}/"
    desktop.goto(table)
    phone.goto(f"{live_server.url}/account/close/")
    phone.get_by_role("button", name="Delete my account").click()
    give_the_password(phone)
    phone.goto(live_server.url)
    expect(phone.get_by_text("Your account will be deleted on")).to_be_visible()
    User.objects.update(closes_at=timezone.now() - timedelta(seconds=1))
    User.objects.exclude(pk=somebody.user.pk).update(closes_at=None)
    look_after_data()
    # The table that was open all the while says so by itself.
    expect(desktop.locator("#status")).to_contain_text("You win", ignore_case=True)
    desktop.goto(table)
    expect(desktop.get_by_role("main")).to_contain_text("former player")
    expect(desktop.get_by_role("main")).not_to_contain_text(belongings.NAME)
    assert Game.objects.get(pk=somebody.running.pk).status == Game.Status.FINISHED
    phone.goto(live_server.url)
    expect(phone.get_by_role("heading", name="Play Basra")).to_be_visible()


def test_privacy_is_two_presses_away_and_fits_a_phone(phone: Page, live_server: LiveServer) -> None:
    phone.goto(live_server.url)
    phone.get_by_role("contentinfo").get_by_role("link", name="Privacy").click()
    expect(phone.get_by_role("heading", name="Privacy", exact=True)).to_be_visible()
    assert not phone.evaluate("document.documentElement.scrollWidth > innerWidth")
    loaded = phone.evaluate("performance.getEntriesByType('resource').map(e => e.name)")
    assert all(address.startswith(live_server.url) for address in loaded)
