"""Making an account and getting into it: by password, by a mailed code, by a new password."""

from __future__ import annotations

import re
import statistics
import time
import zlib
from collections.abc import Callable
from unittest.mock import patch

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.core.cache import cache
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts import exporting
from accounts.models import Mail, User
from tests import cast

from . import people
from .people import PASSWORD

pytestmark = pytest.mark.django_db

ADDRESS = "mona@basra.example"
WANTED = "/rules/standard/"
SESSION = "basra-session"


def status_and_place(response: HttpResponse) -> tuple[int, str]:
    return response.status_code, response.headers.get("Location", "")


# Making an account


def test_an_account_is_made_by_address_name_and_password_and_confirmed_by_mail() -> None:
    browser = cast.browser_of()
    response = people.sign_up(browser, address=ADDRESS, name="Mona")
    assert status_and_place(response) == (302, reverse("account_email_verification_sent"))
    mona = User.objects.get(name="Mona")
    assert mona.is_member
    assert mona.password.startswith("argon2")
    assert people.whose(browser) is None
    assert status_and_place(people.confirm(browser, ADDRESS)) == (302, "/")
    assert people.whose(browser) == mona
    assert EmailAddress.objects.get(user=mona).verified


def test_looking_at_the_link_of_a_mail_confirms_nothing() -> None:
    people.sign_up(cast.browser_of(), address=ADDRESS, name="Mona")
    link = people.link_in(people.latest_to(ADDRESS))
    scanner = cast.browser_of()
    before = cast.everything_stored()
    for _twice in range(2):
        assert scanner.get(link).status_code == 200
        assert scanner.head(link).status_code == 200
    assert cast.everything_stored() == before


def test_a_link_that_was_used_up_or_is_none_says_so() -> None:
    browser = cast.browser_of()
    people.sign_up(browser, address=ADDRESS, name="Mona")
    link = people.link_in(people.latest_to(ADDRESS))
    people.confirm(browser, ADDRESS)
    for dead in (link, "/account/confirm-email/nonsense/"):
        page = cast.get(cast.browser_of(), dead)
        assert page.status_code == 404
        assert "used up" in cast.text_of(page)
        assert cast.posted(cast.browser_of(), dead, {}).status_code == 404


def test_looking_at_the_link_of_somebody_elses_mail_signs_nobody_out() -> None:
    karim = people.account("Karim")
    people.sign_up(cast.browser_of(), address=ADDRESS, name="Mona")
    browser = cast.browser_of()
    people.sign_in(browser, karim)
    assert cast.get(browser, people.link_in(people.latest_to(ADDRESS))).status_code == 200
    assert people.whose(browser) == karim
    people.confirm(browser, ADDRESS)
    assert people.whose(browser) == User.objects.get(name="Mona")
    assert EmailAddress.objects.get(email=ADDRESS).verified


def test_a_guest_is_still_named_where_one_signs_in() -> None:
    guest, browser = people.guest()
    for route in ("account_login", "account_signup", "account_reset_password"):
        assert f"<bdi>{guest.name}</bdi>" in cast.text_of(cast.get(browser, reverse(route)))


def test_a_page_for_members_leads_a_guest_to_signing_in_and_back() -> None:
    _guest, browser = people.guest()
    for route in ("account_email", "mfa_index", "usersessions_list", "socialaccount_connections"):
        place = cast.get(browser, reverse(route)).headers["Location"]
        assert place == f"{reverse('account_login')}?next={reverse(route)}"


def test_the_same_form_twice_makes_one_account_and_one_mail() -> None:
    browser = cast.browser_of()
    for _twice in range(2):
        response = people.sign_up(browser, address=ADDRESS, name="Mona")
        assert status_and_place(response) == (302, reverse("account_email_verification_sent"))
    assert User.objects.count() == 1
    assert len(people.sent_to(ADDRESS)) == 1


def test_a_form_that_is_refused_says_why_beside_the_field_and_keeps_what_was_typed() -> None:
    cast.person("Mona")
    browser = cast.browser_of()
    response = people.sign_up(browser, address="no address", name="Mona", password="short")
    page = cast.text_of(response)
    assert response.status_code == 422
    assert 'value="no address"' in page
    assert 'value="Mona"' in page
    for field in ("email", "name", "password1"):
        assert f'id="id_{field}_error"' in page
        assert re.search(rf'aria-describedby="[^"]*id_{field}_error', page)
    assert 'role="alert"' in page
    assert "short" not in re.sub(r"too short", "", page)
    assert User.objects.count() == 1


@pytest.mark.parametrize("name", ["", "A\u202eB", "mona", "\u041cona", "Basra", "x" * 25])
def test_a_name_that_nobody_may_have_is_refused(name: str) -> None:
    cast.person("Mona")
    response = people.sign_up(cast.browser_of(), address=ADDRESS, name=name)
    assert response.status_code == 422
    assert User.objects.count() == 1
    assert people.sent_to(ADDRESS) == []


