"""Since I was here: everything that happened is told step by step, across deals and rounds."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.urls import reverse

from games import engine, selectors, services
from games.engine import Seat
from games.models import Event, FinishedRound, Game, Play
from games.selectors import PLAYS_AT_THE_TABLE
from games.table import Note, Step, log_rounds
from tests import cast

pytestmark = pytest.mark.django_db

DEAL = "Four new cards each are dealt."


def told_to(game: Game, seat: Seat) -> list[str]:
    """The sentences of "Last plays", in order."""
    page = cast.text_of(cast.look(cast.browser_of(game.player(seat)), "table", game))
    steps = re.search(r'class="steps".*?</section>', page, re.DOTALL)
    assert steps is not None
    return re.findall(r'<span class="words">(.*?)</span>', steps[0])


def two_at_a_table(target: int | None = None, *, forced: bool = False) -> Game:
    mona, karim = cast.person("Mona", forced=forced), cast.person("Karim", forced=forced)
    return cast.sit_down(mona, karim, target=target)


@pytest.mark.parametrize("forced", [True, False])
def test_at_every_moment_all_since_my_last_choice_is_told_in_order(*, forced: bool) -> None:
    game = two_at_a_table(51, forced=forced)
    browsers = {seat: cast.browser_of(game.player(seat)) for seat in Seat}
    for _move in range(52):
        game = cast.as_it_is(game)
        if not game.turn:
            break
        for seat, browser in browsers.items():
            for _summary in range(2):
                seen = cast.as_it_is(game)
                number = (seen.seen_a if seat is Seat.A else seen.seen_b) + 1
                cast.post(browser, "seen", game, {"round": str(number)})
            plays = list(Play.objects.filter(game=game).order_by("ply"))
            chosen = [play.ply for play in plays if play.seat == seat and not play.forced]
            since = [play for play in plays if play.ply >= (chosen[-1] if chosen else 0)]
            expected: list[str] = []
            for play in since[-PLAYS_AT_THE_TABLE:]:
                expected.append(engine.read_play(play.text)[0].code)
                if play.ply % 48 == 0:
                    expected.append(f"Round {play.round_number} is over.")
                elif play.ply % 8 == 0:
                    expected.append(DEAL)
            told = told_to(game, seat)
            assert len(told) == len(expected)
            for sentence, what in zip(told, expected, strict=True):
                if sentence.startswith(("Round", "Four")):
                    assert sentence == what
                else:
                    assert "played" in sentence
            assert len(since) <= PLAYS_AT_THE_TABLE  # nothing that happened is left out
        cast.play_one(game)


def test_the_last_card_of_a_deal_and_the_new_cards_are_told_apart() -> None:
    game = cast.play_until_ply(two_at_a_table(), 8)
    last = Play.objects.get(game=game, ply=8)
    told = told_to(game, Seat(last.seat).other)
    assert told[-1] == DEAL
    assert f"{game.player(Seat(last.seat)).name}\u2069 played" in told[-2]


def test_a_round_that_ended_is_told_and_counted_before_what_came_after_it() -> None:
    game = cast.play_until_ply(two_at_a_table(201), 49)  # the next round has begun
    reader = Seat(Play.objects.get(game=game, ply=49).seat).other
    before = told_to(game, reader)
    assert before[-1] == "Round 1 is over."
    page = cast.text_of(cast.look(cast.browser_of(game.player(reader)), "table", game))
    assert "Points of the round" in page
    cast.post(cast.browser_of(game.player(reader)), "seen", game, {"round": "1"})
    after = told_to(game, reader)
    assert len(after) == len(before) + 1
    assert "played" in after[-1]


def test_a_reader_who_cannot_see_hears_the_same() -> None:
    game = cast.play_until_ply(two_at_a_table(), 8)
    reader = Seat(Play.objects.get(game=game, ply=8).seat).other
    page = cast.text_of(cast.look(cast.browser_of(game.player(reader)), "table", game))
    announced = re.search(r'data-announce="(.*?)"', page)
    assert announced is not None
    assert DEAL in announced[1]


def test_an_offer_and_its_answer_stand_between_the_plays_where_they_happened() -> None:
    game = cast.play_until_ply(two_at_a_table(), 3)
    services.offer_to_cancel(game_id=game.pk, player=game.player_a)
    services.decline_to_cancel(game_id=game.pk, player=game.player_b)
    game = cast.play_until_ply(game, 5)
    plays = list(game.plays.order_by("ply"))
    (round_,) = log_rounds(game, plays, [], list(game.events.order_by("pk")), Seat.A)
    kinds = ["play" if isinstance(step, Step) else step.sentence for step in round_.steps]
    assert kinds == [
        "play", "play", "play",
        "You offered to end the game uncounted.",
        "\u2068Karim\u2069 declined to end the game.",
        "play", "play",
    ]  # fmt: skip
    assert all(isinstance(step, Step | Note) for step in round_.steps)


def test_a_game_that_was_resigned_before_any_card_has_a_log_that_says_so() -> None:
    game = two_at_a_table()
    services.resign(game_id=game.pk, player=game.player_b)
    page = cast.text_of(cast.look(cast.browser_of(game.player_a), "log", game))
    assert "Karim\u2069 resigned." in page


def test_a_board_that_a_play_overtook_is_renewed_by_the_next_poll(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The other plays after the row was read and before the rest of the page was."""
    game = two_at_a_table()
    waits = cast.seat_to_play(game).other
    browser = cast.browser_of(game.player(waits))
    once = selectors.latest_plays

    def and_then_the_other_plays(read: Game) -> list[Play]:
        monkeypatch.setattr(selectors, "latest_plays", once)
        cast.play_one(game)
        return once(read)

    monkeypatch.setattr(selectors, "latest_plays", and_then_the_other_plays)
    old = cast.text_of(cast.look(browser, "table", game))
    assert 'data-phase="wait"' in old
    assert 'class="words"' not in old  # nor a play that its floor does not show yet
    (tag,) = re.findall(r'hx-ptag="(.*?)"', old)
    url = reverse("games:table", args=[game.pk])
    polled = browser.get(url, headers=cast.HTMX | {"HX-PTag": tag})
    assert polled.status_code == 200
    assert 'data-phase="play"' in polled.content.decode()


