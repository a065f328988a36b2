"""Whatever anybody sends to any address: an answer, and what is refused changes nothing.

Every address × method × kind of visitor, with what `payloads.py` has against it. An ordinary run
sends a repeatable sample. `BASRA_HOSTILE_REQUESTS=60000` sends that many; `pytest -s` prints how
they were answered.
"""

from __future__ import annotations

import itertools
import os
import random
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from django.core.signals import got_request_exception
from django.db import transaction

from tests import cast

from .access import TABLE, expected
from .payloads import (
    BODIES,
    ELSEWHERE,
    EVERYWHERE,
    FIELDS,
    HEADERS,
    QUERIES,
    Payload,
    every_payload,
    led_elsewhere,
    values_for,
)
from .world import ACTORS, VISITOR, World, states_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .wire import Answer

pytestmark = pytest.mark.django_db

REQUESTS = int(os.environ.get("BASRA_HOSTILE_REQUESTS", "4000"))
SEED = 7
IN_A_BATCH = 100
LEAST_PAYLOADS = 120
LEAST_REDIRECTS = 15

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW")
SAFE = {"GET", "HEAD", "OPTIONS"}
GRANTED = {200, 302, 304}  # 304: a poll that has seen it all
REFUSED = {400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 429}

# The stand-in for Facebook is where a form may lead besides.
ELSEWHERE_ON_PURPOSE = re.escape(os.environ["FACEBOOK_ORIGIN"])
ON_THIS_HOST = re.compile(rf"({ELSEWHERE_ON_PURPOSE})?/(?![/\\])[!-~]*", re.ASCII)


@pytest.fixture
def world() -> World:
    return World()


@dataclass(frozen=True)
class Hostile:
    """One request."""

    route: str
    method: str
    actor: str
    state: str
    payload: Payload

    def __str__(self) -> str:
        return f"{self.method} {self.route} by {self.actor}, {self.state}: {self.payload.name}"


@dataclass
class Sender:
    """Sends requests, keeps count, and says what is wrong with an answer."""

    world: World
    statuses: Counter[int] = field(default_factory=Counter)
    raised: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def send(self, one: Hostile) -> None:
        """Send one and look at what comes; what it was granted is taken back."""
        with transaction.atomic():
            environ = one.payload.of(self.world.form(one.route, one.state))
            address = self.world.address(one.route, one.state)
            answer = self.world.ask(one.actor, one.method, address, **environ)
            is_granted = answer.status < 400 and one.method not in SAFE
            # Somebody else's good link ends the session, even where the form is refused.
            transaction.set_rollback(is_granted or one.route == "account_reset_password_from_key")
        self.statuses[answer.status] += 1
        assert answer.status in GRANTED | REFUSED, (str(one), answer.status, self.raised)
        if expected(one.route, one.method, one.actor, one.state) in (404, 405):
            # A request whose cookie is spoilt is a visitor's, who is asked to sign in.
            asked = answer.headers.get("Location", "").startswith("/account/login/")
            assert answer.status in REFUSED or asked, (str(one), answer.status)
        assert_harmless(answer, str(one))

    def send_all(self, batch: tuple[Hostile, ...]) -> None:
        """Send some, none of which may have changed what is stored."""
        before = cast.everything_stored()
        with transaction.atomic():
            for one in batch:
                try:
                    self.send(one)
                except AssertionError as error:
                    self.wrong.append(str(error))
            changed = cast.everything_stored() != before
            transaction.set_rollback(changed)
        if changed:
            guilty = next((one for one in batch if self._changes(one, before)), "more than one")
            self.wrong.append(f"changed what is stored: {guilty}")

    def _changes(self, one: Hostile, before: dict[str, list[str]]) -> bool:
        self.send(one)
        return cast.everything_stored() != before


@pytest.fixture
def sender(world: World) -> Iterator[Sender]:
    sender = Sender(world)

    def note(**_: Any) -> None:
        sender.raised.append(repr(sys.exception()))

    got_request_exception.connect(note)
    yield sender
    got_request_exception.disconnect(note)


def assert_harmless(answer: Answer, request: str) -> None:
    """Nothing of the program is told, and nothing of the request gets into a header."""
    assert "Traceback" not in answer.content, request
    for name, value in answer.headers.items():
        assert not re.search(r"[\r\n\0]", f"{name}{value}"), request
    for name in ("Location", "HX-Redirect"):
        if name in answer.headers:
            assert ON_THIS_HOST.fullmatch(answer.headers[name]), (request, answer.headers[name])


