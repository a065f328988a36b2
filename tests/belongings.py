"""Somebody who has everything that an account can have, for tests of taking it along or away."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import TYPE_CHECKING
from unittest.mock import patch

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group
from django.contrib.messages import constants
from django.contrib.messages.storage.session import SessionStorage
from django.utils import timezone

from accounts import outbox
from accounts.addresses import address_digest
from accounts.models import Block, DataExport, FacebookRequest, Friendship, User
from games import engine, services, uploads
from games.models import Invitation

from . import cast

if TYPE_CHECKING:
    from django.test import Client

NAME = "Nefertari"
ADDRESS = "nefertari.k@example.com"
SECOND_ADDRESS = "nefi@example.org"
STRANGERS_ADDRESS = "stranger@example.net"
FACEBOOK_ID = "102157698877001"
FACEBOOK_NAME = "Nefertari Kamal"
PASSWORD = "the heron wades at noon"
BROWSER = "Mozilla/5.0 (a browser of her own)"
SECRET = "JBSWY3DPEHPK3PXP"
TIME_ZONE = "Africa/Cairo"


class Somebody:
    """A member with games, friends, offers, invitations, mails, links and sign-ins."""

    def __init__(self) -> None:
        self.friend = cast.person("Karim")
        self.other = cast.person("Salma")
        self.user = cast.person(NAME)
        user = self.user
        User.objects.filter(pk=user.pk).update(
            email=ADDRESS, time_zone=TIME_ZONE, password=make_password(PASSWORD)
        )
        user.refresh_from_db()
        self.username, self.public_id = user.username, user.public_id
        self._account()
        self._people()
        self._games()
        self._offers()
        self._mail()
        self.browser = self._browser()

    def _account(self) -> None:
        user, now = self.user, timezone.now()
        EmailAddress.objects.create(user=user, email=ADDRESS, verified=True, primary=True)
        EmailAddress.objects.create(user=user, email=SECOND_ADDRESS, verified=True)
        SocialAccount.objects.create(
            user=user,
            provider="facebook",
            uid=FACEBOOK_ID,
            extra_data={"id": FACEBOOK_ID, "name": FACEBOOK_NAME},
        )
        Authenticator.objects.create(user=user, type="totp", data={"secret": SECRET})
        user.groups.add(Group.objects.create(name="Testers"))
        FacebookRequest.objects.create(
            kind="delete", confirmation_code="c0de", person="d" * 64, issued_at=now, user=user
        )
        DataExport.objects.create(
            user=user, made_at=now - timedelta(hours=30), content=f"a file of {NAME}".encode()
        )

    def _people(self) -> None:
        user, now = self.user, timezone.now()
        Friendship.objects.create(asker=user, asked=self.friend, accepted_at=now)
        Friendship.objects.create(asker=self.other, asked=user)
        Block.objects.create(blocker=user, blocked=cast.person("Tarek"))
        Block.objects.create(blocker=cast.person("Mona"), blocked=user)

    def _games(self) -> None:
        user = self.user
        self.finished = cast.play_to_the_end(cast.sit_down(user, self.friend, seed=11))
        self.running = cast.play_until_ply(cast.sit_down(user, self.friend, seed=12), 3)
        self.running_as_b = cast.play_until_ply(cast.sit_down(self.other, user, seed=13), 10)
        self.of_two_rounds = cast.play_until_ply(
            cast.sit_down(user, self.other, seed=17, target=101), 60
        )
        services.offer_to_cancel(game_id=self.running_as_b.pk, player=user)
        self.with_the_computer = cast.sit_down_with_the_computer(user, seed=14)
        self.over_with_the_computer = services.resign(
            game_id=cast.sit_down_with_the_computer(user, seed=15).pk, player=user
        )
        record = engine.parse_record(_record())
        self.upload = uploads.keep_record(player=user, record=record, form_key=uuid.uuid4())

    def _offers(self) -> None:
        user = self.user
        self.listed = cast.offer(user, listed=True, seed=21)
        self.to_friend = cast.offer(user, self.friend, seed=22)
        self.from_other = cast.offer(self.other, user, seed=23)
        self.rematch = services.offer_rematch(game_id=self.finished.pk, player=user)
        self.by_mail = cast.offer(user, seed=24)
        Invitation.objects.create(
            challenge=self.by_mail,
            address=STRANGERS_ADDRESS,
            address_digest=address_digest(STRANGERS_ADDRESS),
            language="en",
            token_sha256="a" * 64,
        )
        self.invited = cast.offer(self.other, seed=25)
        Invitation.objects.create(
            challenge=self.invited,
            address=ADDRESS.upper(),
            address_digest=address_digest(ADDRESS),
            language="en",
            recipient=user,
        )

    def _mail(self) -> None:
        with patch("accounts.outbox._ring"):
            for key, user, address in (
                ("one", self.user, ADDRESS),
                ("two", None, ADDRESS.upper()),
                ("three", self.user, "old@example.org"),
            ):
                outbox.put(
                    kind="account",
                    key=f"{key} of {NAME}",
                    address=address,
                    language="en",
                    user=user,
                    content={"name": NAME},
                    lasts=timedelta(days=1),
                )

    def _browser(self) -> Client:
        browser = cast.browser_of(self.user)
        session = browser.session
        session[SessionStorage.session_key] = f'[["__json_message",0,{constants.INFO},"{NAME}"]]'
        session.save()
        UserSession.objects.create(
            user=self.user,
            ip="192.0.2.77",
            user_agent=BROWSER,
            session_key=session.session_key,
        )
        return browser

    def traces(self) -> list[str]:
        """What must be found nowhere once the account is deleted."""
        return [
            NAME, NAME.lower(), ADDRESS, ADDRESS.upper(), SECOND_ADDRESS, STRANGERS_ADDRESS,
            "old@example.org", FACEBOOK_ID, FACEBOOK_NAME, SECRET, BROWSER, "192.0.2.77",
            TIME_ZONE, str(self.public_id), self.public_id.hex,
        ]  # fmt: skip


def _record() -> str:
    """The record of a game of others, in which her name stands as she typed it."""
    from games import replaying

    game = cast.play_to_the_end(cast.sit_down(cast.person("Hoda"), cast.person("Omar"), seed=31))
    text = engine.format_record(replaying.record_of(cast.as_it_is(game)))
    return text.replace("Hoda", NAME)


def show_who_one_is(browser: Client) -> None:
    """Give the password again, as one is asked to before what cannot be undone."""
    response = browser.post("/account/reauthenticate/", {"password": PASSWORD})
    assert response.status_code == 302, response.content.decode()
