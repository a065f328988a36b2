"""Inviting somebody by mail: what is sent, what the mail opens, and what nobody is told."""

from __future__ import annotations

import itertools
import re
import uuid
from collections.abc import Callable
from datetime import timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from allauth.account.models import EmailAddress
from django.contrib.staticfiles import finders
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts import addresses, closing, mails
from accounts.models import Block, Friendship, Mail, Quota, SuppressedAddress, User
from accounts.signals import address_confirmed
from games import engine, selectors, services
from games.models import Challenge, Game, Invitation
from games.services import invitations, parting
from games.snapshot import terms_of
from games.tasks import close_challenges
from tests import cast
from tests.accounts import people
from tests.post_office import PostOffice, html_of, links_of, text_of

type InThreads = Callable[[list[Callable[[], object]]], list[object]]

pytestmark = pytest.mark.django_db(transaction=True)

NORA = "nora@example.com"
TERMS = {"rule_set": "standard", "target": "51", "who": "mail", "language": "en"}
SAME_ANSWER = "If we may write to this address, the invitation is on its way."


def new_account(name: str) -> User:
    """Return a member with a confirmed address, who has just come."""
    user = cast.person(name)
    address = f"{name.lower()}@basra.example"
    EmailAddress.objects.create(user=user, email=address, verified=True, primary=True)
    user.email = address
    user.save()
    return user


def account(name: str) -> User:
    """Return a member who has been here for long."""
    user = new_account(name)
    User.objects.filter(pk=user.pk).update(date_joined=timezone.now() - timedelta(days=30))
    user.refresh_from_db()
    return user


def send_form(browser: Client, address: str = NORA, **changes: str) -> Any:
    form = TERMS | {"form_key": str(uuid.uuid4()), "address": address} | changes
    return cast.posted(browser, reverse("games:new_challenge"), form)


def invite(inviter: User, address: str = NORA, **changes: str) -> Challenge:
    """Send an invitation from a browser and return its challenge."""
    before = set(Challenge.objects.values_list("pk", flat=True))
    response = send_form(cast.browser_of(inviter), address, **changes)
    assert response.status_code == 302, cast.text_of(response)
    assert response.headers["Location"] == reverse("games:invitations")
    return Challenge.objects.exclude(pk__in=before).get()


def path_in(mail: EmailMessage) -> str:
    """Return the path of the invitation that a mail leads to."""
    found = [urlsplit(link).path for link in links_of(mail)]
    [path] = [path for path in found if re.fullmatch(r"/invitations/[\w-]{43}/", path)]
    return path


def never_in(mail: EmailMessage) -> str:
    return next(path for link in links_of(mail) if "/never/" in (path := urlsplit(link).path))


def accept(browser: Client, path: str, **changes: str) -> Any:
    return cast.posted(browser, f"{path}accept/", {"words": cast.WORDS} | changes)


def page_of_invitations(player: User) -> str:
    return cast.text_of(cast.get(cast.browser_of(player), reverse("games:invitations")))


# From the mail to the table


def test_a_stranger_accepts_from_the_mail_and_sits_at_the_table_on_the_terms_that_were_told(
    post_office: PostOffice,
) -> None:
    mona = account("Mona")
    for rules, target in itertools.product(engine.RULE_SETS, engine.TARGETS):
        Quota.objects.all().delete()
        address = f"{rules}.{target}@example.com"
        invite(mona, address, rule_set=rules, target=str(target or "round"))
        [mail] = post_office.mails_to(address)
        browser = cast.browser_of()
        page = cast.text_of(cast.get(browser, path_in(mail)))
        assert "<bdi>Mona</bdi> invites you to a game" in page
        assert "without a clock" in page
        assert not User.objects.filter(kind=User.Kind.GUEST).exists()
        response = accept(browser, path_in(mail))
        game = Game.objects.latest("created_at")
        assert response.headers["Location"] == reverse("games:table", args=[game.pk])
        assert terms_of(game) == engine.Terms(engine.RULE_SETS[rules], target)
        assert game.player_a == mona
        assert game.player_b.is_guest
        services.resign(game_id=game.pk, player=mona)
        User.objects.filter(kind=User.Kind.GUEST).update(kind=User.Kind.MEMBER)


def test_the_mail_says_who_invites_to_what_until_when_and_how_to_get_no_more(
    post_office: PostOffice,
) -> None:
    challenge = invite(
        account("Mona"), rule_set="house" if "house" in engine.RULE_SETS else "standard"
    )
    [mail] = post_office.mails
    assert mail["Subject"] == "An invitation to play Basra"
    assert mail["To"] == NORA
    assert mail["From"].addresses[0].addr_spec == "basra@localhost.localdomain"
    assert "Reply-To" not in mail
    # Both in one line each, as they are: nobody would follow a folded link.
    raw = post_office.counter.raw[0].decode("ascii")
    assert f"\r\nList-Unsubscribe: <{mails.link(never_in(mail))}>\r\n" in raw
    assert "\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n" in raw
    for part in (text_of(mail), html_of(mail)):
        assert "Mona" in part
        assert "to 51" in part
        assert "without a clock" in part
        assert challenge.expires_at.strftime("%Y") in part
        assert never_in(mail) in part
    assert "\u2068Mona\u2069" in text_of(mail)
    assert "<bdi>Mona</bdi>" in html_of(mail)
    assert re.search(r'<table[^>]*dir="ltr"[^>]*lang="en"', html_of(mail))
    assert "<style" not in html_of(mail)
    assert 'style="' in html_of(mail)


