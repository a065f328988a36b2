"""Ending a game before its cards do: giving up, calling it off, agreeing to cancel it."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from games import engine, fairness, services
from games.models import Event, FinishedRound, Game
from games.services import MOST_ABORTED_GAMES_A_DAY, PLIES_BETWEEN_OFFERS
from games.services.advancing import Advance, store
from games.snapshot import read_state
from tests import cast

pytestmark = pytest.mark.django_db


def two_at_a_table(*, plies: int = 0, seed: int = 1) -> Game:
    """Mona and Karim, who play their last cards themselves, with so many cards played."""
    mona, karim = cast.person("Mona", forced=False), cast.person("Karim", forced=False)
    return cast.play_until_ply(cast.sit_down(mona, karim, seed=seed), plies)


def answer(game: Game, seat: engine.Seat, word: str, *, htmx: bool = False) -> int:
    browser = cast.browser_of(game.player(seat))
    return cast.post(browser, "cancel", game, {"answer": word}, htmx=htmx).status_code


def page_of(game: Game, seat: engine.Seat, page: str = "table") -> str:
    return cast.text_of(cast.look(cast.browser_of(game.player(seat)), page, game))


A, B = engine.Seat.A, engine.Seat.B


@pytest.mark.parametrize("plies", [0, 1, 7, 8, 47])
@pytest.mark.parametrize("seat", engine.Seat)
def test_whoever_resigns_loses_on_turn_or_not(seat: engine.Seat, plies: int) -> None:
    game = two_at_a_table(plies=plies)
    browser = cast.browser_of(game.player(seat))
    asked = cast.look(browser, "resign", game)
    assert "wins it" in cast.text_of(asked)
    assert cast.as_it_is(game).status == Game.Status.RUNNING  # asking is not resigning
    response = cast.post(browser, "resign", game, {})
    assert response.headers["Location"] == reverse("games:table", args=[game.pk])
    over = cast.as_it_is(game)
    assert (over.status, over.winner, over.reason) == ("finished", seat.other, "resigned")
    assert over.turn == ""
    assert "You resigned." in page_of(game, seat)
    assert "You win:" in page_of(game, seat.other)
    call_command("audit")


def test_the_page_that_asks_can_be_left_by_a_link_that_escape_follows() -> None:
    game = two_at_a_table()
    for page in ("resign", "abort"):
        asked = page_of(game, A, page)
        assert "data-escape" in asked
        assert f'href="{reverse("games:table", args=[game.pk])}"' in asked


def test_a_game_that_is_over_cannot_be_ended_again() -> None:
    game = two_at_a_table(plies=3)
    services.resign(game_id=game.pk, player=game.player_a)
    before = cast.everything_stored()
    for seat in engine.Seat:
        browser = cast.browser_of(game.player(seat))
        for page, form in (("resign", {}), ("abort", {}), ("cancel", {"answer": "offer"})):
            if (seat, page) == (A, "resign"):
                continue  # that is what ended it: see the next test
            response = cast.post(browser, page, game, form)
            assert response.status_code == 409
            assert "over already" in cast.text_of(response)
        for page in ("resign", "abort", "more"):
            assert cast.look(browser, page, game).status_code == 302
    assert cast.everything_stored() == before


def test_a_resignation_that_is_sent_again_is_answered_as_once() -> None:
    game = two_at_a_table(plies=3)
    browser = cast.browser_of(game.player_b)
    for _time in range(2):
        assert cast.post(browser, "resign", game, {}).status_code == 302
    assert Event.objects.filter(kind=Event.Kind.RESIGNED).count() == 1


def test_nobody_agrees_to_an_offer_that_was_declined_in_another_tab() -> None:
    game = two_at_a_table(plies=4)
    answer(game, A, "offer")
    read_before = cast.as_it_is(game)
    answer(game, B, "decline")
    led_to = Advance(engine.end(read_state(read_before), engine.Reason.CANCELLED), (), ())
    assert not store(read_before, led_to, answered=read_before.version, agreed_with=A)
    assert cast.as_it_is(game).status == Game.Status.RUNNING


def test_nobody_else_can_end_a_game() -> None:
    game = two_at_a_table()
    for browser in (cast.browser_of(), cast.browser_of(cast.person("Salma"))):
        for page in ("resign", "abort", "cancel", "rematch", "after_move"):
            assert cast.post(browser, page, game, {"answer": "offer"}).status_code == 404
        for page in ("resign", "abort", "game_rules", "more"):
            assert cast.look(browser, page, game).status_code == 404
    assert cast.as_it_is(game).status == Game.Status.RUNNING


@pytest.mark.parametrize("plies", [0, 1])
def test_a_game_is_called_off_before_each_has_played_once(plies: int) -> None:
    game = two_at_a_table(plies=plies)
    assert "Call the game off" in page_of(game, A, "more")
    assert cast.post(cast.browser_of(game.player_a), "abort", game, {}).status_code == 302
    over = cast.as_it_is(game)
    assert (over.status, over.winner, over.reason) == ("finished", "", "aborted")
    for seat in engine.Seat:
        assert "called off before it began" in page_of(game, seat)
    call_command("audit")


def test_once_each_has_played_a_game_cannot_be_called_off() -> None:
    game = two_at_a_table(plies=2)
    assert "Call the game off" not in page_of(game, A, "more")
    response = cast.post(cast.browser_of(game.player_a), "abort", game, {})
    assert response.status_code == 409
    assert "Each of you has played already" in cast.text_of(response)
    assert cast.as_it_is(game).status == Game.Status.RUNNING


def test_three_games_a_day_can_be_called_off_and_the_next_challenge_tells_how_many_were() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    browser = cast.browser_of(mona)
    games = [cast.sit_down(mona, karim, seed=seed) for seed in range(1, 5)]
    for game in games[:MOST_ABORTED_GAMES_A_DAY]:
        assert cast.post(browser, "abort", game, {}).status_code == 302
    refused = cast.post(browser, "abort", games[-1], {})
    assert refused.status_code == 409
    assert "too often" in cast.text_of(refused)
    assert cast.post(cast.browser_of(karim), "abort", games[-1], {}).status_code == 302  # his first
    offered = cast.offer(mona, seed=9)
    page = cast.text_of(cast.look(cast.browser_of(karim), "challenge", offered))
    assert "has called off 3 games" in page
    yesterday = timezone.now() - timedelta(days=1, minutes=1)
    Event.objects.update(at=yesterday)
    assert services.abort(game_id=cast.sit_down(mona, karim, seed=10).pk, player=mona)


def test_the_computer_can_be_called_off_but_never_agrees_to_cancel() -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)
    more = cast.text_of(cast.look(cast.browser_of(mona), "more", game))
    assert "Offer to end the game" not in more
    refused = cast.post(cast.browser_of(mona), "cancel", game, {"answer": "offer"})
    assert refused.status_code == 409
    assert "computer always plays on" in cast.text_of(refused)
    assert cast.post(cast.browser_of(mona), "abort", game, {}).status_code == 302


def test_two_agree_to_cancel_and_the_game_does_not_count() -> None:
    game = two_at_a_table(plies=10)
    assert answer(game, A, "offer") == 302
    assert "offers to end the game" in page_of(game, B)
    assert "You offered to end the game" in page_of(game, A)
    assert answer(game, B, "agree") == 302
    over = cast.as_it_is(game)
    assert (over.status, over.winner, over.reason) == ("finished", "", "cancelled")
    for seat in engine.Seat:
        assert "agreed to end the game; it does not count" in page_of(game, seat)
    call_command("audit")


def test_the_offer_is_still_there_after_the_one_who_made_it_has_played() -> None:
    game = two_at_a_table(plies=4)
    offering = cast.seat_to_play(game)
    answer(game, offering, "offer")
    cast.play_one(game)
    page = page_of(game, offering.other)
    assert 'value="agree"' in page
    assert 'value="decline"' in page


def test_declining_ends_the_offer_for_both_with_a_line_in_the_log() -> None:
    game = two_at_a_table(plies=4)
    answer(game, A, "offer")
    answer(game, B, "decline")
    for seat in engine.Seat:
        assert 'value="agree"' not in page_of(game, seat)
    assert "Karim\u2069 declined to end the game." in page_of(game, A, "log")
    assert "You declined to end the game." in page_of(game, B, "log")
    assert cast.as_it_is(game).status == Game.Status.RUNNING
    assert answer(game, B, "agree") == 409  # there is nothing to agree to any more


def test_playing_on_ends_the_offer_for_both_with_a_line_in_the_log() -> None:
    game = two_at_a_table(plies=4)
    asked = cast.seat_to_play(game)
    answer(game, asked.other, "offer")
    cast.play_one(game)
    for seat in engine.Seat:
        assert 'value="agree"' not in page_of(game, seat)
    assert "You played on, so the offer" in page_of(game, asked, "log")
    assert "played on, so the offer" in page_of(game, asked.other)
    assert cast.as_it_is(game).cancel_offer == ""


def test_an_offer_is_not_repeated_before_enough_cards_were_played() -> None:
    game = two_at_a_table(plies=4)
    answer(game, A, "offer")
    answer(game, B, "decline")
    assert answer(game, A, "offer") == 409
    assert answer(game, B, "offer") == 302  # the other has not asked yet
    answer(game, A, "decline")
    cast.play_until_ply(game, 4 + PLIES_BETWEEN_OFFERS)
    assert answer(game, A, "offer") == 302


def test_offering_twice_is_offering_once_and_two_offers_are_an_agreement() -> None:
    game = two_at_a_table(plies=4)
    answer(game, A, "offer")
    answer(game, A, "offer")
    assert Event.objects.filter(kind=Event.Kind.CANCEL_OFFERED).count() == 1
    answer(game, B, "offer")
    assert cast.as_it_is(game).reason == "cancelled"


def test_the_last_card_ends_the_game_and_an_open_offer_with_it() -> None:
    game = two_at_a_table(plies=46)
    answer(game, cast.seat_to_play(game), "offer")
    over = cast.play_to_the_end(game)
    assert over.status == Game.Status.FINISHED
    assert over.cancel_offer == ""
    call_command("audit")


@pytest.mark.parametrize("word", ["", "perhaps", "OFFER"])
def test_an_answer_that_is_none_changes_nothing(word: str) -> None:
    game = two_at_a_table(plies=4)
    before = cast.everything_stored()
    assert answer(game, A, word) == 400
    assert cast.everything_stored() == before


@pytest.mark.parametrize("how", ["resign", "abort", "cancel"])
def test_a_round_that_was_broken_off_is_revealed_with_the_end_and_not_before(how: str) -> None:
    game = two_at_a_table(plies=1 if how == "abort" else 20)
    running = fairness.document(cast.as_it_is(game))
    assert running["rounds"] == []
    if how == "cancel":
        answer(game, A, "offer")
        answer(game, B, "agree")
    else:
        cast.post(cast.browser_of(game.player_a), how, game, {})
    (revealed,) = fairness.document(cast.as_it_is(game))["rounds"]
    assert revealed["deck"] == engine.format_cards(cast.deal_of(1).deck)
    assert bytes.fromhex(revealed["secret"]) == engine.secret_of_round(
        cast.tip_of(1), engine.ROUNDS_SEALED, 1
    )
    assert FinishedRound.objects.get().result is None
    for seat in engine.Seat:
        assert "Points of the round" not in page_of(game, seat)  # it was not counted
        assert page_of(game, seat, "log")


def test_between_rounds_nothing_is_broken_off_twice() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.play_until_ply(cast.sit_down(mona, karim, target=201), 50)
    services.resign(game_id=game.pk, player=mona)
    numbers = [(one.number, one.result is None) for one in FinishedRound.objects.order_by("number")]
    assert numbers == [(1, False), (2, True)]
    assert "Round 1" in page_of(game, A)  # the summary of the round that was counted
    call_command("audit")


def test_a_finished_game_shows_its_result_and_a_rematch_whenever_it_is_opened() -> None:
    game = cast.play_to_the_end(two_at_a_table())
    Game.objects.update(changed_at=timezone.now() - timedelta(days=7))
    for _time in range(2):
        for seat in engine.Seat:
            page = page_of(game, seat)
            assert "Points of the round" in page
            assert "Rematch" in page


def test_the_summary_of_a_round_that_was_broken_off_cannot_be_put_away() -> None:
    game = two_at_a_table(plies=20)
    services.resign(game_id=game.pk, player=game.player_a)
    cast.post(cast.browser_of(game.player_b), "seen", game, {"round": "1"})
    call_command("audit")


def test_an_offer_is_announced_once() -> None:
    game = two_at_a_table(plies=4)
    answer(game, A, "offer")
    announced = re.search(r'data-announce="(.*?)"', page_of(game, B))
    assert announced is not None
    assert announced[1].count("offers to end the game") == 1


def test_what_happened_after_a_round_is_not_told_before_its_summary_was_seen() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.play_until_ply(cast.sit_down(mona, karim, target=201), 49)
    services.offer_to_cancel(game_id=game.pk, player=mona)
    steps = page_of(game, B).partition("Points of the round")[0].partition('class="steps"')[2]
    assert "Round 1 is over." in steps
    assert "offers to end" not in steps
