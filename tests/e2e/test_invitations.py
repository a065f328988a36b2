"""Inviting somebody by mail, in browsers and over a real mail server."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from allauth.account.models import EmailAddress
from playwright.sync_api import expect

from accounts.models import User
from games.models import Challenge, Game
from tests import cast
from tests.games.test_invitations import account, path_in
from tests.post_office import links_of

from .table import Table, sign_in

if TYPE_CHECKING:
    from email.message import EmailMessage

    from playwright.sync_api import Page
    from pytest_django.live_server_helper import LiveServer

    from tests.post_office import PostOffice

NORA = "nora@example.com"


PASSWORD = "a kettle on the window sill"


def invite_by_mail(page: Page, url: str, address: str) -> None:
    page.goto(f"{url}/challenges/new/")
    page.get_by_label("a friend by email").check()
    page.get_by_label("Your friend's email address").fill(address)
    page.get_by_role("button", name="Offer the game").click()
    expect(page.get_by_role("status")).to_contain_text("the invitation is on its way")


def sign_up(page: Page, url: str, address: str) -> None:
    page.goto(f"{url}/account/signup/")
    page.get_by_label(re.compile("^Email")).fill(address)
    page.get_by_label(re.compile("^(Your )?[Nn]ame")).fill("Nora")
    page.get_by_label(re.compile("^Password")).fill(PASSWORD)
    page.get_by_role("button", name="Make the account").click()
    page.wait_for_url(re.compile("/confirm-email/"))


def confirmation_in(mail: EmailMessage) -> str:
    [path] = [urlsplit(link).path for link in links_of(mail) if "confirm-email" in link]
    return path


def test_a_stranger_accepts_from_the_mail_plays_and_then_makes_an_account_and_keeps_the_game(
    desktop: Page, phone: Page, live_server: LiveServer, post_office: PostOffice
) -> None:
    mona = account("Mona")
    sign_in(desktop, live_server.url, mona)
    invite_by_mail(desktop, live_server.url, NORA)
    expect(desktop.get_by_text("nobody has answered yet")).to_be_visible()
    [mail] = post_office.mails_to(NORA)

    phone.goto(live_server.url + path_in(mail))
    expect(phone.get_by_role("heading", name="Mona invites you to a game")).to_be_visible()
    phone.get_by_role("button", name="Accept and deal").click()
    nora = Table(phone)
    expect(nora.status).to_be_visible()
    game = Game.objects.get()
    guest = game.player_b
    if cast.player_to_play(game) == mona:
        cast.play_one(game)
        phone.reload()
    nora.play_first_card()
    expect(nora.status).to_contain_text("Waiting for")
    expect_accepted_by(desktop, live_server.url, guest)

    sign_up(phone, live_server.url, NORA)
    phone.goto(live_server.url + confirmation_in(post_office.mails_to(NORA)[-1]))
    phone.get_by_role("button", name="Confirm").click()
    expect(phone.get_by_role("button", name="Confirm")).to_have_count(0)

    member = EmailAddress.objects.get(email=NORA, verified=True).user
    game.refresh_from_db()
    assert game.player_b == member
    assert member.kind == User.Kind.MEMBER
    phone.goto(f"{live_server.url}/games/{game.pk}/")
    expect(Table(phone).status).to_be_visible()
    expect_accepted_by(desktop, live_server.url, member)


def expect_accepted_by(page: Page, url: str, player: User) -> None:
    page.goto(f"{url}/invitations/")
    expect(page.get_by_text(f"Accepted by {player.name}")).to_be_visible()


def test_an_invitation_outlives_a_sign_up_whose_mail_is_opened_in_another_browser(
    desktop: Page, phone: Page, live_server: LiveServer, post_office: PostOffice
) -> None:
    address = "salma@example.com"
    sign_in(desktop, live_server.url, account("Mona"))
    invite_by_mail(desktop, live_server.url, "Salma@Example.com")
    [mail] = post_office.mails
    desktop.context.clear_cookies()
    desktop.goto(live_server.url + path_in(mail))  # looks, and does not accept
    sign_up(desktop, live_server.url, address)

    phone.goto(live_server.url + confirmation_in(post_office.mails_to(address)[-1]))
    phone.get_by_label("The password that you chose").fill(PASSWORD)
    phone.get_by_role("button", name="Confirm and sign in").click()
    expect(phone.locator(".me-link")).to_contain_text("Nora")
    nora = EmailAddress.objects.get(email=address, verified=True).user
    phone.goto(live_server.url)
    phone.get_by_role("link", name="Mona offers a game").click()
    phone.get_by_role("button", name="Accept and deal").click()
    expect(Table(phone).status).to_be_visible()
    assert Game.objects.get().player_b == nora


def test_without_script_and_by_keyboard_an_invitation_is_declined_and_more_are_not_wanted(
    without_script: Page, live_server: LiveServer, post_office: PostOffice
) -> None:
    page = without_script
    sign_in(page, live_server.url, account("Mona"))
    invite_by_mail(page, live_server.url, NORA)
    [mail] = post_office.mails
    page.context.clear_cookies()
    page.goto(live_server.url + path_in(mail))
    page.get_by_role("link", name="Never send me an invitation again").press("Enter")
    page.get_by_role("button", name="Never send me an invitation again").press("Enter")
    expect(page.get_by_role("heading", name=re.compile("no invitation"))).to_be_visible()
    page.goto(live_server.url + path_in(mail))
    page.get_by_role("button", name="No, thanks").press("Enter")
    expect(page.get_by_role("heading", name="You declined this invitation")).to_be_visible()
    assert Challenge.objects.get().state == Challenge.State.DECLINED


@pytest.mark.parametrize("width", [320, 1280])
def test_the_pages_of_an_invitation_fit_and_name_everything(
    desktop: Page, live_server: LiveServer, post_office: PostOffice, width: int
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    desktop.set_viewport_size({"width": width, "height": 700})
    mona = account("Mona")
    sign_in(desktop, live_server.url, mona)
    long = f"{'n' * 60}@{'example' * 8}.com"
    invite_by_mail(desktop, live_server.url, long)
    path = path_in(post_office.mails[0])
    challenge = Challenge.objects.get()
    offered = cast.offer(mona, seed=7)
    mine = ["/invitations/", f"/challenges/{challenge.pk}/", f"/challenges/{offered.pk}/"]
    mine += ["/challenges/new/?mail", path]
    theirs = [path, f"/invitations/{'x' * 43}/"]
    never = next(urlsplit(link).path for link in links_of(post_office.mails[0]) if "never" in link)
    for paths in (mine, [*theirs, never]):
        for one in paths:
            desktop.goto(live_server.url + one)
            wide = desktop.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, one
            found = Axe().run(desktop).response["violations"]
            assert not found, (one, [(item["id"], item["nodes"][0]["html"]) for item in found])
        desktop.context.clear_cookies()