def test_a_mail_in_a_language_written_from_right_to_left_says_so(
    post_office: PostOffice, settings: Any
) -> None:
    settings.LANGUAGES = [("en", "English"), ("ar", "Arabic")]
    invite(account("Mona"), language="ar")
    [mail] = post_office.mails
    assert re.search(r'<table[^>]*dir="rtl"[^>]*lang="ar"', html_of(mail))
    assert mail["Content-Language"] == "ar"


def test_only_the_digest_of_the_token_is_stored_and_it_was_drawn_when_the_mail_left(
    post_office: PostOffice,
) -> None:
    challenge = invite(account("Mona"))
    token = path_in(post_office.mails[0]).strip("/").rpartition("/")[2]
    stored = str(cast.everything_stored())
    assert token not in stored
    assert challenge.invitation.token_sha256 == invitations.digest_of(token)


def test_the_link_is_good_once_and_leads_back_to_the_table_for_whoever_took_the_seat(
    post_office: PostOffice,
) -> None:
    invite(account("Mona"))
    path, nora = path_in(post_office.mails[0]), cast.browser_of()
    first = accept(nora, path)
    assert cast.get(nora, path).headers["Location"] == first.headers["Location"]
    other = cast.browser_of()
    gone = cast.get(other, path)
    assert gone.status_code == 410
    assert "no longer available" in cast.text_of(gone)
    assert reverse("games:open_table") in cast.text_of(gone)
    assert accept(other, path).status_code == 409
    assert Game.objects.count() == 1
    assert User.objects.filter(kind=User.Kind.GUEST).count() == 1


def test_the_form_sent_twice_seats_one_guest(post_office: PostOffice) -> None:
    invite(account("Mona"))
    path = path_in(post_office.mails[0])
    form = {"form_key": str(uuid.uuid4())}
    first, second = accept(cast.browser_of(), path, **form), accept(cast.browser_of(), path, **form)
    assert first.headers["Location"] == second.headers["Location"]
    assert User.objects.filter(kind=User.Kind.GUEST).count() == 1


def test_of_many_who_press_at_once_with_one_link_one_sits_down(
    post_office: PostOffice, in_threads: InThreads
) -> None:
    invite(account("Mona"))
    path = path_in(post_office.mails[0])
    browsers = [cast.browser_of() for _ in range(10)]
    answers = in_threads([lambda one=one: accept(one, path) for one in browsers])  # type: ignore[misc]
    statuses = sorted(getattr(answer, "status_code", 0) for answer in answers)
    assert statuses == [302] + [409] * 9
    assert Game.objects.count() == 1
    assert User.objects.filter(kind=User.Kind.GUEST).count() == 1


def test_the_inviter_sees_what_has_become_of_each_invitation_and_no_address_after_its_end(
    post_office: PostOffice,
) -> None:
    mona = account("Mona")
    ends = {}
    for end in ("waiting", "accepted", "declined", "withdrawn", "expired"):
        Quota.objects.all().delete()
        ends[end] = invite(mona, f"{end}@example.com")
        if end not in ("withdrawn", "expired", "waiting"):
            path = path_in(post_office.mails_to(f"{end}@example.com")[0])
            if end == "accepted":
                accept(cast.browser_of(cast.person("Karim")), path, agreed="on")
            else:
                assert cast.posted(cast.browser_of(), f"{path}decline/", {}).status_code == 200
    cast.post(cast.browser_of(mona), "withdraw", ends["withdrawn"], {})
    Challenge.objects.filter(pk=ends["expired"].pk).update(expires_at=timezone.now())
    page = page_of_invitations(mona)
    for said in (
        "nobody has answered yet",
        "Accepted by <bdi>Karim</bdi>",
        "Declined",
        "Withdrawn",
        "Expired",
    ):
        assert said in page
    close_challenges()
    kept = Invitation.objects.exclude(address="").values_list("address", flat=True)
    assert list(kept) == ["waiting@example.com"]
    for end in ("accepted", "declined", "withdrawn", "expired"):
        assert f"{end}@example.com" not in page_of_invitations(mona)
        assert f"{end}@example.com" not in str(cast.everything_stored())


@pytest.mark.parametrize("end", ["declined", "withdrawn", "expired"])
def test_an_invitation_that_has_ended_says_so_and_offers_somebody_else(
    post_office: PostOffice, end: str
) -> None:
    mona = account("Mona")
    challenge = invite(mona)
    path = path_in(post_office.mails[0])
    if end == "declined":
        cast.posted(cast.browser_of(), f"{path}decline/", {})
    elif end == "withdrawn":
        services.withdraw_challenge(challenge_id=challenge.pk, player=mona)
    else:
        Challenge.objects.filter(pk=challenge.pk).update(expires_at=timezone.now())
    browser = cast.browser_of()
    page = cast.get(browser, path)
    assert page.status_code == 410
    assert "no longer available" in cast.text_of(page)
    assert accept(browser, path).status_code == 409
    assert not Game.objects.exists()
    assert not User.objects.filter(kind=User.Kind.GUEST).exists()


