"""The computer players at the table, and what happens when one fails or is interrupted."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db.models.functions import Now

from accounts.models import User
from games import bots, engine, selectors, services
from games.engine import Play, Seat, SeatView
from games.models import Game
from games.snapshot import read_play
from games.tasks import finish_computer_replies
from tests import cast


def test_every_level_of_a_user_has_a_way_of_playing() -> None:
    assert list(User.Level) == list(bots.LEVELS)


@pytest.mark.django_db
@pytest.mark.parametrize("level", User.Level)
def test_whoever_sits_at_the_table_plays_by_the_level_and_with_the_seed_of_the_play(
    level: User.Level,
) -> None:
    mona = cast.person("Mona")
    game = cast.play_one(cast.sit_down_with_the_computer(mona, level=level, seed=4))
    for _reply in range(6):
        view, ply = engine.seat_view(cast.state_of(game), Seat.A), game.plies + 1
        past = selectors.plays_since_the_deal(game)
        chosen = bots.choose_play(level, view, bots.seed_of(game.pk, ply), past)
        services.computer_reply(cast.as_it_is(game))
        stored = game.plays.get(ply=ply)
        card, captured, _kind = read_play(game, stored.text)
        assert (stored.seat, Play(card, frozenset(captured))) == ("A", chosen)
        game = cast.play_one(cast.as_it_is(game))


@pytest.fixture
def errors() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setLevel(logging.ERROR)
    logger = logging.getLogger("games")
    logger.addHandler(handler)
    yield stream
    logger.removeHandler(handler)


FAILED = "the computer failed to choose a play"
ILLEGAL = "the computer chose a play that is not legal"


def raises(_level: str, _view: SeatView, _seed: int, _past: object) -> Play:
    raise ZeroDivisionError


def nothing(_level: str, _view: SeatView, _seed: int, _past: object) -> None:
    return None


def a_strange_card(_level: str, view: SeatView, _seed: int, _past: object) -> Play:
    unseen = [card for card in engine.PACK if card not in view.hand]
    return Play(unseen[0], frozenset())


def a_made_up_capture(_level: str, view: SeatView, _seed: int, _past: object) -> Play:
    return Play(view.hand[0], frozenset(engine.PACK[:13]))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("nonsense", "noted"),
    [(raises, FAILED), (nothing, ILLEGAL), (a_strange_card, ILLEGAL), (a_made_up_capture, ILLEGAL)],
)
def test_a_computer_that_fails_plays_a_legal_card_all_the_same_and_it_is_noted(
    nonsense: object, noted: str, errors: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)
    monkeypatch.setattr(bots, "choose_play", nonsense)
    response = cast.post_play(cast.browser_of(mona), game, htmx=True)
    assert response.status_code == 200
    assert cast.as_it_is(game).plies == game.plies + 2
    assert noted in errors.getvalue()
    call_command("audit")


@pytest.mark.django_db
def test_a_computer_that_fails_once_goes_on_by_its_level(
    errors: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)
    browser = cast.browser_of(mona)
    with monkeypatch.context() as failing:
        failing.setattr(bots, "choose_play", raises)
        cast.post_play(browser, game)
    assert errors.getvalue().count(FAILED) == 1
    cast.post_play(browser, game)
    assert cast.as_it_is(game).plies == game.plies + 4
    assert errors.getvalue().count(FAILED) == 1


@pytest.mark.django_db
def test_a_computer_that_always_fails_still_finishes_its_game_with_one_error_a_play(
    errors: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bots, "choose_play", raises)
    game = services.computer_reply(a_game_between_computers())
    assert game.status == Game.Status.FINISHED
    assert errors.getvalue().count(FAILED) == game.plays.filter(forced=False).count()


def a_game_between_computers(seed: int = 1, rules: str = "standard") -> Game:
    first, second = cast.the_computer(User.Level.EASY), cast.the_computer(User.Level.MEDIUM)
    return cast.sit_down(first, second, seed=seed, rules=rules)


@pytest.mark.django_db
@pytest.mark.parametrize("rules", engine.RULE_SETS)
def test_two_computers_play_a_game_to_its_end(rules: str) -> None:
    game = services.computer_reply(a_game_between_computers(rules=rules))
    assert (game.status, game.plies) == (Game.Status.FINISHED, 48)
    call_command("audit")


def interrupted(
    player: User, *, seconds_ago: float, seed: int = 1, level: User.Level = User.Level.EASY
) -> Game:
    """A game in which a person's card was stored, but the computer's reply never was."""
    game = cast.play_one(cast.sit_down_with_the_computer(player, seed=seed, level=level))
    Game.objects.filter(pk=game.pk).update(changed_at=Now() - timedelta(seconds=seconds_ago))
    return game


@pytest.mark.django_db
@pytest.mark.parametrize("level", User.Level)
def test_a_reply_that_was_interrupted_is_finished_by_the_sweep_as_it_would_have_been(
    level: User.Level,
) -> None:
    game = interrupted(cast.person("Mona"), seconds_ago=20, level=level)
    view = engine.seat_view(cast.state_of(game), Seat.A)
    chosen = bots.choose_play(level, view, bots.seed_of(game.pk, game.plies + 1))
    finish_computer_replies.delay()
    after = cast.as_it_is(game)
    assert (after.plies, after.turn) == (game.plies + 1, "B")
    assert after.plays.latest("ply").text.startswith(chosen.card.code)
    stored = cast.everything_stored()
    finish_computer_replies.delay()
    assert cast.everything_stored() == stored


@pytest.mark.django_db
def test_a_reply_that_may_still_be_under_way_is_left_alone() -> None:
    interrupted(cast.person("Mona"), seconds_ago=5)
    stored = cast.everything_stored()
    finish_computer_replies.delay()
    assert cast.everything_stored() == stored


@pytest.mark.django_db
def test_the_sweep_never_plays_for_a_person() -> None:
    mona = cast.person("Mona")
    cast.sit_down(mona, cast.person("Karim"))
    cast.sit_down_with_the_computer(mona, seed=2)
    cast.offer(cast.the_computer(), mona, seed=3)
    Game.objects.update(changed_at=Now() - timedelta(days=3))
    stored = cast.everything_stored()
    finish_computer_replies.delay()
    assert cast.everything_stored() == stored


@pytest.mark.django_db
def test_a_broken_game_does_not_stop_the_sweep_of_the_others(errors: io.StringIO) -> None:
    mona = cast.person("Mona")
    broken = interrupted(mona, seconds_ago=60, seed=1)
    sound = interrupted(mona, seconds_ago=30, seed=2)
    Game.objects.filter(pk=broken.pk).update(hidden=b"damaged")
    finish_computer_replies.delay()
    assert cast.as_it_is(broken).plies == broken.plies
    assert cast.as_it_is(sound).plies == sound.plies + 1
    assert "broken game" in errors.getvalue()


@pytest.mark.django_db
def test_a_person_who_repeats_an_interrupted_move_gets_the_reply_at_once() -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)
    play, version = cast.a_play(game), game.version
    cast.play_one(game, play)
    response = cast.post(
        cast.browser_of(mona), "play", game, cast.form_of(play, version), htmx=True
    )
    assert response.status_code == 200
    assert 'data-phase="play"' in cast.text_of(response)
    assert cast.as_it_is(game).turn == "B"
