"""A mail server of the tests' own: the site sends over SMTP, and what arrives can be read."""

from __future__ import annotations

import asyncio
import email
import email.policy
import re
import socket
import threading
from contextlib import closing, contextmanager
from email.message import EmailMessage
from typing import TYPE_CHECKING, Any

from aiosmtpd.controller import Controller

from accounts import outbox

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiosmtpd.smtp import SMTP, Envelope, Session

_LINK = re.compile(r"https?://[^\s\"'<>]+")


class Counter:
    """What an SMTP server does with a mail: keep it, or answer as it is told."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.recipients: list[list[str]] = []
        self.raw: list[bytes] = []
        self.answer_to_recipient = ""
        self.answer_to_data = ""
        self.seconds_to_answer = 0.0
        self._lock = threading.Lock()

    async def handle_RCPT(  # noqa: N802 - the name that aiosmtpd calls
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.answer_to_recipient:
            return self.answer_to_recipient
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        await asyncio.sleep(self.seconds_to_answer)
        if self.answer_to_data:
            return self.answer_to_data
        content = envelope.content
        assert isinstance(content, bytes)
        message = email.message_from_bytes(content, EmailMessage, policy=email.policy.default)
        with self._lock:
            self.mails.append(message)
            self.raw.append(content)
            self.recipients.append(list(envelope.rcpt_tos))
        return "250 OK"


class PostOffice:
    """The mails that have arrived, oldest first."""

    def __init__(self, counter: Counter) -> None:
        self.counter = counter

    @property
    def mails(self) -> list[EmailMessage]:
        """All that has arrived."""
        return self.counter.mails

    def mails_to(self, address: str) -> list[EmailMessage]:
        """Return what has arrived for an address, in whatever letter case."""
        return [
            mail
            for mail, recipients in zip(self.mails, self.counter.recipients, strict=True)
            if address.lower() in [recipient.lower() for recipient in recipients]
        ]

    def collect(self) -> list[EmailMessage]:
        """Let the queue send what waits, as beat would, and return what has arrived by that."""
        before = len(self.mails)
        outbox.sweep()
        return self.mails[before:]


def text_of(mail: EmailMessage) -> str:
    """Return the text part of a mail."""
    return _part(mail, "plain")


def html_of(mail: EmailMessage) -> str:
    """Return the HTML part of a mail."""
    return _part(mail, "html")


def links_of(mail: EmailMessage) -> list[str]:
    """Return every address in either part and in the headers of a mail, each once."""
    header = str(mail.get("List-Unsubscribe", ""))
    found = [
        link for part in (text_of(mail), html_of(mail), header) for link in _LINK.findall(part)
    ]
    return list(dict.fromkeys(link.replace("&amp;", "&") for link in found))


def _part(mail: EmailMessage, kind: str) -> str:
    body = mail.get_body((kind,))
    assert body is not None
    return str(body.get_content())


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def open_post_office(settings: Any) -> Iterator[PostOffice]:
    """Run a mail server on a free port, and have the site send to it over SMTP."""
    counter = Counter()
    port = _free_port()
    controller = Controller(counter, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        settings.MAILERS = {
            "default": {
                "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
                "OPTIONS": {"host": "127.0.0.1", "port": port, "use_tls": False, "timeout": 5},
            }
        }
        yield PostOffice(counter)
    finally:
        controller.stop()
