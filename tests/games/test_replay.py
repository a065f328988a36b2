"""The replay: every position of a game, for anybody, and no hidden card while the game runs."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import User
from games import engine, replaying, selectors, services
from games.engine import Card, GameState, Seat
from games.models import Game
from games.replaying import ReplayView
from games.snapshot import load_result
from games.table import CardFace
from tests import cast
from tests.games.leaks import cards_in, masked, numbers_in_odd_places, secrets_in, sent_by

pytestmark = pytest.mark.django_db

SEED = 12


def two_players() -> tuple[User, User]:
    """Mona at A and Karim at B, neither of whom lets a card go by itself."""
    return cast.person("Mona", forced=False), cast.person("Karim", forced=False)


def a_game(target: int | None = None, plies: int = 0) -> Game:
    game = cast.sit_down(*two_players(), target=target, seed=SEED)
    return cast.play_until_ply(game, plies)


def position(client: Client, game: Game, ply: object = "", *, htmx: bool = False) -> HttpResponse:
    url = reverse("games:replay", args=[game.pk], query={"ply": str(ply)} if ply != "" else None)
    response = client.get(url, headers=cast.HTMX if htmx else {})
    assert isinstance(response, HttpResponse)
    return response


def page_of(client: Client, game: Game, ply: object = "") -> str:
    return cast.text_of(position(client, game, ply))


def codes(faces: tuple[CardFace, ...]) -> list[str]:
    return [face.code for face in faces]


def hidden_from_strangers(state: GameState) -> set[Card]:
    if state.round is None:
        return set()
    return {*state.round.stock, *state.round.hands.a, *state.round.hands.b}


def test_every_position_is_the_one_that_was_played() -> None:
    game = a_game(target=51)
    states = [cast.state_of(game)]
    while game.turn:
        game = cast.play_one(game)
        states.append(cast.state_of(game))
    assert len(states) == game.plies + 1 > 49
    for ply, state in enumerate(states):
        shown = replaying.game_replay(game, None, str(ply))
        stranger = engine.seat_view(state, None)
        assert codes(shown.floor) == [card.code for card in stranger.floor], ply
        assert (shown.round_number, shown.deal_number) == (
            stranger.round_number,
            stranger.deal_number,
        )
        assert (shown.stock_count, shown.carried) == (stranger.stock_count, stranger.carried)
        for side, seat in ((shown.bottom, Seat.A), (shown.top, Seat.B)):
            hand = engine.seat_view(state, seat).hand
            assert codes(side.hand) == [card.code for card in hand]
            assert side.hand_count == len(hand)
            assert side.pile_count == len(stranger.piles[seat])
            assert side.total == state.totals[seat]
            assert side.to_play == (state.turn is seat)
            assert side.deals == (stranger.dealer is seat)
        assert shown.ply == ply
        assert (shown.summary is not None) == (ply > 0 and ply % 48 == 0)
        assert bool(shown.result) == (ply == game.plies)


def test_while_the_game_runs_no_position_shows_a_hidden_card_to_anybody() -> None:
    game = a_game(plies=31)
    state = cast.state_of(game)
    browsers = [
        cast.browser_of(),
        cast.browser_of(cast.person("Salma")),
        cast.browser_of(game.player_a),
        cast.browser_of(game.player_b),
    ]
    closed = {
        engine.secret_of_round(cast.tip_of(SEED), engine.ROUNDS_SEALED, number)
        for number in range(1, engine.ROUNDS_SEALED + 1)
    } | {cast.tip_of(SEED)}
    seen: set[Card] = set()
    for browser in browsers:
        for ply in [*range(game.plies + 1), "", "last"]:
            response = position(browser, game, ply, htmx=ply == "")
            assert response.status_code == 200
            sent = sent_by(response)
            shown = cards_in(masked(sent))
            assert not shown & hidden_from_strangers(state), ply
            assert not secrets_in(sent, closed)
            assert numbers_in_odd_places(cast.text_of(response)) == set()
            seen |= shown
    assert state.round is not None
    assert set(state.round.floor) <= seen
    assert len(hidden_from_strangers(state)) == 52 - len(seen) > 10


def test_a_new_card_is_shown_when_it_is_played_and_not_before() -> None:
    game = a_game()
    onlooker = cast.browser_of()
    while game.plies < 48:
        state = cast.state_of(game)
        shown = cards_in(masked(page_of(onlooker, game, "last")))
        assert not shown & hidden_from_strangers(state)
        game = cast.play_one(game)
        if game.turn:
            assert engine.parse_play(game.plays.latest("ply").text).card in cards_in(
                page_of(onlooker, game, "last")
            )


def test_hands_of_rounds_that_are_over_stay_closed_until_the_game_is() -> None:
    game = a_game(target=201, plies=60)
    state = cast.state_of(game)
    for browser in (cast.browser_of(), cast.browser_of(game.player_a)):
        for ply in range(game.plies + 1):
            page = page_of(browser, game, ply)
            hands = re.findall(r'<p class="shown-hand[^>]*>.*?</p>', page, re.DOTALL)
            assert len(hands) == 2
            assert cards_in("".join(hands)) == set()
            if ply > 48:
                assert not cards_in(masked(page)) & hidden_from_strangers(state)


def test_once_the_game_is_over_everybody_sees_both_hands() -> None:
    game = a_game()
    first = cast.state_of(game).round
    assert first is not None
    game = cast.play_to_the_end(game)
    for browser in (cast.browser_of(), cast.browser_of(game.player_b)):
        page = page_of(browser, game)
        hands = re.findall(r'<p class="shown-hand[^>]*>.*?</p>', page, re.DOTALL)
        assert [cards_in(hand) for hand in hands] in (
            [set(first.hands.a), set(first.hands.b)],
            [set(first.hands.b), set(first.hands.a)],
        )


def test_the_view_has_no_room_for_a_state_or_a_stock() -> None:
    words = " ".join(f"{field.type}" for field in ReplayView.__dataclass_fields__.values())
    for forbidden in ("GameState", "RoundState", "Deal", "Record", "Game,", "Any", "object"):
        assert forbidden not in words
    assert [name for name in ReplayView.__dataclass_fields__ if "stock" in name] == ["stock_count"]


def test_it_begins_at_the_deal_when_the_game_is_over_and_at_the_latest_play_before() -> None:
    game = a_game(plies=9)
    browser = cast.browser_of()
    assert "9 of 9" in page_of(browser, game)
    assert "9 of 9" in page_of(browser, game, "last")
    assert "3 of 9" in page_of(browser, game, 3)
    game = cast.play_to_the_end(game)
    assert "0 of 48" in page_of(browser, game)
    assert "The cards are dealt." in page_of(browser, game)
    assert "48 of 48" in page_of(browser, game, "last")


@pytest.mark.parametrize(
    "ply",
    ["10", "-1", "01", "1.0", "1e1", "x", "٣", "³", "first", "LAST", " 1", "99999999999999999999"],
)
def test_a_position_that_is_not_there_is_not_found(ply: str) -> None:
    game = a_game(plies=9)
    for browser in (cast.browser_of(), cast.browser_of(game.player_a)):
        assert position(browser, game, ply).status_code == 404
        assert position(browser, game, ply, htmx=True).status_code == 404


def test_a_game_that_is_not_there_is_not_found() -> None:
    url = reverse("games:replay", args=[cast.game_id_of(77)])
    assert cast.browser_of().get(url).status_code == 404
    assert cast.browser_of().post(url).status_code == 405


def test_onlookers_read_names_and_players_read_you() -> None:
    game = cast.play_to_the_end(a_game())
    move = game.plays.get(ply=1)
    mover, other = game.player(Seat(move.seat)), game.player(Seat(move.seat).other)
    assert f"\u2068{mover.name}\u2069 played" in page_of(cast.browser_of(), game, 1)
    for browser in (cast.browser_of(other), cast.browser_of(mover)):
        page = page_of(browser, game, 1)
        assert ("You played" in page.split('class="more"')[0]) == (
            browser.session["_auth_user_id"] == str(mover.pk)
        )
        assert '<span class="tag">you</span>' in page
    assert '<span class="tag">you</span>' not in page_of(cast.browser_of(), game, 1)


def test_who_looks_as_a_player_sits_at_the_bottom() -> None:
    game = a_game(plies=5)
    for seat in Seat:
        shown = replaying.game_replay(game, seat, "")
        assert shown.bottom.name == game.player(seat).name
        assert shown.bottom.is_me
        assert not shown.top.is_me


def test_the_last_play_of_a_round_comes_with_what_the_round_brought() -> None:
    game = a_game(target=201, plies=49)
    result = load_result(game.finished_rounds.get(number=1))
    page = page_of(cast.browser_of(), game, 48)
    summary = re.search(r'<table class="score">.*?</table>', page, re.DOTALL)
    assert summary
    assert "<bdi>Mona</bdi>" in summary[0]
    assert "<bdi>Karim</bdi>" in summary[0]
    for total in result.totals:
        assert f"<td>{total}</td>" in summary[0]
    assert "You" not in summary[0]
    assert '<table class="score">' not in page_of(cast.browser_of(), game, 49)
    # By then the next round is dealt, and one can jump to it.
    assert "Round 2" in page
    assert 'href="?ply=48"' in page_of(cast.browser_of(), game, 0)


def test_the_log_leads_to_every_position_of_the_round_and_marks_this_one() -> None:
    game = a_game(target=201, plies=60)
    page = page_of(cast.browser_of(), game, 52)
    log = page[page.index('<ol class="log">') :]
    assert re.findall(r'<li value="\d+"><a href="\?ply=(\d+)"', log) == [
        str(ply) for ply in range(49, 61)
    ]
    assert re.findall(r'href="\?ply=(\d+)" aria-current="true"', log) == ["52"]
    assert log.count("<time ") == 12


def test_the_ends_have_no_way_further() -> None:
    game = a_game(plies=4)
    browser = cast.browser_of()
    first, middle, last = (page_of(browser, game, ply) for ply in (0, 2, 4))
    assert 'rel="prev"' not in first
    assert 'rel="next" href="?ply=1"' in first
    assert 'rel="prev" href="?ply=1"' in middle
    assert 'rel="next" href="?ply=3"' in middle
    assert 'rel="next"' not in last


def resigned(game: Game) -> Game:
    return services.resign(game_id=game.pk, player=game.player_a)


def aborted(game: Game) -> Game:
    return services.abort(game_id=game.pk, player=game.player_a)


def cancelled(game: Game) -> Game:
    services.offer_to_cancel(game_id=game.pk, player=game.player_a)
    return services.agree_to_cancel(game_id=game.pk, player=game.player_b)


@pytest.mark.parametrize(
    ("plies", "end", "told"),
    [
        (20, resigned, "\u2068Karim\u2069 wins: \u2068Mona\u2069 resigned."),
        (0, aborted, "The game was called off before it began."),
        (1, aborted, "The game was called off before it began."),
        (21, cancelled, "Both agreed to end the game; it does not count."),
        (48, resigned, "\u2068Karim\u2069 wins: \u2068Mona\u2069 resigned."),
    ],
)
def test_a_game_that_was_broken_off_is_told_to_its_end(
    plies: int, end: Callable[[Game], Game], told: str
) -> None:
    game = cast.as_it_is(end(a_game(target=201, plies=plies)))
    state = cast.state_of(game)
    assert state.round is not None
    shown = replaying.game_replay(game, None, "last")
    assert shown.result == told
    assert shown.ply == plies
    assert codes(shown.bottom.hand) == [card.code for card in sorted(state.round.hands.a)]
    assert not shown.bottom.to_play
    assert not shown.top.to_play
    page = page_of(cast.browser_of(), game, "last")
    assert told in page
    assert "The game goes on." not in page
    if plies:
        assert told not in page_of(cast.browser_of(), game, 0)


def test_htmx_gets_the_board_alone() -> None:
    game = a_game(plies=3)
    board = cast.text_of(position(cast.browser_of(), game, 2, htmx=True))
    assert board.lstrip().startswith("<section")
    assert 'id="replay"' in board
    assert "<html" not in board
    assert "HX-Request" in position(cast.browser_of(), game, 2)["Vary"]


def poll(browser: Client, game: Game, tag: str) -> HttpResponse:
    url = reverse("games:replay", args=[game.pk], query={"ply": "last"})
    response = browser.get(url, headers={**cast.HTMX, "HX-PTag": tag})
    assert isinstance(response, HttpResponse)
    return response


def test_an_onlooker_follows_a_running_game_and_an_idle_poll_costs_one_statement() -> None:
    game = a_game(plies=3)
    browser = cast.browser_of()
    page = page_of(browser, game)
    assert "The game goes on." in page
    tag = re.search(r'hx-ptag="([^"]+)"', page)
    assert tag
    with CaptureQueriesContext(connection) as captured:
        assert poll(browser, game, tag[1]).status_code == 304
    assert len(captured) == 1
    game = cast.play_one(game)
    news = poll(browser, game, tag[1])
    assert news.status_code == 200
    assert "4 of 4" in cast.text_of(news)
    tag_now = news["HX-PTag"]
    assert poll(browser, game, tag_now).status_code == 304
    cast.play_to_the_end(game)
    end = cast.text_of(poll(browser, game, tag_now))
    assert "48 of 48" in end
    assert "hx-get" not in end


def test_an_earlier_position_does_not_move_on_by_itself() -> None:
    game = a_game(plies=3)
    page = page_of(cast.browser_of(), game, 2)
    assert "hx-get" not in page
    assert "The game goes on." not in page
    # A poll's tag is for the latest position only: no other is withheld because of it.
    tag = replaying.version_tag(cast.as_it_is(game).version)
    url = reverse("games:replay", args=[game.pk], query={"ply": "2"})
    answer = cast.browser_of().get(url, headers={**cast.HTMX, "HX-PTag": tag})
    assert answer.status_code == 200


def test_a_position_costs_the_same_few_statements_however_long_the_game() -> None:
    game = a_game(target=201)
    browser = cast.browser_of()
    counts = {}
    for plies in (1, 50, 120):
        game = cast.play_until_ply(game, plies)
        for ply in (0, plies):
            with CaptureQueriesContext(connection) as captured:
                assert position(browser, game, ply).status_code == 200
            counts[plies, ply] = len(captured)
    assert set(counts.values()) == {3}, counts
    game = cast.play_to_the_end(game)
    with CaptureQueriesContext(connection) as captured:
        assert position(browser, game, game.plies).status_code == 200
    assert len(captured) <= 6


def test_a_damaged_game_says_so() -> None:
    game = cast.play_to_the_end(a_game())
    game.plays.filter(ply=2).update(text="AC:AC")
    assert position(cast.browser_of(), game, 0).status_code == 503
    game.plays.filter(ply=2).update(text=game.plays.get(ply=1).text)
    assert position(cast.browser_of(), game, 5).status_code == 503
    running = cast.sit_down(cast.person("Salma"), cast.person("Tarek"), seed=SEED + 1)
    running.fingerprint.delete()
    assert position(cast.browser_of(), running, 0).status_code == 503


def test_a_game_against_the_computer_can_be_looked_at_as_well() -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona, seed=3)
    assert "Simsim" in page_of(cast.browser_of(), game)
    assert selectors.game_by_id(game.pk).status == Game.Status.RUNNING
