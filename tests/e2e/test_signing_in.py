"""In a browser: an account from the first game on, two factors, a passkey, and all ways out."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.urls import reverse
from playwright.sync_api import expect

from accounts.models import User
from games.models import Game
from tests import cast
from tests.accounts import people
from tests.accounts.people import PASSWORD

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from pytest_django.live_server_helper import LiveServer

ADDRESS = "mona@basra.example"


def begin_a_game(page: Page, site: str) -> str:
    """Play against the computer as a guest; return the path of the table."""
    page.goto(site)
    page.get_by_role("button", name="Play the computer").click()
    expect(page).to_have_url(re.compile(r"/games/[0-9a-f-]{36}/$"))
    return page.url.removeprefix(site)


def sign_up(page: Page, *, name: str = "Mona") -> None:
    page.get_by_label("Email").fill(ADDRESS)
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Make the account").click()
    expect(page.get_by_role("heading", name="Look into your mail")).to_be_visible()


def confirm(page: Page, site: str) -> None:
    page.goto(site + people.link_in(people.latest_to(ADDRESS)))
    page.get_by_role("button", name="Confirm").click()


def sign_in(page: Page, user: User) -> None:
    page.get_by_label("Email").fill(user.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def show_once_more(page: Page) -> None:
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Go on").click()


def test_a_guest_signs_up_confirms_from_the_mail_and_finds_the_game(
    phone: Page, live_server: LiveServer
) -> None:
    site = live_server.url
    table = begin_a_game(phone, site)
    guest = User.objects.get(kind=User.Kind.GUEST)
    expect(phone.locator(".me-link")).to_contain_text(guest.name)
    phone.locator(".me-link").click()
    phone.get_by_role("link", name="Make an account to keep your games").click()
    expect(phone.get_by_label("Name")).to_have_value(guest.name)
    sign_up(phone)
    phone.goto(site + table)  # plays on meanwhile
    expect(phone.locator(".me-link")).to_contain_text(guest.name)
    confirm(phone, site)
    expect(phone.locator(".me-link")).to_contain_text("Mona")
    phone.goto(site + table)
    expect(phone.locator(".board")).to_be_visible()
    assert Game.objects.get().player_b == User.objects.get(name="Mona")


def test_without_a_script_one_signs_up_confirms_in_another_browser_and_signs_in(
    without_script: Page, desktop: Page, live_server: LiveServer
) -> None:
    site = live_server.url
    without_script.goto(f"{site}/rules/standard/")
    without_script.get_by_role("link", name="Sign in").click()
    without_script.get_by_role("link", name="Make one").click()
    sign_up(without_script)
    desktop.goto(site + people.link_in(people.latest_to(ADDRESS)))
    desktop.get_by_label("The password that you chose").fill("another one")
    desktop.get_by_role("button", name="Confirm and sign in").click()
    expect(desktop.get_by_role("alert")).to_contain_text("Incorrect password")
    desktop.get_by_label("The password that you chose").fill(PASSWORD)
    desktop.get_by_role("button", name="Confirm and sign in").click()
    expect(desktop.locator(".me-link")).to_contain_text("Mona")
    expect(desktop).to_have_url(f"{site}/rules/standard/")
    without_script.goto(f"{site}{reverse('account_login')}")
    sign_in(without_script, User.objects.get(name="Mona"))
    expect(without_script).to_have_url(f"{site}/")
    expect(without_script.locator(".me-link")).to_contain_text("Mona")


def test_whoever_does_not_know_the_password_confirms_without_it_and_signs_in_by_a_code(
    without_script: Page, phone: Page, live_server: LiveServer
) -> None:
    site = live_server.url
    without_script.goto(f"{site}{reverse('account_signup')}?next=/rules/standard/")
    sign_up(without_script)
    phone.goto(site + people.link_in(people.latest_to(ADDRESS)))
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    phone.get_by_role("button", name="I do not know the password").click()
    phone.get_by_label("Email").fill(ADDRESS)
    phone.get_by_role("button", name="Mail me a code").click()
    phone.get_by_label("Code").fill(people.code_in(people.latest_to(ADDRESS)))
    phone.get_by_role("button", name="Sign in").click()
    expect(phone).to_have_url(f"{site}/rules/standard/")
    expect(phone.locator(".me-link")).to_contain_text("Mona")
    assert not User.objects.get(name="Mona").has_usable_password()


def test_signing_in_by_a_code_ends_on_the_page_that_was_wanted(
    phone: Page, live_server: LiveServer
) -> None:
    mona, site = people.account("Mona"), live_server.url
    phone.goto(f"{site}/rules/standard/")
    phone.get_by_role("link", name="Sign in").click()
    phone.get_by_role("link", name="By a code that we mail you").click()
    phone.get_by_label("Email").fill(mona.email)
    phone.get_by_role("button", name="Mail me a code").click()
    phone.get_by_label("Code").fill(people.code_in(people.latest_to(mona.email)))
    phone.get_by_role("button", name="Sign in").click()
    expect(phone).to_have_url(f"{site}/rules/standard/")
    expect(phone.locator(".me-link")).to_contain_text("Mona")


def test_codes_of_an_app_are_set_up_from_the_picture_and_asked_for(
    phone: Page, desktop: Page, live_server: LiveServer
) -> None:
    mona, site = people.account("Mona"), live_server.url
    desktop.goto(site + reverse("account_login"))
    sign_in(desktop, mona)
    desktop.goto(site + reverse("mfa_index"))
    desktop.get_by_role("link", name="Set it up").click()
    show_once_more(desktop)
    picture = desktop.locator("img.qr")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
    secret = desktop.locator("form code").inner_text()
    step = int(time.time()) // 30
    desktop.get_by_label("Authenticator code").fill(format_hotp_value(hotp_value(secret, step)))
    desktop.get_by_role("button", name="Ask for codes from now on").click()
    expect(desktop.get_by_role("heading", name="Recovery codes")).to_be_visible()
    recovery = desktop.locator(".codes code").first.inner_text()

    phone.goto(f"{site}{reverse('account_login')}?next=/rules/standard/")
    sign_in(phone, mona)
    expect(phone.get_by_role("heading", name="The second step")).to_be_visible()
    phone.get_by_label("Code").fill("000000")
    phone.get_by_role("button", name="Sign in").click()
    expect(phone.get_by_role("alert").first).to_be_visible()
    phone.get_by_label("Code").fill(recovery)
    phone.get_by_role("button", name="Sign in").click()
    expect(phone).to_have_url(f"{site}/rules/standard/")


def with_an_authenticator(page: Page) -> None:
    """Give the browser a device that makes passkeys."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    devtools.send(
        "WebAuthn.addVirtualAuthenticator",
        {
            "options": {
                "protocol": "ctap2",
                "transport": "internal",
                "hasResidentKey": True,
                "hasUserVerification": True,
                "isUserVerified": True,
                "automaticPresenceSimulation": True,
            }
        },
    )