def test_whoever_signed_up_with_my_address_before_me_gets_nowhere() -> None:
    people.sign_up(cast.browser_of(), address=ADDRESS, name="Mallory", password="mallory was here")
    cache.clear()
    mine = cast.browser_of()
    people.sign_up(mine, address=ADDRESS, name="Mona")
    link = people.link_in(people.latest_to(ADDRESS))
    assert link.startswith(reverse("account_reset_password"))
    set_new_password(mine, ADDRESS)
    account = User.objects.get(email=ADDRESS)
    assert people.whose(mine) == account
    assert EmailAddress.objects.get(user=account).verified
    assert account.check_password("another long password")


def test_a_code_that_i_asked_for_leaves_nobody_else_a_way_into_the_account() -> None:
    mallory = cast.browser_of()
    people.sign_up(mallory, address=ADDRESS, name="Mallory", password="mallory was here")
    account = User.objects.get(email=ADDRESS)
    mine = cast.browser_of()
    ask_for_a_code(mine, ADDRESS)
    assert people.whose(mine) == account
    assert cast.get(mine, reverse("account_email")).status_code == 200
    people.sign_in(mallory, account, password="mallory was here")
    assert people.whose(mallory) is None


def test_in_another_browser_a_wrong_password_confirms_nothing() -> None:
    people.sign_up(cast.browser_of(), address=ADDRESS, name="Mona")
    other = cast.browser_of()
    for password in ("not this one", " "):
        response = people.confirm(other, ADDRESS, password=password)
        assert response.status_code == 422
        assert 'id="id_password_error"' in cast.text_of(response)
    assert not EmailAddress.objects.get().verified
    assert people.whose(other) is None
    statuses = {people.confirm(other, ADDRESS, password="a guess").status_code for _ in range(12)}
    assert statuses == {422, 429}


def test_asking_for_a_code_does_not_make_a_browser_the_one_that_signed_up() -> None:
    people.sign_up(cast.browser_of(), address=ADDRESS, name="Mallory", password=MALLORYS)
    link = people.link_in(people.latest_to(ADDRESS))
    mine = cast.browser_of()
    cast.posted(mine, reverse("account_request_login_code"), {"email": ADDRESS})
    assert 'name="password"' in cast.text_of(cast.get(mine, link))
    assert cast.posted(mine, link, {}).status_code == 422
    assert not EmailAddress.objects.get().verified


def test_the_password_of_whoever_signed_up_with_my_address_dies_when_i_confirm_without_it() -> None:
    mallory = cast.browser_of()
    people.sign_up(mallory, address=ADDRESS, name="Mallory", password=MALLORYS)
    mine = cast.browser_of()
    people.confirm(mine, ADDRESS, password="")
    account = User.objects.get(email=ADDRESS)
    assert not account.has_usable_password()
    ask_for_a_code(mine, ADDRESS)
    assert people.whose(mine) == account
    assert people.sign_in(mallory, account, password=MALLORYS).status_code == 422
    assert people.whose(mallory) is None
    assert people.whose(mine) == account


# An address that somebody only wants


MALLORYS = "mallory was here"


def ask_for_a_code(browser: Client, address: str) -> None:
    cast.posted(browser, reverse("account_request_login_code"), {"email": address})
    code = people.code_in(people.latest_to(address))
    cast.posted(browser, reverse("account_confirm_login_code"), {"code": code})


def wants_to_change() -> User:
    mallory = people.account("Mallory")
    browser = cast.browser_of()
    people.sign_in(browser, mallory)
    change_address(browser, ADDRESS)
    return mallory


def came_by_another_site() -> User:
    mallory = cast.person("Mallory")
    SocialAccount.objects.create(user=mallory, provider="facebook", uid="42")
    EmailAddress.objects.create(user=mallory, email=ADDRESS)
    return mallory


def has_made_it_the_first() -> User:
    mallory = came_by_another_site()
    EmailAddress.objects.get().set_as_primary()
    return mallory


WANTS = [wants_to_change, came_by_another_site, has_made_it_the_first]


@pytest.mark.parametrize("wants", WANTS)
def test_an_address_that_somebody_only_wants_gets_nobody_into_their_account(
    wants: Callable[[], User],
) -> None:
    mallory = wants()
    cache.clear()
    browser = cast.browser_of()
    for route in ("account_request_login_code", "account_reset_password"):
        cast.posted(browser, reverse(route), {"email": ADDRESS})
        told = people.latest_to(ADDRESS)
        assert "no account" in str(told.body)
        assert Mail.objects.latest("pk").user is None
    assert people.whose(browser) is None
    mallory.email = ADDRESS
    assert people.sign_in(cast.browser_of(), mallory).status_code == 422
    assert not EmailAddress.objects.filter(email=ADDRESS, verified=True).exists()


