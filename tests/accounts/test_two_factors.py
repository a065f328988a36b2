"""The second step: codes of an app, recovery codes, passkeys."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from accounts.models import User
from tests import cast

from . import people
from .people import PASSWORD

if TYPE_CHECKING:
    from pytest_django import DjangoCaptureOnCommitCallbacks

pytestmark = pytest.mark.django_db

WANTED = "/rules/standard/"


def signed_in(user: User) -> Client:
    """Return a browser in which somebody has just shown once more who they are."""
    browser = cast.browser_of()
    people.sign_in(browser, user)
    cast.posted(browser, reverse("account_reauthenticate"), {"password": PASSWORD})
    return browser


def code_of(secret: str, *, steps: int = 0) -> str:
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30 + steps)))


def set_up(browser: Client) -> str:
    """Set up the codes of an app and return the secret."""
    page = cast.text_of(cast.get(browser, reverse("mfa_activate_totp")))
    found = re.search(r'<code dir="ltr">([A-Z2-7]+)</code>', page)
    assert found
    form = {"code": code_of(found[1])}
    response = cast.posted(browser, reverse("mfa_activate_totp"), form)
    assert response.headers["Location"] == reverse("mfa_view_recovery_codes")
    return found[1]


def at_the_second_step(user: User, wanted: str = "") -> Client:
    browser = cast.browser_of()
    response = people.sign_in(browser, user, wanted=wanted)
    assert response.headers["Location"] == reverse("mfa_authenticate")
    assert people.whose(browser) is None
    return browser


def test_the_codes_of_an_app_are_asked_for_after_the_password() -> None:
    mona = people.account("Mona")
    secret = set_up(signed_in(mona))
    browser = at_the_second_step(mona, WANTED)
    assert cast.posted(browser, reverse("mfa_authenticate"), {"code": "000000"}).status_code == 422
    # The code of the set-up counts once.
    form = {"code": code_of(secret, steps=1)}
    answer = cast.posted(browser, reverse("mfa_authenticate"), form)
    assert answer.headers["Location"] == WANTED
    assert people.whose(browser) == mona


def test_a_recovery_code_counts_once() -> None:
    mona = people.account("Mona")
    owner = signed_in(mona)
    set_up(owner)
    page = cast.text_of(cast.get(owner, reverse("mfa_view_recovery_codes")))
    code = re.findall(r"<li><code>([^<]+)</code></li>", page)[0]
    browser = at_the_second_step(mona)
    cast.posted(browser, reverse("mfa_authenticate"), {"code": code})
    assert people.whose(browser) == mona
    again = at_the_second_step(mona)
    assert cast.posted(again, reverse("mfa_authenticate"), {"code": code}).status_code == 422
    assert people.whose(again) is None


def test_the_second_step_is_asked_for_after_a_mailed_code_too() -> None:
    mona = people.account("Mona")
    set_up(signed_in(mona))
    browser = cast.browser_of()
    cast.posted(browser, reverse("account_request_login_code"), {"email": mona.email})
    code = people.code_in(people.latest_to(mona.email))
    response = cast.posted(browser, reverse("account_confirm_login_code"), {"code": code})
    assert response.headers["Location"] == reverse("mfa_authenticate")
    assert people.whose(browser) is None


def test_a_guest_joins_after_the_second_step_and_not_before() -> None:
    mona = people.account("Mona")
    secret = set_up(signed_in(mona))
    guest, browser = people.guest()
    game = cast.sit_down_with_the_computer(guest)
    people.sign_in(browser, mona)
    assert cast.as_it_is(game).player_b == guest
    assert people.whose(browser) == guest
    cast.posted(browser, reverse("mfa_authenticate"), {"code": code_of(secret, steps=1)})
    assert cast.as_it_is(game).player_b == mona
    assert people.whose(browser) == mona


def test_the_secret_is_stored_encrypted_and_its_picture_is_for_its_owner_alone() -> None:
    mona = people.account("Mona")
    browser = signed_in(mona)
    picture = reverse("accounts:totp_picture")
    assert cast.get(browser, picture).status_code == 404
    cast.get(browser, reverse("mfa_activate_totp"))
    answer = cast.get(browser, picture)
    assert answer.headers["Content-Type"] == "image/svg+xml"
    assert "no-store" in answer.headers["Cache-Control"]
    for other in (cast.browser_of(), people.guest()[1], signed_in(people.account("Karim"))):
        assert cast.get(other, picture).status_code == 404
    secret = set_up(browser)
    assert cast.get(browser, picture).status_code == 404
    stored = json.dumps(list(Authenticator.objects.values_list("data", flat=True)))
    assert secret not in stored


def test_changing_how_one_signs_in_asks_once_more_who_one_is_and_is_told_by_mail(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    mona = people.account("Mona")
    browser = cast.browser_of()
    people.sign_in(browser, mona)
    for route in ("mfa_activate_totp", "mfa_add_webauthn"):
        response = cast.get(browser, reverse(route))
        assert response.headers["Location"].startswith(reverse("account_reauthenticate"))
    cast.posted(browser, reverse("account_reauthenticate"), {"password": PASSWORD})
    with django_capture_on_commit_callbacks(execute=True):
        set_up(browser)
    assert "code of an app" in str(people.sent_to(mona.email)[0].body)
    assert cast.posted(browser, reverse("mfa_deactivate_totp"), {}).status_code == 302
    assert not Authenticator.objects.filter(type=Authenticator.Type.TOTP).exists()
    assert "does not ask" in str(people.latest_to(mona.email).body)


_ANSWER = (
    '{"clientDataJSON": "e30", "attestationObject": "oA", "authenticatorData": "AA", '
    '"signature": "AA", "userHandle": "%s"}'
)
MADE_UP = [
    "", "{}", "[]", "null", "1", '"x"', "{", '{"id": 1}', '{"type": "public-key"}',
    '{"id": "eA", "rawId": "eA", "type": "public-key", "response": {}}',
    '{"id": "eA", "rawId": "eA", "type": "public-key", "response": {"userHandle": "eA"}}',
    '{"id": "eA", "rawId": "eA", "type": "public-key", "response": {"userHandle": 7}}',
    '{"id": "eA", "rawId": "eA", "type": "public-key", "response": ' + _ANSWER % ("MQ",) + "}",
    '{"id": "!", "rawId": "!", "type": "public-key", "response": ' + _ANSWER % ("!",) + "}",
    '{"id": "eA", "rawId": "eA", "type": "public-key", "response": {"userHandle": "'
    + "Nzc3Nzc3Nzc3Nzc3" * 40 + '"}}',
    "[" * 400 + "]" * 400,
]  # fmt: skip


def test_a_passkey_that_somebody_has_made_up_is_refused_and_breaks_nothing(
    settings: object,
) -> None:
    settings.ACCOUNT_RATE_LIMITS = False  # type: ignore[attr-defined]
    mona = people.account("Mona")
    browser = signed_in(mona)
    set_up(browser)
    step = at_the_second_step(mona)
    stranger = cast.browser_of()
    for credential in MADE_UP:
        cache.clear()
        form = {"credential": credential, "name": "x"}
        cast.get(browser, reverse("mfa_add_webauthn"))
        assert cast.posted(browser, reverse("mfa_add_webauthn"), form).status_code == 422
        cast.get(step, reverse("mfa_authenticate"))
        refused = cast.posted(step, reverse("mfa_authenticate"), {"credential": credential})
        assert refused.status_code == 422, credential
        cast.posted(browser, reverse("mfa_reauthenticate_webauthn"), form)
        stranger.get(reverse("mfa_login_webauthn"), headers={"Accept": "application/json"})
        response = cast.posted(stranger, reverse("mfa_login_webauthn"), form)
        assert response.status_code == 302
        assert people.whose(stranger) is None
    assert people.whose(step) is None
    assert not Authenticator.objects.filter(type=Authenticator.Type.WEBAUTHN).exists()


@pytest.mark.parametrize("page", ["mfa_activate_totp", "mfa_authenticate", "mfa_reauthenticate"])
def test_a_code_that_is_none_is_refused(page: str, settings: object) -> None:
    settings.ACCOUNT_RATE_LIMITS = False  # type: ignore[attr-defined]
    mona = people.account("Mona")
    browser = signed_in(mona)
    if page != "mfa_activate_totp":
        set_up(browser)
    if page == "mfa_authenticate":
        browser = at_the_second_step(mona)
    else:
        cast.get(browser, reverse(page))
    for code in ("", "abc", "١٢٣٤٥٦", "9" * 5000, "1 2 3", "-1", "\u202e123456"):
        cache.clear()
        assert cast.posted(browser, reverse(page), {"code": code}).status_code == 422, code


def test_the_keys_of_others_are_not_there() -> None:
    mona = people.account("Mona")
    signed_in(mona)
    key = Authenticator.objects.create(
        user=mona, type=Authenticator.Type.WEBAUTHN, data={"name": "Laptop"}
    )
    other = signed_in(people.account("Karim"))
    for route in ("mfa_edit_webauthn", "mfa_remove_webauthn"):
        for number in (key.pk, 999_999):
            assert cast.get(other, reverse(route, args=[number])).status_code == 404
            assert cast.posted(other, reverse(route, args=[number]), {}).status_code == 404
    assert Authenticator.objects.filter(pk=key.pk).exists()


def test_the_only_way_in_cannot_be_removed() -> None:
    mona = people.account("Mona")
    browser = signed_in(mona)
    key = Authenticator.objects.create(
        user=mona, type=Authenticator.Type.WEBAUTHN, data={"name": "Laptop"}
    )
    remove = reverse("mfa_remove_webauthn", args=[key.pk])
    EmailAddress.objects.filter(user=mona).update(verified=False)
    refused = cast.posted(browser, remove, {})
    assert refused.status_code == 409
    assert "only way in" in cast.text_of(refused)
    EmailAddress.objects.filter(user=mona).update(verified=True)
    assert cast.posted(browser, remove, {}).status_code == 302
    assert not Authenticator.objects.exists()
