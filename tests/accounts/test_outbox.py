"""Mail is stored first, and sent at most once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now
from django.utils import timezone

from accounts import mails, outbox
from accounts.models import Mail
from accounts.tasks import deliver_mail, deliver_waiting_mails
from tests.post_office import PostOffice, html_of, text_of

type InThreads = Callable[[list[Callable[[], object]]], list[object]]

pytestmark = pytest.mark.django_db(transaction=True)

WORTH = timedelta(days=1)


@pytest.fixture(autouse=True)
def _a_kind_of_mail() -> Iterator[None]:
    outbox.composer("test")(composed)
    yield
    outbox._COMPOSERS.pop("test")


def composed(mail: Mail) -> mails.Letter | None:
    if mail.content.get("over"):
        return None
    if mail.content.get("broken"):
        raise RuntimeError("broken")
    return mails.Letter("A subject", "The text.\n", "<p>The HTML.</p>")


def put(key: str = "test 1", **changes: Any) -> Mail | None:
    fields: dict[str, Any] = {
        "kind": "test", "key": key, "address": "mona@example.com", "language": "en", "lasts": WORTH,
    }  # fmt: skip
    return outbox.put(**(fields | changes))


def stored(key: str = "test 1", **changes: Any) -> Mail:
    """Store a mail for which nobody is rung."""
    with patch("accounts.outbox._ring"):
        mail = put(key, **changes)
    assert mail is not None
    return mail


def state_of(mail: Mail) -> str:
    mail.refresh_from_db()
    return mail.state


def test_a_mail_arrives_as_it_was_written_once_its_transaction_is_over(
    post_office: PostOffice,
) -> None:
    with transaction.atomic():
        mail = put(content={"secret": "token"})
        assert post_office.mails == []
    assert mail is not None
    [arrived] = post_office.mails_to("mona@example.com")
    assert arrived["Subject"] == "A subject"
    assert arrived["To"] == "mona@example.com"
    assert arrived["From"] == "Basra <basra@localhost.localdomain>"
    assert arrived["Auto-Submitted"] == "auto-generated"
    assert arrived["Message-ID"] == outbox.message_id(mail)
    assert "Reply-To" not in arrived
    assert text_of(arrived).strip() == "The text."
    assert html_of(arrived).strip() == "<p>The HTML.</p>"
    assert state_of(mail) == Mail.State.SENT
    assert mail.content == {}


def test_what_is_taken_back_with_its_transaction_is_not_mailed(post_office: PostOffice) -> None:
    with transaction.atomic():
        put()
        transaction.set_rollback(True)
    assert post_office.collect() == []


def test_the_same_thing_twice_is_one_mail(post_office: PostOffice) -> None:
    put()
    assert put() is None
    assert len(post_office.mails) == 1


def test_ringing_twice_late_and_from_beat_sends_once(post_office: PostOffice) -> None:
    mail = stored()
    deliver_mail(mail.pk)
    deliver_mail(mail.pk)
    deliver_waiting_mails()
    assert len(post_office.mails) == 1


def test_a_queue_that_is_away_fails_nothing_and_beat_finds_the_mail(
    post_office: PostOffice,
) -> None:
    with patch("accounts.tasks.deliver_mail.delay", side_effect=OSError("no broker")):
        put()
    assert post_office.mails == []
    assert len(post_office.collect()) == 1


def test_a_mail_waits_for_its_time(post_office: PostOffice) -> None:
    mail = stored()
    Mail.objects.filter(pk=mail.pk).update(not_before=timezone.now() + timedelta(minutes=5))
    assert post_office.collect() == []
    Mail.objects.filter(pk=mail.pk).update(not_before=Now())
    assert len(post_office.collect()) == 1


def test_a_mail_whose_time_is_over_is_not_sent(post_office: PostOffice) -> None:
    mail = stored(content={"secret": "token"})
    Mail.objects.filter(pk=mail.pk).update(expires_at=Now())
    deliver_mail(mail.pk)
    assert post_office.collect() == []
    assert state_of(mail) == Mail.State.DEAD
    assert mail.content == {}


def test_what_is_not_true_any_more_when_it_would_leave_is_not_sent(
    post_office: PostOffice,
) -> None:
    mail = stored(content={"over": True})
    assert post_office.collect() == []
    assert state_of(mail) == Mail.State.DEAD


def test_while_no_mail_server_answers_mails_wait_at_no_cost_until_their_time_is_over(
    settings: Any, post_office: PostOffice
) -> None:
    works = settings.MAILERS
    settings.MAILERS = {
        "default": {
            "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
            "OPTIONS": {"host": "127.0.0.1", "port": 9, "timeout": 1},
        }
    }
    mail, too_late = stored(), stored("test 2")
    for _minute in range(2 * outbox.MOST_ATTEMPTS):
        deliver_mail(mail.pk)
        deliver_waiting_mails()
    assert (state_of(mail), mail.attempts) == (Mail.State.NEW, 0)
    Mail.objects.filter(pk=too_late.pk).update(expires_at=Now())
    deliver_waiting_mails()
    assert state_of(too_late) == Mail.State.DEAD
    settings.MAILERS = works
    assert len(post_office.collect()) == 1
    assert state_of(mail) == Mail.State.SENT


def test_what_is_refused_time_and_again_is_tried_after_longer_pauses_and_given_up_in_the_end(
    post_office: PostOffice,
) -> None:
    post_office.counter.answer_to_recipient = "451 try again"
    mail, other = stored(), stored("test 2")
    deliver_mail(mail.pk)
    deliver_mail(mail.pk)  # too early
    assert (state_of(mail), mail.attempts) == (Mail.State.NEW, 1)
    assert mail.not_before > timezone.now() + timedelta(seconds=30)
    for _ in range(outbox.MOST_ATTEMPTS):
        Mail.objects.filter(pk=mail.pk).update(not_before=Now())
        deliver_mail(mail.pk)
    assert state_of(mail) == Mail.State.DEAD
    assert mail.attempts == outbox.MOST_ATTEMPTS
    post_office.counter.answer_to_recipient = ""
    post_office.collect()
    assert state_of(other) == Mail.State.SENT
    assert len(post_office.mails) == 1


@pytest.mark.parametrize("part", ["answer_to_recipient", "answer_to_data"])
def test_what_the_server_refuses_for_now_is_tried_again(post_office: PostOffice, part: str) -> None:
    setattr(post_office.counter, part, "451 try again")
    mail = stored()
    post_office.collect()
    assert state_of(mail) == Mail.State.NEW
    setattr(post_office.counter, part, "")
    Mail.objects.filter(pk=mail.pk).update(not_before=Now())
    assert len(post_office.collect()) == 1
    assert state_of(mail) == Mail.State.SENT


@pytest.mark.parametrize("part", ["answer_to_recipient", "answer_to_data"])
def test_what_the_server_refuses_for_good_is_not_tried_again(
    post_office: PostOffice, part: str
) -> None:
    setattr(post_office.counter, part, "550 nobody here")
    mail, other = stored(), stored("test 2")
    post_office.collect()
    assert [state_of(mail), state_of(other)] == [Mail.State.DEAD] * 2


def test_a_mail_whose_sending_was_not_reported_is_never_sent_again(
    post_office: PostOffice,
) -> None:
    mail = stored()
    with (
        patch("django.core.mail.backends.smtp.EmailBackend.send_messages", side_effect=SystemExit),
        pytest.raises(SystemExit),  # the worker is killed
    ):
        deliver_mail(mail.pk)
    assert state_of(mail) == Mail.State.STARTED
    assert post_office.collect() == []
    Mail.objects.filter(pk=mail.pk).update(started_at=Now() - outbox.UNKNOWN_AFTER)
    assert post_office.collect() == []
    assert state_of(mail) == Mail.State.UNKNOWN
    assert post_office.collect() == []


def test_a_connection_that_breaks_in_the_middle_leaves_the_outcome_unknown(
    post_office: PostOffice,
) -> None:
    mail = stored()
    with patch("smtplib.SMTP.data", side_effect=TimeoutError):
        post_office.collect()
    assert state_of(mail) == Mail.State.UNKNOWN
    assert post_office.collect() == []


def test_a_mail_that_cannot_be_written_does_not_hold_up_the_others(
    post_office: PostOffice,
) -> None:
    broken, fine = stored(content={"broken": True}), stored("test 2")
    post_office.collect()
    assert state_of(broken) == Mail.State.NEW
    assert broken.attempts == 1
    assert state_of(fine) == Mail.State.SENT


def test_an_address_that_no_server_can_write_to_dies(post_office: PostOffice) -> None:
    mail = stored(address="mona\n@example.com")
    other = stored("test 2", address="a@münchen.example")
    post_office.collect()
    assert state_of(mail) in (Mail.State.NEW, Mail.State.DEAD)
    assert state_of(other) == Mail.State.SENT
    assert post_office.counter.recipients == [["a@xn--mnchen-3ya.example"]]


def test_what_was_sent_long_ago_is_forgotten(post_office: PostOffice) -> None:
    mail = stored()
    post_office.collect()
    Mail.objects.filter(pk=mail.pk).update(ended_at=Now() - outbox.KEPT_FOR)
    post_office.collect()
    assert not Mail.objects.exists()


def test_workers_at_the_same_time_send_once(post_office: PostOffice, in_threads: InThreads) -> None:
    for number in range(5):
        mail = stored(f"test {number}")
        one_of_them = [lambda key=mail.pk: outbox.deliver(key)] * 4 + [outbox.sweep] * 4
        done = in_threads(list(one_of_them))
        if connection.vendor == "postgresql":
            assert not [result for result in done if isinstance(result, Exception)]
        assert state_of(mail) == Mail.State.SENT
    assert len(post_office.mails) == 5