def test_a_link_that_was_never_mailed_leads_nowhere() -> None:
    path = reverse("games:invitation", args=["x" * 43])
    assert cast.get(cast.browser_of(), path).status_code == 404
    assert accept(cast.browser_of(), path).status_code == 404
    assert cast.posted(cast.browser_of(), f"{path}decline/", {}).status_code == 404


def test_words_that_cannot_be_used_stay_typed(post_office: PostOffice) -> None:
    invite(account("Mona"))
    path = path_in(post_office.mails[0])
    refused = accept(cast.browser_of(), path, words="long " * 60)
    assert refused.status_code == 422
    assert "long long" in cast.text_of(refused)
    assert not Game.objects.exists()


# Who may do what


def test_scanners_that_follow_every_link_change_nothing(post_office: PostOffice) -> None:
    mona = account("Mona")
    invite(mona)
    [mail] = post_office.mails
    before = cast.everything_stored()
    for link in links_of(mail):
        address = urlsplit(link)
        for method, _again in itertools.product(("get", "head"), range(2)):
            answer = getattr(cast.browser_of(), method)(address.path)
            assert answer.status_code == 200
    assert cast.everything_stored() == before
    assert accept(cast.browser_of(), path_in(mail)).status_code == 302


def test_nobody_else_comes_in_by_the_plain_link(post_office: PostOffice) -> None:
    challenge = invite(account("Mona"))
    for player in (None, cast.person("Karim"), cast.person("Guest", kind=User.Kind.GUEST)):
        browser = cast.browser_of(player)
        assert cast.look(browser, "challenge", challenge).status_code == 404
        answer = cast.post(browser, "accept", challenge, {"words": "tea"})
        assert answer.status_code == 404
    assert cast.text_of(cast.look(cast.browser_of(), "open_table")).count("Mona") == 0


def test_my_own_invitation_is_nobodys_game(post_office: PostOffice) -> None:
    mona = account("Mona")
    invite(mona)
    path, browser = path_in(post_office.mails[0]), cast.browser_of(mona)
    page = cast.text_of(cast.get(browser, path))
    assert "your own invitation" in page
    assert "accept/" not in page
    assert accept(browser, path).status_code == 409
    assert cast.posted(browser, f"{path}decline/", {}).status_code == 404
    assert not Game.objects.exists()


def test_an_account_with_another_address_is_asked_once_and_the_inviter_sees_who_came(
    post_office: PostOffice,
) -> None:
    mona, karim = account("Mona"), account("Karim")
    invite(mona)
    path, browser = path_in(post_office.mails[0]), cast.browser_of(karim)
    assert "another address than yours" in cast.text_of(cast.get(browser, path))
    refused = accept(browser, path)
    assert refused.status_code == 422
    assert cast.WORDS in cast.text_of(refused)
    assert not Game.objects.exists()
    assert accept(browser, path, agreed="on").status_code == 302
    assert "Accepted by <bdi>Karim</bdi>" in page_of_invitations(mona)


def test_whose_address_it_is_is_not_asked_and_need_not_use_the_mail(
    post_office: PostOffice,
) -> None:
    mona, karim = account("Mona"), account("Karim")
    challenge = invite(mona, "KARIM@Basra.Example")
    path = path_in(post_office.mails[0])
    browser = cast.browser_of(karim)
    assert "another address" not in cast.text_of(cast.get(browser, path))
    home = cast.text_of(cast.look(browser, "home"))
    assert "<bdi>Mona</bdi> offers a game" in home
    assert "Needs an answer" in home
    assert selectors.waiting_counts(karim)[0] == 1
    assert selectors.next_waiting(karim, None) == ("challenge", challenge.pk)
    assert cast.look(browser, "challenge", challenge).status_code == 200
    assert "No, thanks" in cast.text_of(cast.look(browser, "challenge", challenge))
    cast.post(browser, "accept", challenge, {"words": cast.WORDS})
    assert Game.objects.get().player_b == karim
    assert accept(cast.browser_of(), path).status_code == 409


def test_the_inviter_is_not_told_that_the_address_is_a_players(post_office: PostOffice) -> None:
    mona = account("Mona")
    account("Karim")
    challenge = invite(mona, "karim@basra.example")
    browser = cast.browser_of(mona)
    for page in ("home", "challenge"):
        shown = cast.text_of(cast.look(browser, page, challenge if page == "challenge" else None))
        assert "Karim" not in shown
    assert "Karim" not in page_of_invitations(mona)


def test_whoever_signs_in_first_comes_back_to_the_invitation(post_office: PostOffice) -> None:
    invite(account("Mona"))
    path, browser = path_in(post_office.mails[0]), cast.browser_of()
    assert f'href="/account/login/?next={path}"' in cast.text_of(cast.get(browser, path))
    response = people.sign_in(browser, people.account("Karim"), wanted=path)
    assert response.headers["Location"] == path
    assert "Accept as <bdi>Karim</bdi>" in cast.text_of(cast.get(browser, path))


