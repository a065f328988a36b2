"""Who may do what, cell by cell: every address, every kind of visitor, everything there is.

The table itself is in `access.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.core.cache import cache
from django.db import transaction

from games.models import Challenge, Game, UploadedRecord
from tests import cast

from .access import TABLE, expected
from .world import (
    ACTORS,
    ADDRESSED,
    BY_LINK,
    CANCEL_OFFERED,
    FINISHED,
    LISTED,
    MAKER,
    MAKERS_RECORD,
    MAKERS_TURN,
    NO_SUCH,
    OPPONENT,
    World,
    routes,
    states_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .wire import Answer

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

LEAST_CELLS = 2_500
# A mailed link that is good for nothing (any more) is told so in words of its own; whoever is
# signed out reads what they had typed.
HAVE_WORDS_OF_THEIR_OWN = {
    "accounts:confirm_address",
    "accounts:friends",
    "accounts:keep_by_mail",
    "accounts:settings",
    "games:accept_invitation",
    "games:decline_invitation",
    "games:invitation",
}
METHODS = ("GET", "POST")


@pytest.fixture
def world() -> World:
    return World()


def cells(actor: str) -> Iterator[tuple[str, str, str]]:
    """Yield address, method and state of every cell of an actor."""
    for route in TABLE:
        for state in states_of(route):
            for method in METHODS:
                yield route, method, state


def sent(world: World, route: str, method: str, actor: str, state: str) -> Answer:
    """Ask as the cell says. What is granted to a POST is taken back, for the next to find it."""
    address = world.address(route, state)
    if method != "POST":
        return world.ask(actor, method, address)
    with transaction.atomic():
        answer = world.ask(actor, method, address, world.form(route, state))
        transaction.set_rollback(answer.status < 400)
    return answer


def test_every_address_is_in_the_table() -> None:
    missing, gone = sorted(routes().keys() - TABLE), sorted(TABLE.keys() - routes())
    assert not missing, f"say in TABLE of tests/site/access.py who may do what at {missing}"
    assert not gone, f"there are no such addresses any more, drop them from TABLE: {gone}"
    count = sum(1 for actor in ACTORS for _ in cells(actor))
    assert count >= LEAST_CELLS, f"the table has only {count} cells"


@pytest.mark.parametrize("actor", ACTORS)
def test_everybody_gets_what_the_table_says_and_each_refusal_is_like_the_others(
    actor: str, world: World
) -> None:
    before = cast.everything_stored()
    wrong: list[str] = []
    refusals: dict[str, dict[str, list[str]]] = {}
    for route, method, state in cells(actor):
        answer = sent(world, route, method, actor, state)
        wanted = expected(route, method, actor, state)
        cell = f"{method} {route}, {state or 'nobody in particular'}"
        if answer.status != wanted:
            wrong.append(f"{cell}: {answer.status} instead of {wanted}")
        elif answer.status == 404:
            is_own = route in HAVE_WORDS_OF_THEIR_OWN or ":" not in route  # or allauth's
            page = f"{method} {route}" if is_own else "all others"
            refusals.setdefault(page, {}).setdefault(seen_in(answer), []).append(cell)
    assert wrong == []
    # What is not mine and what is not there are told from each other by nothing.
    for bodies in refusals.values():
        assert len(bodies) == 1, [(seen, some[:3]) for seen, some in bodies.items()]
    assert cast.everything_stored() == before


def test_a_poll_for_what_is_not_mine_is_refused_whatever_it_says_it_has_seen(world: World) -> None:
    asks: dict[str, Any] = {"HTTP_HX_REQUEST": "true"}
    for route in ("games:challenge", "games:table", "games:replay", "games:uploaded"):
        for state in states_of(route):
            address = world.address(route, state)
            guesses = {*Challenge.State.values}
            for actor in ACTORS:
                seen = world.ask(actor, "GET", address, HTTP_HX_PTAG="", **asks)
                guesses.add(seen.headers.get("HX-PTag", ""))
            for actor in ACTORS:
                if expected(route, "GET", actor, state) == 404:
                    refused = world.ask(actor, "GET", address, **asks)
                    for guess in guesses:
                        polled = world.ask(actor, "GET", address, HTTP_HX_PTAG=guess, **asks)
                        assert polled.status == 404, (route, state, actor, guess)
                        assert seen_in(polled) == seen_in(refused)


def test_head_is_answered_as_get_and_changes_nothing(world: World) -> None:
    before = cast.everything_stored()
    for route, method, state in cells(MAKER):
        if method == "GET":
            answer = sent(world, route, "HEAD", MAKER, state)
            assert answer.status == expected(route, "HEAD", MAKER, state), (route, state)
    assert cast.everything_stored() == before


def seen_in(answer: Answer) -> str:
    """Return all that came back but the number of the request and the time of day.

    The way to sign in leads back to the very address that was asked for.
    """
    passing = ("X-Request-ID", "Expires", "Content-Length")
    kept = {name: value for name, value in answer.headers.items() if name not in passing}
    return f"{sorted(kept.items())} {cast.without_the_way_back(answer.content)}"


MALFORMED = [
    "0", "-1", "null", "x" * 3000, "%2e%2e", "1" * 36, "00000000-0000-0000-0000-00000000000g",
    "0" * 32, "%7B00000000-0000-0000-0000-000000000000%7D", "%ED%A0%80", "%F0%9F%82%A1",
    "%D9%A1", "%E2%80%AE", "%E3%85%A4", "a%0d%0ab", "'", "*", "a/b", "%EF%BC%90" * 32,
    "00000000-0000-0000-0000-000000000000%0a", "standard'", "STANDARD", "standard%0a",
]  # fmt: skip


def test_an_id_that_is_none_is_not_found(world: World) -> None:
    before = cast.everything_stored()
    for route, argument in routes().items():
        if argument is None:
            continue
        nowhere = world.address(route, NO_SUCH)
        for strange in MALFORMED:
            cache.clear()  # what is counted is not the matter here
            address = nowhere
            for nothing in world.nothings(route):
                address = address.replace(nothing, strange)
            assert address != nowhere, route
            assert world.ask(MAKER, "GET", address).status == 404, address
            refused = world.ask(MAKER, "POST", address, {"card": "7D"}).status
            # A word is a sound name of rules, only that there are none of this name to read.
            is_word = argument in ("name", "code", "token")
            assert refused == 404 or (is_word and refused == 405), address
    assert cast.everything_stored() == before


def test_a_record_that_is_not_mine_survives_my_deleting_it(world: World) -> None:
    for actor in ACTORS:
        if actor != MAKER:
            world.ask(actor, "POST", world.address("games:delete_uploaded", MAKERS_RECORD), {})
    assert UploadedRecord.objects.filter(pk=world.ids[MAKERS_RECORD]).exists()


# Ids that a request carries besides its address


def test_next_after_a_game_that_is_not_mine_is_next_after_none(world: World) -> None:
    address = world.address("games:next", "")
    for actor in ACTORS:
        first = world.ask(actor, "GET", address).headers["Location"]
        for state, after in world.ids.items():
            if state == NO_SUCH or actor not in (MAKER, OPPONENT, ADDRESSED):
                following = world.ask(actor, "GET", f"{address}?after={after}")
                assert following.headers["Location"] == first, (actor, state)


def test_the_key_of_a_form_of_mine_gives_nobody_else_my_offer_or_my_record(world: World) -> None:
    for route, model in (("games:new_challenge", Challenge), ("games:records", UploadedRecord)):
        address, form = world.address(route, ""), world.form(route, "")
        before = model._default_manager.count()
        made = [world.ask(actor, "POST", address, form).headers["Location"] for actor in ACTORS]
        assert len(set(made)) == len(ACTORS)
        assert world.ask(MAKER, "POST", address, form).headers["Location"] in made
        assert model._default_manager.count() == before + len(ACTORS)


def test_the_id_of_a_move_does_not_pass_for_a_move_in_another_game_or_by_another_player(
    world: World,
) -> None:
    here, there = (world.address("games:play", state) for state in (MAKERS_TURN, CANCEL_OFFERED))
    form = world.form("games:play", MAKERS_TURN)
    elsewhere = {**world.form("games:play", CANCEL_OFFERED), "move_id": form["move_id"]}
    assert world.ask(MAKER, "POST", here, form).status == 302
    plies = Game.objects.get(pk=world.ids[CANCEL_OFFERED]).plies
    assert world.ask(MAKER, "POST", there, elsewhere).status == 302
    assert Game.objects.get(pk=world.ids[CANCEL_OFFERED]).plies > plies
    assert world.ask(OPPONENT, "POST", here, form).status == 409


def test_the_mark_of_who_pressed_rematch_deals_for_nobody_else_and_nothing_else(
    world: World,
) -> None:
    again = world.address("games:rematch", FINISHED)
    offered = world.ask(MAKER, "POST", again, {}).headers["Location"]
    pressed = world.ask(OPPONENT, "POST", again, {}).headers["Location"]
    at_once = "data-deal-at-once"
    assert at_once in world.ask(OPPONENT, "GET", pressed).content
    assert at_once not in world.ask(OPPONENT, "GET", offered).content
    mark = pressed.partition("?")[2]
    for state in (BY_LINK, LISTED):
        page = world.ask(OPPONENT, "GET", f"{world.address('games:challenge', state)}?{mark}")
        assert page.status == 200
        assert at_once not in page.content
