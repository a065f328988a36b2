"""A visitor becomes a guest at the first action, and keeps the games by cookie."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from accounts import guests
from accounts.guests import create_guest
from accounts.models import User
from games.models import Challenge
from tests import cast

pytestmark = pytest.mark.django_db

SESSION = "basra-session"


def click_play(browser: Client) -> str:
    form = {
        "level": "easy",
        "rule_set": "standard",
        "target": "round",
        "form_key": str(uuid.uuid4()),
    }
    response = cast.posted(browser, reverse("games:play_computer"), form)
    assert response.status_code == 302
    return response["Location"]


def test_looking_around_makes_nobody() -> None:
    browser = cast.browser_of()
    for address in (
        "/",
        "/rules/",
        "/rules/standard/",
        "/account/settings/",
        f"/games/{uuid.uuid4()}/",
    ):
        browser.get(address)
    assert SESSION not in browser.cookies
    assert not User.objects.exists()
    assert not Session.objects.exists()


def test_an_action_that_is_refused_makes_nobody() -> None:
    browser = cast.browser_of()
    form = {"rule_set": "poker", "target": "round", "form_key": str(uuid.uuid4())}
    assert cast.posted(browser, reverse("games:play_computer"), form).status_code == 422
    assert cast.posted(browser, f"/games/{uuid.uuid4()}/play/", form).status_code == 404
    assert cast.posted(browser, "/account/settings/", {"name": "Mona"}).status_code == 404
    assert not User.objects.exists()


def test_the_first_game_makes_a_guest_with_a_readable_name_of_her_own() -> None:
    browser = cast.browser_of()
    page = browser.get(click_play(browser)).content.decode()
    guest = User.objects.get(kind=User.Kind.GUEST)
    assert re.fullmatch(r"[A-Z][a-z]+ [A-Z][a-z]+ \d{3}", guest.name)
    assert f"<bdi>{guest.name}</bdi>" in page
    assert not guest.has_usable_password()
    assert not guest.is_staff
    assert not guest.is_superuser
    assert Challenge.objects.get().opponent == guest


def test_a_guest_stays_the_same_and_keeps_her_games() -> None:
    browser = cast.browser_of()
    first, second = click_play(browser), click_play(browser)
    assert User.objects.filter(kind=User.Kind.GUEST).count() == 1
    home = browser.get("/").content.decode()
    assert first in home
    assert second in home


def test_the_cookie_lasts_for_weeks_and_is_for_the_server_alone() -> None:
    browser = cast.browser_of()
    click_play(browser)
    cookie = browser.cookies[SESSION]
    assert cookie["max-age"] >= 30 * 24 * 60 * 60
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"


def test_a_session_key_from_before_is_not_the_guests() -> None:
    browser = cast.browser_of()
    session = browser.session
    session["planted"] = "by somebody else"
    session.save()
    planted = session.session_key
    browser.cookies[SESSION] = planted or ""
    click_play(browser)
    assert browser.cookies[SESSION].value != planted
    other = cast.browser_of()
    other.cookies[SESSION] = planted or ""
    assert other.get(f"/challenges/{Challenge.objects.get().pk}/").status_code == 404


def test_two_visitors_are_two_guests_and_neither_sees_the_others_games() -> None:
    first, second = cast.browser_of(), cast.browser_of()
    hers, his = click_play(first), click_play(second)
    assert User.objects.filter(kind=User.Kind.GUEST).count() == 2
    assert first.get(his).status_code == second.get(hers).status_code == 404


def test_a_name_that_is_taken_is_not_given_again(monkeypatch: pytest.MonkeyPatch) -> None:
    names: Iterator[str] = iter(["Golden Ibis 417", "golden ibis 417", "Quiet Oryx 200"])
    monkeypatch.setattr(guests, "made_up_name", lambda _digits: next(names))
    assert create_guest().name == "Golden Ibis 417"
    assert create_guest().name == "Quiet Oryx 200"


def test_a_site_without_free_names_says_so_instead_of_searching_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guests, "made_up_name", lambda _digits: "Golden Ibis 417")
    create_guest()
    with pytest.raises(RuntimeError, match="no free guest name"):
        create_guest()


def test_a_player_who_is_no_longer_active_is_a_visitor() -> None:
    mona = cast.person("Mona")
    browser = cast.browser_of(mona)
    User.objects.filter(pk=mona.pk).update(is_active=False)
    assert "Mona" not in browser.get("/").content.decode()
