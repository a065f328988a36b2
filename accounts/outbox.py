"""Mail that is stored first and sent by the queue: at most once, and never lost without a trace.

``put`` stores a mail in the caller's transaction and rings for it when that commits. The worker
asks the composer of its kind what to write, so that a mail says what is true when it leaves. The
row is the truth and the task only the doorbell: beat finds what nobody rang for.

A mail is claimed by one conditional update before it is handed to the mail server. One whose
sending was begun and not reported is of unknown outcome and never sent again.
"""

from __future__ import annotations

import logging
import smtplib
import time
from contextlib import contextmanager, suppress
from datetime import timedelta
from email.headerregistry import Address
from email.policy import EmailPolicy
from email.utils import parseaddr
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.mail import EmailMultiAlternatives, mailers
from django.core.mail.backends.smtp import EmailBackend as SmtpBackend
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone, translation
from django.utils.crypto import salted_hmac

from .models import Mail, User

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from celery import Task
    from django.core.mail.backends.base import BaseEmailBackend

    from .mails import Letter

    type Composer = Callable[[Mail], Letter | None]

logger = logging.getLogger(__name__)

MOST_ATTEMPTS = 5
TRIED_AGAIN_AFTER = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=2),
)
"""After the first attempt, the second, and so on."""
UNKNOWN_AFTER = timedelta(minutes=10)
KEPT_FOR = timedelta(days=90)
"""What has left, or never will, is deleted after this."""
_A_RUN_LASTS = 40.0  # seconds
_MAILS_AT_ONCE = 100

_COMPOSERS: dict[str, Composer] = {}


class CannotConnect(Exception):
    """The mail server does not answer; nothing was handed to it."""


def composer(kind: str) -> Callable[[Composer], Composer]:
    """Register what writes the mails of a kind.

    It is called in the worker right before the mail leaves, in the mail's language and in a
    transaction. It returns a ``Letter``, or ``None`` when there is nothing to tell any more: then
    the mail dies quietly.
    """

    def register(compose: Composer) -> Composer:
        _COMPOSERS[kind] = compose
        return compose

    return register


def put(
    *,
    kind: str,
    key: str,
    address: str,
    language: str = "",
    user: User | None = None,
    content: dict[str, Any] | None = None,
    lasts: timedelta,
) -> Mail | None:
    """Store a mail in the caller's transaction, and ring for it on commit.

    Without ``language`` it is in the user's own. A key is one mail: the second with the same key is
    not stored and ``None`` is returned. What could not be sent within ``lasts`` is not sent any
    more. Never fails because of the queue.
    """
    fields = {
        "kind": kind,
        "address": address,
        "language": language or (user.language if user else "") or settings.LANGUAGE_CODE,
        "user": user,
        "content": content or {},
        "expires_at": timezone.now() + lasts,
    }
    mail, is_new = Mail.objects.get_or_create(key=key, defaults=fields)
    if not is_new:
        return None
    transaction.on_commit(lambda: _ring(mail.pk))
    return mail


def _ring(mail_id: int) -> None:
    from .tasks import deliver_mail

    ring(deliver_mail, mail_id)


def ring(task: Task[[int], None], row_id: int) -> None:
    """Ring for what is stored in a row. Never fails: beat finds what nobody was rung for."""
    try:
        task.delay(row_id)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with the broker, the row is there
        logger.warning("nobody was rung for %s", task.name, extra={"why": type(error).__name__})


def deliver(mail_id: int) -> None:
    """Send one mail if its time has come and nobody else is at it."""
    try:
        _deliver(mail_id, _new_connection())
    except CannotConnect as error:
        _nobody_answers(error)


def sweep() -> int:
    """Send what nobody has rung for, and put away what cannot be sent; return how many were sent.

    Stops after 40 s: the next run goes on.
    """
    until = time.monotonic() + _A_RUN_LASTS
    _put_away()
    sent = 0
    seen: set[int] = set()
    connection = _new_connection()
    try:
        while due := _due(seen):
            for mail_id in due:
                if time.monotonic() > until:
                    return sent
                seen.add(mail_id)
                sent += _deliver(mail_id, connection, stays_open=True)
    except CannotConnect as error:
        _nobody_answers(error)  # the others need not try the same
    finally:
        _close(connection)
    return sent


def _nobody_answers(error: CannotConnect) -> None:
    """The mails stay as they are: beat tries again until their time is over."""
    logger.warning("the mail server does not answer", extra={"why": str(error)})