@pytest.mark.parametrize("wants", WANTS)
def test_whoever_has_an_address_signs_up_with_it_though_somebody_else_wants_it(
    wants: Callable[[], User],
) -> None:
    mallory = wants()
    cache.clear()
    browser = cast.browser_of()
    people.sign_up(browser, address=ADDRESS, name="Mona")
    people.confirm(browser, ADDRESS)
    mona = User.objects.get(name="Mona")
    assert people.whose(browser) == mona
    assert EmailAddress.objects.get(email=ADDRESS, verified=True).user == mona
    assert people.sign_in(cast.browser_of(), mona).status_code == 302
    assert not EmailAddress.objects.filter(user=mallory, email=ADDRESS, verified=True).exists()
    code = cast.browser_of()
    ask_for_a_code(code, ADDRESS)
    assert people.whose(code) == mona
    again = cast.browser_of()
    set_new_password(again, ADDRESS)
    assert people.whose(again) == mona


def test_a_wanted_address_is_confirmed_only_where_its_account_is_signed_in() -> None:
    mallory = wants_to_change()
    link = people.link_in(people.latest_to(ADDRESS))
    mine, karims = cast.browser_of(), cast.browser_of()
    people.sign_in(karims, people.account("Karim"))
    for browser, way in ((mine, "account_login"), (karims, "account_logout")):
        assert 'method="post" action="/account/confirm' not in cast.text_of(cast.get(browser, link))
        place = cast.posted(browser, link, {}).headers["Location"]
        assert place == f"{reverse(way)}?{query(link)}"
    assert not EmailAddress.objects.get(email=ADDRESS).verified
    people.sign_in(mine, mallory)
    people.confirm(mine, ADDRESS)
    assert EmailAddress.objects.get(user=mallory, verified=True).email == ADDRESS


def test_mails_to_an_address_that_somebody_only_wants_are_not_theirs() -> None:
    mallory = wants_to_change()
    cache.clear()
    for route in ("account_request_login_code", "account_reset_password"):
        cast.posted(cast.browser_of(), reverse(route), {"email": ADDRESS})
    people.sign_up(cast.browser_of(), address=ADDRESS, name="Mona")
    assert Mail.objects.filter(address=ADDRESS).count() == 4
    assert not Mail.objects.filter(address=ADDRESS, user=mallory).exists()
    assert not any(sent["address"] == ADDRESS for sent in exporting.data_of(mallory)["mails"])


