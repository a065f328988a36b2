"""What waits for me: the list, the count, the title and "Next" say the same."""

from __future__ import annotations

import html
import re
import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from games import selectors, services
from games.engine import Seat
from games.models import Challenge, Game
from tests import cast

pytestmark = pytest.mark.django_db


def header_count(page: str) -> int:
    link = re.search(r"<a class=\"next\"(.*?)</a>", page, re.DOTALL)
    assert link is not None
    count = re.search(r"<b data-count>(\d+)</b>", link[1])
    assert count is not None
    assert ("hidden>" in link[1].partition(">")[0] + ">") == (count[1] == "0")
    return int(count[1])


def title_count(page: str) -> int:
    count = re.search(r"<title>(?:\((\d+)\) )?", page)
    assert count is not None
    return int(count[1] or 0)


def listed(page: str) -> int:
    """The rows under the headings that ask for something."""
    blocks = re.split(r"<h2>", page)[1:]
    asking = [one for one in blocks if one.startswith(("Your turn", "Needs an answer"))]
    return sum(block.count("<article") for block in asking)


def counts(player: User, game: Game | None = None) -> set[int]:
    """What each place says: one number where they agree."""
    browser = cast.browser_of(player)
    home = cast.text_of(cast.look(browser, "home"))
    pages = [home, cast.text_of(cast.look(browser, "rules"))]
    if game is not None:
        pages.append(cast.text_of(cast.look(browser, "table", game)))
        pages.append(cast.text_of(cast.look(browser, "log", game)))
    said = {listed(home), selectors.waiting_counts(player)[0], rounds_of_next(browser)}
    for page in pages:
        said |= {header_count(page), title_count(page)}
    return said


def rounds_of_next(browser: Client) -> int:
    """How many different pages "Next" leads to, pressed on each of them, before it comes round."""
    seen: list[str] = []
    page = cast.text_of(cast.look(browser, "home"))
    while True:
        link = re.search(r'href="([^"]*)" data-next', page)
        assert link is not None
        where = browser.get(html.unescape(link[1])).headers["Location"]
        if where == reverse("games:home") or where in seen:
            return len(seen)
        seen.append(where)
        page = cast.text_of(cast.get(browser, where))


STATES: dict[str, tuple[Callable[[Game], object], set[int], set[int]]] = {
    # what happened, and what waits for whoever was to play, and for the other
    "to play": (lambda _game: None, {1}, {0}),
    "played": (cast.play_one, {0}, {1}),
    "resigned": (
        lambda game: services.resign(game_id=game.pk, player=cast.player_to_play(game)), {0}, {0}
    ),
    "called off": (
        lambda game: services.abort(game_id=game.pk, player=cast.player_to_play(game)), {0}, {0}
    ),
    "the one to play asks to cancel": (
        lambda game: services.offer_to_cancel(game_id=game.pk, player=cast.player_to_play(game)),
        {1}, {1},
    ),
    "the other asks to cancel": (
        lambda game: services.offer_to_cancel(
            game_id=game.pk, player=game.player(cast.seat_to_play(game).other)
        ),
        {1}, {0},
    ),
    "played out": (cast.play_to_the_end, {0}, {0}),
}  # fmt: skip


@pytest.mark.parametrize("state", STATES)
def test_list_header_title_and_next_agree_in_every_state(state: str) -> None:
    game = cast.sit_down(cast.person("Mona"), cast.person("Karim"))
    to_play = cast.seat_to_play(game)
    happens, mine, theirs = STATES[state]
    happens(game)
    assert counts(game.player(to_play), game) == mine
    assert counts(game.player(to_play.other), game) == theirs


def test_a_rematch_and_a_game_that_waits_for_words_need_an_answer_and_are_counted() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    over = cast.play_to_the_end(cast.sit_down(mona, karim))
    rematch = services.offer_rematch(game_id=over.pk, player=mona)
    assert counts(karim) == {1}
    assert counts(mona) == {0}
    page = cast.text_of(cast.look(cast.browser_of(karim), "home"))
    assert "Needs an answer" in page
    services.decline_challenge(challenge_id=rematch.pk, player=karim)
    assert counts(karim) == {0}
    cast.offer(cast.the_computer(), karim, seed=5)
    assert counts(karim) == {1}


def test_a_challenge_that_expired_waits_for_nobody() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    cast.offer(mona, karim)
    Challenge.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert counts(karim) == {0}


def games_that_wait_for(player: User, number: int) -> list[Game]:
    """So many games in which ``player`` is to play; the first has waited longest."""
    other = cast.person("Karim")
    games = []
    for seed in range(1, 40):
        game = cast.sit_down(other, player, seed=seed)
        if cast.player_to_play(game) == player:
            games.append(game)
        if len(games) == number:
            break
    for age, game in enumerate(reversed(games), start=1):
        Game.objects.filter(pk=game.pk).update(changed_at=timezone.now() - timedelta(hours=age))
    Game.objects.exclude(pk__in=[game.pk for game in games]).update(turn=Seat.A)
    return games


