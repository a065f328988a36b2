"""Signing in by Facebook, as it meets a stand-in that speaks Facebook's protocol."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialToken
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.test import Client
from django.urls import reverse

from accounts import facebook as accounts_facebook
from accounts import patient
from accounts.guests import create_guest
from accounts.models import Block, Mail, User
from tests import cast
from tests.post_office import links_of
from tests.stand_in import AMIRA, BASSEM, DINA, EMAD, FATMA, GAMAL, StandIn

if TYPE_CHECKING:
    from tests.conftest import InThreads
    from tests.post_office import PostOffice

pytestmark = pytest.mark.django_db

WELCOME = "/account/3rdparty/signup/"
WANTED = "/rules/?target=101"


def browser() -> Client:
    return Client(raise_request_exception=True)


def member(name: str = "Salma", *, address: str = "", confirmed: bool = True) -> User:
    """Return a player with an address of their own."""
    player = cast.person(name)
    if address:
        player.email = address
        player.save()
        EmailAddress.objects.create(user=player, email=address, verified=confirmed, primary=True)
    return player


def linked(player: User, uid: str) -> User:
    player.set_unusable_password()
    player.save()
    SocialAccount.objects.create(user=player, provider="facebook", uid=uid)
    return player


def signed_in_as(client: Client) -> User | None:
    key = client.session.get(SESSION_KEY)
    return User.objects.get(pk=key) if key else None


def begin_here(client: Client, *, name: str, address: str | None = None) -> Any:
    """Fill in the form of the first sign-in; with the suggested address unless one is given."""
    form = client.get(WELCOME).context["form"]
    address = form.initial.get("email", "") if address is None else address
    return client.post(WELCOME, {"name": name, "email": address})


def says(response: Any, words: str) -> None:
    assert words in response.content.decode(), response.content.decode()[-2500:]


def nothing_has_changed(before: dict[str, list[str]]) -> None:
    assert cast.everything_stored() == before


def test_somebody_new_is_not_taken_for_whoever_is_signed_in_here(facebook: StandIn) -> None:
    karim = member("Karim")
    client = _signed_in(karim)
    response = facebook.sign_in(client, AMIRA)
    assert response.headers["Location"] == WELCOME
    assert signed_in_as(client) is None
    begin_here(client, name="Amira")
    assert signed_in_as(client) == User.objects.get(name="Amira")
    assert not SocialAccount.objects.filter(user=karim).exists()


def test_somebody_else_who_signs_in_takes_the_place_of_whoever_is_signed_in_here(
    facebook: StandIn,
) -> None:
    salma = linked(member(), AMIRA)
    client = _signed_in(member("Karim"))
    facebook.sign_in(client, AMIRA)
    assert signed_in_as(client) == salma


# The fourteen cases of SECURITY.md J1.


def test_with_an_address_the_form_suggests_it_and_it_is_confirmed_by_mail(
    facebook: StandIn,
) -> None:
    client = browser()
    response = facebook.sign_in(client, AMIRA)
    assert response.headers["Location"] == WELCOME
    page = client.get(WELCOME)
    assert page.context["form"].initial == {"name": "Amira Hassan", "email": "amira@example.org"}
    says(page, "no mail until you have confirmed")
    response = begin_here(client, name="Amira")
    assert response.headers["Location"] == "/"
    player = signed_in_as(client)
    assert player is not None
    assert (player.name, player.kind, player.email) == ("Amira", "member", "")
    assert not EmailAddress.objects.exists()
    mail = Mail.objects.get()
    assert (mail.kind, mail.address, mail.user) == ("address_given", "amira@example.org", player)


def test_without_an_address_a_player_with_a_phone_account_can_play(facebook: StandIn) -> None:
    client = browser()
    facebook.sign_in(client, BASSEM)
    assert client.get(WELCOME).context["form"].initial["email"] == ""
    assert begin_here(client, name="Bassem").headers["Location"] == "/"
    player = signed_in_as(client)
    assert player is not None
    assert player.is_member
    assert not Mail.objects.exists()
    page = client.post(reverse("games:play_computer"), {"level": "easy"})
    assert page.status_code < 500


def test_a_player_who_declines_to_share_the_address_can_give_another(facebook: StandIn) -> None:
    client = browser()
    facebook.sign_in(client, AMIRA, shares=())
    assert client.get(WELCOME).context["form"].initial["email"] == ""
    begin_here(client, name="Amira", address="other@example.org")
    assert Mail.objects.get().address == "other@example.org"


def test_an_address_that_facebook_has_not_confirmed_is_not_told_and_not_missed(
    facebook: StandIn,
) -> None:
    client = browser()
    facebook.sign_in(client, DINA)
    begin_here(client, name="Dina")
    player = signed_in_as(client)
    assert player is not None
    assert player.email == ""


def test_an_address_of_somebody_elses_account_opens_nothing_and_tells_nothing(
    facebook: StandIn,
) -> None:
    owner = member(address="amira@example.org")
    client = browser()
    response = facebook.sign_in(client, AMIRA)
    assert response.headers["Location"] == WELCOME
    assert signed_in_as(client) is None
    says(client.get(WELCOME), "Do you have an account here already?")
    taken = begin_here(client, name="Amira")
    player = signed_in_as(client)
    assert player is not None
    assert player != owner
    assert player.email == ""
    assert list(EmailAddress.objects.values_list("user", flat=True)) == [owner.pk]
    mail = Mail.objects.get()
    assert (mail.kind, mail.user, mail.address) == ("address_known", owner, "amira@example.org")
    # The same answer as for an address that nobody has.
    other = browser()
    facebook.sign_in(other, FATMA)
    free = begin_here(other, name="Fatma")
    assert (free.status_code, free.headers["Location"]) == (
        taken.status_code,
        taken.headers["Location"],
    )
    said = [str(message) for message in _messages(client)]
    assert said == [str(m).replace("fatma", "amira") for m in _messages(other)]


def test_an_address_that_somebody_else_has_not_confirmed_is_not_matched(facebook: StandIn) -> None:
    attacker = member(address="amira@example.org", confirmed=False)
    attacker.set_password("the attacker's own")
    attacker.save()
    client = browser()
    facebook.sign_in(client, AMIRA)
    begin_here(client, name="Amira")
    player = signed_in_as(client)
    assert player is not None
    assert player != attacker
    assert Mail.objects.get().kind == "address_given"
    assert not SocialAccount.objects.filter(user=attacker).exists()


def test_an_address_that_is_changed_at_facebook_later_changes_nothing_here(
    facebook: StandIn,
) -> None:
    owner = member(address="new@example.org")
    player = linked(member("Amira", address="amira@example.org"), AMIRA)
    facebook.tell(people={AMIRA: {"name": "Amira H", "email": "new@example.org"}})
    client = browser()
    assert facebook.sign_in(client, AMIRA).headers["Location"] == "/"
    assert signed_in_as(client) == player
    player.refresh_from_db()
    assert player.email == "amira@example.org"
    assert EmailAddress.objects.get(user=player).email == "amira@example.org"
    assert EmailAddress.objects.get(user=owner).email == "new@example.org"
    assert not Mail.objects.exists()


def test_an_address_that_is_none_is_dropped(facebook: StandIn) -> None:
    client = browser()
    facebook.sign_in(client, EMAD)
    assert client.get(WELCOME).context["form"].initial["email"] == ""
    begin_here(client, name="Emad")
    assert signed_in_as(client) is not None
    assert not Mail.objects.exists()


def test_a_wrong_state_is_refused_with_a_page(facebook: StandIn) -> None:
    facebook.tell(misbehave={"dialog": "wrong state"})
    client = browser()
    before = cast.everything_stored()
    response = facebook.sign_in(client, AMIRA)
    assert response.status_code == 400
    says(response, "Please begin again")
    assert signed_in_as(client) is None
    nothing_has_changed(before)


def test_an_answer_without_a_state_is_refused(facebook: StandIn) -> None:
    facebook.tell(misbehave={"dialog": "no state"})
    assert facebook.sign_in(browser(), AMIRA).status_code == 400


def test_an_answer_to_another_browser_is_refused(facebook: StandIn) -> None:
    attacker = browser()
    where = facebook.answer(facebook.begin(attacker), AMIRA, shares=("email",))
    victim = browser()
    facebook.begin(victim)
    assert facebook.come_back(victim, where).status_code == 400
    assert signed_in_as(victim) is None


def test_a_code_that_was_used_is_refused(facebook: StandIn) -> None:
    linked(member("Amira"), AMIRA)
    client = browser()
    where = facebook.answer(facebook.begin(client), AMIRA, shares=("email",))
    assert facebook.come_back(client, where).status_code == 302
    before = cast.everything_stored()
    # Once more in this browser, and in another one, under a state of its own.
    assert facebook.come_back(client, where).status_code == 400
    other = browser()
    state = parse_qs(urlsplit(facebook.begin(other)).query)["state"][0]
    code = parse_qs(urlsplit(where).query)["code"][0]
    path = urlsplit(where).path
    response: Any = other.get(path, {"code": code, "state": state})
    assert response.status_code == 400
    says(response, "Please begin again")
    assert signed_in_as(other) is None
    nothing_has_changed(before)


def test_a_dialog_that_is_cancelled_ends_on_a_page_with_ways_on(facebook: StandIn) -> None:
    client = browser()
    before = cast.everything_stored()
    response = facebook.sign_in(client, None, wanted=WANTED)
    assert response.status_code == 302
    page: Any = client.get(response.headers["Location"])
    assert page.status_code == 200
    says(page, "Play as a guest")
    says(page, "Sign in another way")
    says(page, "/account/login/?next=%2Frules%2F%3Ftarget%3D101")
    nothing_has_changed(before)


@pytest.mark.parametrize("place", ["token", "me"])
@pytest.mark.parametrize("how", ["down", "garbage", "list", "empty"])
def test_a_broken_graph_is_told_politely(facebook: StandIn, place: str, how: str) -> None:
    facebook.tell(misbehave={place: how})
    client = browser()
    before = cast.everything_stored()
    response = facebook.sign_in(client, AMIRA, wanted=WANTED)
    assert response.status_code == 502
    says(response, "does not answer just now, or not as it should")
    assert "Please begin again" not in response.content.decode()
    says(response, "/account/login/?next=%2Frules%2F%3Ftarget%3D101")
    assert signed_in_as(client) is None
    nothing_has_changed(before)


# And what else can go wrong.


@pytest.mark.parametrize("place", ["token", "me", "friends"])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "7",
        "null",
        '"access_token"',
        '{"access_token": 7, "expires_in": "soon", "id": 7, "data": 7}',
        '{"access_token": "a", "expires_in": 1e999, "id": ""}',
        '{"access_token": "a", "expires_in": -1e300, "id": null, "data": [null]}',
        f'{{"access_token": "{"a" * 3000}", "id": "{"1" * 3000}", "data": {{}}}}',
        '{"id": "1 or 1=1", "name": "Mona", "data": [{"id": {}}], "paging": 7}',
        '{"id": "\u0661\u0662", "name": "Mona"}',
        "[" * 100_000,
        '{"id": ' + "9" * 5000 + "}",
        " " * 300_000,
    ],
    ids=lambda text: repr(text[:30]),
)
def test_whatever_graph_says_there_is_a_page(facebook: StandIn, place: str, text: str) -> None:
    linked(member("Amira"), AMIRA)
    facebook.tell(misbehave={place: f"says {text}"})
    client = browser()
    response = facebook.sign_in(client, AMIRA)
    if place == "friends":
        assert response.headers["Location"] == "/"
    else:
        assert response.status_code == 502
        assert signed_in_as(client) is None


@pytest.mark.parametrize("name", ["\\u0000\\ud800 \\u202e", "x" * 5000, "", "\\u3164", "7"])
def test_whatever_name_facebook_tells_there_is_a_form(facebook: StandIn, name: str) -> None:
    facebook.tell(misbehave={"me": f'says {{"id": "{AMIRA}", "name": "{name}"}}'})
    client = browser()
    facebook.sign_in(client, AMIRA)
    suggested = client.get(WELCOME).context["form"].initial["name"]
    assert begin_here(client, name=suggested).status_code == 302
    assert signed_in_as(client) is not None


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"name": ""},
        {"name": "\0"},
        {"name": "x" * 5000},
        {"name": "Mona", "email": "\0@example.org"},
        {"name": "Mona", "email": "a@b"},
        {"name": "Mona", "email": "x" * 300 + "@example.org"},
        {"name": "Mona", "email": "a@example.org, b@example.org"},
        {"name": "Mona", "email": "a@example.org\nBcc: b@example.org"},
    ],
    ids=lambda form: repr(form)[:40],
)
def test_a_form_that_is_not_right_is_refused(facebook: StandIn, form: dict[str, str]) -> None:
    client = browser()
    facebook.sign_in(client, AMIRA)
    response = client.post(WELCOME, form)
    assert response.status_code in {400, 422}
    assert not SocialAccount.objects.exists()
    assert not Mail.objects.exists()


@pytest.mark.parametrize(("place", "how"), [("token", "hang"), ("me", "hang"), ("me", "drip")])
def test_a_graph_that_does_not_answer_costs_six_seconds_at_most(
    facebook: StandIn, place: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patient, "SECONDS_FOR_A_SIGN_IN", 1.5)
    facebook.tell(misbehave={place: how})
    client = browser()
    where = facebook.answer(facebook.begin(client), AMIRA)
    began = time.monotonic()
    response = facebook.come_back(client, where)
    assert time.monotonic() - began < 3
    assert response.status_code == 502
    says(response, "does not answer just now")


def test_what_is_asked_for_one_page_has_six_seconds_in_all() -> None:
    assert patient.SECONDS_FOR_A_SIGN_IN < 6


def test_a_graph_that_is_not_there_is_told_politely(
    facebook: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts_facebook.FacebookAdapter, "access_token_url", "http://127.0.0.1:9")
    client = browser()
    assert facebook.sign_in(client, AMIRA).status_code == 502


@pytest.mark.parametrize("how", ["expired", "wrong code"])
def test_a_code_that_is_not_good_is_refused(facebook: StandIn, how: str) -> None:
    facebook.tell(misbehave={"token" if how == "expired" else "dialog": how})
    client = browser()
    response = facebook.sign_in(client, AMIRA)
    assert response.status_code == 400
    says(response, "Please begin again")
    assert signed_in_as(client) is None


def test_an_app_that_facebook_does_not_know_is_not_the_visitors_fault(
    facebook: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = settings.SOCIALACCOUNT_PROVIDERS["facebook"]["APPS"][0]
    monkeypatch.setitem(app, "secret", "another")
    client = browser()
    assert facebook.sign_in(client, AMIRA).status_code == 502
    assert signed_in_as(client) is None


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"message": "This code has been used.", "code": 100, "error_subcode": 36009}, 400),
        ("invalid_grant", 400),
        ("bad_verification_code", 400),
        ({"message": "Please reduce the amount of data", "code": 1}, 502),
        ({"message": "Application request limit reached", "code": 4}, 502),
        ("invalid_client", 502),
        ({"code": [100]}, 502),
        ([100], 502),
        (None, 502),
    ],
)
def test_only_a_code_that_is_refused_is_the_visitors_own(
    facebook: StandIn, error: Any, status: int
) -> None:
    facebook.tell(misbehave={"token": f"says {json.dumps({'error': error})}"})
    assert facebook.sign_in(browser(), AMIRA).status_code == status


def test_a_dialog_that_is_broken_is_not_the_visitors_fault(facebook: StandIn) -> None:
    client = browser()
    state = parse_qs(urlsplit(facebook.begin(client)).query)["state"][0]
    answer = {"error": "server_error", "state": state}
    response: Any = client.get(reverse("facebook_callback"), answer)
    assert response.status_code == 502
    # The same link tried out where nothing was begun.
    response = browser().get(reverse("facebook_callback"), answer)
    assert response.status_code == 400


def test_whom_facebook_tells_of_is_who_is_signed_in(facebook: StandIn) -> None:
    linked(member("Amira"), AMIRA)
    bassem = linked(member("Bassem"), BASSEM)
    facebook.tell(misbehave={"me": "other"})
    client = browser()
    facebook.sign_in(client, AMIRA)
    assert signed_in_as(client) == bassem


def test_only_what_is_needed_is_asked_for_and_the_secret_is_in_no_address(
    facebook: StandIn,
) -> None:
    facebook.sign_in(browser(), AMIRA)
    asked = {entry["path"].partition("/v24.0/")[2]: entry for entry in facebook.asked()}
    assert set(asked["dialog/oauth"]["query"]["scope"].split(",")) == {
        "public_profile",
        "email",
        "user_friends",
    }
    assert asked["oauth/access_token"]["method"] == "POST"
    assert asked["oauth/access_token"]["address"] == ""
    assert asked["me"]["query"]["fields"] == "id,name,email"
    assert "appsecret_proof" in asked["me"]["query"]


def test_a_link_cannot_make_the_site_ask_for_more(facebook: StandIn) -> None:
    more = {"scope": "user_posts", "auth_params": "client_id=666&state=mine"}
    dialog: Any = browser().post(reverse("facebook_login", query=more)).headers["Location"]
    asked = parse_qs(urlsplit(dialog).query)
    assert asked["client_id"] == ["1234567890"]
    assert asked["state"] != ["mine"]
    assert "user_posts" not in asked["scope"][0]


def test_no_token_is_kept_not_even_in_the_session(facebook: StandIn) -> None:
    client = browser()
    facebook.sign_in(client, AMIRA)
    assert "EAA" not in str(dict(client.session))
    begin_here(client, name="Amira")
    assert "EAA" not in str(dict(client.session))
    assert not SocialToken.objects.exists()
    assert SocialAccount.objects.get().extra_data == {"name": "Amira Hassan"}


def test_a_page_is_got_again_by_signing_in(facebook: StandIn) -> None:
    linked(member("Amira"), AMIRA)
    response = facebook.sign_in(browser(), AMIRA, wanted=WANTED)
    assert response.headers["Location"] == WANTED


def test_the_page_that_was_wanted_survives_the_first_sign_in(facebook: StandIn) -> None:
    client = browser()
    facebook.sign_in(client, AMIRA, wanted=WANTED)
    assert begin_here(client, name="Amira").headers["Location"] == WANTED


@pytest.mark.parametrize(
    "wanted", ["https://evil.example/", "//evil.example", "javascript:alert(1)", "\\\\evil.example"]
)
def test_a_page_of_another_site_is_not_gone_to(facebook: StandIn, wanted: str) -> None:
    client = browser()
    facebook.sign_in(client, AMIRA, wanted=wanted)
    assert begin_here(client, name="Amira").headers["Location"] == "/"


def test_a_name_that_cannot_be_a_name_is_made_one(facebook: StandIn) -> None:
    client = browser()
    facebook.sign_in(client, GAMAL)
    form = client.get(WELCOME).context["form"]
    assert form.initial["name"] == "b Gamal b"
    assert form.initial["email"] == "gamal@example.org"


def test_a_name_that_somebody_has_is_refused_and_what_was_typed_stays(facebook: StandIn) -> None:
    member("Amira")
    client = browser()
    facebook.sign_in(client, AMIRA)
    response = client.post(WELCOME, {"name": "AMIRA", "email": "typed@example.org"})
    assert response.status_code == 422
    says(response, "Somebody has this name already")
    says(response, 'value="AMIRA"')
    says(response, 'value="typed@example.org"')
    assert begin_here(client, name="Amira 2").status_code == 302


def test_an_address_with_a_mistake_is_refused_and_what_was_typed_stays(facebook: StandIn) -> None:
    client = browser()
    facebook.sign_in(client, AMIRA)
    response = client.post(WELCOME, {"name": "Amira", "email": "amira@"})
    assert response.status_code == 422
    says(response, 'value="amira@"')
    assert not User.objects.filter(name="Amira").exists()


def test_the_form_sent_twice_makes_one_account(facebook: StandIn) -> None:
    client = browser()
    facebook.sign_in(client, AMIRA)
    for _ in range(2):
        response = client.post(WELCOME, {"name": "Amira", "email": ""})
        assert response.status_code == 302
    assert SocialAccount.objects.count() == 1
    assert User.objects.filter(kind="member").count() == 1


def test_the_form_in_two_browsers_makes_one_account(facebook: StandIn) -> None:
    first, second = browser(), browser()
    facebook.sign_in(first, AMIRA)
    facebook.sign_in(second, AMIRA)
    begin_here(first, name="Amira")
    response = begin_here(second, name="Somebody else")
    assert response.status_code == 302
    assert signed_in_as(first) == signed_in_as(second)
    assert SocialAccount.objects.count() == 1
    assert not User.objects.filter(name="Somebody else").exists()


@pytest.mark.django_db(transaction=True)
def test_of_two_who_take_one_name_at_once_one_has_it(
    facebook: StandIn, in_threads: InThreads
) -> None:
    clients = [browser(), browser()]
    for client, person in zip(clients, (AMIRA, BASSEM), strict=True):
        facebook.sign_in(client, person)
        client.get(WELCOME)

    def send(client: Client) -> Any:
        return lambda: client.post(WELCOME, {"name": "Nour", "email": ""}).status_code

    answers = in_threads([send(client) for client in clients])
    assert sorted(map(str, answers)) == ["302", "422"]
    loser = clients[answers.index(422)]
    assert begin_here(loser, name="Nour 2").status_code == 302


def test_the_first_sign_in_without_having_come_from_anywhere_leads_to_signing_in() -> None:
    assert browser().get(WELCOME).headers["Location"] == reverse("account_login")


# Addresses


def test_an_address_is_confirmed_by_the_mailed_link_in_any_browser(
    facebook: StandIn, post_office: PostOffice, django_capture_on_commit_callbacks: Any
) -> None:
    client = browser()
    facebook.sign_in(client, AMIRA, wanted=WANTED)
    with django_capture_on_commit_callbacks(execute=True):
        begin_here(client, name="Amira")
    path = _link_in(post_office, "/account/address/")
    other = browser()
    for _ in range(2):  # by a scanner
        assert other.head(path).status_code == 200
        page = other.get(path)
    says(page, "<bdi>Amira</bdi>")
    assert not EmailAddress.objects.exists()
    response = other.post(path)
    assert response.headers["Location"] == WANTED
    address = EmailAddress.objects.get()
    assert (address.email, address.verified, address.primary) == ("amira@example.org", True, True)
    assert User.objects.get(name="Amira").email == "amira@example.org"
    assert signed_in_as(other) is None
    assert other.post(path).status_code in {302, 404}


def test_a_confirmed_address_is_announced_whatever_its_letter_case(
    facebook: StandIn, post_office: PostOffice, django_capture_on_commit_callbacks: Any
) -> None:
    from accounts.signals import address_confirmed

    heard: list[tuple[str, str]] = []

    def hear(user: User, address: str, **about: Any) -> None:
        heard.append((user.name, address))

    client = browser()
    facebook.sign_in(client, GAMAL)  # GAMAL@Example.org at Facebook
    with django_capture_on_commit_callbacks(execute=True):
        begin_here(client, name="Gamal")
    address_confirmed.connect(hear)
    try:
        client.post(_link_in(post_office, "/account/address/"))
    finally:
        address_confirmed.disconnect(hear)
    assert heard == [("Gamal", "gamal@example.org")]
    assert signed_in_as(client) == User.objects.get(name="Gamal")


def test_an_address_that_was_confirmed_elsewhere_in_the_meantime_is_not_attached(
    facebook: StandIn, post_office: PostOffice, django_capture_on_commit_callbacks: Any
) -> None:
    client = browser()
    facebook.sign_in(client, AMIRA)
    with django_capture_on_commit_callbacks(execute=True):
        begin_here(client, name="Amira")
    owner = member(address="AMIRA@example.org")
    response = browser().post(_link_in(post_office, "/account/address/"))
    assert response.status_code == 404
    assert EmailAddress.objects.get().user == owner


def test_a_link_that_was_made_up_is_not_good() -> None:
    for token in ("x", "a:b:c", "é", "a" * 3000):
        assert browser().get(f"/account/address/{token}/").status_code == 404


def test_the_owner_of_an_address_is_told_that_somebody_gave_it(
    facebook: StandIn, post_office: PostOffice, django_capture_on_commit_callbacks: Any
) -> None:
    member(address="amira@example.org")
    client = browser()
    facebook.sign_in(client, AMIRA)
    with django_capture_on_commit_callbacks(execute=True):
        begin_here(client, name="Amira")
    path = _link_in(post_office, "/account/3rdparty/")
    assert path == reverse("socialaccount_connections")


def test_an_address_is_not_written_to_without_end(facebook: StandIn) -> None:
    for number in range(5):
        client = browser()
        facebook.tell(people={str(number + 1): {"name": "Nobody"}})
        facebook.sign_in(client, str(number + 1))
        begin_here(client, name=f"Nobody {number}", address="victim@example.org")
    assert Mail.objects.count() == 3


# Linking and unlinking


def test_an_account_that_is_there_can_be_linked_and_then_signed_in_to(facebook: StandIn) -> None:
    player = member(address="amira@example.org")
    client = _signed_in(player)
    response = facebook.sign_in(client, AMIRA, process="connect")
    assert response.headers["Location"] == reverse("socialaccount_connections")
    assert SocialAccount.objects.get().user == player
    other = browser()
    facebook.sign_in(other, AMIRA)
    assert signed_in_as(other) == player


def test_linking_asks_first_who_it_is(facebook: StandIn) -> None:
    player = member(address="amira@example.org")
    player.set_password("a password of hers")
    player.save()
    client = cast.browser_of(player)
    response = facebook.sign_in(client, AMIRA, process="connect")
    assert response.headers["Location"].startswith(reverse("account_reauthenticate"))
    assert not SocialAccount.objects.exists()
    assert "EAA" not in str(dict(client.session))
    client.post(response.headers["Location"], {"password": "a password of hers"})
    assert SocialAccount.objects.get().user == player


def test_whoever_has_an_account_already_comes_by_linking_it_to_the_page_that_was_wanted(
    facebook: StandIn,
) -> None:
    player = member(address="amira@example.org")
    client = browser()
    facebook.sign_in(client, AMIRA, wanted=WANTED)
    page = client.get(WELCOME)
    sign_in = page.context["form"].sign_in_to_link
    says(page, f'<a href="{sign_in}">Sign in to it</a>')
    assert urlsplit(sign_in).path == reverse("account_login")
    linking = parse_qs(urlsplit(sign_in).query)["next"][0]
    assert urlsplit(linking).path == reverse("socialaccount_connections")
    client = _signed_in(player)
    says(client.get(linking), reverse("facebook_login") + "?process=connect&amp;next=%2Frules")
    response = facebook.sign_in(client, AMIRA, wanted=WANTED, process="connect")
    assert response.headers["Location"] == WANTED
    assert SocialAccount.objects.get().user == player


def test_linking_that_does_not_work_keeps_the_page_that_was_wanted(facebook: StandIn) -> None:
    client = _signed_in(member(address="salma@example.org"))
    wanted = reverse("socialaccount_connections") + "?next=%2Frules%2F%3Ftarget%3D101"
    response = facebook.sign_in(client, None, wanted=WANTED, process="connect")
    says(client.get(response.headers["Location"]), f'href="{wanted}"')
    facebook.tell(misbehave={"token": "down"})
    says(facebook.sign_in(client, AMIRA, wanted=WANTED, process="connect"), f'href="{wanted}"')


def test_what_is_linked_to_another_account_stays_there(facebook: StandIn) -> None:
    owner = linked(member("Amira"), AMIRA)
    client = _signed_in(member(address="salma@example.org"))
    facebook.sign_in(client, AMIRA, process="connect")
    assert SocialAccount.objects.get().user == owner


def test_linking_that_is_cancelled_leads_back_to_the_account(facebook: StandIn) -> None:
    client = _signed_in(member(address="salma@example.org"))
    response = facebook.sign_in(client, None, process="connect")
    page: Any = client.get(response.headers["Location"])
    says(page, "Nothing was linked")
    says(page, reverse("socialaccount_connections"))


def test_the_only_way_in_cannot_be_unlinked(facebook: StandIn) -> None:
    client = browser()
    facebook.sign_in(client, AMIRA)
    begin_here(client, name="Amira")
    account = SocialAccount.objects.get()
    response = client.post(reverse("socialaccount_connections"), {"account": account.pk})
    assert response.status_code == 422
    assert SocialAccount.objects.exists()
    says(response, "This is your only way in. Confirm an address or add a passkey first.")
    says(response, f'href="{reverse("account_email")}"')
    says(response, f'href="{reverse("mfa_add_webauthn")}"')


@pytest.mark.parametrize(
    ("has", "is_enough"),
    [
        ("a confirmed address", True),
        ("a passkey", True),
        ("another site", True),
        ("a key that is only a second step", False),
        ("an address that is not confirmed", False),
        ("a password without an address", False),
        ("a site that is not offered any more", False),
    ],
)
def test_facebook_can_be_unlinked_beside_another_way_in_and_no_other(
    has: str, *, is_enough: bool
) -> None:
    player = linked(member("Amira"), AMIRA)
    account = SocialAccount.objects.get()
    if "password" in has:
        player.set_password("a password of hers")
        player.save()
    elif "site" in has:
        provider = "google" if "any more" in has else "facebook"
        SocialAccount.objects.create(user=player, provider=provider, uid="7")
    elif "key" in has:
        options = {"rk": "second" not in has}
        data = {"name": "key", "credential": {"clientExtensionResults": {"credProps": options}}}
        Authenticator.objects.create(user=player, type=Authenticator.Type.WEBAUTHN, data=data)
    else:
        EmailAddress.objects.create(
            user=player, email="amira@example.org", verified="not" not in has, primary=True
        )
    client = _signed_in(player, by="socialaccount" if "site" in has else "password")
    response = client.post(reverse("socialaccount_connections"), {"account": account.pk})
    assert response.status_code == (302 if is_enough else 422)
    assert SocialAccount.objects.filter(pk=account.pk).exists() is not is_enough


def test_whoever_has_only_facebook_can_add_another_way_in(facebook: StandIn) -> None:
    client = browser()
    facebook.sign_in(client, AMIRA)
    begin_here(client, name="Amira")
    assert client.get(reverse("account_set_password")).status_code == 200
    assert client.get(reverse("mfa_add_webauthn")).status_code == 200
    response = client.post(reverse("account_email"), {"action_add": "", "email": "a@example.org"})
    assert response.status_code == 302
    assert response.headers["Location"] == reverse("account_email")


def test_whoever_has_only_facebook_says_by_it_again_who_they_are(facebook: StandIn) -> None:
    linked(member("Amira"), AMIRA)
    client = browser()
    facebook.sign_in(client, AMIRA)
    session = client.session
    session["account_authentication_methods"][0]["at"] -= 3600
    session.save()
    wanted = reverse("mfa_add_webauthn")
    response = client.get(wanted)
    assert response.headers["Location"].startswith(reverse("facebook_login"))
    assert client.get(response.headers["Location"]).status_code == 200
    dialog = client.post(response.headers["Location"]).headers["Location"]
    back = facebook.come_back(client, facebook.answer(dialog, AMIRA))
    assert back.headers["Location"] == wanted
    assert client.get(wanted).status_code == 200


def test_with_another_way_in_it_can_be_unlinked(facebook: StandIn) -> None:
    player = linked(member(address="amira@example.org"), AMIRA)
    player.set_password("a password of hers")
    player.save()
    client = _signed_in(player)
    account = SocialAccount.objects.get()
    client.post(reverse("socialaccount_connections"), {"account": account.pk})
    assert not SocialAccount.objects.exists()


# Guests


def test_a_guest_who_signs_in_by_facebook_keeps_the_games(facebook: StandIn) -> None:
    guest = create_guest()
    client = cast.browser_of(guest)
    game = cast.sit_down_with_the_computer(guest)
    key = client.session.session_key
    facebook.sign_in(client, AMIRA)
    assert signed_in_as(client) == guest
    begin_here(client, name="Amira")
    player = signed_in_as(client)
    assert player is not None
    assert player.name == "Amira"
    assert client.session.session_key != key
    assert cast.look(client, "table", game).status_code == 200
    game.refresh_from_db()
    assert player in {game.player_a, game.player_b}
    guest.refresh_from_db()
    assert guest.merged_into == player


def test_a_guest_who_has_an_account_finds_the_games_of_both(facebook: StandIn) -> None:
    player = linked(member("Amira"), AMIRA)
    earlier = cast.sit_down_with_the_computer(player, seed=2)
    guest = create_guest()
    client = cast.browser_of(guest)
    game = cast.sit_down_with_the_computer(guest)
    facebook.sign_in(client, AMIRA)
    assert signed_in_as(client) == player
    for each in (earlier, game):
        each.refresh_from_db()
        assert player in {each.player_a, each.player_b}
    assert _friends_of(client) == []
    session = client.session["account_authentication_methods"]
    assert session[0]["provider"] == "facebook"


def test_a_guest_may_keep_the_name(facebook: StandIn) -> None:
    guest = create_guest()
    client = cast.browser_of(guest)
    facebook.sign_in(client, AMIRA)
    assert begin_here(client, name=guest.name).status_code == 302
    player = signed_in_as(client)
    assert player is not None
    assert player != guest
    assert player.name == guest.name


def test_a_guest_who_cancels_is_still_the_guest(facebook: StandIn) -> None:
    guest = create_guest()
    client = cast.browser_of(guest)
    facebook.sign_in(client, None)
    assert signed_in_as(client) == guest


# Friends


def _friends_of(client: Client) -> list[str]:
    from django.test import RequestFactory

    request = RequestFactory().get("/")
    request.session = client.session
    request.user = User.objects.get(pk=client.session[SESSION_KEY])
    return [friend.name for friend in accounts_facebook.friends_who_play(request)]


def _all_have_agreed(facebook: StandIn) -> None:
    facebook.tell(installed={person: ["user_friends"] for person in (AMIRA, BASSEM, FATMA)})


def test_friends_who_play_are_found_at_signing_in(facebook: StandIn) -> None:
    _all_have_agreed(facebook)
    linked(member("Bassem"), BASSEM)
    linked(member("Fatma"), FATMA)
    linked(member("Emad"), EMAD)
    linked(member("Amira"), AMIRA)
    client = browser()
    facebook.sign_in(client, AMIRA)
    assert _friends_of(client) == ["Bassem", "Fatma"]


def test_friends_are_found_at_the_first_sign_in_of_a_guest_too(facebook: StandIn) -> None:
    _all_have_agreed(facebook)
    linked(member("Bassem"), BASSEM)
    client = cast.browser_of(create_guest())
    facebook.sign_in(client, AMIRA)
    begin_here(client, name="Amira")
    assert _friends_of(client) == ["Bassem"]


def test_friends_are_not_told_of_if_that_was_declined(facebook: StandIn) -> None:
    _all_have_agreed(facebook)
    linked(member("Bassem"), BASSEM)
    linked(member("Amira"), AMIRA)
    client = browser()
    facebook.sign_in(client, AMIRA, shares=("email",))
    assert _friends_of(client) == []


def test_whoever_is_blocked_is_not_among_the_friends(facebook: StandIn) -> None:
    _all_have_agreed(facebook)
    bassem = linked(member("Bassem"), BASSEM)
    linked(member("Fatma"), FATMA)
    amira = linked(member("Amira"), AMIRA)
    Block.objects.create(blocker=bassem, blocked=amira)
    client = browser()
    facebook.sign_in(client, AMIRA)
    assert _friends_of(client) == ["Fatma"]


@pytest.mark.parametrize("how", ["down", "garbage", "list", "empty"])
def test_signing_in_does_not_fail_for_friends_that_are_not_told(
    facebook: StandIn, how: str
) -> None:
    amira = linked(member("Amira"), AMIRA)
    facebook.tell(misbehave={"friends": how})
    client = browser()
    assert facebook.sign_in(client, AMIRA).headers["Location"] == "/"
    assert signed_in_as(client) == amira
    assert _friends_of(client) == []


def test_many_friends_are_read_page_by_page(
    facebook: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts_facebook, "_FRIENDS_A_PAGE", 1)
    _all_have_agreed(facebook)
    linked(member("Bassem"), BASSEM)
    linked(member("Fatma"), FATMA)
    linked(member("Amira"), AMIRA)
    client = browser()
    facebook.sign_in(client, AMIRA)
    assert _friends_of(client) == ["Bassem", "Fatma"]


# Removing the app


def test_whoever_has_only_facebook_can_keep_the_account_that_is_to_be_deleted(
    facebook: StandIn,
) -> None:
    player = linked(member("Amira"), AMIRA)
    code = _delete_data(AMIRA)
    client = browser()
    assert facebook.sign_in(client, AMIRA).headers["Location"] == "/"
    assert signed_in_as(client) == player
    page: Any = client.get("/")
    says(page, "Your account will be deleted on")
    client.post(reverse("accounts:keep"))
    player.refresh_from_db()
    assert player.closes_at is None
    status: Any = browser().get(reverse("accounts:facebook_status", args=[code]))
    says(status, "The account is kept and linked to Facebook")
    facebook.sign_in(again := browser(), AMIRA)
    assert signed_in_as(again) == player


def test_a_sign_in_alone_does_not_keep_an_account_that_is_to_be_deleted(facebook: StandIn) -> None:
    player = linked(member("Amira"), AMIRA)
    _delete_data(AMIRA)
    facebook.sign_in(browser(), AMIRA)
    player.refresh_from_db()
    assert player.closes_at is not None


def test_removing_the_app_ends_what_facebook_began_and_nothing_else(facebook: StandIn) -> None:
    player = linked(member(address="amira@example.org"), AMIRA)
    by_facebook, by_other = browser(), _signed_in(player)
    facebook.sign_in(by_facebook, AMIRA)
    assert UserSession.objects.filter(user=player).exists()
    accounts_facebook.deauthorise(accounts_facebook.SignedRequest(AMIRA, _now()))
    assert by_facebook.get(reverse("socialaccount_connections")).status_code == 302
    assert by_other.get(reverse("socialaccount_connections")).status_code == 200


# Pages


def test_a_sign_in_begins_by_a_post_alone(facebook: StandIn) -> None:
    client = browser()
    page = client.get(reverse("facebook_login"))
    assert page.status_code == 200
    says(page, "Continue with Facebook (local stand-in)")
    assert client.head(reverse("facebook_login")).status_code == 405
    assert not [entry for entry in facebook.asked() if "dialog" in entry["path"]]


def test_a_site_that_is_not_offered_is_not_there() -> None:
    assert "google" not in settings.SOCIALACCOUNT_PROVIDERS
    assert browser().post(reverse("google_login")).status_code == 404
    assert browser().get(reverse("google_callback")).status_code == 404


def test_there_is_no_signing_in_by_a_token() -> None:
    assert browser().post("/account/facebook/login/token/").status_code == 404


def test_the_policy_lets_a_form_lead_to_the_dialog() -> None:
    policy = browser().get(reverse("facebook_login")).headers["Content-Security-Policy"]
    assert settings.SOCIALACCOUNT_PROVIDERS["facebook"]["AUTHORIZE_URL"].startswith(
        policy.partition("form-action 'self' ")[2].partition(";")[0]
    )


def _messages(client: Client) -> list[str]:
    from django.contrib.messages.storage.session import SessionStorage
    from django.test import RequestFactory

    request = RequestFactory().get("/")
    request.session = client.session
    return [message.message for message in SessionStorage(request)]


def _link_in(post_office: PostOffice, part: str) -> str:
    links = links_of(post_office.mails[-1])
    return next(
        link.removeprefix(settings.SITE_URL)
        for link in links
        if link.startswith(settings.SITE_URL + part)
    )


def _delete_data(person: str) -> str:
    said = accounts_facebook.SignedRequest(person, _now())
    return accounts_facebook.delete_data(said).confirmation_code


def _now() -> Any:
    from django.utils import timezone

    return timezone.now()


def _signed_in(player: User, by: str = "password") -> Client:
    """Return a browser in which somebody has just said who they are."""
    client = cast.browser_of(player)
    session = client.session
    said = {"method": by, "at": time.time(), "reauthenticated": True}
    session["account_authentication_methods"] = [said]
    session["account_authentication_methods_user"] = str(player.pk)
    session.save()
    return client