def set_new_password(browser: Client, address: str, wanted: str = "") -> HttpResponse:
    query = f"?next={wanted}" if wanted else ""
    asked = cast.posted(browser, reverse("account_reset_password") + query, {"email": address})
    assert status_and_place(asked)[0] == 302
    link = people.link_in(people.latest_to(address))
    moved = cast.get(browser, link)
    opened = cast.get(browser, moved.headers["Location"])
    action = re.search(r'<form class="panel" method="post" action="([^"]+)"', cast.text_of(opened))
    hidden = re.search(r'name="next" value="([^"]*)"', cast.text_of(opened))
    assert action
    form = {"password1": "another long password", "password2": "another long password"}
    return cast.posted(browser, action[1], {**form, **({"next": hidden[1]} if hidden else {})})


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("known", [True, False])
def test_nobody_waits_to_write_while_the_password_of_a_sign_up_is_hashed(
    known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if known:
        people.account("Karim", address=ADDRESS)
    writing: list[bool] = []
    encode = Argon2PasswordHasher.encode

    def noted(self: Argon2PasswordHasher, password: str, salt: str) -> str:
        writing.append(connection.in_atomic_block)
        return encode(self, password, salt)

    monkeypatch.setattr(Argon2PasswordHasher, "encode", noted)
    assert people.sign_up(cast.browser_of(), address=ADDRESS, name="Mona").status_code == 302
    assert writing == [False]
    assert known or User.objects.get(name="Mona").check_password(PASSWORD)


# Getting in


def test_the_session_has_a_new_key_after_signing_in() -> None:
    mona = people.account("Mona")
    browser = cast.browser_of()
    browser.get(reverse("account_login"))
    session = browser.session
    session["planted"] = "by somebody else"
    session.save()
    planted = str(session.session_key)
    browser.cookies[SESSION] = planted
    people.sign_in(browser, mona)
    assert people.whose(browser) == mona
    assert browser.cookies[SESSION].value != planted
    other = cast.browser_of()
    other.cookies[SESSION] = planted
    assert people.whose(other) is None


def test_a_wrong_password_is_refused_in_the_same_words_for_everybody() -> None:
    mona = people.account("Mona")
    pages = []
    for address in (mona.email, "nobody@basra.example"):
        form = {"login": address, "password": "wrong"}
        response = cast.posted(cast.browser_of(), reverse("account_login"), form)
        assert response.status_code == 422
        pages.append(cast.text_of(response).replace(address, "…"))
    assert without_tokens(pages[0]) == without_tokens(pages[1])


def test_whoever_signed_up_with_an_address_cannot_tell_whether_it_had_an_account() -> None:
    mona = people.account("Mona")
    seen = []
    for address in (mona.email, "nobody@basra.example"):
        cache.clear()
        browser = cast.browser_of()
        people.sign_up(browser, address=address, name=f"Z {address[:4]}", password=MALLORYS)
        form = {"login": address, "password": MALLORYS}
        answers = [cast.posted(browser, reverse("account_login"), form) for _often in range(14)]
        pages = [without_tokens(cast.text_of(answer)).replace(address, "…") for answer in answers]
        assert "not confirmed yet" in pages[0]
        seen.append(([answer.status_code for answer in answers], pages))
    assert seen[0] == seen[1]
    assert people.whose(browser) is None


def without_tokens(page: str) -> str:
    return re.sub(r'name="csrfmiddlewaretoken" value="[^"]+"', "", page)


def test_a_mailed_code_signs_in_once() -> None:
    mona = people.account("Mona")
    browser, other = cast.browser_of(), cast.browser_of()
    cast.posted(browser, reverse("account_request_login_code"), {"email": mona.email})
    code = people.code_in(people.latest_to(mona.email))
    confirm = reverse("account_confirm_login_code")
    assert status_and_place(cast.posted(other, confirm, {"code": code}))[0] == 302
    assert people.whose(other) is None
    cast.posted(browser, confirm, {"code": code})
    assert people.whose(browser) == mona
    again = cast.posted(browser, confirm, {"code": code})
    assert again.status_code == 302
    assert people.whose(browser) == mona


def test_a_code_cannot_be_guessed() -> None:
    mona = people.account("Mona")
    browser = cast.browser_of()
    cast.posted(browser, reverse("account_request_login_code"), {"email": mona.email})
    code = people.code_in(people.latest_to(mona.email))
    confirm = reverse("account_confirm_login_code")
    for _guess in range(3):
        cast.posted(browser, confirm, {"code": "AAAAAA"})
    cast.posted(browser, confirm, {"code": code})
    assert people.whose(browser) is None


def test_signing_out_ends_this_sign_in_and_asks_first() -> None:
    mona = people.account("Mona")
    browser = cast.browser_of()
    people.sign_in(browser, mona)
    assert cast.get(browser, reverse("account_logout")).status_code == 200
    assert people.whose(browser) == mona
    assert status_and_place(cast.posted(browser, reverse("account_logout"), {})) == (302, "/")
    assert people.whose(browser) is None


def test_signing_out_everywhere_ends_the_other_browsers_and_not_this_one() -> None:
    mona = people.account("Mona")
    browsers = [cast.browser_of() for _three in range(3)]
    for browser in browsers:
        people.sign_in(browser, mona)
    page = cast.text_of(cast.get(browsers[0], reverse("usersessions_list")))
    assert "this browser" in page
    cast.posted(browsers[0], reverse("usersessions_list"), {})
    assert [people.whose(browser) for browser in browsers] == [mona, None, None]
    assert UserSession.objects.filter(user=mona).count() == 1


def test_the_list_of_sign_ins_says_which_browser_it_was() -> None:
    mona = people.account("Mona")
    phone, other = (
        Client(headers={"User-Agent": agent})
        for agent in (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1",
            "curl/8.<b>0</b>",
        )
    )
    people.sign_in(phone, mona)
    people.sign_in(other, mona)
    page = cast.text_of(cast.get(phone, reverse("usersessions_list")))
    assert "Safari on iPhone" in page
    assert "curl/8.&lt;b&gt;0" in page


def test_a_new_password_ends_every_other_sign_in() -> None:
    mona = people.account("Mona")
    thief, owner = cast.browser_of(), cast.browser_of()
    people.sign_in(thief, mona)
    response = set_new_password(owner, mona.email)
    assert status_and_place(response) == (302, "/")
    assert people.whose(owner) == mona
    assert "Mona" not in cast.text_of(cast.get(thief, "/"))
    assert "password" in str(people.latest_to(mona.email).body)


def change_address(browser: Client, address: str) -> None:
    """Send the form; the password is asked for once more, and then the form is taken as sent."""
    page = reverse("account_email")
    asked = cast.posted(browser, page, {"email": address, "action_add": ""})
    assert asked.headers["Location"].startswith(reverse("account_reauthenticate"))
    form = {"password": PASSWORD, "next": page}
    assert cast.posted(browser, reverse("account_reauthenticate"), form).status_code == 302


def test_the_old_address_is_told_of_the_new_one_which_counts_once_it_is_confirmed() -> None:
    mona = people.account("Mona")
    browser = cast.browser_of()
    people.sign_in(browser, mona)
    change_address(browser, "mona@elsewhere.example")
    assert EmailAddress.objects.get(user=mona, verified=True).email == mona.email
    people.confirm(browser, "mona@elsewhere.example")
    assert EmailAddress.objects.get(user=mona).email == "mona@elsewhere.example"
    told = people.latest_to(mona.email)
    assert "mona@elsewhere.example" in str(told.body)
    mona.refresh_from_db()
    assert mona.email == "mona@elsewhere.example"


def test_a_confirmed_address_ends_the_sign_ins_that_others_may_have() -> None:
    mona = people.account("Mona")
    owner, other = cast.browser_of(), cast.browser_of()
    people.sign_in(owner, mona)
    people.sign_in(other, mona)
    change_address(owner, "mona@elsewhere.example")
    people.confirm(owner, "mona@elsewhere.example")
    assert people.whose(owner) == mona
    assert people.whose(other) is None


# Who has an account is nobody's business


def sign_up_as(address: str) -> HttpResponse:
    name = f"Somebody {zlib.crc32(address.encode())}"
    return people.sign_up(cast.browser_of(), address=address, name=name)


def ask_for_a_code_as(address: str) -> HttpResponse:
    browser = cast.browser_of()
    form = {"email": address}
    return cast.posted(browser, reverse("account_request_login_code"), form)


def ask_for_a_password_as(address: str) -> HttpResponse:
    return cast.posted(cast.browser_of(), reverse("account_reset_password"), {"email": address})


def sign_in_as(address: str) -> HttpResponse:
    form = {"login": address, "password": "a wrong one"}
    return cast.posted(cast.browser_of(), reverse("account_login"), form)


ASKS = [sign_up_as, ask_for_a_code_as, ask_for_a_password_as, sign_in_as]


@pytest.mark.parametrize("ask", ASKS)
def test_the_answer_is_the_same_for_an_address_with_an_account_and_one_without(
    ask: Callable[[str], HttpResponse],
) -> None:
    mona = people.account("Mona")
    known, unknown = ask(mona.email), ask("nobody@basra.example")
    assert status_and_place(known) == status_and_place(unknown)
    pages = [
        without_tokens(cast.text_of(answer)).replace(address, "…")
        for answer, address in ((known, mona.email), (unknown, "nobody@basra.example"))
    ]
    assert pages[0] == pages[1]
    assert known.headers.get("Cache-Control") == unknown.headers.get("Cache-Control")


def test_a_name_tells_nobody_afterwards_whether_an_account_was_made_with_an_address() -> None:
    karim = people.account("Karim")
    seen = []
    for address, name in ((karim.email, "Zed"), ("nobody@basra.example", "Zoe")):
        cache.clear()
        _guest, browser = people.guest()
        member = cast.browser_of(cast.person(f"Salma {name}"))
        answers = [people.sign_up(browser, address=address, name=name) for _twice in range(2)]
        answers.append(
            people.sign_up(browser, address=address, name=name, password="another one 7")
        )
        answers.append(people.sign_up(browser, address="third@basra.example", name=name))
        answers.append(cast.posted(browser, reverse("accounts:settings"), {"name": name}))
        answers.append(cast.posted(member, reverse("accounts:friends"), {"name": name}))
        seen.append([answer.status_code for answer in answers])
    assert seen[0] == seen[1]
    assert seen[0][:5] == [302, 302, 302, 422, 422]


@pytest.mark.parametrize("ask", ASKS)
def test_the_answer_takes_as_long_for_an_address_with_an_account_as_for_one_without(
    ask: Callable[[str], HttpResponse], settings: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ACCOUNT_RATE_LIMITS = False  # type: ignore[attr-defined]
    # A password takes a long and uneven time on purpose: here they are counted.
    hashed: list[None] = []
    encode = Argon2PasswordHasher.encode

    def counted(self: Argon2PasswordHasher, password: str, salt: str) -> str:
        hashed.append(None)
        return encode(self, password, salt)

    monkeypatch.setattr(Argon2PasswordHasher, "encode", counted)
    accounts = [people.account(f"Known{number}") for number in range(15)]
    ask("warm@basra.example")
    hashes: dict[bool, int] = {True: 0, False: 0}

    def takes(address: str, *, known: bool) -> float:
        hashed.clear()
        began = time.perf_counter()
        ask(address)
        took = time.perf_counter() - began
        hashes[known] += len(hashed)
        return took

    def apart(attempt: int) -> float:
        """Return by how much pairs of requests, one right after the other, differ."""
        pairs = (
            takes(account.email, known=True)
            - takes(f"unknown{number}-{attempt}@basra.example", known=False)
            for number, account in enumerate(accounts)
        )
        return abs(statistics.median(pairs))

    # Others may be at work on this machine: a difference that is there is there every time.
    assert min(map(apart, range(3))) < 0.010
    assert ask is sign_in_as or hashes[True] == hashes[False]


# Guessing


def guess(browser: Client, address: str, **headers: str) -> HttpResponse:
    form = {"login": address, "password": "a wrong one"}
    response = browser.post(reverse("account_login"), form, headers=headers)
    assert isinstance(response, HttpResponse)
    return response


def test_passwords_are_not_guessed_by_naming_other_addresses_of_origin() -> None:
    mona = people.account("Mona")
    for number in range(30):
        guess(cast.browser_of(), mona.email, X_Forwarded_For=f"203.0.113.{number}")
    response = people.sign_in(cast.browser_of(), mona)
    assert response.status_code in (422, 429)


def test_the_owner_gets_in_while_somebody_guesses() -> None:
    mona = people.account("Mona")
    at_home = cast.browser_of()
    people.sign_in(at_home, mona)
    for _guess in range(25):
        guess(cast.browser_of(), mona.email)
    assert people.sign_in(cast.browser_of(), mona).status_code in (422, 429)
    assert "Mona" in cast.text_of(cast.get(at_home, "/"))
    by_code = cast.browser_of()
    cast.posted(by_code, reverse("account_request_login_code"), {"email": mona.email})
    code = people.code_in(people.latest_to(mona.email))
    cast.posted(by_code, reverse("account_confirm_login_code"), {"code": code})
    assert people.whose(by_code) == mona
    by_reset = cast.browser_of()
    set_new_password(by_reset, mona.email)
    assert people.whose(by_reset) == mona


def test_too_often_is_a_page_that_says_to_wait() -> None:
    for _often in range(40):
        response = guess(cast.browser_of(), "nobody@basra.example")
    assert response.status_code == 429
    page = cast.text_of(response)
    assert "Please wait" in page
    assert 'class="brand"' in page
    assert response.headers["Retry-After"]


# The page that was wanted


def test_sign_in_links_lead_back_to_the_page_they_stand_on() -> None:
    page = cast.text_of(cast.get(cast.browser_of(), WANTED))
    assert f'href="{reverse("account_login")}?next={WANTED}"' in page


def test_a_page_that_is_not_there_for_a_visitor_leads_to_signing_in_and_back() -> None:
    karim, mona = cast.person("Karim"), people.account("Mona")
    game = cast.sit_down(karim, mona)
    browser, table = cast.browser_of(), f"/games/{game.pk}/"
    page = cast.get(browser, table)
    assert page.status_code == 404
    found = re.search(r'href="(/account/login/[^"]*)"', cast.text_of(page))
    assert found
    form = cast.text_of(cast.get(browser, found[1]))
    assert f'name="next" value="{table}"' in form
    sent = browser.post(f"{table}resign/", headers={"Referer": f"http://testserver{table}"})
    assert f"next={table.replace('/', '%2F')}" in sent.content.decode()
    assert people.sign_in(browser, mona, wanted=table).headers["Location"] == table
    assert cast.get(browser, table).status_code == 200


@pytest.mark.parametrize("path", ["account_login", "account_signup", "account_request_login_code"])
def test_the_wanted_page_goes_along_between_the_pages_of_signing_in(path: str) -> None:
    page = cast.text_of(cast.get(cast.browser_of(), reverse(path), {"next": WANTED}))
    assert f'name="next" value="{WANTED}"' in page
    carried = page.count("?next=/rules/standard/") + page.count("?next=%2Frules%2Fstandard%2F")
    assert carried >= 1


def test_the_wanted_page_is_reached_by_password() -> None:
    mona = people.account("Mona")
    response = people.sign_in(cast.browser_of(), mona, wanted=WANTED)
    assert status_and_place(response) == (302, WANTED)


def test_the_wanted_page_is_reached_by_a_code() -> None:
    mona = people.account("Mona")
    browser = cast.browser_of()
    form = {"email": mona.email, "next": WANTED}
    asked = cast.posted(browser, reverse("account_request_login_code"), form)
    page = cast.text_of(cast.get(browser, asked.headers["Location"]))
    assert f'name="next" value="{WANTED}"' in page
    code = people.code_in(people.latest_to(mona.email))
    form = {"code": code, "next": WANTED}
    response = cast.posted(browser, reverse("account_confirm_login_code"), form)
    assert status_and_place(response) == (302, WANTED)


def test_the_wanted_page_is_reached_by_a_new_password() -> None:
    mona = people.account("Mona")
    response = set_new_password(cast.browser_of(), mona.email, WANTED)
    assert status_and_place(response) == (302, WANTED)


def test_the_wanted_page_is_reached_by_signing_up_and_confirming_in_the_same_browser() -> None:
    browser = cast.browser_of()
    people.sign_up(browser, address=ADDRESS, name="Mona", wanted=WANTED)
    assert status_and_place(people.confirm(browser, ADDRESS)) == (302, WANTED)
    assert people.whose(browser) is not None


def test_the_wanted_page_is_reached_by_confirming_in_another_browser() -> None:
    people.sign_up(cast.browser_of(), address=ADDRESS, name="Mona", wanted=WANTED)
    other = cast.browser_of()
    assert status_and_place(people.confirm(other, ADDRESS)) == (302, WANTED)
    assert people.whose(other) == User.objects.get(name="Mona")


def test_the_wanted_page_is_reached_by_confirming_without_the_password() -> None:
    people.sign_up(cast.browser_of(), address=ADDRESS, name="Mona", wanted=WANTED)
    other = cast.browser_of()
    place = people.confirm(other, ADDRESS, password="").headers["Location"]
    assert place.startswith(reverse("account_request_login_code"))
    page = cast.text_of(cast.get(other, place))
    assert f'name="next" value="{WANTED}"' in page
    form = {"email": ADDRESS, "next": WANTED}
    cast.posted(other, reverse("account_request_login_code"), form)
    form = {"code": people.code_in(people.latest_to(ADDRESS)), "next": WANTED}
    answer = cast.posted(other, reverse("account_confirm_login_code"), form)
    assert status_and_place(answer) == (302, WANTED)


ELSEWHERE = [
    "http://evil.example/", "https://evil.example/", "//evil.example/", "///evil.example/",
    "////evil.example", "/\\evil.example", "\\\\evil.example", "/\\/evil.example",
    "\\/evil.example", "http:evil.example", "http:/evil.example", "https:evil.example",
    "http:///evil.example", "https://testserver@evil.example/",
    "https://testserver.evil.example/", "//testserver@evil.example",
    "http://testserver:80@evil.example", "javascript:alert(1)", "JaVaScRiPt:alert(1)",
    "java\nscript:alert(1)", "\tjavascript:alert(1)", "data:text/html,x", "vbscript:x",
    "ftp://testserver/", "file:///etc/passwd", "\x08//evil.example", " //evil.example",
    "\r\n//evil.example", "/%0d%0aLocation:%20https://evil.example", "/\r\nSet-Cookie: a=b",
    "http://[::1", "//[evil", "https://evil.example\\@testserver", "https:\\\\evil.example",
    "//evil.example\\@testserver/", "http://testserver\\@evil.example",
    "/rules/../..//evil.example", "//%65vil.example", "mailto:a@evil.example",
    "https://еvil.example/", "//\u3002evil.example", "?next=//evil.example", "#//evil.example",
    "",
]  # fmt: skip


def leads_elsewhere(place: str) -> bool:
    from urllib.parse import urljoin, urlsplit

    if any(ord(letter) < 32 for letter in place):
        return True
    there = urlsplit(urljoin("http://testserver/account/login/", place.replace("\\", "/")))
    return there.scheme not in ("http", "https") or there.hostname != "testserver"


@pytest.mark.parametrize("address", ELSEWHERE)
def test_no_form_leads_to_another_site(address: str) -> None:
    mona = people.account("Mona")
    for response in redirects_of(mona, address):
        assert response.status_code in (302, 303), response.status_code
        assert not leads_elsewhere(response.headers["Location"]), response.headers["Location"]


def redirects_of(mona: User, address: str) -> list[HttpResponse]:
    """Return what every page of signing in answers that leads on to where one wants to go."""
    cache.clear()
    browser, coder, newcomer, asker = (cast.browser_of() for _four in range(4))
    wanted = {"next": address}
    answers = [people.sign_in(browser, mona, wanted=address)]
    answers.append(cast.get(browser, reverse("account_login"), wanted))
    answers.append(cast.get(browser, reverse("account_signup"), wanted))
    reauthenticate = reverse("account_reauthenticate")
    answers.append(cast.posted(browser, reauthenticate, {"password": PASSWORD, **wanted}))
    answers.append(cast.posted(browser, reverse("account_logout"), wanted))
    answers.append(cast.get(browser, reverse("account_logout"), wanted))
    form = {"email": mona.email, **wanted}
    answers.append(cast.posted(coder, reverse("account_request_login_code"), form))
    code = people.code_in(people.latest_to(mona.email))
    form = {"code": code, **wanted}
    answers.append(cast.posted(coder, reverse("account_confirm_login_code"), form))
    name = f"New {mona.pk}"
    answers.append(people.sign_up(newcomer, address="new@basra.example", name=name, wanted=address))
    answers.append(people.confirm(newcomer, "new@basra.example"))
    form = {"email": mona.email}
    answers.append(
        cast.posted(asker, reverse("account_reset_password") + "?" + query(address), form)
    )
    link = people.link_in(people.latest_to(mona.email))
    opened = cast.get(asker, f"{link.partition('?')[0]}?{query(address)}")
    answers.append(opened)
    page = cast.text_of(cast.get(asker, opened.headers["Location"]))
    action = re.search(r'<form class="panel" method="post" action="([^"]+)"', page)
    assert action
    form = {"password1": "another long password", "password2": "another long password", **wanted}
    answers.append(cast.posted(asker, action[1], form))
    return answers


def query(address: str) -> str:
    from urllib.parse import urlencode

    return urlencode({"next": address})


# The mails


def test_account_mails_come_in_text_and_html_and_name_this_site_alone() -> None:
    browser = cast.browser_of()
    form = {"email": ADDRESS, "name": "Mona", "password1": PASSWORD}
    browser.post(reverse("account_signup"), form, headers={"Host": "localhost"})
    letter = people.latest_to(ADDRESS)
    html = str(letter.alternatives[0][0])
    for text in (str(letter.body), html):
        links = re.findall(r"https?://[^/\s\"]+", text)
        assert links
        assert set(links) == {"http://localhost:8000"}
    assert "<style" not in html
    assert 'dir="ltr"' in html


def test_an_account_mail_is_in_its_readers_language_and_direction_of_writing() -> None:
    mona = people.account("Mona")
    User.objects.filter(pk=mona.pk).update(language="ar")
    ask_for_a_code_as(mona.email)
    letter = people.latest_to(mona.email)
    html = str(letter.alternatives[0][0])
    outer = re.search(r"<table[^>]*>", html)
    assert outer
    assert 'lang="ar"' in outer[0]
    assert 'dir="rtl"' in outer[0]
    assert letter.extra_headers["Content-Language"] == "ar"


@pytest.mark.django_db(transaction=True)
def test_a_mail_server_that_is_away_breaks_no_page() -> None:
    away = "django.core.mail.backends.locmem.EmailBackend.send_messages"
    with patch(away, side_effect=OSError("away")) as asked:
        response = people.sign_up(cast.browser_of(), address=ADDRESS, name="Mona")
    assert asked.called
    assert status_and_place(response) == (302, reverse("account_email_verification_sent"))


def test_strangers_cannot_fill_a_letter_box_and_notices_come_all_the_same(
    settings: object,
) -> None:
    settings.ACCOUNT_RATE_LIMITS = False  # type: ignore[attr-defined]
    mona = people.account("Mona")
    for address in (mona.email, "nobody@basra.example"):
        for _often in range(15):
            for ask in (ask_for_a_code_as, ask_for_a_password_as):
                assert ask(address).status_code == 302
        assert len(people.sent_to(address)) == 20
    browser = cast.browser_of()
    people.sign_in(browser, mona)
    change_password(browser)
    assert "Your password was changed" in str(people.latest_to(mona.email).body)


def change_password(browser: Client) -> None:
    new = "another long password"
    form = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    assert cast.posted(browser, reverse("account_change_password"), form).status_code == 302


# A page that was left open


def test_a_form_from_before_the_cookies_were_cleared_comes_back_with_what_was_typed() -> None:
    browser = Client(enforce_csrf_checks=True)
    forms = {
        "account_signup": {"email": ADDRESS, "name": "Mona", "password1": PASSWORD},
        "account_login": {"login": ADDRESS, "password": PASSWORD},
        "account_request_login_code": {"email": ADDRESS},
        "account_reset_password": {"email": ADDRESS},
    }
    for route, form in forms.items():
        response = browser.post(reverse(route), {**form, "next": WANTED})
        page = cast.text_of(response)  # type: ignore[arg-type]
        assert response.status_code == 403
        assert f'value="{ADDRESS}"' in page
        assert "too old" in page
        assert PASSWORD not in page
        assert "csrfmiddlewaretoken" in page
        assert "/rules/standard/" in page
    assert not User.objects.exists()


def test_an_invitation_from_before_the_cookies_were_cleared_comes_back_with_its_address() -> None:
    browser = Client(enforce_csrf_checks=True)
    form = {"who": "mail", "address": ADDRESS, "language": "en", "target": "101"}
    response = browser.post(reverse("games:new_challenge"), form)
    page = cast.text_of(response)  # type: ignore[arg-type]
    assert response.status_code == 403
    assert ADDRESS in page
    assert "too old" in page
    assert not User.objects.exists()


def test_pages_of_signing_in_are_kept_by_no_cache() -> None:
    mona = people.account("Mona")
    browser = cast.browser_of()
    people.sign_in(browser, mona)
    for route in ("account_email", "usersessions_list", "mfa_index", "account_change_password"):
        assert "no-store" in cast.get(browser, reverse(route)).headers["Cache-Control"]
