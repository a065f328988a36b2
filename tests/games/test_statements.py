"""How many statements a request sends to the database: few, and no more as games grow.

Not counted are those of the session and the user, and transaction control.
"""

from __future__ import annotations

import gzip
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import User
from games import engine, selectors, services
from games.models import Challenge, Game
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


def counted_look(browser: Client, page: str, game: Game | Challenge | None = None) -> int:
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


def test_the_table_takes_three_statements_however_long_the_game() -> None:
    mona = cast.person("Mona")
    browser = warm(mona)
    game = cast.sit_down(mona, cast.person("Karim"), target=201)
    counts = {}
    for ply in (0, 1, 40, 95, 140):
        game = cast.play_until_ply(game, ply)
        if game.seen_a < game.plies // 48:
            services.dismiss_summary(game=game, player=mona, round_number=game.plies // 48)
        counts[ply] = counted_look(browser, "table", game)
    assert set(counts.values()) == {3}, counts


def test_a_summary_that_is_not_put_away_takes_one_statement_more() -> None:
    mona = cast.person("Mona")
    game = cast.play_until_ply(cast.sit_down(mona, cast.person("Karim"), target=201), 49)
    assert counted_look(warm(mona), "table", game) == 4


def test_a_table_with_all_that_can_be_on_it_takes_five_statements() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.play_until_ply(cast.sit_down(mona, karim), 20)
    services.offer_to_cancel(game_id=game.pk, player=karim)
    game = cast.play_to_the_end(game)
    services.offer_rematch(game_id=game.pk, player=karim)
    # The game, its plays, what else happened, the summary, and what waits with the rematch.
    assert counted_look(warm(mona), "table", game) == 5


def test_the_end_of_a_game_against_the_computer_takes_five_statements() -> None:
    mona = cast.person("Mona")
    game = cast.play_until_ply(cast.sit_down_with_the_computer(mona, target=201), 49)
    services.resign(game_id=game.pk, player=mona)
    browser = warm(mona)
    # The game, its plays, the summary, what waits, and the record against this computer player.
    assert counted_look(browser, "table", game) == 5
    for number in range(2, 12):
        over = cast.sit_down_with_the_computer(mona, seed=number)
        services.resign(game_id=over.pk, player=mona)
    assert counted_look(browser, "table", game) == 5


def polled(browser: Client, page: str, about: Game | Challenge) -> tuple[int, int, int]:
    """Ask a page for news that are none: the status, all statements sent, the bytes of the body."""
    url = reverse(f"games:{page}", args=[about.pk])
    (tag,) = re.findall(r'hx-ptag="(.*?)"', browser.get(url).content.decode())
    with CaptureQueriesContext(connection) as captured:
        response = browser.get(url, headers=cast.HTMX | {"HX-PTag": tag})
    return response.status_code, len(captured), len(response.content)


def test_a_poll_without_news_takes_three_statements_in_all_however_many_the_games() -> None:
    counts: dict[tuple[int, object], tuple[int, int, int]] = {}
    for count in (1, 30, 300):
        mona = cast.person(f"Mona {count}")
        games_of(mona, count)
        game = cast.sit_down(mona, cast.person(f"Karim {count}"), target=201, seed=1000 + count)
        for ply in (0, 60):
            game = cast.play_until_ply(game, ply)
            counts[count, ply] = polled(warm(mona), "table", game)
        counts[count, "over"] = polled(warm(mona), "table", cast.play_to_the_end(game))
        services.dismiss_summary(game=game, player=mona, round_number=1)
        Game.objects.all().delete()
    assert set(counts.values()) == {(304, 3, 0)}, counts


def test_a_poll_of_a_challenge_that_waits_takes_few_statements() -> None:
    mona = cast.person("Mona")
    status, statements, size = polled(warm(mona), "challenge", cast.offer(mona))
    assert (status, size) == (304, 0)
    assert statements <= 3


def test_a_poll_with_news_gets_the_board_and_what_to_ask_with_next() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.sit_down(mona, karim)
    browser = warm(mona)
    url = reverse("games:table", args=[game.pk])
    (tag,) = re.findall(r'hx-ptag="(.*?)"', browser.get(url).content.decode())
    cast.play_one(game)
    response = browser.get(url, headers=cast.HTMX | {"HX-PTag": tag})
    assert response.status_code == 200
    (renewed,) = re.findall(r'hx-ptag="(.*?)"', response.content.decode())
    assert renewed != tag
    assert response["HX-PTag"] == renewed
    assert browser.get(url, headers=cast.HTMX | {"HX-PTag": renewed}).status_code == 304


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
    assert set(counts.values()) == {5}, counts


def test_a_move_that_brings_a_deal_or_ends_a_round_takes_few_more() -> None:
    mona, karim = cast.person("Mona", forced=False), cast.person("Karim", forced=False)
    browsers = {player.pk: warm(player) for player in (mona, karim)}
    game = cast.play_until_ply(cast.sit_down(mona, karim, target=201), 7)
    assert counted_play(browsers[cast.player_to_play(game).pk], game) == 6
    game = cast.play_until_ply(game, 47)
    assert counted_play(browsers[cast.player_to_play(game).pk], game) <= 8


def test_a_move_with_the_computers_reply_takes_few_statements() -> None:
    mona = cast.person("Mona")
    browser = warm(mona)
    game = cast.sit_down_with_the_computer(mona)
    assert counted_play(browser, game) == 8
    assert counted_play(browser, game) == 8


def games_of(player: User, count: int) -> None:
    """Give the player games: few running, the others finished, all with the computer."""
    table = cast.sit_down(cast.the_computer(), player, rules="standard", seed=count)
    template = cast.play_until_ply(table, 5)
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


def test_home_takes_five_statements_however_many_the_games() -> None:
    counts = {}
    for count in (1, 30, 300):
        player = cast.person(f"Mona {count}")
        Game.objects.all().delete()
        games_of(player, count)
        counts[count] = counted_look(warm(player), "home")
    assert set(counts.values()) == {5}, counts


def test_the_open_table_takes_two_statements_however_many_challenges_stand_there() -> None:
    browser = warm(cast.person("Mona"))
    counts = {}
    for count in (1, 30, 60):
        for number in range(Challenge.objects.count(), count):
            cast.offer(cast.person(f"Karim {number}"), listed=True, seed=number)
        counts[count] = counted_look(browser, "open_table")
    assert set(counts.values()) == {2}, counts


def test_the_page_of_a_challenge_takes_three_statements() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    for player in (mona, karim):
        browser = warm(player)
        assert counted_look(browser, "challenge", cast.offer(mona, karim, seed=player.pk)) == 3


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
        assert counted_look(browser, "log", game) == 4
        assert counted_look(browser, "fairness_document", game) == 4


def test_a_visitor_costs_no_statement_at_all() -> None:
    for page in ("home", "rules", "new_challenge"):
        with CaptureQueriesContext(connection) as captured:
            cast.look(cast.browser_of(), page)
        assert len(captured) == 0


def test_offering_and_dealing_take_few_statements() -> None:
    mona = cast.person("Mona")
    cast.the_computer()
    browser = warm(mona)
    form = {
        "level": "easy", "rule_set": engine.DEFAULT_RULE_SET, "target": "round",
        "form_key": str(cast.game_id_of(1)),
    }  # fmt: skip
    with Counted() as counted:
        response = browser.post(reverse("games:play_computer"), form)
    assert response.status_code == 302
    assert len(counted) <= 7
    challenge = Challenge.objects.get()
    with Counted() as counted:
        answer = cast.post(browser, "accept", challenge, {"words": "mine"})
    assert answer.status_code == 302
    assert len(counted) <= 14