def test_the_invited_says_no_at_the_ordinary_page(post_office: PostOffice) -> None:
    mona, karim = account("Mona"), account("Karim")
    challenge = invite(mona, "karim@basra.example")
    assert cast.post(cast.browser_of(karim), "decline", challenge, {}).status_code == 302
    assert "Declined" in page_of_invitations(mona)


@pytest.mark.parametrize("typed", ["Ali@Example.com", "ali@EXAMPLE.COM"])
def test_an_invitation_waits_for_whoever_confirms_the_address_later_in_any_browser(
    post_office: PostOffice, typed: str
) -> None:
    mona = account("Mona")
    challenge = invite(mona, typed)
    ali = cast.person("Ali")
    EmailAddress.objects.create(user=ali, email="ali@example.com", verified=True, primary=True)
    assert selectors.waiting_counts(ali)[0] == 0
    address_confirmed.send(sender=User, user=ali, address="ali@example.com")
    assert selectors.waiting_counts(ali)[0] == 1
    assert cast.look(cast.browser_of(ali), "challenge", challenge).status_code == 200
    [(_kind, key)] = [selectors.next_waiting(ali, None)]  # type: ignore[misc]
    assert key == challenge.pk


@pytest.mark.parametrize("why", ["suppressed", "over the limit", "of a new account"])
def test_an_invitation_that_was_never_sent_reaches_nobody_here_either(
    post_office: PostOffice, why: str
) -> None:
    mona = account("Mona")
    nora = None if why == "of a new account" else account("Nora")
    address = nora.email if nora else NORA
    if why == "over the limit":
        invite(account("Karim"), address)
    else:
        addresses.suppress(addresses.address_digest(address))
    sent = len(post_office.mails)
    challenge = invite(mona, address)
    assert len(post_office.mails) == sent
    if nora is None:
        nora = new_account("Nora")
        EmailAddress.objects.create(user=nora, email=NORA, verified=True)
        address_confirmed.send(sender=User, user=nora, address=NORA)
    challenge.invitation.refresh_from_db()
    assert challenge.invitation.recipient is None
    assert selectors.waiting_counts(nora)[0] == (1 if why == "over the limit" else 0)


OTHER_WAYS = {
    "nora@gmail.com": [
        "NORA@gmail.com", "nora+1@gmail.com", "no.ra@gmail.com", "n.o.r.a+x@googlemail.com",
        "nora@GoogleMail.com",
    ],
    "nora@example.com": ["Nora@EXAMPLE.com", "nora+1@example.com", "nora+1+2@example.com"],
    "no.ra@bücher.example": ["no.ra@xn--bcher-kva.example", "no.ra@BÜCHER.example"],
}  # fmt: skip


@pytest.mark.parametrize("address", OTHER_WAYS)
def test_an_address_written_another_way_is_the_same_to_limits_and_never_again(
    post_office: PostOffice, address: str
) -> None:
    for number, written in enumerate([address, *OTHER_WAYS[address]]):
        invite(account(f"Inviter{number}"), written)
    assert len(post_office.mails) == 1
    Quota.objects.all().delete()
    addresses.suppress(addresses.address_digest(OTHER_WAYS[address][0]))
    for number, written in enumerate([address, *OTHER_WAYS[address]]):
        assert addresses.is_suppressed(written)
        invite(account(f"Other{number}"), written)
    assert len(post_office.mails) == 1


@pytest.mark.parametrize("address", OTHER_WAYS)
def test_who_has_blocked_me_is_not_reached_by_their_address_written_another_way(
    post_office: PostOffice, address: str
) -> None:
    vic, mona = account("Vic"), account("Mona")
    for written in (address, *OTHER_WAYS[address]):
        EmailAddress.objects.filter(user=vic).update(email=written.lower())
        for other in (address, *OTHER_WAYS[address]):
            assert addresses.members_with(other) == [vic]
    Block.objects.create(blocker=vic, blocked=mona)
    for written in (address, *OTHER_WAYS[address]):
        Quota.objects.all().delete()
        invite(mona, written)
    assert post_office.mails == []


def test_addresses_that_differ_are_of_different_people(post_office: PostOffice) -> None:
    vic = account("Vic")
    EmailAddress.objects.filter(user=vic).update(email="vic@example.com")
    others = (
        "v.ic@example.com", "vic@example.org", "vic@gmail.com", "vice@example.com",
        "vi@example.com", "+vic@example.com", "v%@example.com", "@example.com", "vic", "",
    )  # fmt: skip
    for other in others:
        assert addresses.members_with(other) == []
        assert addresses.address_digest(other) != addresses.address_digest("vic@example.com")


def test_the_mail_goes_to_the_address_as_it_was_typed(post_office: PostOffice) -> None:
    invite(account("Mona"), "No.Ra+basra@gmail.com")
    assert [mail["To"] for mail in post_office.mails] == ["No.Ra+basra@gmail.com"]