def _due(seen: set[int]) -> list[int]:
    waiting = Mail.objects.filter(state=Mail.State.NEW, not_before__lte=Now())
    rows = waiting.exclude(pk__in=seen).order_by("not_before")
    return list(rows.values_list("pk", flat=True)[:_MAILS_AT_ONCE])


def _put_away() -> None:
    """Give up what has had its time or its attempts, and delete what is old."""
    begun = Mail.objects.filter(state=Mail.State.STARTED, started_at__lte=Now() - UNKNOWN_AFTER)
    if lost := begun.update(state=Mail.State.UNKNOWN, ended_at=Now(), content={}):
        logger.error("mails of unknown outcome", extra={"mails": lost})
    new = Mail.objects.filter(state=Mail.State.NEW)
    late = new.filter(expires_at__lte=Now())
    if expired := late.update(state=Mail.State.DEAD, ended_at=Now(), content={}):
        logger.error("mails that could not be sent in time", extra={"mails": expired})
    tried = new.filter(attempts__gte=MOST_ATTEMPTS, not_before__lte=Now())
    if failed := tried.update(state=Mail.State.DEAD, ended_at=Now(), content={}):
        logger.error("mails that could not be sent", extra={"mails": failed})
    Mail.objects.filter(user=None).exclude(ended_at=None).exclude(address="").update(address="")
    Mail.objects.filter(ended_at__lt=Now() - KEPT_FOR).delete()


def _deliver(mail_id: int, connection: BaseEmailBackend, *, stays_open: bool = False) -> bool:
    """Send one mail; return whether it has left.

    Raises ``CannotConnect``, however often and at the cost of no attempt.
    """
    try:
        _open(connection)
        mail = _reserved(mail_id)
        return mail is not None and _attempted(mail, connection)
    finally:
        if not stays_open:
            _close(connection)


def _attempted(mail: Mail, connection: BaseEmailBackend) -> bool:
    try:
        message = _claimed(mail)
        if message is None:
            return False
        return _hand_over(mail, message, connection)
    except Exception as error:
        # Whatever is wrong with one mail, the others are sent. Nothing of it has left.
        logger.exception("a mail could not be written", extra={"kind": mail.kind})
        _failed(mail, type(error).__name__)
        return False


def _reserved(mail_id: int) -> Mail | None:
    """Count an attempt before anything is written; the next one comes after a pause.

    So even a mail that kills its worker is not tried for ever. Of two workers at once one goes on.
    """
    mail = Mail.objects.select_related("user").filter(pk=mail_id, state=Mail.State.NEW).first()
    if mail is None or mail.attempts >= MOST_ATTEMPTS:
        return None
    due = Mail.objects.filter(
        pk=mail.pk,
        state=Mail.State.NEW,
        attempts=mail.attempts,
        not_before__lte=Now(),
        expires_at__gt=Now(),
    )
    pause = TRIED_AGAIN_AFTER[mail.attempts]
    if not due.update(attempts=F("attempts") + 1, not_before=Now() + pause):
        return None
    mail.attempts += 1
    return mail


def _claimed(mail: Mail) -> EmailMultiAlternatives | None:
    """Claim a mail and write it; ``None`` if somebody was faster or there is nothing to tell."""
    with transaction.atomic():
        mine = Mail.objects.filter(pk=mail.pk, state=Mail.State.NEW, attempts=mail.attempts)
        if not mine.update(state=Mail.State.STARTED, started_at=Now()):
            return None
        with _as_its_reader(mail):
            letter = _COMPOSERS[mail.kind](mail)
        if letter is None:
            _end(mail, Mail.State.DEAD)
            return None
        return _message(mail, letter)


def _hand_over(mail: Mail, message: EmailMultiAlternatives, connection: BaseEmailBackend) -> bool:
    try:
        connection.send_messages([message])
    except smtplib.SMTPRecipientsRefused as error:
        _refused(mail, max(code for code, _text in error.recipients.values()))
    except smtplib.SMTPResponseException as error:
        _refused(mail, error.smtp_code)
    except (smtplib.SMTPNotSupportedError, ValueError):
        _refused(mail, 553)  # an address that this server cannot write to
    except OSError as error:  # in the middle of it: it may have arrived
        logger.error("a mail of unknown outcome", extra={"why": type(error).__name__})
        _end(mail, Mail.State.UNKNOWN)
        with suppress(Exception):
            connection.close()
    else:
        _end(mail, Mail.State.SENT)
        return True
    return False


