"""What is kept for how long: one rule, on the page, in the documents, and in the queue."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.db import connection
from django.db.models import F
from django.test import Client
from django.utils import timezone

from accounts import closing, outbox, quotas, retention
from accounts.guests import create_guest
from accounts.models import DataExport, FacebookRequest, Mail, Quota, RetiredName, User
from accounts.tasks import keep_time_limits
from games.auditing import problems_of
from games.models import Game
from tests import cast
from tests.post_office import PostOffice, text_of

pytestmark = pytest.mark.django_db(transaction=True)

OPERATIONS = Path(__file__).resolve().parents[2] / "docs" / "operations.md"


def ago(**how_long: float) -> Any:
    return timezone.now() - timedelta(**how_long)


def away(player: User, **how_long: float) -> User:
    User.objects.filter(pk=player.pk).update(seen_at=ago(**how_long))
    player.refresh_from_db()
    return player


def is_there(player: User) -> bool:
    people = User.objects.exclude(kind=User.Kind.FORMER)
    return people.filter(pk=player.pk, is_active=True).exists()


def member(name: str = "Mona", *, address: str = "mona@example.com", verified: bool = True) -> User:
    user = cast.person(name)
    if address:
        EmailAddress.objects.create(user=user, email=address, verified=verified, primary=True)
    return user


# Guests


def test_a_guest_who_was_away_for_30_days_is_deleted_with_the_games_against_the_computer() -> None:
    guest = create_guest()
    cast.sit_down_with_the_computer(guest)
    away(guest, days=29, hours=23)
    keep_time_limits()
    assert is_there(guest)
    away(guest, days=30, minutes=1)
    keep_time_limits()
    assert not User.objects.filter(pk=guest.pk).exists()
    assert not Game.objects.exists()


def test_a_guest_stays_while_a_game_with_a_person_runs() -> None:
    guest = away(create_guest(), days=400)
    game = cast.sit_down(guest, cast.person("Karim"))
    keep_time_limits()
    assert is_there(guest)
    assert cast.as_it_is(game).status == Game.Status.RUNNING


def test_of_a_guest_who_has_played_with_people_the_games_stay() -> None:
    guest = create_guest()
    game = cast.play_to_the_end(cast.sit_down(guest, cast.person("Karim")))
    away(guest, days=31)
    keep_time_limits()
    after = cast.as_it_is(game)
    assert after.player_a.kind == User.Kind.FORMER
    assert after.player_a.name == ""
    assert problems_of(after) == []


def test_a_guest_who_comes_back_in_the_last_moment_stays() -> None:
    guest = away(create_guest(), days=31)
    with patch("accounts.closing._close") as close:
        candidates = User.objects.filter(pk=guest.pk, seen_at__lt=ago(days=30))
        away(guest, minutes=0)
        assert closing.close_all(candidates, 10) == 0
    assert not close.called
    assert is_there(guest)


def test_a_guest_who_has_become_a_member_is_not_a_guest_who_is_away() -> None:
    user, guest = member(), away(create_guest(), days=31)
    game = cast.play_to_the_end(cast.sit_down(guest, cast.person("Karim")))
    User.objects.filter(pk=guest.pk).update(merged_into=user, is_active=False)
    keep_time_limits()
    assert cast.as_it_is(game).player_a.name in (guest.name, user.name)


# Accounts


def test_an_account_that_is_never_confirmed_is_deleted_after_7_days_and_its_guest_stays() -> None:
    guest = create_guest()
    pending = member(verified=False)
    User.objects.filter(pk=pending.pk).update(takes_over=guest)
    User.objects.filter(pk=pending.pk).update(date_joined=ago(days=6, hours=23))
    keep_time_limits()
    assert is_there(pending)
    User.objects.filter(pk=pending.pk).update(date_joined=ago(days=7, minutes=1))
    keep_time_limits()
    assert not User.objects.filter(pk=pending.pk).exists()
    assert is_there(guest)
    assert not RetiredName.objects.exists()


@pytest.mark.parametrize("why", ["confirmed", "from another site", "has signed in", "no address"])
def test_an_account_that_somebody_uses_is_not_an_unconfirmed_one(why: str) -> None:
    user = member(verified=why == "confirmed", address="" if why == "no address" else "m@x.org")
    User.objects.filter(pk=user.pk).update(date_joined=ago(days=100))
    if why == "from another site":
        SocialAccount.objects.create(user=user, provider="facebook", uid="1")
    if why == "has signed in":
        User.objects.filter(pk=user.pk).update(last_login=ago(days=90))
    keep_time_limits()
    assert is_there(user)


def test_who_was_away_for_23_months_gets_one_notice_and_a_month_later_the_account_goes(
    post_office: PostOffice,
) -> None:
    user = away(member(), days=699)
    keep_time_limits()
    assert post_office.mails == []
    away(user, days=701)
    for _time in range(2):
        keep_time_limits()
    [mail] = post_office.mails_to("mona@example.com")
    assert mail["Subject"] == "Your Basra account has not been used for a long time"
    assert "http://localhost:8000/account/login/" in text_of(mail)
    assert is_there(user)
    # A month passes.
    seen_at = ago(days=731)
    User.objects.filter(pk=user.pk).update(seen_at=seen_at)
    Mail.objects.update(created_at=ago(days=31), ended_at=ago(days=31))
    keep_time_limits()
    assert not is_there(user)


def test_without_a_notice_a_month_before_an_idle_account_is_not_deleted(
    post_office: PostOffice,
) -> None:
    user = away(member(), days=800)
    keep_time_limits()
    assert len(post_office.mails) == 1
    keep_time_limits()
    assert is_there(user)


def test_an_idle_account_whose_notice_never_left_stays_and_is_written_to_again_a_month_later(
    post_office: PostOffice,
) -> None:
    user = away(member(), days=701)
    post_office.counter.answer_to_recipient = "451 try again"
    keep_time_limits()
    for _attempt in range(outbox.MOST_ATTEMPTS):
        Mail.objects.update(not_before=ago(seconds=1))
        post_office.collect()
    assert Mail.objects.get().state == Mail.State.DEAD
    keep_time_limits()
    assert Mail.objects.count() == 1
    # A month passes: nobody was told.
    post_office.counter.answer_to_recipient = ""
    away(user, days=732)
    Mail.objects.update(created_at=ago(days=31), ended_at=ago(days=31), key="idle a month ago")
    keep_time_limits()
    assert is_there(user)
    assert len(post_office.mails_to("mona@example.com")) == 1
    # Another one: now somebody was.
    away(user, days=763)
    Mail.objects.update(created_at=ago(days=31), ended_at=ago(days=31))
    keep_time_limits()
    assert not is_there(user)


def test_while_the_mail_server_is_away_nobody_counts_as_told(settings: Any) -> None:
    settings.MAILERS = {
        "default": {
            "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
            "OPTIONS": {"host": "127.0.0.1", "port": 9, "timeout": 1},
        }
    }
    user = away(member(), days=701)
    for _minute in range(2 * outbox.MOST_ATTEMPTS):
        keep_time_limits()
        outbox.sweep()
    assert Mail.objects.get().state == Mail.State.NEW
    Mail.objects.update(expires_at=ago(seconds=1))
    outbox.sweep()
    away(user, days=732)
    Mail.objects.update(created_at=ago(days=31), ended_at=ago(days=31), key="idle a month ago")
    keep_time_limits()
    assert is_there(user)


def test_who_comes_back_after_the_notice_stays_and_gets_another_one_next_time(
    post_office: PostOffice,
) -> None:
    user = away(member(), days=701)
    keep_time_limits()
    Mail.objects.update(created_at=ago(days=740), ended_at=ago(days=740))
    away(user, days=731)  # was here since
    keep_time_limits()
    assert is_there(user)
    assert len(post_office.mails) == 2


def test_who_cannot_be_written_to_goes_after_24_months() -> None:
    user = away(cast.person("Mona"), days=729)
    SocialAccount.objects.create(user=user, provider="facebook", uid="1")
    keep_time_limits()
    assert is_there(user)
    away(user, days=731)
    keep_time_limits()
    assert not is_there(user)


def test_staff_are_not_deleted_for_being_away() -> None:
    user = away(cast.person("Mona"), days=800)
    User.objects.filter(pk=user.pk).update(is_staff=True)
    keep_time_limits()
    assert is_there(user)


# Rows


def test_small_rows_go_when_their_time_is_over() -> None:
    user = member()
    RetiredName.objects.create(digest="a" * 64, until=ago(minutes=1))
    RetiredName.objects.create(digest="b" * 64, until=timezone.now() + timedelta(days=1))
    for code, days in (("old", 91), ("new", 89)):
        FacebookRequest.objects.create(
            kind="delete", confirmation_code=code, person=code, issued_at=ago(days=days)
        )
        FacebookRequest.objects.filter(confirmation_code=code).update(received_at=ago(days=days))
    Quota.objects.create(key="old", ends_at=ago(minutes=1))
    Quota.objects.create(key="new", ends_at=ago(minutes=-1))
    DataExport.objects.create(user=user, made_at=ago(days=30))
    DataExport.objects.update(asked_at=ago(days=31))
    keep_time_limits()
    assert RetiredName.objects.get().digest == "b" * 64
    assert FacebookRequest.objects.get().confirmation_code == "new"
    assert Quota.objects.get().key == "new"
    assert not DataExport.objects.exists()


def test_what_was_counted_is_forgotten_when_its_time_is_over() -> None:
    for window in (timedelta(minutes=1), timedelta(days=1), None):
        assert quotas.take(quotas.Limit(f"test {window}", 3, window))
    hour = timedelta(hours=1)
    Quota.objects.update(ends_at=F("ends_at") - hour)
    keep_time_limits()
    assert sorted(Quota.objects.values_list("key", flat=True)) == [
        "test 1 day, 0:00:00",
        "test None",
    ]
    Quota.objects.update(ends_at=F("ends_at") - quotas.EVER)
    keep_time_limits()
    assert not Quota.objects.exists()


def test_a_sweep_that_takes_too_long_goes_on_in_the_next() -> None:
    guests = [away(create_guest(), days=31) for _ in range(3)]
    with patch("accounts.closing._A_RUN_LASTS", -1.0):  # its time is over before it begins
        assert retention.forget_guests() == 0
    assert all(is_there(guest) for guest in guests)
    keep_time_limits()
    assert not User.objects.filter(pk__in=[guest.pk for guest in guests]).exists()


def test_sign_ins_are_listed_as_long_as_their_session_lives() -> None:
    user = member()
    alive = cast.browser_of(user).session.session_key
    for key in (alive, "gone" * 8):
        UserSession.objects.create(user=user, ip="192.0.2.1", user_agent="x", session_key=key)
    keep_time_limits()
    assert UserSession.objects.get().session_key == alive


def test_a_step_that_fails_does_not_keep_the_others(caplog: pytest.LogCaptureFixture) -> None:
    guest = away(create_guest(), days=31)
    with patch("accounts.retention.forget_unconfirmed", side_effect=RuntimeError("no")):
        retention.run()
    assert not is_there(guest)
    assert "time limits failed" in caplog.text


def test_running_twice_changes_nothing_more() -> None:
    away(create_guest(), days=31)
    keep_time_limits()
    stored = cast.everything_stored()
    keep_time_limits()
    assert cast.everything_stored() == stored


# One rule everywhere


def test_every_table_is_in_the_list_of_what_is_kept() -> None:
    listed = {table for kept in retention.KEPT for table in kept.tables} | set(retention.NOBODYS)
    models = {model._meta.label: model for model in apps.get_models(include_auto_created=True)}
    with connection.cursor() as cursor:
        tables = set(connection.introspection.table_names(cursor))
    of_models = {model._meta.db_table for model in models.values()}
    assert {*models, *(tables - of_models)} == listed


def test_the_documents_say_the_same_as_the_code() -> None:
    rows = re.findall(
        r"^\| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$", OPERATIONS.read_text(), re.MULTILINE
    )
    for kept in retention.KEPT:
        row = (str(kept.what), str(kept.why), str(kept.how_long), str(kept.who_else) or "nobody")
        assert row in rows, f"docs/operations.md lacks: | {' | '.join(row)} |"


def test_the_page_says_the_same_as_the_code() -> None:
    page = cast.text_of(cast.get(Client(), "/account/privacy/"))
    for kept in retention.KEPT:
        for words in (kept.what, kept.why, kept.how_long, kept.who_else):
            assert str(words).replace("'", "&#x27;") in page


@pytest.mark.parametrize("page", ["privacy", "terms", "close", "export"])
def test_pages_agree_that_everybody_may_delete_their_account_themselves(page: str) -> None:
    shown = cast.text_of(cast.get(cast.browser_of(create_guest()), f"/account/{page}/"))
    assert "staff" not in shown
    if page in ("privacy", "close"):
        assert "seven days" in shown or "7 days" in shown
        assert "former player" in shown
    if page in ("privacy", "terms"):
        assert "Everybody can" in shown


def test_privacy_and_terms_name_the_operator_and_ask_for_no_cookie(settings: Any) -> None:
    settings.OPERATOR, settings.CONTACT = "The Basra Club", "privacy@basra.example"
    for page in ("privacy", "terms"):
        response = Client().get(f"/account/{page}/")
        assert response.status_code == 200
        shown = response.content.decode()
        assert "The Basra Club" in shown
        assert "mailto:privacy@basra.example" in shown
        assert not response.cookies
