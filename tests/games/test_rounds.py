"""Cards that go by themselves, the end of a round, its summary, and whole games."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils.html import strip_tags

from accounts.models import User
from games import engine, services
from games.engine import Card, GameState, Play
from games.models import FinishedRound, Game
from games.snapshot import load_result
from tests import cast

pytestmark = pytest.mark.django_db

LAST_CHOICE_OF_A_DEAL = 5  # plies before the sixth; the seventh and eighth are the last cards


def two_at_a_table(*, mona: bool, karim: bool, target: int | None = None, seed: int = 1) -> Game:
    """Mona and Karim, each with forced cards going by themselves or not."""
    return cast.sit_down(
        cast.person("Mona", forced=mona),
        cast.person("Karim", forced=karim),
        target=target,
        seed=seed,
    )


def ply_of_a(position: Callable[[GameState], bool]) -> tuple[int, int]:
    """Return the seed and ply of the first position of this kind, playing first legal cards."""
    for seed in range(1, 400):
        terms = engine.Terms(engine.RULE_SETS[engine.DEFAULT_RULE_SET], None)
        state = engine.deal(engine.new_game(terms), cast.deal_of(seed))
        for ply in range(47):
            if position(state):
                return seed, ply
            state, _played = engine.play(state, _turn(state), engine.legal_plays(state)[0])
    raise AssertionError("no such position")


def _turn(state: GameState) -> engine.Seat:
    assert state.turn is not None
    return state.turn


def test_last_cards_without_a_choice_go_by_themselves_in_the_same_request() -> None:
    game = cast.play_until_ply(two_at_a_table(mona=True, karim=True), LAST_CHOICE_OF_A_DEAL)
    assert game.plies == LAST_CHOICE_OF_A_DEAL
    cast.post_play(cast.browser_of(cast.player_to_play(game)), game)
    after = cast.as_it_is(game)
    chosen, first, second = after.plays.order_by("ply")[5:]
    assert [play.ply for play in (chosen, first, second)] == [6, 7, 8]
    assert [play.forced for play in (chosen, first, second)] == [False, True, True]
    assert {play.answered_version for play in (chosen, first, second)} == {game.version}
    assert (first.move_id, second.move_id) == (None, None)
    assert first.seat != second.seat
    assert after.version == game.version + 1
    table = cast.state_of(game).round
    assert table is not None
    assert table.deal_number == 2


def test_last_cards_wait_for_whoever_wants_to_play_them_himself() -> None:
    game = cast.play_until_ply(two_at_a_table(mona=False, karim=False), 6)
    assert game.plies == 6
    assert len(engine.legal_plays(cast.state_of(game))) == 1
    cast.play_one(game)
    assert cast.as_it_is(game).plies == 7
    cast.play_one(game)
    assert not game.plays.filter(forced=True).exists()


@pytest.mark.parametrize("mona_is_first", [True, False])
def test_each_players_own_setting_counts(mona_is_first: bool) -> None:
    for seed in range(1, 20):
        game = cast.sit_down(
            cast.person(f"Mona {seed}", forced=mona_is_first),
            cast.person(f"Karim {seed}", forced=not mona_is_first),
            seed=seed,
        )
        if (cast.player_to_play(game) == game.player_a) is mona_is_first:
            break
    # The one who leads has the setting on, the other off: the seventh card goes, the eighth waits.
    game = cast.play_until_ply(game, 6)
    assert game.plies == 7
    assert [play.forced for play in game.plays.order_by("ply")][5:] == [False, True]


def test_a_last_card_that_could_take_this_or_that_waits_for_the_choice() -> None:
    def is_a_choice(state: GameState) -> bool:
        legal = engine.legal_plays(state)
        return len(legal) > 1 and len({play.card for play in legal}) == 1

    seed, ply = ply_of_a(is_a_choice)
    game = cast.play_until_ply(two_at_a_table(mona=True, karim=True, seed=seed), ply)
    assert game.plies == ply
    assert len(engine.legal_plays(cast.state_of(game))) > 1


def test_the_page_shows_forced_cards_and_the_reply_one_by_one() -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)
    browser = cast.browser_of(mona)
    while game.plies < 8:
        page = cast.text_of(cast.post_play(browser, game, htmx=True))
        game = cast.as_it_is(game)
    steps = page.split('class="floor-part"')[0]
    shown = re.findall(r'(?<!<li class="note">)<span class="words">(.*?)</span>', steps, re.DOTALL)
    last_choice = game.plays.filter(seat="B", forced=False).latest("ply")
    assert len(shown) == game.plies - last_choice.ply + 1 >= 4
    assert shown[0].startswith("You played")
    assert game.plays.filter(forced=True).exists()
    assert '<li class="note"><span class="words">Four new cards each are dealt.</span>' in steps


def test_the_announcement_tells_every_card_since_mine_and_whose_turn_it_is() -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)
    page = cast.text_of(cast.post_play(cast.browser_of(mona), game, htmx=True))
    said = re.findall(r'data-announce="(.*?)"', page)[0]
    assert re.fullmatch(r"You played .*\..* played .* Your turn\.", said)
    assert not re.search("[♣♦♥♠]", said)


def a_round_played() -> Game:
    """A game to 201 in which the first round is over and the second dealt."""
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.play_until_ply(cast.sit_down(mona, karim, target=201), 48)
    assert game.plies == 48
    return game


def board_of(player: User, game: Game) -> str:
    return cast.text_of(cast.look(cast.browser_of(player), "table", game))


def test_the_next_round_is_dealt_without_waiting_for_anybody() -> None:
    game = a_round_played()
    state = cast.state_of(game)
    assert (state.round_number, game.status) == (2, Game.Status.RUNNING)
    assert state.round is not None
    assert len(state.round.stock) == 40
    first = FinishedRound.objects.get(game=game)
    assert state.round.dealer != first.dealer
    assert state.totals == load_result(first).totals


def test_a_summary_stays_until_it_is_put_away_by_each_player_for_himself() -> None:
    game = a_round_played()
    for _look in range(2):
        assert "Round 1 is over</h2>" in board_of(game.player_a, game)
    cast.post(cast.browser_of(game.player_a), "seen", game, {"round": "1"})
    assert "Round 1 is over</h2>" not in board_of(game.player_a, game)
    assert "Round 1 is over</h2>" in board_of(game.player_b, game)


def test_the_summary_is_seen_after_days_even_if_another_round_has_been_played() -> None:
    game = a_round_played()
    game = cast.play_until_ply(game, 96)
    page = board_of(game.player_a, game)
    assert "Round 1</caption>" in page
    page = cast.text_of(
        cast.post(cast.browser_of(game.player_a), "seen", game, {"round": "1"}, htmx=True)
    )
    assert "Round 2</caption>" in page


def test_putting_a_summary_away_again_or_too_early_is_harmless() -> None:
    game = a_round_played()
    browser = cast.browser_of(game.player_a)
    for number in ("1", "1", "2", "128"):
        assert cast.post(browser, "seen", game, {"round": number}).status_code == 302
    after = cast.as_it_is(game)
    assert (after.seen_a, after.seen_b, after.version) == (1, 0, game.version)


def test_a_round_that_cannot_be_is_not_put_away() -> None:
    game = a_round_played()
    stored = cast.everything_stored()
    browser = cast.browser_of(game.player_a)
    for number in ("", "0", "-1", "129", "1.5", "one", "9" * 5000):
        response = cast.post(browser, "seen", game, {"round": number})
        assert response.status_code == 400, number
        assert "There is no such round" in cast.text_of(response)
        assert "Round 1 is over" in cast.text_of(response)
    assert cast.everything_stored() == stored


def rows_of_the_summary(page: str) -> dict[str, tuple[int, int]]:
    rows = re.findall(
        r'<tr><th scope="row">(.*?)</th><td>(\d+)</td><td>(\d+)</td></tr>', page, re.DOTALL
    )
    return {strip_tags(label): (int(mine), int(theirs)) for label, mine, theirs in rows}


def test_the_lines_of_a_summary_add_up_and_each_player_reads_the_same_numbers() -> None:
    game = a_round_played()
    hers, his = (rows_of_the_summary(board_of(p, game)) for p in (game.player_a, game.player_b))
    assert his == {label: both[::-1] for label, both in hers.items()}
    points = hers.pop("Points of the round")
    assert hers.pop("Total") == points
    cards = hers.pop("Cards")
    assert sum(cards) == 52
    assert points == (sum(a for a, _ in hers.values()), sum(b for _, b in hers.values()))
    assert "Most cards" in hers


def test_the_basras_of_the_log_are_the_basras_of_the_summary() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    for seed in range(1, 5):
        game = cast.play_to_the_end(cast.sit_down(mona, karim, seed=seed))
        rows = rows_of_the_summary(board_of(game.player_a, game))
        shown = sum(
            sum(rows.get(label, (0, 0))) for label in ("Basras", "Jack basras", "Komi basra")
        )
        log = cast.text_of(cast.look(cast.browser_of(game.player_a), "log", game))
        said = sum(int(points) for points in re.findall(r"basra, (\d+) points", strip_tags(log)))
        assert said == shown


def play_in_the_browser(browser: Client, game: Game, *, htmx: bool) -> Game:
    """Play a game to its end, as its pages offer it and nothing else."""
    page = cast.text_of(cast.look(browser, "table", game))
    for _request in range(48 * 20):
        if 'data-phase="over"' in page:
            break
        if "is over</h2>" in page:
            number = re.findall(r'name="round" value="(\d+)"', page)[0]
            response = cast.post(browser, "seen", game, {"round": number}, htmx=htmx)
        else:
            offered = re.findall(r'name="card" required id="card-\d" value="(\w+)"', page)[0]
            version = re.findall(r'name="version" value="(\d+)"', page)[0]
            form = cast.form_of(Play(Card.parse(offered)), int(version))
            response = cast.post(browser, "play", game, form, htmx=htmx)
        assert response.status_code == (200 if htmx else 302)
        page = cast.text_of(response if htmx else cast.look(browser, "table", game))
    return cast.as_it_is(game)


@pytest.mark.parametrize("htmx", [True, False])
def test_a_whole_round_against_the_computer(htmx: bool) -> None:
    mona = cast.person("Mona")
    browser = cast.browser_of(mona)
    game = cast.sit_down_with_the_computer(mona)
    game = play_in_the_browser(browser, game, htmx=htmx)
    assert (game.status, game.reason, game.plies) == (Game.Status.FINISHED, "score", 48)
    assert game.finished_at is not None
    assert game.turn == ""
    page = board_of(mona, game)
    assert re.search(r'<h2 id="status"[^>]*>(You win!|.*wins\.|A draw.*)</h2>', page)
    call_command("audit")


@pytest.mark.parametrize("rules", engine.RULE_SETS)
def test_a_whole_game_to_51_against_the_computer(rules: str) -> None:
    mona = cast.person("Mona")
    browser = cast.browser_of(mona)
    game = cast.sit_down_with_the_computer(mona, rules=rules, target=51)
    game = play_in_the_browser(browser, game, htmx=True)
    assert game.status == Game.Status.FINISHED
    rounds = list(game.finished_rounds.order_by("number"))
    assert [one.number for one in rounds] == list(range(1, len(rounds) + 1))
    assert game.plies == 48 * len(rounds)
    *earlier, last = [load_result(one).totals for one in rounds]
    assert max(last) >= 51
    assert all(max(totals) < 51 or len(set(totals)) == 1 for totals in earlier)
    call_command("audit")


def test_the_summary_of_a_finished_game_can_be_put_away_too() -> None:
    mona = cast.person("Mona")
    game = cast.play_to_the_end(cast.sit_down(mona, cast.person("Karim")))
    assert "Round 1</caption>" in board_of(mona, game)
    cast.post(cast.browser_of(mona), "seen", game, {"round": "1"})
    assert "Final score" in board_of(mona, game)


def test_the_whole_log_has_every_card_in_order_with_the_summary_of_each_round() -> None:
    game = a_round_played()
    cast.play_one(game)
    page = cast.text_of(cast.look(cast.browser_of(game.player_a), "log", game))
    assert [int(ply) for ply in re.findall(r'<li value="(\d+)">', page)] == list(range(1, 50))
    assert page.count("<caption>") == 1


def asks_every(player: User, game: Game) -> str:
    """After how many milliseconds the table that ``player`` has open asks for news."""
    (often,) = re.findall(r'hx-trigger="every (\d+)ms"', board_of(player, game))
    return str(often)


def test_a_table_asks_for_news_as_often_as_there_can_be_some() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    for seed in range(1, 9):
        game = cast.sit_down(cast.the_computer(), mona, seed=seed)
        if game.turn == "A":
            break
    assert asks_every(mona, game) == "3000"
    game = services.computer_reply(game)
    assert asks_every(mona, game) == "30000"
    game = cast.sit_down(mona, karim, seed=20)
    assert {asks_every(player, game) for player in (mona, karim)} == {"2000"}
    game = cast.play_to_the_end(game)
    assert {asks_every(player, game) for player in (mona, karim)} == {"10000"}
