"""How many statements a request sends to the database: few, and no more as games grow.

Not counted are those of the session and the user, and transaction control.
"""

from __future__ import annotations

import gzip
import re

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import User
from games import engine, selectors, services
from games.models import Game
from tests import cast

pytestmark = pytest.mark.django_db

_NOT_COUNTED = re.compile(
    r"^(SAVEPOINT|RELEASE|BEGIN|COMMIT|ROLLBACK)"
    r'|"django_session"'
    r'|^SELECT (?!.*games_).*"accounts_user"'
)


class Counted(CaptureQueriesContext):
    """Counts what is sent while it is open."""

    def __init__(self) -> None:
        super().__init__(connection)

    @property
    def statements(self) -> list[str]:
        return [one["sql"] for one in self.captured_queries if not _NOT_COUNTED.search(one["sql"])]

    def __len__(self) -> int:
        return len(self.statements)


def counted_look(browser: Client, page: str, game: Game | None = None) -> int:
    with Counted() as counted:
        assert cast.look(browser, page, game).status_code == 200
    return len(counted)


def counted_play(browser: Client, game: Game) -> int:
    play, version = cast.a_play(game), cast.as_it_is(game).version
    form = cast.form_of(play, version)
    with Counted() as counted:
        response = cast.post(browser, "play", game, form, htmx=True)
    assert response.status_code == 200
    return len(counted)


def warm(player: User) -> Client:
    """A browser whose session has been renewed today."""
    browser = cast.browser_of(player)
    cast.look(browser, "home")
    return browser


def test_the_table_takes_two_statements_however_long_the_game() -> None:
    mona = cast.person("Mona")
    browser = warm(mona)
    game = cast.sit_down(mona, cast.person("Karim"), target=201)
    counts = {}
    for ply in (0, 1, 40, 95, 140):
        game = cast.play_until_ply(game, ply)
        if game.seen_a < game.plies // 48:
            services.dismiss_summary(game=game, player=mona, round_number=game.plies // 48)
        counts[ply] = counted_look(browser, "table", game)
    assert set(counts.values()) == {2}, counts


def test_a_summary_that_is_not_put_away_takes_one_statement_more() -> None:
    mona = cast.person("Mona")
    game = cast.play_until_ply(cast.sit_down(mona, cast.person("Karim"), target=201), 49)
    assert counted_look(warm(mona), "table", game) == 3


def test_a_move_takes_few_statements_however_long_the_game() -> None:
    mona, karim = cast.person("Mona", forced=False), cast.person("Karim", forced=False)
    browsers = {player.pk: warm(player) for player in (mona, karim)}
    game = cast.sit_down(mona, karim, target=201)
    counts = {}
    for ply in (0, 1, 20, 60, 100, 140):
        game = cast.play_until_ply(game, ply)
        mover = cast.player_to_play(game)
        seat = game.player_a_id == mover.pk
        if (game.seen_a if seat else game.seen_b) < game.plies // 48:
            services.dismiss_summary(game=game, player=mover, round_number=game.plies // 48)
        counts[ply] = counted_play(browsers[mover.pk], game)
    assert set(counts.values()) == {4}, counts


def test_a_move_that_brings_a_deal_or_ends_a_round_takes_few_more() -> None:
    mona, karim = cast.person("Mona", forced=False), cast.person("Karim", forced=False)
    browsers = {player.pk: warm(player) for player in (mona, karim)}
    game = cast.play_until_ply(cast.sit_down(mona, karim, target=201), 7)
    assert counted_play(browsers[cast.player_to_play(game).pk], game) == 5
    game = cast.play_until_ply(game, 47)
    assert counted_play(browsers[cast.player_to_play(game).pk], game) <= 8


def test_a_move_with_the_computers_reply_takes_few_statements() -> None:
    mona = cast.person("Mona")
    browser = warm(mona)
    game = cast.sit_down_with_the_computer(mona)
    assert counted_play(browser, game) == 6
    assert counted_play(browser, game) == 6


def games_of(player: User, count: int) -> None:
    """Give the player games: few running, the others finished, some with the computer."""
    template = cast.play_until_ply(
        cast.sit_down(services.computer_player(), player, rules="standard", seed=1), 5
    )
    last = template.plays.latest("ply")
    copies = []
    for number in range(1, count):
        copy = Game.objects.get(pk=template.pk)
        copy.pk = cast.game_id_of(1000 + number)
        if number % 4:
            copy.status, copy.turn, copy.reason = Game.Status.FINISHED, "", "score"
            copy.winner, copy.finished_at = "B", copy.changed_at
        copies.append(copy)
    Game.objects.bulk_create(copies)
    plays = []
    for copy in copies:
        last.pk, last.game_id = None, copy.pk
        plays.append(type(last)(**{
            field.attname: getattr(last, field.attname) for field in last._meta.concrete_fields
        }))  # fmt: skip
    type(last).objects.bulk_create(plays)


def test_home_takes_two_statements_however_many_the_games() -> None:
    counts = {}
    for count in (1, 30, 300):
        player = cast.person(f"Mona {count}")
        if count == 1:
            games_of(player, 1)
        else:
            Game.objects.all().delete()
            games_of(player, count)
        counts[count] = counted_look(warm(player), "home")
    assert set(counts.values()) == {2}, counts


def test_home_with_as_many_games_as_one_can_have_is_still_a_light_page() -> None:
    mona = cast.person("Mona")
    games_of(mona, 4 * selectors.MOST_OPEN_GAMES)
    response = cast.look(cast.browser_of(mona), "home")
    most = selectors.MOST_OPEN_GAMES + selectors.FINISHED_GAMES_ON_A_PAGE
    assert cast.text_of(response).count("<article") == most
    assert len(gzip.compress(response.content)) < 12_000


def test_a_table_is_a_light_page() -> None:
    mona = cast.person("Mona")
    game = cast.play_until_ply(cast.sit_down(mona, cast.person("Karim")), 30)
    browser = cast.browser_of(cast.player_to_play(game))
    page, board = cast.look(browser, "table", game), cast.look(browser, "table", game, htmx=True)
    assert len(gzip.compress(page.content)) < 5_000
    assert len(gzip.compress(board.content)) < 4_000


def test_the_log_and_the_fairness_document_take_few_statements_however_long_the_game() -> None:
    mona = cast.person("Mona")
    browser = warm(mona)
    game = cast.sit_down(mona, cast.person("Karim"), target=201)
    for ply in (1, 140):
        game = cast.play_until_ply(game, ply)
        assert counted_look(browser, "log", game) == 3
        assert counted_look(browser, "fairness", game) == 3


def test_a_visitor_costs_no_statement_at_all() -> None:
    for page in ("home", "rules"):
        with CaptureQueriesContext(connection) as captured:
            cast.look(cast.browser_of(), page)
        assert len(captured) == 0


def test_creating_and_dealing_take_few_statements() -> None:
    mona = cast.person("Mona")
    services.computer_player()
    browser = warm(mona)
    form = {
        "rule_set": engine.DEFAULT_RULE_SET, "target": "round", "form_key": str(cast.game_id_of(1))
    }  # fmt: skip
    with Counted() as counted:
        response = browser.post(reverse("games:play_computer"), form)
    assert response.status_code == 302
    assert len(counted) <= 6
    game = Game.objects.get()
    with Counted() as counted:
        answer = cast.post(browser, "deal", game, {"words": "mine"}, htmx=True)
    assert isinstance(answer, HttpResponse)
    assert len(counted) <= 12
