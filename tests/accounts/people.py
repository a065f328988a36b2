"""What people do to get an account and into it, for the tests of accounts."""

from __future__ import annotations

import re
import uuid
from html import unescape
from urllib.parse import urlsplit

from allauth.account.models import EmailAddress
from django.core import mail
from django.core.mail import EmailMultiAlternatives
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts import outbox
from accounts.models import User
from tests import cast

PASSWORD = "quiet river over stones"


def account(name: str, *, address: str = "", password: str = PASSWORD) -> User:
    """Return a player with an account, a confirmed address and a password."""
    user = cast.person(name)
    user.email = address or f"{name.lower()}@basra.example"
    user.set_password(password)
    user.save()
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


def guest(name: str = "") -> tuple[User, Client]:
    """Return a guest and the browser that knows them."""
    player = cast.person(name or f"Guest {uuid.uuid4().hex[:8]}", kind=User.Kind.GUEST)
    return player, cast.browser_of(player)


def sign_up(
    browser: Client, *, address: str, name: str, password: str = PASSWORD, wanted: str = ""
) -> HttpResponse:
    """Send the form that makes an account."""
    form = {"email": address, "name": name, "password1": password}
    if wanted:
        form["next"] = wanted
    return cast.posted(browser, reverse("account_signup"), form)


def sign_in(
    browser: Client, user: User, *, password: str = PASSWORD, wanted: str = ""
) -> HttpResponse:
    """Send the form that signs somebody in."""
    form = {"login": user.email, "password": password}
    if wanted:
        form["next"] = wanted
    return cast.posted(browser, reverse("account_login"), form)


def sent_to(address: str) -> list[EmailMultiAlternatives]:
    """Return the mails that have arrived at an address, in order; what waits is sent first."""
    outbox.sweep()
    return [
        letter
        for letter in mail.outbox
        if letter.to == [address] and isinstance(letter, EmailMultiAlternatives)
    ]


def latest_to(address: str) -> EmailMultiAlternatives:
    """Return the mail that came last."""
    return sent_to(address)[-1]


def link_in(letter: EmailMultiAlternatives) -> str:
    """Return the path of the first link of a mail that leads to a page of accounts."""
    found = re.search(r"https?://\S*/account/\S+", str(letter.body))
    assert found, letter.body
    parts = urlsplit(found[0])
    return parts.path + (f"?{parts.query}" if parts.query else "")


def code_in(letter: EmailMultiAlternatives) -> str:
    """Return the code of a mail."""
    found = re.search(r"^([A-Z0-9]+(?:-[A-Z0-9]+)*)$", str(letter.body), re.MULTILINE)
    assert found, letter.body
    return found[1]


def confirm(browser: Client, address: str, *, password: str = PASSWORD) -> HttpResponse:
    """Open the link of the latest mail and press "Confirm".

    In a browser that has not signed up the password is asked for; without one it is not known.
    """
    link = link_in(latest_to(address))
    page = cast.get(browser, link)
    assert page.status_code == 200
    hidden = re.search(r'name="next" value="([^"]*)"', cast.text_of(page))
    form = {"next": unescape(hidden[1])} if hidden else {}
    if 'name="without_password"' in cast.text_of(page):
        form |= {"password": password} if password else {"without_password": "1"}
    return cast.posted(browser, link.partition("?")[0], form)


def whose(browser: Client) -> User | None:
    """Return who a browser is signed in as."""
    key = browser.session.get("_auth_user_id")
    return User.objects.filter(pk=key, is_active=True).first() if key else None