def hostile_requests() -> Iterator[Hostile]:
    """Yield requests without end, the same in every run.

    Of five two walk over every address, method and kind of visitor; three go where the table lets
    them in, past the checks at the door.
    """
    chance = random.Random(SEED)
    walk = list(itertools.product(TABLE, METHODS, ACTORS))
    chance.shuffle(walk)
    paths = itertools.cycle(walk)
    let_in = {
        (route, method): [
            (actor, state)
            for _method, who, what, _status in rows
            for actor in who
            for state in what
            if _method == method
        ]
        for route, rows in TABLE.items()
        for method in ("GET", "POST")
        if any(row[0] == method for row in rows)
    }
    doors = itertools.cycle(let_in)
    payloads = {route: shuffled(against(route), chance) for route in TABLE}
    others = shuffled([*BODIES, *HEADERS, *QUERIES], chance)
    for number in itertools.count():
        if number % 5 < 2:
            route, method, actor = next(paths)
            state = chance.choice(states_of(route))
        else:
            route, method = next(doors)
            actor, state = chance.choice(let_in[route, method])
        payload = next(payloads[route] if chance.random() < 0.7 else others)
        yield Hostile(route, method, actor, state, payload)


def against(route: str) -> list[Payload]:
    """Return every value for every field that an address reads, and for some that none does."""
    names = FIELDS.get(route, EVERYWHERE)
    return [payload for name in names for payload in values_for(name)]


def shuffled(payloads: list[Payload], chance: random.Random) -> Iterator[Payload]:
    """Yield all in some order, again and again."""
    return itertools.cycle(chance.sample(payloads, len(payloads)))


def test_there_is_much_to_send() -> None:
    count = len({payload.name for payload in every_payload()})
    assert count >= LEAST_PAYLOADS, f"there are only {count} payloads"


def test_no_request_is_answered_with_an_error_of_ours_or_changes_what_it_may_not(
    sender: Sender,
) -> None:
    for batch in itertools.batched(
        itertools.islice(hostile_requests(), REQUESTS), IN_A_BATCH, strict=False
    ):
        sender.send_all(batch)
    assert sender.wrong == []
    assert sender.raised == []
    sys.stdout.write(f"{REQUESTS} requests: {sorted(sender.statuses.items())}\n")


# Where a redirect may lead


def redirects() -> Iterator[tuple[str, str, str, str]]:
    """Yield a cell of each address and method that answers with a redirect."""
    for route, method in itertools.product(TABLE, ("GET", "POST")):
        # Somebody who is signed in, where there is such a one: more is read for them.
        for actor, state in itertools.product(reversed(ACTORS), states_of(route)):
            if expected(route, method, actor, state) == 302:
                yield route, method, actor, state
                break


@pytest.mark.parametrize("htmx", [False, True])
def test_no_redirect_can_be_led_elsewhere(world: World, htmx: bool) -> None:
    how = {"HTTP_HX_REQUEST": "true"} if htmx else {}
    cells = list(redirects())
    assert len(cells) >= LEAST_REDIRECTS
    for route, method, actor, state in cells:
        address = world.address(route, state)
        for target in ["", *(ELSEWHERE[::8] if htmx else ELSEWHERE)]:
            form = {**world.form(route, state), "next": target, "after": target, "pressed": target}
            with transaction.atomic():
                given = form if method == "POST" else None
                answer = world.ask(actor, method, address, given, **led_elsewhere(target), **how)
                transaction.set_rollback(True)
            where = answer.headers.get("Location") or answer.headers.get("HX-Redirect") or ""
            # Too long to be sent back is refused.
            is_long = len(target) > 1000 and answer.status == 400
            assert answer.status == 302 or (htmx and answer.status == 200) or is_long, (
                route,
                target,
            )
            assert_harmless(answer, f"{method} {route}: {target}")
            if not target:
                usual = without_marks(where)
            # Where one signs in, a path of this host may be what was wanted.
            is_way_in = ":" not in route
            assert without_marks(where) == usual or is_long or is_way_in, (route, target)


def without_marks(where: str) -> str:
    """Leave out ids and marks, which differ from one to the next."""
    own_page = "(?<=next=)(%2F|/)account(%2F|/).*"  # to come back to, with all it was asked
    return re.sub(rf"[0-9a-f-]{{36}}|(?<=pressed=).*|(?<=state=)[^&]*|{own_page}", "…", where)


@pytest.mark.parametrize(
    "path", ["//evil.example", "/\\evil.example", "///evil.example/..", "/%5c"]
)
def test_a_missing_slash_is_not_added_on_another_host(world: World, path: str) -> None:
    for tail in ("/account/settings", "/rules", "/"):
        answer = world.ask(VISITOR, "GET", path + tail)
        assert answer.status in (301, 302, 404), path
        assert_harmless(answer, path)