def test_my_own_second_address_makes_no_game_against_myself(post_office: PostOffice) -> None:
    mona = account("Mona")
    challenge = invite(mona, "mona.too@example.com")
    EmailAddress.objects.create(user=mona, email="mona.too@example.com", verified=True)
    address_confirmed.send(sender=User, user=mona, address="mona.too@example.com")
    challenge.invitation.refresh_from_db()
    assert challenge.invitation.recipient is None
    assert selectors.waiting_counts(mona)[0] == 0


def test_the_number_of_statements_at_home_stays_with_invitations(post_office: PostOffice) -> None:
    from tests.games.test_statements import counted_look, warm

    mona, karim = account("Mona"), account("Karim")
    invite(mona, "karim@basra.example")
    invite(karim, "mona@basra.example")
    for player in (mona, karim):
        assert counted_look(warm(player), "home") <= 5


# Who may invite


@pytest.mark.parametrize("who", ["visitor", "guest", "member without an address", "unconfirmed"])
def test_who_has_no_confirmed_address_is_told_how_and_nothing_is_stored(
    post_office: PostOffice, who: str
) -> None:
    player = None
    if who == "guest":
        player = cast.person("Guest", kind=User.Kind.GUEST)
    elif who != "visitor":
        player = cast.person("Mona")
        if who == "unconfirmed":
            EmailAddress.objects.create(user=player, email="m@example.com", verified=False)
    before = cast.everything_stored()
    response = send_form(cast.browser_of(player))
    assert response.status_code == 422
    page = cast.text_of(response)
    assert "an account and a confirmed email address" in page
    assert NORA in page  # what was typed stays
    assert cast.everything_stored() == before
    assert post_office.collect() == []


@pytest.mark.parametrize(
    "address",
    ["", "nora", "nora@", "a@b@c.de", "nora@example.com\nBcc: a@b.de", f"{'x' * 300}@a.de"],
)
def test_an_address_that_is_none_is_refused_and_stays_typed(
    post_office: PostOffice, address: str
) -> None:
    response = send_form(cast.browser_of(account("Mona")), address)
    assert response.status_code == 422
    assert not Challenge.objects.exists()
    assert post_office.collect() == []
    if address == "nora":
        assert 'value="nora"' in cast.text_of(response)


def test_the_form_of_an_invitation_sent_twice_sends_one(post_office: PostOffice) -> None:
    mona = cast.browser_of(account("Mona"))
    key = str(uuid.uuid4())
    assert [send_form(mona, form_key=key).status_code for _ in range(3)] == [302] * 3
    assert len(post_office.mails) == 1
    assert Invitation.objects.count() == 1


# What nobody is told


def test_the_answer_is_the_same_whatever_is_known_of_the_address(
    post_office: PostOffice, settings: Any
) -> None:
    karim, salma = account("Karim"), account("Salma")
    quiet = account("Tarek")
    User.objects.filter(pk=quiet.pk).update(quiet=True)
    addresses.suppress(addresses.address_digest("suppressed@example.com"))
    invite(salma, "over@example.com")
    sent_before = len(post_office.mails)
    cases = {
        "new": "new@example.com",
        "existing": karim.email,
        "suppressed": "Suppressed@example.com",
        "own": "",
        "blocked": salma.email,
        "quiet": quiet.email,
        "over the limit": "OVER@example.com",
    }
    answers = {}
    for number, (case, address) in enumerate(cases.items()):
        inviter = account(f"Mona{number}")
        Block.objects.create(blocker=salma, blocked=inviter)
        address = address or inviter.email
        browser = cast.browser_of(inviter)
        response = send_form(browser, address)
        page = cast.text_of(cast.get(browser, response.headers["Location"]))
        page = page.replace(address, "ADDRESS").replace(inviter.name, "NAME")
        page = re.sub(r"/challenges/[0-9a-f-]{36}/", "/challenges/ID/", page)
        page = re.sub(r'datetime="[^"]*"', "", page)
        page = re.sub(r'name="csrfmiddlewaretoken" value="[^"]*"', "", page)
        answers[case] = (response.status_code, response.headers["Location"], page)
        assert SAME_ANSWER in page
    assert set(answers.values()) == {answers["new"]}
    to = [mail["To"] for mail in post_office.mails[sent_before:]]
    assert to == ["new@example.com", karim.email]


def test_the_request_does_the_same_work_whatever_is_known_of_the_address(
    post_office: PostOffice,
) -> None:
    from unittest.mock import patch

    from tests.games.test_statements import Counted

    mona, karim = account("Mona"), account("Karim")
    Block.objects.create(blocker=karim, blocked=mona)
    addresses.suppress(addresses.address_digest("suppressed@example.com"))
    browser = cast.browser_of(mona)
    cast.look(browser, "home")
    work = []
    with patch("accounts.outbox._ring"):
        for address in ("new@example.com", karim.email, "suppressed@example.com", mona.email):
            with Counted() as counted:
                send_form(browser, address)
            work.append([re.sub(r"'[^']*'|\d+", "", sql)[:60] for sql in counted.statements])
    assert work[1:] == work[:1] * 3


