"""Requests as they come off the wire, past all that a well-meaning client would check."""

from __future__ import annotations

import io
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.signals import request_finished, request_started
from django.db import close_old_connections

from basra_site.wsgi import application

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    content: str


def answer(**environ: Any) -> Answer:
    """Send one raw request through the site's WSGI application.

    What is not given is as in a plain GET of the home page; ``body`` is the body.
    """
    body = environ.pop("body", b"")
    heard: list[Any] = []
    request = {
        "REQUEST_METHOD": "GET",
        "SCRIPT_NAME": "",
        "PATH_INFO": "/",
        "QUERY_STRING": "",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": "localhost",
        "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": io.StringIO(),
        "wsgi.url_scheme": "http",
        "wsgi.version": (1, 0),
        "wsgi.multithread": False,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        **environ,
    }

    def start_response(*said: Any) -> Callable[[bytes], object]:
        heard.append(said)
        return heard.append

    with _connections_stay_open():
        response = application(request, start_response)
        content = b"".join(response)
        if close := getattr(response, "close", None):
            close()
    status, headers = heard[0][:2]
    return Answer(int(status.split()[0]), dict(headers), content.decode("utf-8", "replace"))


@contextmanager
def _connections_stay_open() -> Iterator[None]:
    """Let a request end without closing the connection whose transaction the test is in."""
    for ends in (request_started, request_finished):
        ends.disconnect(close_old_connections)
    yield
    for ends in (request_started, request_finished):
        ends.connect(close_old_connections)
