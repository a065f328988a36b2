"""Somebody whom this browser does not know any more: nothing typed is lost, and a way back in."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts import joining
from accounts.models import User
from tests import cast

from . import people
from .people import PASSWORD

pytestmark = pytest.mark.django_db

ADDRESS = "mona@basra.example"
SITE = "http://testserver"
PAGES = ("accounts:settings", "accounts:friends", "accounts:export", "accounts:close")
# What is typed into forms that only who is signed in sees.
SHORT = {
    "accounts:settings": {"name": "Mona of the Nile"},
    "accounts:friends": {"name": "Karim the Great"},
    "account_email": {"email": "new@basra.example", "action_add": ""},
}
WITHOUT_A_PAGE = ("accounts:keep", "account_logout", "usersessions_list", "accounts:export_file")


def sent_from(browser: Client, page: str, url: str, form: dict[str, str]) -> HttpResponse:
    """Send a form as a browser does, which says from which page it is."""
    response = browser.post(url, form, headers={"Referer": page})
    assert isinstance(response, HttpResponse)
    return response


def sign_in_links(page: str) -> list[str]:
    """Return where the links to signing in of a page would lead in the end."""
    links = re.findall(rf'href="{reverse("account_login")}\?([^"]*)"', page)
    return [parse_qs(unescape(link))["next"][0] for link in links]


def without_cookies() -> Client:
    return Client(enforce_csrf_checks=True)


# Pages that a mail or another page leads to


@pytest.mark.parametrize("route", PAGES)
def test_a_page_of_my_own_leads_a_visitor_to_signing_in_and_back(route: str) -> None:
    mona, browser = people.account("Mona"), cast.browser_of()
    url = f"{reverse(route)}?from=mail"
    response = cast.get(browser, url)
    assert response.status_code == 302
    place = urlsplit(response.headers["Location"])
    assert place.path == reverse("account_login")
    wanted = parse_qs(place.query)["next"][0]
    assert wanted == url
    assert "you come back" in cast.text_of(cast.get(browser, response.headers["Location"]))
    assert people.sign_in(browser, mona, wanted=wanted).headers["Location"] == url
    assert cast.get(browser, url).status_code == 200


def test_a_form_of_a_page_that_is_gone_for_me_leads_to_signing_in_and_back_to_it() -> None:
    mona, browser = people.account("Mona"), cast.browser_of()
    game = cast.sit_down(mona, cast.person("Karim"))
    here = f"{reverse('games:table', args=[game.pk])}?after=1"
    for htmx in ({}, cast.HTMX):
        response = browser.post(
            reverse("games:play", args=[game.pk]), {}, headers={"Referer": SITE + here, **htmx}
        )
        page = response.content.decode()
        assert response.status_code == 404
        assert set(sign_in_links(page)) == {here}
        assert ("Renew the table to sign in" in page) is bool(htmx)
    assert people.sign_in(browser, mona, wanted=here).headers["Location"] == here


@pytest.mark.parametrize(
    "referer",
    ["https://elsewhere.example/table/", "//elsewhere.example/", "http://[", "x", "", SITE],
)
def test_a_page_of_another_site_is_not_come_back_to(referer: str) -> None:
    response = sent_from(cast.browser_of(), referer, reverse("accounts:keep"), {})
    page = cast.text_of(response)
    assert response.status_code == 404
    assert f'href="{reverse("account_login")}"' in page
    assert "elsewhere" not in page


@pytest.mark.parametrize("wanted", ["https://elsewhere.example/", "//elsewhere.example/", "x"])
def test_the_page_of_signing_in_promises_no_way_back_that_it_would_not_go(wanted: str) -> None:
    page = cast.text_of(cast.get(cast.browser_of(), reverse("account_login"), {"next": wanted}))
    assert "you come back" not in page
    assert f'value="{wanted}"' not in page


# What was typed


@pytest.mark.parametrize("route", SHORT)
def test_what_was_typed_is_told_when_the_cookies_were_cleared(route: str) -> None:
    response = sent_from(without_cookies(), SITE + reverse(route), reverse(route), SHORT[route])
    page = cast.text_of(response)
    assert response.status_code == 403
    assert f"<bdi>{next(iter(SHORT[route].values()))}</bdi>" in page
    assert sign_in_links(page) == [reverse(route)]
    assert f'href="{reverse(route)}"' in page


@pytest.mark.parametrize("referer", [True, False])
@pytest.mark.parametrize("route", SHORT)
def test_what_was_typed_is_told_when_only_the_session_is_gone(route: str, *, referer: bool) -> None:
    origin = SITE + reverse(route) if referer else ""
    response = sent_from(cast.browser_of(), origin, reverse(route), SHORT[route])
    page = cast.text_of(response)
    assert response.status_code == 404
    assert "Nothing was saved" in page
    assert f"<bdi>{next(iter(SHORT[route].values()))}</bdi>" in page
    assert set(sign_in_links(page)) == {reverse(route)}


@pytest.mark.parametrize("route", WITHOUT_A_PAGE)
def test_a_form_without_text_leads_to_signing_in_when_the_cookies_were_cleared(route: str) -> None:
    here = reverse("accounts:close")
    form = {"password": PASSWORD, "name": "not asked"}
    response = sent_from(without_cookies(), SITE + here, reverse(route), form)
    page = cast.text_of(response)
    assert response.status_code == 403
    assert sign_in_links(page) == [here]
    assert PASSWORD not in page
    assert "not asked" not in page


def test_who_is_signed_in_again_in_another_tab_reads_what_was_typed_and_needs_no_sign_in() -> None:
    browser = without_cookies()
    browser.force_login(cast.person("Mona"))
    url = reverse("accounts:settings")
    page = cast.text_of(sent_from(browser, SITE + url, url, {"name": "<b>Mona"}))
    assert "<bdi>&lt;b&gt;Mona</bdi>" in page
    assert not sign_in_links(page)


def test_very_long_text_is_not_told_whole() -> None:
    url = reverse("accounts:settings")
    page = cast.text_of(cast.posted(cast.browser_of(), url, {"name": "x" * 9000}))
    assert "x" * 200 in page
    assert "x" * 300 not in page


def test_the_words_for_an_open_offer_stay_typed_when_the_cookies_were_cleared() -> None:
    offered = cast.offer(cast.person("Mona"))
    url = reverse("games:accept", args=[offered.pk])
    response = without_cookies().post(url, {"words": "my own words"})
    page = response.content.decode()
    assert response.status_code == 403
    assert 'value="my own words"' in page
    assert "too old" in page
    assert "csrfmiddlewaretoken" in page
    gone = reverse("games:accept", args=["00000000-0000-4000-8000-000000000000"])
    assert without_cookies().post(gone, {"words": "x"}).status_code == 404


def test_an_address_typed_for_an_invitation_stays_in_its_field_for_whoever_is_signed_out() -> None:
    form = {"who": "mail", "address": ADDRESS, "language": "en", "target": "101"}
    form |= {"rule_set": "standard"}
    url = reverse("games:new_challenge")
    for browser, status in ((without_cookies(), 403), (cast.browser_of(), 422)):
        response = browser.post(url, form)
        page = response.content.decode()
        assert response.status_code == status
        (field,) = re.findall(r'<input[^>]*name="address"[^>]*>', page)
        assert f'value="{ADDRESS}"' in field
        assert "hidden" not in field
        assert f'href="{reverse("account_signup")}?next={url}%3Fmail"' in page
        assert f"{url}?mail" in sign_in_links(page)


# Too often


def test_too_many_sign_ins_leave_the_form_with_its_address_and_the_other_ways_in() -> None:
    browser = cast.browser_of()
    form = {"login": ADDRESS, "password": "a guess", "next": "/rules/standard/"}
    for _often in range(40):
        response = cast.posted(browser, reverse("account_login"), form)
    page = cast.text_of(response)
    assert response.status_code == 429
    assert "Please wait" in page
    assert "too old" not in page
    assert f'value="{ADDRESS}"' in page
    assert "a guess" not in page
    assert "A code by mail or a new password" in page
    for way in ("account_request_login_code", "account_reset_password"):
        assert re.search(rf'href="{reverse(way)}\?next=[^"]*rules', page)


def test_too_many_sign_ups_leave_the_form_with_what_was_typed() -> None:
    browser = cast.browser_of()
    for number in range(30):
        response = people.sign_up(browser, address=f"m{number}@basra.example", name=f"M {number}")
    page = cast.text_of(response)
    assert response.status_code == 429
    assert response.headers["Retry-After"]
    assert "Please wait" in page
    assert 'value="m29@basra.example"' in page
    assert 'value="M 29"' in page
    assert PASSWORD not in page
    assert not User.objects.filter(name="M 29").exists()


# Confirmed in another browser


def test_the_browser_of_a_guest_who_was_confirmed_elsewhere_says_who_they_are_now() -> None:
    guest, first = people.guest()
    cast.sit_down_with_the_computer(guest)
    people.sign_up(first, address=ADDRESS, name="Mona")
    told = cast.text_of(cast.get(first, reverse("account_email_verification_sent")))
    assert "If you confirm in another browser, sign in here" in told
    assert "now: sign in" not in cast.text_of(cast.look(first, "home"))
    mona = User.objects.get(username__startswith="pending-")
    User.objects.filter(pk=mona.pk).update(username="member-mona")
    assert joining.merge(guest, mona)
    home = cast.text_of(cast.look(first, "home"))
    assert "You are <bdi>Mona</bdi> now" in home
    assert "/" in sign_in_links(home)
    assert "now: sign in" not in cast.text_of(cast.look(cast.browser_of(), "home"))


@pytest.mark.parametrize("kind", [User.Kind.FORMER, User.Kind.MEMBER])
def test_whoever_has_left_is_not_named_to_the_browser_of_their_guest(kind: User.Kind) -> None:
    guest, first = people.guest()
    mona = cast.person("Mona")
    assert joining.merge(guest, mona)
    User.objects.filter(pk=mona.pk).update(kind=kind, is_active=False)
    assert "Mona" not in cast.text_of(cast.look(first, "home"))


# What was done is said


def test_saving_the_settings_says_so_once() -> None:
    mona = cast.person("Mona")
    browser = cast.browser_of(mona)
    url = reverse("accounts:settings")
    assert cast.posted(browser, url, cast.settings_of("Mona")).headers["Location"] == "/"
    assert "Saved." in cast.text_of(cast.look(browser, "home"))
    assert "Saved." not in cast.text_of(cast.look(browser, "home"))
    assert cast.posted(browser, url, cast.settings_of("")).status_code == 422
    assert "Saved." not in cast.text_of(cast.look(browser, "home"))
