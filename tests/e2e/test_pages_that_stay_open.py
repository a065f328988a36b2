"""Pages that are left open: what comes by itself, what stays as it was, and what is told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from playwright.sync_api import expect

from accounts.models import User
from games import services
from games.models import Fingerprint
from tests import cast

from .table import (
    CHOICE,
    Table,
    address,
    expect_waiting,
    go_to_more,
    lay,
    look_away,
    meet,
    my_plays,
    offer_by_link,
    poll,
    requests_of,
    sign_in,
    sit_down,
)

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route
    from pytest_django.live_server_helper import LiveServer

    from games.models import Game

PLAY = "**/play/"
A_MINUTE = 60_000
SNAPSHOT = """() => {
    const board = document.getElementById("table").cloneNode(true);
    const passing = "[name=move_id], [name=csrfmiddlewaretoken], time";
    board.querySelectorAll(passing).forEach(one => one.remove());
    return board.textContent.replace(/\\s/g, "") +
        [...board.querySelectorAll("use")].map(one => one.getAttribute("href")).join(" ");
}"""
POST_A_PLAY = """async card => {
    const more = await (await fetch(location.pathname + "more/")).text();
    const form = new DOMParser().parseFromString(more, "text/html").querySelector("form");
    const data = new URLSearchParams({
        csrfmiddlewaretoken: form.elements.csrfmiddlewaretoken.value, card,
        version: document.getElementById("table").dataset.version, move_id: crypto.randomUUID(),
    });
    return (await fetch(location.pathname + "play/", {method: "POST", body: data})).status;
}"""


def test_a_choice_survives_polls_a_new_count_and_an_offer_to_end_the_game(
    desktop: Page, live_server: LiveServer
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game, table = a_choice(desktop, live_server, mona, karim)
    elsewhere = cast.sit_down(cast.person("Salma"), karim, seed=2)
    if cast.player_to_play(elsewhere) == karim:
        cast.play_one(elsewhere)
    desktop.keyboard.press("2")
    other_way = desktop.get_by_role("radio", name=re.compile("three of hearts"))
    other_way.check()
    version = table.version()

    def is_still_chosen() -> None:
        assert table.chosen() == ["8S"]
        expect(other_way).to_be_checked()
        expect(other_way).to_be_focused()
        expect(desktop.get_by_role("alert")).to_have_count(0)

    for _ in range(3):
        poll(desktop)
        is_still_chosen()
    expect_waiting(desktop, 1)
    cast.play_one(elsewhere)
    poll(desktop)
    expect_waiting(desktop, 2)
    is_still_chosen()
    services.offer_to_cancel(game_id=game.pk, player=mona)
    poll(desktop)
    expect(desktop.get_by_text("You are asked to end this game uncounted.")).to_be_visible()
    is_still_chosen()
    table.play_button.click()
    table.expect_board_after(version)
    assert my_plays(game)[0].startswith("8S")
    assert "3H" in my_plays(game)[0]


def test_the_open_log_and_the_focus_survive_a_new_board(
    desktop: Page, live_server: LiveServer
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game, _table = a_choice(desktop, live_server, mona, karim)
    log = desktop.locator("#log summary")
    log.click()
    poll(desktop)
    services.offer_to_cancel(game_id=game.pk, player=mona)
    poll(desktop)
    expect(desktop.locator("#cancel-offer")).to_be_visible()
    expect(desktop.get_by_role("link", name="The whole log")).to_be_visible()
    expect(log).to_be_focused()


@pytest.mark.parametrize("size", ["phone", "desktop"])
def test_nothing_moves_when_an_offer_and_notices_come(
    request: pytest.FixtureRequest, live_server: LiveServer, size: str
) -> None:
    page: Page = request.getfixturevalue(size)
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game, table = a_choice(page, live_server, mona, karim)
    table.label(1).click()
    more = page.get_by_role("link", name="More", exact=True)
    page.evaluate("scrollTo(0, 0)")
    before = [table.play_button.bounding_box(), more.bounding_box()]
    services.offer_to_cancel(game_id=game.pk, player=mona)
    poll(page)
    expect(page.get_by_text("You are asked to end this game uncounted.")).to_be_visible()
    page.context.set_offline(True)
    page.clock.fast_forward(2_100)
    expect(page.get_by_text("No connection at the moment")).to_be_visible()
    page.evaluate("scrollTo(0, 0)")
    assert [table.play_button.bounding_box(), more.bounding_box()] == before
    page.context.set_offline(False)


def test_a_play_in_another_tab_is_told_until_it_is_put_away(
    desktop: Page, live_server: LiveServer
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game, table = a_choice(desktop, live_server, mona, karim)
    table.label(1).click()
    look_away(desktop, hidden=True)
    other = desktop.context.new_page()
    other.goto(address(live_server.url, game))
    Table(other).play_first_card()
    landed = my_plays(game)
    table.play_button.click()
    look_away(desktop, hidden=False)
    notice = desktop.get_by_role("alert")
    expect(notice).to_contain_text("your card was not played")
    expect(table.board).to_have_attribute("data-version", Table(other).version())
    for _ in range(3):
        poll(desktop)
        expect(notice).to_contain_text("your card was not played")
    assert my_plays(game) == landed
    notice.get_by_role("link", name="Close").click()
    expect(notice).to_have_count(0)


def test_a_game_opened_again_shows_the_move_at_once(desktop: Page, live_server: LiveServer) -> None:
    game, waits, opponent = waiting(desktop, live_server)
    look_away(desktop, hidden=True)
    game = cast.play_one(game)
    again = desktop.context.new_page()
    again.goto(address(live_server.url, game))
    Table(again).expect_my_turn()
    expect(Table(again).steps.filter(has_text=f"{opponent} ").first).to_be_visible()
    look_away(desktop, hidden=False)
    expect(waits.board).to_have_attribute("data-version", str(game.version))
    waits.expect_my_turn()


@pytest.mark.parametrize("browser_is", ["desktop", "without_script"])
def test_back_from_another_site_shows_the_current_board(
    request: pytest.FixtureRequest, live_server: LiveServer, browser_is: str
) -> None:
    page: Page = request.getfixturevalue(browser_is)
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.play_until_ply(cast.sit_down(mona, karim), 3)
    table = sit_down(page, live_server.url, cast.player_to_play(game), game)
    table.play_first_card()
    game = cast.as_it_is(game)
    page.goto("about:blank")
    game = cast.play_one(game)
    page.go_back()
    expect(table.board).to_have_attribute("data-version", str(game.version))
    table.expect_my_turn()
    table.play_first_card()


def test_back_and_forward_always_show_whole_pages(desktop: Page, live_server: LiveServer) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.sit_down(mona, karim)
    sign_in(desktop, live_server.url, cast.player_to_play(game))
    desktop.goto(live_server.url)
    desktop.locator(".row a").click()
    table = Table(desktop)
    table.play_first_card()
    version = table.version()
    desktop.go_back()
    expect(desktop.get_by_role("heading", name="My games")).to_be_visible()
    desktop.go_forward()
    expect(table.board).to_have_attribute("data-version", version)
    expect(desktop.get_by_role("banner")).to_have_count(1)
    for headers in ({"HX-Request": "true", "HX-History-Restore-Request": "true"}, {}):
        response = desktop.request.get(desktop.url, headers=headers)
        assert response.text().startswith("<!doctype html>")
        assert "HX-Request" in response.headers["vary"]
        assert "no-store" in response.headers["cache-control"]


def test_every_way_to_a_board_shows_the_same(
    desktop: Page, phone: Page, live_server: LiveServer
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.play_until_ply(cast.sit_down(mona, karim), 11)
    player = cast.player_to_play(game)
    table = sit_down(desktop, live_server.url, player, game)
    table.play_first_card()
    after_a_play = desktop.evaluate(SNAPSHOT)
    desktop.reload()
    assert desktop.evaluate(SNAPSHOT) == after_a_play
    sit_down(phone, live_server.url, player, game)
    assert phone.evaluate(SNAPSHOT) == after_a_play


def test_a_reload_while_waiting_lets_nobody_play_on(desktop: Page, live_server: LiveServer) -> None:
    game, table, opponent = waiting(desktop, live_server)
    desktop.reload()
    expect(table.status).to_contain_text("Waiting for")
    expect(table.status).to_contain_text(opponent)
    expect(table.hand).to_have_count(0)
    expect(table.play_button).to_have_count(0)
    before = cast.as_it_is(game).version
    assert desktop.evaluate(POST_A_PLAY, "AS") == 409
    assert cast.as_it_is(game).version == before


def test_a_form_that_another_tab_made_too_old_is_told_in_a_line(
    desktop: Page, live_server: LiveServer
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game, table = a_choice(desktop, live_server, mona, karim)
    desktop.context.clear_cookies()
    other = desktop.context.new_page()
    sign_in(other, live_server.url, karim)
    other.goto(live_server.url)
    table.label(1).click()
    table.play_button.click()
    notice = desktop.get_by_role("alert")
    expect(notice).to_contain_text("This form could not be checked")
    expect(desktop.get_by_role("banner")).to_have_count(1)
    expect(desktop.get_by_role("main")).to_have_count(1)
    assert my_plays(game) == []
    poll(desktop)
    expect(notice).to_be_visible()
    notice.get_by_role("link", name="Renew the table").click()
    expect(notice).to_have_count(0)
    table.play_first_card()
    assert len(my_plays(game)) == 1


@pytest.mark.parametrize("when", ["at a play", "at a poll"])
def test_a_sign_in_that_ended_is_told_in_place(
    desktop: Page, live_server: LiveServer, when: str
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game, table = a_choice(desktop, live_server, mona, karim)
    desktop.context.clear_cookies(name="basra-session")
    if when == "at a play":
        table.label(1).click()
        table.play_button.click()
    else:
        poll(desktop)
    notice = desktop.get_by_role("alert")
    expect(notice).to_contain_text("this browser no longer knows you")
    poll(desktop)
    expect(notice).to_have_count(1)
    expect(table.board).to_be_visible()
    expect(desktop.get_by_role("banner")).to_have_count(1)
    assert my_plays(game) == []


@pytest.mark.parametrize("lost", ["the request", "the answer"])
def test_a_play_that_was_not_sent_is_sent_again_once(
    desktop: Page, live_server: LiveServer, lost: str
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game, table = a_choice(desktop, live_server, mona, karim)
    version = table.version()
    table.label(1).click()

    def lose(route: Route) -> None:
        if lost == "the answer":
            route.fetch()
        route.abort()

    desktop.route(PLAY, lose)
    table.play_button.click()
    desktop.context.set_offline(True)
    not_sent = desktop.get_by_role("alert").filter(has_text="Not sent – try again")
    expect(not_sent).to_be_visible()
    offline = desktop.get_by_text("No connection at the moment")
    desktop.clock.fast_forward(A_MINUTE)
    expect(offline).to_be_visible()
    expect(not_sent).to_be_visible()
    assert table.version() == version
    assert table.chosen() == ["8S"]
    desktop.unroute(PLAY)
    desktop.context.set_offline(False)
    if lost == "the request":
        poll(desktop)
        expect(offline).to_have_count(0)
        expect(not_sent).to_be_visible()
        assert table.chosen() == ["8S"]
    desktop.get_by_role("button", name="Try again").click()
    table.expect_board_after(version)
    expect(not_sent).to_have_count(0)
    expect(offline).to_have_count(0)
    assert len(my_plays(game)) == 1


def test_polls_that_fail_are_told_until_one_succeeds(
    desktop: Page, live_server: LiveServer
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    _game, table = a_choice(desktop, live_server, mona, karim)
    table.label(1).click()
    notice = desktop.get_by_text("No connection at the moment")
    for fail in (no_network, no_server):
        fail(desktop, True)
        desktop.clock.fast_forward(2_100)
        expect(notice).to_have_count(1)
        desktop.clock.fast_forward(2_100)
        expect(notice).to_have_count(1)
        fail(desktop, False)
        poll(desktop)
        expect(notice).to_have_count(0)
        assert table.chosen() == ["8S"]


def test_a_hidden_table_asks_once_a_minute_and_is_renewed_when_it_is_shown(
    desktop: Page, live_server: LiveServer
) -> None:
    game, table, _opponent = waiting(desktop, live_server)
    look_away(desktop, hidden=True)
    asked = requests_of(desktop)
    for _ in range(24):
        desktop.clock.fast_forward(2_000)
    desktop.wait_for_timeout(200)
    assert asked == [], "it was asked when the play landed, less than a minute ago"
    salmas = cast.sit_down(cast.person("Salma"), player_of(desktop), seed=2)
    if cast.player_to_play(salmas).name == "Salma":
        cast.play_one(salmas)
    for _ in range(12):
        desktop.clock.fast_forward(2_000)
    expect(desktop).to_have_title(re.compile(r"^\(1\) "))
    assert len(asked) == 1
    version = table.version()
    cast.play_one(game)
    look_away(desktop, hidden=False)
    table.expect_board_after(version)
    table.expect_my_turn()
    expect_waiting(desktop, 2)


def test_a_hidden_offer_asks_once_a_minute_and_is_renewed_when_it_is_shown(
    desktop: Page, live_server: LiveServer
) -> None:
    sign_in(desktop, live_server.url, cast.person("Mona"))
    desktop.clock.install()
    link = offer_by_link(desktop, live_server.url)
    desktop.wait_for_load_state()  # it polls from then on
    look_away(desktop, hidden=True)
    asked = requests_of(desktop)
    for _ in range(30):
        desktop.clock.fast_forward(3_000)
    desktop.wait_for_timeout(200)
    assert len(asked) == 1
    services.accept_challenge(
        challenge_id=UUID(link.rstrip("/").rpartition("/")[2]),
        player=cast.person("Karim"),
        words="tea",
        words_by=Fingerprint.By.OPPONENT,
    )
    look_away(desktop, hidden=False)
    expect(Table(desktop).status).to_be_visible()


# The count and "Next"


def test_head_title_list_and_next_tell_the_same(desktop: Page, live_server: LiveServer) -> None:
    karim, games = three_games()
    site = live_server.url
    desktop.clock.install()
    sign_in(desktop, site, karim)
    for page in (
        "/",
        "/rules/",
        "/account/settings/",
        "/challenges/",
        "/challenges/new/",
        "/records/",
        f"/games/{games[0].pk}/",
        f"/games/{games[0].pk}/log/",
        f"/games/{games[0].pk}/resign/",
        f"/games/{games[0].pk}/replay/",
        f"/games/{games[0].pk}/fairness/",
    ):
        desktop.goto(site + page)
        expect_waiting(desktop, 3)
    desktop.goto(site)
    expect(desktop.locator(".row.mine")).to_have_count(3)

    visited = []
    for _ in range(4):
        Table(desktop).next_link.click()
        Table(desktop).expect_my_turn()
        expect_waiting(desktop, 3)
        visited.append(desktop.url)
    assert sorted(visited[:3]) == sorted(address(site, game) for game in games)
    assert visited[3] == visited[0]
    desktop.keyboard.press("n")
    expect(desktop).to_have_url(visited[1])

    for left in (2, 1, 0):
        table = Table(desktop)
        table.play_first_card()
        expect_waiting(desktop, left)
        if left:
            desktop.keyboard.press("n")
            table.expect_my_turn()
            expect_waiting(desktop, left)
    url = desktop.url
    desktop.keyboard.press("n")
    poll(desktop)
    assert desktop.url == url
    expect_waiting(desktop, 0)
    for game in games:
        cast.play_one(game)
    poll(desktop)
    expect_waiting(desktop, 3)
    desktop.goto(site)
    expect_waiting(desktop, 3)


@pytest.mark.parametrize(
    ("choice", "goes"), [("stay", "nowhere"), ("next", "to the next"), ("list", "home")]
)
def test_after_a_move_one_goes_where_one_chose_at_the_table(
    desktop: Page, live_server: LiveServer, choice: str, goes: str
) -> None:
    karim, games = three_games()
    table = sit_down(desktop, live_server.url, karim, games[0])
    go_to_more(desktop)
    expect(desktop.get_by_label("After my move")).to_have_value(User.AfterMove.STAY)
    desktop.get_by_label("After my move").select_option(choice)
    desktop.get_by_role("button", name="Save").click()
    expect(table.board).to_be_visible()
    table.label().click()
    table.play_button.click()
    if goes == "home":
        expect(desktop.get_by_role("heading", name="My games")).to_be_visible()
    elif goes == "to the next":
        expect(desktop).to_have_url(address(live_server.url, games[1]))
        table.expect_my_turn()
    else:
        expect(table.status).to_contain_text("Waiting for")
        expect(desktop).to_have_url(address(live_server.url, games[0]))


# Games to begin with


def a_choice(page: Page, server: LiveServer, mona: User, karim: User) -> tuple[Game, Table]:
    """Seat Karim at a table where the eight takes the five with either three; he is to play."""
    game = cast.sit_down(mona, karim)
    lay(game, *CHOICE)
    return game, meet(server.url, game, (page, karim))[0]


def waiting(page: Page, server: LiveServer) -> tuple[Game, Table, str]:
    """Seat somebody at a table who has just played and waits for the other, who is named."""
    game = cast.sit_down(cast.person("Mona"), cast.person("Karim"))
    mover = cast.player_to_play(game)
    [table] = meet(server.url, game, (page, mover))
    table.play_first_card()
    return cast.as_it_is(game), table, table.other_name()


def three_games() -> tuple[User, list[Game]]:
    """Return Karim with three games in which it is his turn, the one that waits longest first."""
    karim = cast.person("Karim")
    games = []
    for seed, name in enumerate(("Mona", "Salma", "Tarek"), start=1):
        game = cast.sit_down(cast.person(name), karim, seed=seed)
        if cast.player_to_play(game) != karim:
            game = cast.play_one(game)
        games.append(game)
    return karim, games


def player_of(page: Page) -> User:
    """Return who is signed in on a page."""
    name = page.get_by_role("banner").locator(".me-link bdi").inner_text()
    return User.objects.get(name=name)


def no_network(page: Page, fails: bool) -> None:
    """Take the page's network away or give it back."""
    page.context.set_offline(fails)


def no_server(page: Page, fails: bool) -> None:
    """Let the server answer that it is down, or not."""
    if fails:
        page.route("**/games/**", lambda route: route.fulfill(status=503, body="down"))
    else:
        page.unroute("**/games/**")
