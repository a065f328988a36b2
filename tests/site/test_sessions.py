"""A session that is used does not end."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from accounts.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def mona(client: Client) -> Client:
    client.force_login(User.objects.create(username="mona", name="Mona"))
    client.get("/")
    return client


def test_a_session_is_renewed_on_another_day(mona: Client) -> None:
    session = mona.session
    session["slid"] -= 1
    session.save()
    Session.objects.update(expire_date=timezone.now() + timedelta(days=2))
    response = mona.get("/")
    assert Session.objects.get().expire_date > timezone.now() + timedelta(days=29)
    cookie = response.cookies[settings.SESSION_COOKIE_NAME]
    assert cookie["max-age"] == settings.SESSION_COOKIE_AGE == 30 * 24 * 60 * 60


def test_a_session_is_not_written_twice_on_a_day(mona: Client) -> None:
    before = Session.objects.get().expire_date
    response = mona.get("/")
    assert Session.objects.get().expire_date == before
    assert settings.SESSION_COOKIE_NAME not in response.cookies


def test_a_stranger_gets_no_session(client: Client) -> None:
    client.get("/")
    assert not Session.objects.exists()