def test_a_page_that_could_not_be_made_is_asked_for_again() -> None:
    game = two_at_a_table()
    browser = cast.browser_of(game.player_a, tells_errors=False)
    Game.objects.update(hidden=b"damaged")
    url = reverse("games:table", args=[game.pk])
    broken = browser.get(url, headers=cast.HTMX | {"HX-PTag": "0...:0"})
    assert broken.status_code == 503
    assert "HX-PTag" not in broken.headers


@pytest.mark.parametrize(
    "damage",
    [
        lambda _game: Event.objects.update(kind="danced"),
        lambda _game: Event.objects.update(seat="X"),
        lambda _game: Play.objects.update(seat="X"),
        lambda _game: Play.objects.update(text="nothing"),
        lambda _game: FinishedRound.objects.update(dealer="X"),
        lambda _game: FinishedRound.objects.update(result={}),
    ],
    ids=["kind of event", "seat of event", "seat of play", "text of play", "dealer", "result"],
)
def test_whatever_is_damaged_no_page_falls_over_and_the_others_are_listed(
    damage: Callable[[Game], object],
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.play_until_ply(cast.sit_down(mona, karim, target=201), 50)
    services.offer_to_cancel(game_id=game.pk, player=mona)
    services.resign(game_id=game.pk, player=karim)
    damage(game)
    browser = cast.browser_of(mona, tells_errors=False)
    cast.sit_down(mona, karim, seed=2)
    assert cast.text_of(cast.look(browser, "home")).count("<article") == 2
    for page in ("table", "log", "fairness", "fairness_document", "replay", "record"):
        assert cast.look(browser, page, game).status_code in (200, 503), page


def attribute(page: str, name: str) -> str:
    found = re.search(rf'data-{name}="(.*?)"', page)
    assert found is not None
    return found[1]


def test_the_title_says_what_the_page_says() -> None:
    game = two_at_a_table(51)
    browsers = {seat: cast.browser_of(game.player(seat)) for seat in Seat}
    game = cast.play_until_ply(game, 48)
    page = cast.text_of(cast.look(browsers[Seat.A], "table", game))
    assert attribute(page, "title").startswith("Round 1 is over.")
    if cast.as_it_is(game).turn:
        services.resign(game_id=game.pk, player=game.player_b)
    page = cast.text_of(cast.look(browsers[Seat.A], "table", game))
    result = re.search(r'class="result[^>]*>(.*?)</h2>', page)
    assert result is not None
    assert attribute(page, "title") == f"{result[1]} – Basra"
    assert f"{result[1]} – Basra</title>" in page


def test_a_rematch_that_is_offered_is_spoken_and_old_plays_are_not_spoken_again() -> None:
    game = cast.play_to_the_end(two_at_a_table())
    services.offer_rematch(game_id=game.pk, player=game.player_a)
    page = cast.text_of(cast.look(cast.browser_of(game.player_b), "table", game))
    assert "Mona\u2069 offers a rematch." in attribute(page, "announce")
    news = attribute(page, "news")
    assert "Mona\u2069 offers a rematch." in news
    assert "played" not in news


def test_a_game_that_is_over_shows_no_backs_and_no_dealer() -> None:
    game = cast.play_until_ply(two_at_a_table(), 3)
    services.resign(game_id=game.pk, player=game.player_a)
    page = cast.text_of(cast.look(cast.browser_of(game.player_b), "table", game))
    assert "#back" not in page
    assert "deals" not in page