def _refused(mail: Mail, code: int) -> None:
    """The server has said that it does not take this mail: now (4xx) or ever (5xx)."""
    if 400 <= code < 500:
        _failed(mail, f"refused with {code}")
        return
    logger.warning("a mail was refused", extra={"kind": mail.kind, "code": code})
    _end(mail, Mail.State.DEAD)


def _failed(mail: Mail, why: str) -> None:
    """Nothing has left: another attempt comes after its pause, unless this was the last."""
    if mail.attempts >= MOST_ATTEMPTS:
        logger.error("a mail could not be sent", extra={"kind": mail.kind, "why": why})
        _end(mail, Mail.State.DEAD)
        return
    logger.warning("a mail is tried again later", extra={"kind": mail.kind, "why": why})
    begun = Mail.objects.filter(pk=mail.pk, state=Mail.State.STARTED, attempts=mail.attempts)
    begun.update(state=Mail.State.NEW, started_at=None)


def _end(mail: Mail, state: Mail.State) -> None:
    open_states = [Mail.State.NEW, Mail.State.STARTED]
    mine = Mail.objects.filter(pk=mail.pk, state__in=open_states)
    # Of somebody without an account not even the address is kept.
    kept = {} if mail.user_id else {"address": ""}
    mine.update(state=state, ended_at=Now(), content={}, **kept)


@contextmanager
def _as_its_reader(mail: Mail) -> Iterator[None]:
    zone = mail.user.time_zone if mail.user else ""
    with translation.override(mail.language), timezone.override(ZoneInfo(zone) if zone else None):
        yield


def _message(mail: Mail, letter: Letter) -> EmailMultiAlternatives:
    headers = {
        # The same for ever: should a server see it twice, it can tell.
        "Message-ID": message_id(mail),
        "Auto-Submitted": "auto-generated",
        "Content-Language": mail.language,
        **letter.headers,
    }
    message = _Message(
        subject=letter.subject,
        body=letter.text,
        from_email=sender(),
        to=[str(Address(addr_spec=mail.address))],
        headers=headers,
    )
    message.attach_alternative(letter.html, "text/html")
    return message


class _LinksInOneLine(EmailPolicy):
    """Leaves the header that is a link as it is: folded no mail program would follow it."""

    def fold(self, name: str, value: str) -> str:
        """Return a header as text."""
        return self._as_it_is(name, value) or super().fold(name, value)

    def fold_binary(self, name: str, value: str) -> bytes:
        """Return a header as it is sent."""
        as_it_is = self._as_it_is(name, value)
        return as_it_is.encode("ascii") if as_it_is else super().fold_binary(name, value)

    def _as_it_is(self, name: str, value: str) -> str:
        if name.lower() != "list-unsubscribe" or not value.isascii():
            return ""
        return f"{name}: {value}{self.linesep}"


class _Message(EmailMultiAlternatives):
    def message(self, *, policy: Any = None) -> Any:
        """Return the message as Python's own, with the lines that a mail server wants."""
        del policy
        return super().message(policy=_LinksInOneLine(linesep="\r\n"))


def message_id(mail: Mail) -> str:
    """Return the Message-ID of a mail, which says nothing of what it is about."""
    digest = salted_hmac("accounts.outbox.message_id", mail.key, algorithm="sha256").hexdigest()
    return f"<{digest[:40]}@{urlsplit(settings.SITE_URL).hostname}>"


def sender() -> str:
    """Return who mails come from, with a name to be shown."""
    name, address = parseaddr(settings.DEFAULT_FROM_EMAIL)
    return str(Address(display_name=name or "Basra", addr_spec=address))


def _new_connection() -> BaseEmailBackend:
    connection: BaseEmailBackend = mailers["default"]
    return connection


def _open(connection: BaseEmailBackend) -> None:
    """Be connected, before an attempt is counted: a server that is away then costs nothing."""
    try:
        if not connection.open() and isinstance(connection, SmtpBackend):
            _ask_whether_it_is_there(connection)
    except OSError as error:  # smtplib's own errors are among these
        raise CannotConnect(type(error).__name__) from error


def _ask_whether_it_is_there(connection: SmtpBackend) -> None:
    """A server may have hung up after the mail before: then call again."""
    with suppress(OSError):
        if connection.connection is not None and connection.connection.noop()[0] == 250:
            return
    _close(connection)
    connection.open()


def _close(connection: BaseEmailBackend) -> None:
    with suppress(OSError):
        connection.close()