def test_a_member_who_lets_only_friends_challenge_gets_mail_from_friends_alone(
    post_office: PostOffice,
) -> None:
    mona, karim, salma = account("Mona"), account("Karim"), account("Salma")
    User.objects.filter(pk=karim.pk).update(may_challenge=User.Audience.FRIENDS)
    Friendship.objects.create(asker=salma, asked=karim, accepted_at=timezone.now())
    invite(mona, karim.email)
    assert selectors.waiting_counts(karim)[0] == 0
    assert post_office.mails == []
    invite(salma, karim.email)
    assert selectors.waiting_counts(karim)[0] == 1
    assert len(post_office.mails) == 1


def test_between_two_of_whom_one_has_blocked_the_other_the_mailed_link_is_dead(
    post_office: PostOffice,
) -> None:
    mona, karim = account("Mona"), account("Karim")
    invite(mona)
    Block.objects.create(blocker=karim, blocked=mona)
    path, browser = path_in(post_office.mails[0]), cast.browser_of(karim)
    assert cast.get(browser, path).status_code == 404
    assert accept(browser, path, agreed="on").status_code == 404


def test_an_invitation_withdrawn_before_its_mail_left_is_not_sent(post_office: PostOffice) -> None:
    from unittest.mock import patch

    mona = account("Mona")
    with patch("accounts.outbox._ring"):
        challenge = invite(mona)
    services.withdraw_challenge(challenge_id=challenge.pk, player=mona)
    assert post_office.collect() == []
    assert Mail.objects.get().state == Mail.State.DEAD
    assert Mail.objects.get().address == ""


def test_who_is_blocked_has_nothing_waiting_that_was_mailed_to_them(
    post_office: PostOffice,
) -> None:
    mona, karim = account("Mona"), account("Karim")
    challenge = invite(mona, karim.email)
    assert selectors.waiting_counts(karim)[0] == 1
    parting.part(mona, karim)
    Block.objects.create(blocker=mona, blocked=karim)
    assert selectors.waiting_counts(karim)[0] == 0
    assert selectors.next_waiting(karim, None) is None
    assert cast.look(cast.browser_of(karim), "challenge", challenge).status_code == 404


def test_the_invitations_of_a_deleted_account_lead_to_somebody_else(
    post_office: PostOffice,
) -> None:
    mona = account("Mona")
    for address in (NORA, "salma@example.com"):
        invite(mona, address)
    closing.close(mona)
    for mail in post_office.mails:
        page = cast.get(cast.browser_of(), path_in(mail))
        assert page.status_code == 410
        assert "no longer available" in cast.text_of(page)
        assert reverse("games:open_table") in cast.text_of(page)
        assert "Mona" not in cast.text_of(page)
    assert NORA not in str(cast.everything_stored())


# Limits


def test_a_player_sends_three_an_hour_and_ten_a_day(post_office: PostOffice) -> None:
    mona = account("Mona")
    for number in range(5):
        invite(mona, f"friend{number}@example.com")
    assert len(post_office.mails) == 3
    assert "3 of 3" in page_of_invitations(mona)
    for hour in range(4):
        Quota.objects.filter(key__contains="in an hour").update(ends_at=timezone.now())
        for number in range(4):
            invite(mona, f"friend{hour}.{number}@example.com")
    assert len(post_office.mails) == 10


def test_a_new_account_sends_three_in_its_first_day(post_office: PostOffice, settings: Any) -> None:
    settings.INVITATIONS = settings.INVITATIONS | {"player_hour": 100}
    mona = new_account("Mona")
    for number in range(5):
        invite(mona, f"friend{number}@example.com")
    assert len(post_office.mails) == 3


def test_no_more_than_twenty_wait_for_an_answer(post_office: PostOffice, settings: Any) -> None:
    settings.INVITATIONS = settings.INVITATIONS | {"player_hour": 100, "player_day": 100}
    mona = account("Mona")
    for number in range(22):
        invite(mona, f"friend{number}@example.com")
    assert len(post_office.mails) == 20
    first = path_in(post_office.mails[0])
    cast.posted(cast.browser_of(), f"{first}decline/", {})
    invite(mona, "another@example.com")
    assert len(post_office.mails) == 21


def test_an_address_gets_one_a_day_and_three_ever_until_somebody_answers(
    post_office: PostOffice,
) -> None:
    for number in range(6):
        invite(account(f"Inviter{number}"))
        assert len(post_office.mails) == min(number + 1, 3)
        invite(account(f"Other{number}"), NORA.upper())  # on the same day
        assert len(post_office.mails) == min(number + 1, 3)
        Quota.objects.filter(key__contains="in a day").update(ends_at=timezone.now())
    cast.posted(cast.browser_of(), f"{path_in(post_office.mails[0])}decline/", {})
    invite(account("Mona"))
    assert len(post_office.mails) == 4


def test_a_domain_and_the_whole_site_have_limits_and_large_providers_only_the_second(
    post_office: PostOffice, settings: Any
) -> None:
    settings.INVITATIONS = settings.INVITATIONS | {
        "player_hour": 100, "player_day": 100, "domain_day": 2, "site_day": 6,
    }  # fmt: skip
    mona = account("Mona")
    for number in range(4):
        invite(mona, f"friend{number}@example.com")
    assert len(post_office.mails) == 2
    for number in range(6):
        invite(mona, f"friend{number}@gmail.com")
    assert len(post_office.mails) == 6


