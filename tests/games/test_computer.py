"""The computer: what it sees, what it plays, and what happens when it fails or is interrupted."""

from __future__ import annotations

import inspect
import io
import logging
import typing
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db.models.functions import Now

from accounts.models import User
from games import bots, engine, services
from games.bots import choose_play
from games.engine import (
    Card,
    GameState,
    Pair,
    Play,
    RuleSet,
    Seat,
    SeatView,
    Terms,
    parse_cards,
    seat_view,
)
from games.engine.rounds import RoundState
from games.models import Game
from games.tasks import finish_computer_replies
from tests import cast
from tests.engine.helpers import ALL_RULES


def position(hand: str, floor: str, *, rules: str = engine.DEFAULT_RULE_SET) -> SeatView:
    """What seat A sees who is to play ``hand`` on ``floor``, the rest taken or hidden."""
    mine, lying = parse_cards(hand), parse_cards(floor)
    rest = [card for card in engine.PACK if card not in (*mine, *lying)]
    theirs, stock, gone = (
        rest[: len(mine)],
        rest[len(mine) : len(mine) + 16],
        rest[len(mine) + 16 :],
    )
    table = RoundState(
        dealer=Seat.B,
        hands=Pair(mine, tuple(theirs)),
        floor=lying,
        stock=tuple(stock),
        piles=Pair((), tuple(gone)),
        basras=Pair(engine.Basras(), engine.Basras()),
        last_capturer=Seat.B,
    )
    terms = Terms(engine.RULE_SETS[rules], None)
    state = GameState(terms, 1, table, Pair(0, 0), 0, Seat.A, None)
    return seat_view(state, Seat.A)


def test_the_computer_is_given_a_seats_view_and_nothing_else() -> None:
    parameters = inspect.signature(choose_play).parameters
    assert list(parameters) == ["view"]
    assert typing.get_type_hints(choose_play)["view"] is SeatView


@pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: f"{rules.name}-{rules.base}")
def test_over_many_rounds_the_computer_never_plays_what_is_not_legal(rules: RuleSet) -> None:
    for seed in range(34):
        state = engine.deal(engine.new_game(Terms(rules, None)), cast.deal_of(seed))
        while state.turn is not None:
            play = choose_play(seat_view(state, state.turn))
            assert play in engine.legal_plays(state)
            state, _played = engine.play(state, state.turn, play)
        assert state.outcome is not None


def test_equal_views_give_equal_plays() -> None:
    view = position("7C 8D QS 2H", "5D 3C KH")
    assert {choose_play(view) for _ in range(5)} == {choose_play(view)}


@pytest.mark.parametrize(
    ("hand", "floor"),
    [
        ("8C 2D KS QH", "8H"),
        ("8C 2D KS QH", "5D 3C"),
        ("KC 3D 9S 2H", "KH"),
        ("10C AD 2S JH", "6D 4C"),
    ],
)
def test_the_computer_takes_a_basra_that_is_there(hand: str, floor: str) -> None:
    best = choose_play(position(hand, floor))
    assert best == Play(parse_cards(hand)[0], frozenset(parse_cards(floor)))


def test_the_computer_keeps_its_jack_from_an_empty_floor() -> None:
    assert not choose_play(position("JC KD 2S 9H", "")).card.is_jack


def test_the_computer_keeps_its_komi_from_an_empty_floor() -> None:
    assert not choose_play(position("7D KD 2S 9H", "")).card.is_komi


def test_the_computer_sweeps_a_full_floor_with_its_jack_rather_than_lay_a_card() -> None:
    assert choose_play(position("JC KD QS", "9C 8D 6H 5S 4C 3D 2H")).card.is_jack


def test_the_computer_does_not_lay_a_card_that_makes_the_floor_one_basra() -> None:
    # With 2C beside 8S any ten would sweep both; the king cannot be summed.
    assert choose_play(position("2C KD", "8S")).card == Card.parse("KD")


def test_the_computer_beats_the_first_legal_card_over_many_rounds() -> None:
    points = [0, 0]
    for seed in range(40):
        terms = Terms(engine.RULE_SETS[engine.DEFAULT_RULE_SET], None)
        state = engine.deal(engine.new_game(terms), cast.deal_of(seed))
        clever = list(Seat)[seed % 2]
        while state.turn is not None:
            play = (
                choose_play(seat_view(state, clever))
                if state.turn is clever
                else engine.legal_plays(state)[0]
            )
            state, _played = engine.play(state, state.turn, play)
        points[0] += state.totals[clever]
        points[1] += state.totals[clever.other]
    assert points[0] > 1.5 * points[1]


@pytest.fixture
def errors() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setLevel(logging.ERROR)
    logger = logging.getLogger("games")
    logger.addHandler(handler)
    yield stream
    logger.removeHandler(handler)


def raises(_view: SeatView) -> Play:
    raise ZeroDivisionError


def nothing(_view: SeatView) -> None:
    return None


def a_strange_card(view: SeatView) -> Play:
    unseen = [card for card in engine.PACK if card not in view.hand]
    return Play(unseen[0], frozenset())


def a_made_up_capture(view: SeatView) -> Play:
    return Play(view.hand[0], frozenset(engine.PACK[:13]))


@pytest.mark.django_db
@pytest.mark.parametrize("nonsense", [raises, nothing, a_strange_card, a_made_up_capture])
def test_a_computer_that_fails_plays_a_legal_card_all_the_same_and_it_is_noted(
    nonsense: object, errors: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)
    monkeypatch.setattr(bots, "choose_play", nonsense)
    response = cast.post_play(cast.browser_of(mona), game, htmx=True)
    assert response.status_code == 200
    assert cast.as_it_is(game).plies == game.plies + 2
    assert "the computer" in errors.getvalue()
    call_command("audit")


@pytest.mark.django_db
def test_a_computer_that_always_fails_still_finishes_its_game(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bots, "choose_play", raises)
    game = a_game_between_computers()
    assert services.computer_reply(game).status == Game.Status.FINISHED


def a_game_between_computers(seed: int = 1, rules: str = "standard") -> Game:
    first = cast.person(f"Computer one {seed}", kind=User.Kind.COMPUTER)
    second = cast.person(f"Computer two {seed}", kind=User.Kind.COMPUTER)
    return cast.sit_down(first, second, seed=seed, rules=rules)


@pytest.mark.django_db
@pytest.mark.parametrize("rules", engine.RULE_SETS)
def test_two_computers_play_a_game_to_its_end(rules: str) -> None:
    game = services.computer_reply(a_game_between_computers(rules=rules))
    assert (game.status, game.plies) == (Game.Status.FINISHED, 48)
    call_command("audit")


def interrupted(player: User, *, seconds_ago: float, seed: int = 1) -> Game:
    """A game in which a person's card was stored, but the computer's reply never was."""
    game = cast.play_one(cast.sit_down_with_the_computer(player, seed=seed))
    Game.objects.filter(pk=game.pk).update(changed_at=Now() - timedelta(seconds=seconds_ago))
    return game


@pytest.mark.django_db
def test_a_reply_that_was_interrupted_is_finished_by_the_sweep() -> None:
    game = interrupted(cast.person("Mona"), seconds_ago=20)
    finish_computer_replies.delay()
    after = cast.as_it_is(game)
    assert (after.plies, after.turn) == (game.plies + 1, "B")
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
    cast.offer(services.computer_player(), mona, seed=3)
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