def test_next_goes_to_each_waiting_game_once_the_longest_waiting_first() -> None:
    mona = cast.person("Mona")
    games = games_that_wait_for(mona, 3)
    browser = cast.browser_of(mona)
    visited, after = [], ""
    for _press in range(4):
        response = browser.get(reverse("games:next"), {"after": after} if after else {})
        page = cast.text_of(cast.get(browser, response.headers["Location"]))
        assert header_count(page) == title_count(page) == 3
        after = response.headers["Location"].rstrip("/").rpartition("/")[2]
        visited.append(after)
    assert visited == [str(game.pk) for game in [*games, games[0]]]


def test_a_challenge_to_me_does_not_hold_next_up() -> None:
    mona = cast.person("Mona")
    games_that_wait_for(mona, 2)
    cast.offer(User.objects.get(name="Karim"), mona, seed=50)
    Challenge.objects.filter(state="waiting").update(created_at=timezone.now() - timedelta(days=9))
    assert counts(mona) == {3}


def test_a_game_that_is_being_repaired_does_not_hold_next_up() -> None:
    mona = cast.person("Mona")
    first, second = games_that_wait_for(mona, 2)
    Game.objects.filter(pk=first.pk).update(hidden=b"damaged")
    browser = cast.browser_of(mona, tells_errors=False)
    broken = cast.look(browser, "table", first)
    assert broken.status_code == 503
    onwards = re.search(r'href="([^"]*/next/[^"]*)"', cast.text_of(broken))
    assert onwards is not None
    where = browser.get(html.unescape(onwards[1])).headers["Location"]
    assert where == reverse("games:table", args=[second.pk])


def test_a_damaged_game_in_which_i_am_asked_to_cancel_is_listed_where_it_is_counted() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.sit_down(mona, karim)
    to_play = cast.seat_to_play(game)
    services.offer_to_cancel(game_id=game.pk, player=game.player(to_play))
    Game.objects.update(rule_set="poker")
    browser = cast.browser_of(game.player(to_play.other), tells_errors=False)
    home = cast.text_of(cast.look(browser, "home"))
    assert listed(home) == header_count(home) == 1


def test_after_a_move_next_goes_to_the_game_that_has_waited_longest() -> None:
    mona = cast.person("Mona")
    first, second, third = games_that_wait_for(mona, 3)
    cast.play_one(second)
    response = cast.browser_of(mona).get(reverse("games:next"), {"after": str(second.pk)})
    assert response.headers["Location"] == reverse("games:table", args=[first.pk])
    assert third.pk != first.pk


@pytest.mark.parametrize("after", ["", "7", "x" * 5000, str(uuid.uuid4()), "//evil.example"])
def test_next_never_leads_away_and_without_a_game_it_leads_home(after: str) -> None:
    for browser in (cast.browser_of(), cast.browser_of(cast.person("Salma"))):
        response = browser.get(reverse("games:next"), {"after": after})
        assert response.headers["Location"] == reverse("games:home")


@pytest.mark.parametrize("htmx", [True, False])
@pytest.mark.parametrize("choice", User.AfterMove)
def test_after_my_move_i_am_where_i_chose_to_be(choice: User.AfterMove, *, htmx: bool) -> None:
    mona = cast.person("Mona")
    first, second = games_that_wait_for(mona, 2)
    browser = cast.browser_of(mona)
    cast.post(browser, "after_move", first, {"after_move": choice})
    response = cast.post_play(browser, first, htmx=htmx)
    where = {
        User.AfterMove.STAY: reverse("games:table", args=[first.pk]),
        User.AfterMove.NEXT: reverse("games:table", args=[second.pk]),
        User.AfterMove.LIST: reverse("games:home"),
    }[choice]
    if htmx and choice is User.AfterMove.STAY:
        assert 'data-phase="wait"' in cast.text_of(response)
    else:
        assert response.headers["HX-Redirect" if htmx else "Location"] == where


def test_nobody_is_led_away_from_a_summary_or_from_a_game_that_goes_on() -> None:
    mona = cast.person("Mona")
    mona.after_move = User.AfterMove.LIST
    mona.save()
    game = cast.play_until_ply(cast.sit_down(mona, cast.person("Karim", forced=False)), 47)
    while cast.as_it_is(game).turn and cast.player_to_play(game) != mona:
        game = cast.play_one(game)
    if cast.as_it_is(game).turn:
        response = cast.post_play(cast.browser_of(mona), game)
        assert response.headers["Location"] == reverse("games:table", args=[game.pk])
    against_the_computer = cast.sit_down_with_the_computer(mona, seed=3)
    response = cast.post_play(cast.browser_of(mona), against_the_computer)
    where = reverse("games:table", args=[against_the_computer.pk])
    assert response.headers["Location"] == where  # it is my turn again


def test_where_to_go_after_a_move_can_be_chosen_in_the_settings_too() -> None:
    mona = cast.person("Mona")
    form = cast.settings_of("Mona") | {"after_move": "list"}
    cast.posted(cast.browser_of(mona), reverse("accounts:settings"), form)
    mona.refresh_from_db()
    assert mona.after_move == User.AfterMove.LIST


@pytest.mark.parametrize("value", ["", "nowhere", "x" * 300])
def test_a_place_to_go_that_does_not_exist_is_refused(value: str) -> None:
    mona = cast.person("Mona")
    game = cast.sit_down(mona, cast.person("Karim"))
    response = cast.post(cast.browser_of(mona), "after_move", game, {"after_move": value})
    assert response.status_code == 422
    mona.refresh_from_db()
    assert mona.after_move == User.AfterMove.STAY