def test_a_passkey_is_added_and_signs_in_to_the_page_that_was_wanted(
    desktop: Page, live_server: LiveServer
) -> None:
    mona, site = people.account("Mona"), live_server.url
    with_an_authenticator(desktop)
    desktop.goto(site + reverse("account_login"))
    sign_in(desktop, mona)
    desktop.goto(site + reverse("mfa_index"))
    desktop.get_by_role("link", name="Add a passkey").click()
    show_once_more(desktop)
    desktop.get_by_label("Name").fill("My laptop")
    desktop.get_by_role("button", name="Add it").click()
    expect(desktop.get_by_role("heading", name="Recovery codes")).to_be_visible()
    key = Authenticator.objects.get(type=Authenticator.Type.WEBAUTHN)
    assert key.wrap().is_passwordless
    desktop.goto(site + reverse("mfa_list_webauthn"))
    expect(desktop.get_by_text("My laptop")).to_be_visible()

    desktop.goto(site + reverse("account_logout"))
    desktop.get_by_role("button", name="Sign out").click()
    table = begin_a_game(desktop, site)
    desktop.goto(f"{site}{reverse('account_login')}?next={table}")
    desktop.get_by_role("button", name="By a passkey of this device").click()
    expect(desktop).to_have_url(f"{site}{table}")
    expect(desktop.locator(".me-link")).to_contain_text("Mona")
    assert Game.objects.get().player_b == mona


def test_a_browser_without_a_passkey_says_so(desktop: Page, live_server: LiveServer) -> None:
    with_an_authenticator(desktop)  # which knows no passkey yet
    desktop.goto(live_server.url + reverse("account_login"))
    desktop.get_by_role("button", name="By a passkey of this device").click()
    expect(desktop.get_by_text("this browser has given no passkey")).to_be_visible()


def test_signing_out_everywhere_ends_the_other_browser(
    phone: Page, desktop: Page, live_server: LiveServer
) -> None:
    mona, site = people.account("Mona"), live_server.url
    for page in (phone, desktop):
        page.goto(site + reverse("account_login"))
        sign_in(page, mona)
        expect(page.locator(".me-link")).to_contain_text("Mona")
    desktop.goto(site + reverse("usersessions_list"))
    desktop.get_by_role("button", name="Sign out everywhere else").click()
    expect(desktop.get_by_text("this browser")).to_be_visible()
    phone.goto(site)
    expect(phone.get_by_role("link", name="Sign in")).to_be_visible()
    desktop.goto(site)
    expect(desktop.locator(".me-link")).to_contain_text("Mona")


def test_a_form_from_before_the_cookies_were_cleared_keeps_what_was_typed(
    phone: Page, live_server: LiveServer
) -> None:
    site = live_server.url
    cast.person("Karim")
    phone.goto(site + reverse("account_signup"))
    phone.context.clear_cookies()
    phone.get_by_label("Email").fill(ADDRESS)
    phone.get_by_label("Name").fill("Mona")
    phone.get_by_label("Password").fill(PASSWORD)
    phone.get_by_role("button", name="Make the account").click()
    expect(phone.get_by_text("The page was too old")).to_be_visible()
    expect(phone.get_by_label("Email")).to_have_value(ADDRESS)
    expect(phone.get_by_label("Name")).to_have_value("Mona")
    phone.get_by_label("Password").fill(PASSWORD)
    phone.get_by_role("button", name="Make the account").click()
    expect(phone.get_by_role("heading", name="Look into your mail")).to_be_visible()
