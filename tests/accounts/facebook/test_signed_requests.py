"""What Facebook asks for in somebody's name: only its own word of this hour is acted on."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.facebook import SignedRequest, Unbelievable, delete_data, read_signed_request
from accounts.models import FacebookRequest, Mail, User
from tests import cast

if TYPE_CHECKING:
    from tests.conftest import InThreads

SECRET = "test-app-secret"
ISSUED = datetime.fromtimestamp(1_700_000_000, UTC)
NOW = ISSUED + timedelta(minutes=5)

# Vectors that were not made by this code; lengths of the payload by their rest modulo 4.
OF_REST_3 = (
    "ibfd0QPOUDd0RSyCTAIpMTaME15rZPbY5qb4A2j1HbE."
    "eyJ1c2VyX2lkIjoiMTAyMTUiLCJhbGdvcml0aG0iOiJITUFDLVNIQTI1NiIsImlzc3VlZF9hdCI6MTcwMDAwMDAwMH0"
)
OF_REST_2 = (
    "6WSSjFbu972k0V1xZ7BFP03_4kOk6LAYepd5bIxEdIg."
    "eyJ1c2VyX2lkIjoiMTAyMTU3NiIsImFsZ29yaXRobSI6IkhNQUMtU0hBMjU2IiwiaXNzdWVkX2F0IjoxNzAwMDAwMDAw"
    "fQ"
)


def encoded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def signed(payload: bytes, *, secret: str = SECRET, padded_mac: bool = False) -> str:
    text = encoded(payload)
    over = text + "=" * (-len(text) % 4) if padded_mac else text
    mac = hmac.new(secret.encode(), over.encode(), hashlib.sha256).digest()
    return f"{encoded(mac)}.{text}"


def word(**changes: Any) -> bytes:
    said = {"user_id": "10215", "algorithm": "HMAC-SHA256", "issued_at": 1_700_000_000}
    return json.dumps({**said, **changes}, separators=(",", ":")).encode()


def of_now(person: str, **changes: Any) -> str:
    return signed(word(user_id=person, issued_at=int(timezone.now().timestamp()), **changes))


def refused(text: str, *, now: datetime = NOW) -> None:
    with pytest.raises(Unbelievable):
        read_signed_request(text, SECRET, now)


# Reading, with the clock passed in.


def test_a_good_one_of_length_3_modulo_4_is_read() -> None:
    assert len(OF_REST_3.partition(".")[2]) % 4 == 3
    assert read_signed_request(OF_REST_3, SECRET, NOW) == SignedRequest("10215", ISSUED)


def test_a_good_one_of_length_2_modulo_4_is_read() -> None:
    assert len(OF_REST_2.partition(".")[2]) % 4 == 2
    assert read_signed_request(OF_REST_2, SECRET, NOW) == SignedRequest("1021576", ISSUED)


def test_a_good_one_that_needs_no_padding_is_read() -> None:
    text = signed(word(user_id="102157"))
    assert len(text.partition(".")[2]) % 4 == 0
    assert read_signed_request(text, SECRET, NOW) == SignedRequest("102157", ISSUED)


def test_a_signature_over_the_padded_payload_is_refused() -> None:
    refused(signed(word(), padded_mac=True))


def test_a_payload_with_its_padding_is_refused() -> None:
    refused(OF_REST_3 + "=")


def test_the_algorithm_none_is_refused() -> None:
    refused(signed(word(algorithm="none")))


def test_a_request_that_names_no_algorithm_is_refused() -> None:
    refused(signed(b'{"user_id":"10215","issued_at":1700000000}'))


def test_a_stale_one_is_refused() -> None:
    read_signed_request(OF_REST_3, SECRET, ISSUED + timedelta(hours=1))
    refused(OF_REST_3, now=ISSUED + timedelta(hours=1, seconds=1))


def test_one_from_the_future_is_refused() -> None:
    read_signed_request(OF_REST_3, SECRET, ISSUED - timedelta(minutes=1))
    refused(OF_REST_3, now=ISSUED - timedelta(minutes=10))


def test_one_signed_with_another_secret_is_refused() -> None:
    refused(signed(word(), secret="another-app-secret"))


def test_one_whose_payload_was_changed_is_refused() -> None:
    signature = OF_REST_3.partition(".")[0]
    refused(f"{signature}.{encoded(word(user_id='10216'))}")


def test_one_without_a_signature_is_refused() -> None:
    refused("." + OF_REST_3.partition(".")[2])


def test_one_without_a_dot_is_refused() -> None:
    refused(OF_REST_3.replace(".", ""))


def test_one_with_three_dots_is_refused() -> None:
    refused(f"a.b.{OF_REST_3}")


def test_one_that_is_not_json_is_refused() -> None:
    refused(signed(b"user_id=10215"))
    refused(signed(b"\xff\xfe"))
    refused(signed(b"[" * 2000))


def test_one_that_is_json_but_no_object_is_refused() -> None:
    refused(signed(b'["10215"]'))


@pytest.mark.parametrize(
    "changes",
    [
        {"user_id": 10215},
        {"user_id": ""},
        {"user_id": None},
        {"user_id": "10215 or 1=1"},
        {"user_id": "١٢"},
        {"issued_at": "1700000000"},
        {"issued_at": 1.7e9},
        {"issued_at": True},
        {"issued_at": -1},
        {"issued_at": 10**30},
        {"issued_at": None},
    ],
)
def test_one_whose_person_or_time_is_of_another_shape_is_refused(changes: dict[str, Any]) -> None:
    refused(signed(word(**changes)))


def test_letters_that_are_not_base64url_are_refused() -> None:
    refused("!!!." + OF_REST_3.partition(".")[2])
    refused(f"é.{OF_REST_3.partition('.')[2]}")
    refused("")


def test_one_of_more_than_four_kilobytes_is_refused() -> None:
    refused(signed(word(more="x" * 4096)))


# What the callbacks do.

pytestmark = pytest.mark.django_db


def linked(name: str = "Mona", uid: str = "10215", *, confirmed: str = "") -> User:
    """Return a player who came by Facebook; with a ``confirmed`` address if there is one."""
    player = cast.person(name)
    SocialAccount.objects.create(
        user=player, provider="facebook", uid=uid, extra_data={"name": "Mona M"}
    )
    if confirmed:
        player.email = confirmed
        player.save()
        EmailAddress.objects.create(user=player, email=confirmed, verified=True, primary=True)
    return player


def send(what: str, text: str) -> Any:
    # As strict as production: no token, no cookie.
    return Client(enforce_csrf_checks=True).post(
        reverse(f"accounts:facebook_{what}"), {"signed_request": text}
    )


def test_a_deletion_is_answered_by_a_page_and_a_code() -> None:
    linked(confirmed="mona@example.org")
    answer = send("delete", of_now("10215"))
    assert answer.status_code == 200
    said = answer.json()
    assert set(said) == {"url", "confirmation_code"}
    assert said["url"].startswith(settings.SITE_URL + "/")
    page = cast.get(cast.browser_of(), said["url"].removeprefix(settings.SITE_URL))
    assert said["confirmation_code"] in cast.text_of(page)
    assert "Mona" not in cast.text_of(page)
    assert "mona@" not in cast.text_of(page)


def test_a_deletion_removes_what_came_from_facebook_and_keeps_the_rest() -> None:
    player = linked(confirmed="mona@example.org")
    EmailAddress.objects.create(user=player, email="typed@example.org", verified=False)
    code = send("delete", of_now("10215")).json()["confirmation_code"]
    player.refresh_from_db()
    assert not SocialAccount.objects.exists()
    assert player.name == "Mona"
    assert player.closes_at is None
    assert list(EmailAddress.objects.values_list("email", flat=True)) == ["mona@example.org"]
    page = cast.text_of(cast.get(cast.browser_of(), f"/account/facebook/status/{code}/"))
    assert "What came from Facebook has been deleted" in page
    assert "The account itself is kept" in page


def test_an_account_without_another_way_in_is_closed_after_its_stay() -> None:
    player = linked()
    code = send("delete", of_now("10215")).json()["confirmation_code"]
    player.refresh_from_db()
    assert player.closes_at is not None
    assert timedelta(days=6) < player.closes_at - timezone.now() <= timedelta(days=7)
    page = cast.text_of(cast.get(cast.browser_of(), f"/account/facebook/status/{code}/"))
    assert "These and the account will be deleted on" in page
    assert "its owner can sign in by Facebook and keep the account" in page


def test_until_then_no_more_is_stored_than_the_id_that_is_signed_in_by() -> None:
    player = linked()
    EmailAddress.objects.create(user=player, email="typed@example.org", verified=False)
    send("delete", of_now("10215"))
    account = SocialAccount.objects.get()
    assert (account.user, account.uid, account.extra_data) == (player, "10215", {})
    assert not EmailAddress.objects.exists()


def test_the_link_goes_with_the_account() -> None:
    from accounts import closing

    player = linked()
    send("delete", of_now("10215"))
    User.objects.filter(pk=player.pk).update(closes_at=timezone.now() - timedelta(seconds=1))
    assert closing.close_due() == 1
    assert not SocialAccount.objects.exists()


def test_asked_again_when_there_is_another_way_in_the_link_goes_at_once() -> None:
    player = linked()
    send("delete", of_now("10215"))
    EmailAddress.objects.create(user=player, email="a@example.org", verified=True, primary=True)
    delete_data(SignedRequest("10215", timezone.now() + timedelta(seconds=1)))
    assert not SocialAccount.objects.exists()


def test_a_request_about_an_account_that_is_just_being_deleted_is_answered() -> None:
    player = linked()
    User.objects.filter(pk=player.pk).update(is_active=False)
    assert send("delete", of_now("10215")).status_code == 200


def test_when_the_account_is_gone_the_status_page_says_so() -> None:
    from accounts import closing

    player = linked()
    code = send("delete", of_now("10215")).json()["confirmation_code"]
    closing.close(player)
    page = cast.text_of(cast.get(cast.browser_of(), f"/account/facebook/status/{code}/"))
    assert "Done. Nothing that came from Facebook is stored here" in page


def test_a_request_about_somebody_unknown_gets_a_code_too() -> None:
    answer = send("delete", of_now("999"))
    assert answer.status_code == 200
    page = cast.get(cast.browser_of(), answer.json()["url"].removeprefix(settings.SITE_URL))
    assert "Nothing that came from Facebook is stored here" in cast.text_of(page)


def test_a_replay_is_answered_by_the_same_code_and_does_nothing() -> None:
    linked(confirmed="mona@example.org")
    text = of_now("10215")
    first = send("delete", text)
    again = linked("Salma", uid="10215")  # signed in anew by Facebook in the meantime
    assert send("delete", text).json() == first.json()
    assert SocialAccount.objects.filter(user=again).exists()
    assert FacebookRequest.objects.count() == 1


def test_the_two_kinds_of_request_are_told_apart() -> None:
    linked(confirmed="mona@example.org")
    text = of_now("10215")
    codes = {send(what, text).json()["confirmation_code"] for what in ("deauthorise", "delete")}
    assert len(codes) == 2


@pytest.mark.parametrize("what", ["delete", "deauthorise"])
@pytest.mark.parametrize(
    "text",
    ["", "nothing", OF_REST_3, signed(word(), secret="other"), "a.b.c.d", "x" * 5000, "\0", "é.é"],
)
def test_a_bad_request_is_refused_and_changes_nothing(what: str, text: str) -> None:
    linked()
    before = cast.everything_stored()
    answer = send(what, text)
    assert answer.status_code == 400
    assert cast.everything_stored() == before


@pytest.mark.parametrize("what", ["delete", "deauthorise"])
def test_a_request_of_a_megabyte_is_refused(what: str) -> None:
    before = cast.everything_stored()
    assert send(what, "x" * 1_000_000).status_code in {400, 413}
    assert cast.everything_stored() == before


@pytest.mark.parametrize("what", ["delete", "deauthorise"])
def test_a_get_is_no_request(what: str) -> None:
    before = cast.everything_stored()
    url = reverse(f"accounts:facebook_{what}")
    answer = Client().get(url, {"signed_request": of_now("10215")})
    assert answer.status_code == 405
    assert cast.everything_stored() == before


def test_a_request_without_the_field_is_refused() -> None:
    assert Client().post(reverse("accounts:facebook_delete")).status_code == 400


def test_removing_the_app_unlinks_and_tells_how_to_get_in() -> None:
    player = linked(confirmed="mona@example.org")
    assert send("deauthorise", of_now("10215")).status_code == 200
    assert not SocialAccount.objects.exists()
    mail = Mail.objects.get(kind="facebook_unlinked")
    assert mail.address == "mona@example.org"
    player.refresh_from_db()
    assert player.closes_at is None


def test_removing_the_app_keeps_a_link_that_is_the_only_way_in() -> None:
    linked()
    code = send("deauthorise", of_now("10215")).json()["confirmation_code"]
    assert SocialAccount.objects.exists()
    assert not Mail.objects.exists()
    page = cast.text_of(cast.get(cast.browser_of(), f"/account/facebook/status/{code}/"))
    assert "The link itself is kept, since it is the only way in" in page


def test_a_code_that_nobody_was_given_is_not_there() -> None:
    for code in ("0" * 32, "x", "é", "a" * 500):
        answer = cast.get(cast.browser_of(), f"/account/facebook/status/{code}/")
        assert answer.status_code == 404


@pytest.mark.django_db(transaction=True)
def test_the_same_request_at_the_same_time_acts_once(in_threads: InThreads) -> None:
    linked()
    said = SignedRequest("10215", timezone.now())
    rows = in_threads([lambda: delete_data(said)] * 4)
    assert len({row.confirmation_code for row in rows if isinstance(row, FacebookRequest)}) == 1
    assert all(isinstance(row, FacebookRequest) for row in rows), rows
    assert FacebookRequest.objects.count() == 1