def test_two_hundred_invitations_at_once_with_a_limit_of_ten_send_ten(
    post_office: PostOffice, settings: Any, in_threads: InThreads
) -> None:
    settings.INVITATIONS = settings.INVITATIONS | {"player_hour": 10, "player_day": 10}
    mona = account("Mona")
    threads, rounds = (20, 10) if connection.vendor == "postgresql" else (4, 5)

    def one(number: int) -> Callable[[], object]:
        return lambda: invitations.invite(
            player=mona,
            address=f"friend{number}@example.com",
            language="en",
            rules=engine.RULE_SETS["standard"],
            target=None,
            form_key=uuid.uuid4(),
        )

    for round_number in range(rounds):
        in_threads([one(round_number * threads + number) for number in range(threads)])
        Challenge.objects.filter(invitation__token_sha256=None).update(state="withdrawn")
    post_office.collect()
    assert len(post_office.mails) == 10


def test_fifty_players_at_once_send_one_mail_to_one_address(
    post_office: PostOffice, in_threads: InThreads
) -> None:
    players = 50 if connection.vendor == "postgresql" else 8
    inviters = [account(f"Inviter{number}") for number in range(players)]

    def one(inviter: User) -> Callable[[], object]:
        return lambda: invitations.invite(
            player=inviter,
            address=NORA,
            language="en",
            rules=engine.RULE_SETS["standard"],
            target=None,
        )

    for start in range(0, players, 25):
        done = in_threads([one(inviter) for inviter in inviters[start : start + 25]])
        assert not [result for result in done if isinstance(result, Exception)]
    post_office.collect()
    assert len(post_office.mails) == 1
    assert Invitation.objects.count() == players


# Never again


