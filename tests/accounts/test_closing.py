"""Deleting one's account: seven days to think it over, then nothing of the person is left."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from unittest.mock import patch

import pytest
from allauth.account.models import EmailAddress
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts import closing
from accounts.guests import create_guest
from accounts.models import Mail, RetiredName, User
from accounts.names import name_digest
from accounts.tasks import look_after_data
from tests import belongings, cast
from tests.accounts import people
from tests.belongings import Somebody
from tests.post_office import PostOffice, links_of

type InThreads = Callable[[list[Callable[[], object]]], list[object]]

pytestmark = pytest.mark.django_db(transaction=True)

CLOSE = "/account/close/"


def mona(*, address: str = "mona@example.com") -> User:
    user = cast.person("Mona")
    user.set_password(belongings.PASSWORD)
    user.email = address
    user.save()
    if address:
        EmailAddress.objects.create(user=user, email=address, verified=True, primary=True)
    return user


def ask_in(browser: Client) -> None:
    belongings.show_who_one_is(browser)
    assert browser.post(CLOSE).status_code == 302


def closes_at(user: User) -> object:
    user.refresh_from_db()
    return user.closes_at


def make_due(user: User) -> None:
    User.objects.filter(pk=user.pk).update(closes_at=timezone.now() - timedelta(seconds=1))


def test_a_member_is_asked_for_the_password_first_and_then_it_is_done() -> None:
    user = mona()
    browser = cast.browser_of(user)
    away = browser.post(CLOSE)
    assert away.status_code == 302
    assert away["Location"].startswith("/account/reauthenticate/")
    assert closes_at(user) is None
    back = browser.post(away["Location"], {"password": belongings.PASSWORD})
    assert back.status_code == 302
    assert back["Location"] == CLOSE
    assert closes_at(user) is not None


def test_a_wrong_password_deletes_nothing() -> None:
    user = mona()
    browser = cast.browser_of(user)
    away = browser.post(CLOSE)
    browser.post(away["Location"], {"password": "guessed"})
    assert closes_at(user) is None


def test_looking_at_the_page_deletes_nothing() -> None:
    user = mona()
    browser = cast.browser_of(user)
    assert browser.get(CLOSE).status_code == browser.head(CLOSE).status_code == 200
    assert closes_at(user) is None


def test_a_visitor_has_nothing_to_delete() -> None:
    assert cast.browser_of().get(CLOSE).status_code == 302  # to sign in first
    assert cast.browser_of().post(CLOSE).status_code == 404


def test_a_guest_needs_no_password_and_has_the_same_seven_days() -> None:
    guest = create_guest()
    browser = cast.browser_of(guest)
    assert browser.post(CLOSE).status_code == 302
    guest.refresh_from_db()
    assert guest.closes_at is not None
    assert timedelta(days=6) < guest.closes_at - timezone.now() <= timedelta(days=7)


def test_who_came_from_another_site_alone_must_have_signed_in_just_now() -> None:
    user = cast.person("Salma")
    user.set_unusable_password()
    user.save()
    browser = cast.browser_of(user)
    assert browser.post(CLOSE).status_code == 403
    session = browser.session
    session["account_authentication_methods_user"] = str(user.pk)
    session["account_authentication_methods"] = [
        {"method": "socialaccount", "at": timezone.now().timestamp(), "provider": "facebook"}
    ]
    session.save()
    assert browser.post(CLOSE).status_code == 302
    assert closes_at(user) is not None


def test_asking_twice_stays_at_the_first_time_and_mails_once(post_office: PostOffice) -> None:
    user = mona()
    browser = cast.browser_of(user)
    ask_in(browser)
    first = closes_at(user)
    browser.post(CLOSE)
    assert closes_at(user) == first
    assert len(post_office.mails_to("mona@example.com")) == 1


def test_the_mail_has_a_link_that_keeps_the_account_by_a_button_only(
    post_office: PostOffice,
) -> None:
    user = mona()
    ask_in(cast.browser_of(user))
    [mail] = post_office.mails_to("mona@example.com")
    assert mail["Subject"] == "Your Basra account will be deleted"
    [link] = [link for link in links_of(mail) if "/close/keep/" in link]
    path = link.removeprefix("http://localhost:8000")
    stranger = Client()
    for _time in range(2):
        assert stranger.get(path).status_code == stranger.head(path).status_code == 200
    assert closes_at(user) is not None
    assert stranger.post(path, follow=True).status_code == 200
    assert closes_at(user) is None
    assert "The account stays" in stranger.post(path, follow=True).content.decode()


@pytest.mark.parametrize("how", ["cut", "changed", "of another purpose", "nonsense"])
def test_a_link_that_is_not_ours_keeps_nothing(how: str) -> None:
    from django.core import signing

    user = mona()
    closing.ask_to_close(user)
    good = closing.keeping_token(user)
    value = [str(user.public_id), user.closes_at.isoformat() if user.closes_at else ""]
    token = {
        "cut": good[:-3],
        "changed": "A" + good[1:],
        "of another purpose": signing.dumps(value, salt="something else"),
        "nonsense": "x",
    }[how]
    path = reverse("accounts:keep_by_mail", args=[token])
    assert Client().post(path).status_code == 404
    assert closes_at(user) is not None


def test_the_link_of_an_earlier_time_does_not_keep_the_account_later() -> None:
    user = mona()
    closing.ask_to_close(user)
    old = closing.keeping_token(user)
    closing.keep(user)
    closing.ask_to_close(user)
    with pytest.raises(closing.NotAsked):
        closing.account_to_keep(old)


def test_signing_in_alone_does_not_keep_the_account_but_pages_say_so_and_offer_it() -> None:
    user = mona()
    closing.ask_to_close(user)
    browser = cast.browser_of(user)
    for page in ("/", "/account/settings/", CLOSE):
        shown = cast.text_of(cast.get(browser, page))
        assert "Your account will be deleted on" in shown, page
        assert 'action="/account/close/keep/"' in shown, page
    assert closes_at(user) is not None
    assert browser.post("/account/close/keep/").status_code == 302
    assert closes_at(user) is None
    assert "will be deleted" not in cast.text_of(cast.get(browser, "/"))


def test_nothing_is_deleted_before_its_time_and_all_of_it_then() -> None:
    user = mona()
    closing.ask_to_close(user)
    look_after_data()
    assert User.objects.filter(pk=user.pk, kind=User.Kind.MEMBER).exists()
    make_due(user)
    look_after_data()
    look_after_data()
    assert not User.objects.filter(pk=user.pk).exists()


def test_who_keeps_the_account_in_time_keeps_it() -> None:
    user = mona()
    closing.ask_to_close(user)
    make_due(user)
    closing.keep(user)
    assert closing.close_due() == 0
    assert User.objects.filter(pk=user.pk, is_active=True).exists()


def test_nothing_is_left_of_who_had_everything() -> None:
    somebody = Somebody()
    for trace in somebody.traces():
        if trace not in (belongings.NAME.lower(), somebody.public_id.hex):
            assert found(trace) or trace == str(somebody.public_id), f"{trace} was never there"
    closing.ask_to_close(somebody.user)
    make_due(somebody.user)
    look_after_data()
    assert [trace for trace in somebody.traces() if found(trace)] == []
    assert sessions_of(somebody.user) == 0
    row = User.objects.get(pk=somebody.user.pk)
    assert row.kind == User.Kind.FORMER
    assert (row.name, row.email, row.is_active) == ("", "", False)
    assert somebody.username not in row.username
    assert not row.groups.exists()


def found(text: str) -> bool:
    """Whether anything that is stored has ``text`` in it, as a dump would; sessions opened."""
    rows = [row for rows in cast.everything_stored().values() for row in rows]
    rows += [str(session.get_decoded()) for session in Session.objects.all()]
    return any(text in row for row in rows)


def sessions_of(user: User) -> int:
    keys = [session.get_decoded().get("_auth_user_id") for session in Session.objects.all()]
    return keys.count(str(user.pk))


def test_every_browser_is_signed_out_at_once() -> None:
    user = mona()
    browsers = [cast.browser_of(user), cast.browser_of(user)]
    somebody_else = cast.browser_of(cast.person("Karim"))
    closing.close(user)
    for browser in browsers:
        assert browser.get("/account/settings/").status_code != 200
    assert somebody_else.get("/account/settings/").status_code == 200


def test_however_one_had_signed_in_no_session_of_the_account_is_left() -> None:
    user = people.account("Salma")
    by_password, by_code, by_reset = cast.browser_of(), cast.browser_of(), cast.browser_of()
    people.sign_in(by_password, user)
    cast.posted(by_code, reverse("account_request_login_code"), {"email": user.email})
    code = {"code": people.code_in(people.latest_to(user.email))}
    cast.posted(by_code, reverse("account_confirm_login_code"), code)
    cast.posted(
        by_password,
        reverse("account_change_password"),
        {"oldpassword": people.PASSWORD, "password1": "another river over stones"},
    )
    people.sign_in(by_reset, user, password="another river over stones")
    people.sign_up(cast.browser_of(), address="new@example.com", name="Nora")
    assert sessions_of(user) >= 2
    closing.close(user)
    assert sessions_of(user) == 0


def test_deleting_an_account_opens_no_session_of_anybody() -> None:
    user, others = mona(), [cast.browser_of(cast.person(f"Guest {n}")) for n in range(3)]
    with patch("django.contrib.sessions.base_session.AbstractBaseSession.get_decoded") as opened:
        closing.close(user)
    assert not opened.called
    assert all(other.get("/account/settings/").status_code == 200 for other in others)


def test_the_address_and_facebook_can_be_used_for_a_new_account_at_once() -> None:
    somebody = Somebody()
    closing.close(somebody.user)
    again = cast.person("Somebody new")
    EmailAddress.objects.create(user=again, email=belongings.ADDRESS, verified=True)


def test_the_name_rests_for_90_days_as_a_digest() -> None:
    user = mona()
    closing.close(user)
    [retired] = RetiredName.objects.all()
    assert retired.digest == name_digest("Mona")
    assert timedelta(days=89) < retired.until - timezone.now() <= timedelta(days=90)
    browser = cast.browser_of(create_guest())
    refused = browser.post("/account/settings/", {"name": "Mona", "after_move": "stay"})
    assert refused.status_code == 422


def test_of_a_guest_the_name_does_not_rest() -> None:
    closing.close(create_guest())
    assert not RetiredName.objects.exists()


def test_guests_who_had_become_this_person_go_too() -> None:
    user, guest = mona(), create_guest()
    other = cast.person("Karim")
    game = cast.play_to_the_end(cast.sit_down(guest, other))
    User.objects.filter(pk=guest.pk).update(merged_into=user, is_active=False)
    closing.close(user)
    guest.refresh_from_db()
    assert guest.kind == User.Kind.FORMER
    assert guest.merged_into_id is None
    assert cast.as_it_is(game).player_a.name == ""


def test_an_account_that_waits_for_a_guest_lets_the_guest_go() -> None:
    user, guest = mona(), create_guest()
    User.objects.filter(pk=user.pk).update(takes_over=guest)
    closing.close(guest)
    user.refresh_from_db()
    assert user.takes_over_id is None


def test_a_deletion_that_was_interrupted_is_finished_by_the_next_run() -> None:
    user = mona()
    closing.ask_to_close(user)
    make_due(user)
    with patch("accounts.closing._make_former", side_effect=RuntimeError("killed")):
        assert closing.close_due() == 0
    user.refresh_from_db()
    assert user.name == "Mona"  # all or nothing
    assert not user.is_active  # and nobody acts as her meanwhile
    assert not closing.keep(user)
    assert closing.close_due() == 1


def test_one_account_that_cannot_be_deleted_does_not_keep_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    first, second = mona(), cast.person("Karim")
    for user in (first, second):
        closing.ask_to_close(user)
        make_due(user)
    make_former = closing._make_former

    def fails_for_mona(user: User) -> None:
        if user.pk == first.pk:
            raise RuntimeError("no")
        make_former(user)

    with patch("accounts.closing._make_former", side_effect=fails_for_mona):
        assert closing.close_due() == 1
    assert not User.objects.filter(pk=second.pk).exists()
    assert "could not be closed" in caplog.text
    assert "Mona" not in caplog.text


def test_two_runs_at_once_delete_once(in_threads: InThreads) -> None:
    somebody = Somebody()
    closing.ask_to_close(somebody.user)
    make_due(somebody.user)
    done = in_threads([closing.close_due] * 4)
    assert [error for error in done if isinstance(error, Exception)] == []
    assert User.objects.get(pk=somebody.user.pk).kind == User.Kind.FORMER
    assert [trace for trace in somebody.traces() if found(trace)] == []


def test_the_computer_players_cannot_be_deleted() -> None:
    computer = cast.the_computer()
    assert not closing.close(computer)
    computer.refresh_from_db()
    assert computer.is_active


def test_another_accounts_mails_stay(post_office: PostOffice) -> None:
    user, other = mona(), cast.person("Karim")
    EmailAddress.objects.create(user=user, email="karim@example.com", verified=False)
    Mail.objects.create(
        key="his", kind="account", user=other, address="karim@example.com", language="en",
        expires_at=timezone.now() + timedelta(days=1),
    )  # fmt: skip
    closing.close(user)
    assert Mail.objects.filter(key="his").exists()


def test_deleting_leaves_no_orphans() -> None:
    somebody = Somebody()
    closing.close(somebody.user)
    connection.check_constraints()


def test_after_a_restore_the_operator_deletes_again_what_was_deleted() -> None:
    user, other = mona(), cast.person("Karim")
    said = StringIO()
    call_command("close_accounts", str(user.pk), "987654", stdout=said)
    assert said.getvalue().strip() == "1 deleted, 1 were not there or are left"
    assert not User.objects.filter(pk=user.pk).exists()
    assert User.objects.filter(pk=other.pk, is_active=True).exists()


def test_the_operator_is_told_of_an_account_that_could_not_be_deleted() -> None:
    user = mona()
    with (
        patch("accounts.closing._make_former", side_effect=RuntimeError("no")),
        pytest.raises(CommandError, match=str(user.pk)),
    ):
        call_command("close_accounts", str(user.pk), stdout=StringIO())
