"""Requests over a few connections that stay open: as fast as they are answered, or at a rate."""

from __future__ import annotations

import http.client
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, NamedTuple, Protocol
from urllib.parse import urlencode

from tools.bench.ground import HOST

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable

CONNECTIONS = 4
CONNECTIONS_AT_A_RATE = 8
TOKEN = "a" * 32  # the CSRF cookie and field: any secret will do, as long as they agree
HEADERS = {
    "Host": HOST,
    "Origin": f"https://{HOST}",
    "X-Forwarded-Proto": "https",
    "Accept-Encoding": "gzip",
    "HX-Request": "true",
    "Content-Type": "application/x-www-form-urlencoded",
}


class Request(NamedTuple):
    """One request, ready to be sent."""

    method: str
    path: str
    body: str
    headers: dict[str, str]


class Work(Protocol):
    """A row of requests that have to be sent one after the other."""

    def next(self) -> Request | None:
        """Return the next request, or `None` when there is none left."""


@dataclass(slots=True)
class Answers:
    """What came back: seconds from when each request was due, and the bodies as they came."""

    seconds: list[float] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)


class RanOut(Exception):
    """There was less work than time."""


def post(path: str, session: str, form: dict[str, str]) -> Request:
    """Return the request by which a page's form is posted."""
    body = urlencode({"csrfmiddlewaretoken": TOKEN, **form})
    return Request("POST", path, body, HEADERS | _cookies(session))


def get(path: str, session: str) -> Request:
    """Return the request for a whole page."""
    headers = {name: value for name, value in HEADERS.items() if name != "HX-Request"}
    return Request("GET", path, "", headers | _cookies(session))


def _cookies(session: str) -> dict[str, str]:
    return {"Cookie": f"__Host-session={session}; __Host-csrf={TOKEN}"}


def keep_busy(port: int, pool: deque[Work], seconds: float) -> Answers:
    """Send as fast as is answered. What is left of the work stays in the pool."""
    until = time.monotonic() + seconds

    def due() -> float | None:
        now = time.monotonic()
        return now if now < until else None

    return _send(port, pool, due, CONNECTIONS)


def at_rate(port: int, pool: deque[Work], a_second: float, seconds: float) -> Answers:
    """Send so many requests a second, evenly, whether or not those before are answered."""
    numbers = count()
    started = time.monotonic()

    def due() -> float | None:
        after = next(numbers) / a_second
        return started + after if after < seconds else None

    return _send(port, pool, due, CONNECTIONS_AT_A_RATE)


def _send(
    port: int, pool: deque[Work], due: Callable[[], float | None], connections: int
) -> Answers:
    answers = Answers()
    lock = threading.Lock()

    def take_due() -> float | None:
        with lock:
            return due()

    def one_connection(_number: int) -> None:
        work = None
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        while (moment := take_due()) is not None:
            request = work.next() if work else None
            while request is None:
                if not pool:
                    raise RanOut
                work = pool.popleft()
                request = work.next()
            time.sleep(max(0.0, moment - time.monotonic()))
            connection.request(request.method, request.path, request.body, request.headers)
            response = connection.getresponse()
            body = response.read()
            if response.status != 200:
                raise RuntimeError(f"{request.path} answered {response.status}")
            answers.seconds.append(time.monotonic() - moment)
            answers.bodies.append(body)
        connection.close()
        if work:
            pool.append(work)

    with ThreadPoolExecutor(connections) as executor:
        list(executor.map(one_connection, range(connections)))
    return answers