@pytest.mark.parametrize("slash", ["", "/"])
@pytest.mark.parametrize(
    "content_type", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
@pytest.mark.parametrize("secure", [True, False])
def test_a_mail_program_stops_invitations_in_one_request(
    post_office: PostOffice, settings: Any, slash: str, content_type: str, *, secure: bool
) -> None:
    invite(account("Mona"))
    settings.SECURE_SSL_REDIRECT = True
    never = never_in(post_office.mails[0]).rstrip("/") + slash
    browser = Client(enforce_csrf_checks=True)
    for method in ("get", "head"):
        assert getattr(browser, method)(never, secure=secure).status_code == 200
    assert not SuppressedAddress.objects.exists()
    body = "List-Unsubscribe=One-Click"
    if "multipart" in content_type:
        field = 'Content-Disposition: form-data; name="List-Unsubscribe"'
        body = f"--x\r\n{field}\r\n\r\nOne-Click\r\n--x--\r\n"
    for _again in range(2):
        answer = browser.post(never, body, content_type=content_type, secure=secure)
        assert answer.status_code == 200
        assert "Set-Cookie" not in answer.headers
    assert addresses.is_suppressed(NORA.upper())
    assert SuppressedAddress.objects.count() == 1
    settings.SECURE_SSL_REDIRECT = False
    Quota.objects.all().delete()
    invite(account("Karim"))
    assert len(post_office.mails) == 1


def test_a_link_that_is_not_ours_stops_nothing(post_office: PostOffice) -> None:
    invite(account("Mona"))
    never = never_in(post_office.mails[0])
    token = path_in(post_office.mails[0]).strip("/").rpartition("/")[2]
    other = addresses.address_digest("other@example.com")
    good = never.rpartition("/")[2]
    digest, _dot, signature = good.partition(".")
    forged = [
        f"{other}.{signature}", f"{digest}.{'A' * 43}", good[:-1], digest, f"{digest}.",
        f"{digest}.{signature[::-1]}", token,
    ]  # fmt: skip
    for value in forged:
        answer = Client().post(f"/invitations/never/{value}")
        assert answer.status_code in (404, 405), value
    assert not SuppressedAddress.objects.exists()


def test_to_stop_invitations_is_all_that_the_link_does(post_office: PostOffice) -> None:
    challenge = invite(account("Mona"))
    cast.posted(cast.browser_of(), never_in(post_office.mails[0]), {})
    challenge.refresh_from_db()
    assert challenge.state == Challenge.State.WAITING
    assert accept(cast.browser_of(), path_in(post_office.mails[0])).status_code == 302


def test_stopped_stays_stopped_when_the_key_of_the_site_changes(
    post_office: PostOffice, settings: Any
) -> None:
    addresses.suppress(addresses.address_digest(NORA))
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key for tests alone, long enough for nobody to mind"
    assert addresses.is_suppressed(NORA)


# Hostile names


_HOSTILE = (
    "\r\nBcc: a@b.de", "\u0085", "\u2028", '"', "<a@b.de>", ",", "\u202e", "\u2069", "\x00", ";",
)  # fmt: skip


def test_no_name_changes_whom_a_mail_goes_to_or_what_it_is_called(
    post_office: PostOffice, settings: Any
) -> None:
    mona = account("Mona")
    combinations = list(itertools.product(_HOSTILE, _HOSTILE, ("x", " ")))[:200]
    settings.INVITATIONS = settings.INVITATIONS | {
        "player_hour": 1000, "player_day": 1000, "player_open": 1000, "domain_day": 1000,
    }  # fmt: skip
    for number, parts in enumerate(combinations):
        name = "".join(parts)[:24].replace("\x00", "\x01")
        User.objects.filter(pk=mona.pk).update(name=name)
        challenge = invitations.invite(
            player=User.objects.get(pk=mona.pk),
            address=f"friend{number}@example.com",
            language="en",
            rules=engine.RULE_SETS["standard"],
            target=None,
        )
        Challenge.objects.filter(pk=challenge.pk).update(state="withdrawn")
    assert len(post_office.mails) == len(combinations) == 200
    assert [len(to) for to in post_office.counter.recipients] == [1] * 200
    assert {mail["Subject"] for mail in post_office.mails} == {"An invitation to play Basra"}
    assert {str(mail["From"]) for mail in post_office.mails} == {
        "Basra <basra@localhost.localdomain>"
    }
    assert not [mail for mail in post_office.mails if "Bcc" in mail or "Cc" in mail]


# Sharing by link


def test_the_makers_page_has_plain_links_to_pass_the_challenge_on(settings: Any) -> None:
    settings.SITE_URL = "https://basra.example"
    mona = cast.person("Mona")
    challenge = cast.offer(mona)
    page = cast.text_of(cast.look(cast.browser_of(mona), "challenge", challenge))
    for start in (
        "https://wa.me/?text=", "fb-messenger://share/?link=",
        "https://www.facebook.com/sharer/sharer.php?u=", "mailto:?subject=",
    ):  # fmt: skip
        assert f'href="{start}' in page
    assert f"https%3A%2F%2Fbasra.example%2Fchallenges%2F{challenge.pk}" in page
    assert page.count('rel="noopener noreferrer"') >= 4


def test_the_link_has_a_preview_with_the_terms_and_a_picture(settings: Any) -> None:
    settings.SITE_URL = "https://basra.example"
    challenge = cast.offer(cast.person("Mona"), target=51)
    page = cast.text_of(cast.look(cast.browser_of(), "challenge", challenge))
    title = "\u2068Mona\u2069 offers you a game of Basra"
    assert f'<meta property="og:title" content="{title}">' in page
    assert '<meta property="og:description" content="Egyptian Basra 2, to 51">' in page
    assert (
        f'<meta property="og:url" content="https://basra.example/challenges/{challenge.pk}/">'
        in page
    )
    assert '<meta property="og:image" content="https://basra.example/static/img/share.png">' in page
    assert '<meta name="robots" content="noindex">' in page
    picture = finders.find("img/share.png")
    assert picture is not None
    assert Path(picture).stat().st_size < 60_000


def test_a_challenge_to_one_player_is_not_shared(post_office: PostOffice) -> None:
    mona = account("Mona")
    for challenge in (cast.offer(mona, cast.person("Karim")), invite(mona)):
        page = cast.text_of(cast.look(cast.browser_of(mona), "challenge", challenge))
        assert "og:title" not in page
        assert "wa.me" not in page
        assert 'id="link"' not in page


# A form that is not taken


@pytest.mark.parametrize("answer", ["accept", "decline"])
def test_the_answer_to_a_mail_comes_back_with_its_words_when_the_cookies_are_gone(
    post_office: PostOffice, answer: str
) -> None:
    challenge = invite(account("Mona"))
    path, browser = path_in(post_office.mails[0]), Client(enforce_csrf_checks=True)
    response = browser.post(f"{path}{answer}/", {"words": "my own words"})
    page = response.content.decode()
    assert response.status_code == 403
    assert "<bdi>Mona</bdi> invites you" in page
    assert "Cookies of this site have to be allowed" in page
    assert 'value="my own words"' in page
    challenge.refresh_from_db()
    assert challenge.state == Challenge.State.WAITING
    token = re.search(r'name="csrfmiddlewaretoken" value="(.*?)"', page)
    assert token is not None
    form = {"words": "my own words", "csrfmiddlewaretoken": token[1]}
    assert browser.post(f"{path}{answer}/", form).status_code == (
        302 if answer == "accept" else 200
    )
    again = Client(enforce_csrf_checks=True).post(f"{path}{answer}/", form)
    assert again.status_code == 410
    nowhere = path.replace(path.strip("/").rpartition("/")[2], "A" * 43)
    assert Client(enforce_csrf_checks=True).post(f"{nowhere}{answer}/", form).status_code == 404


def test_withdrawing_from_the_list_comes_back_to_it_and_says_so(post_office: PostOffice) -> None:
    mona = account("Mona")
    challenge = invite(mona)
    browser = cast.browser_of(mona)
    page = cast.text_of(cast.get(browser, reverse("games:invitations")))
    assert '<input type="hidden" name="back" value="invitations">' in page
    response = cast.post(browser, "withdraw", challenge, {"back": "invitations"})
    assert response.headers["Location"] == reverse("games:invitations")
    page = cast.text_of(cast.get(browser, reverse("games:invitations")))
    assert "You took the invitation back." in page
    assert "Withdrawn." in page
    other = invite(mona, "other@example.com")
    assert cast.post(browser, "withdraw", other, {}).headers["Location"] == "/"
