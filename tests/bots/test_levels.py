"""The levels: what they see, what easy and medium would never do, and who wins."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from games import bots
from games.bots import easy, medium
from games.dueling.matches import Duel, play_match
from games.dueling.report import points, wins
from games.engine import (
    RULE_SETS,
    Card,
    GameState,
    Play,
    RuleSet,
    Seat,
    SeatView,
    Terms,
    legal_plays,
    seat_view,
)
from tests.bots.positions import after_plays, seen
from tests.engine.helpers import ALL_RULES, chance_from, steps

# `BASRA_HIDDEN_POSITIONS=1000 BASRA_HIDDEN_DEALS=50` looks at more of them.
POSITIONS = int(os.environ.get("BASRA_HIDDEN_POSITIONS", "30"))
DEALS = int(os.environ.get("BASRA_HIDDEN_DEALS", "4"))

type Level = Callable[[SeatView, int], Play]

LEVELS = [pytest.param(easy.choose_play, id="easy"), pytest.param(medium.choose_play, id="medium")]
STANDARD = RULE_SETS["standard"]


def plays_of(level: Level, hand: str, floor: str, *, times: int = 200) -> Counter[str]:
    """How often each card of ``hand`` is played, over so many seeds."""
    view = seen(hand, floor)
    return Counter(level(view, seed).card.code for seed in range(times))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: f"{rules.name}-{rules.base}")
def test_over_whole_rounds_no_level_plays_what_is_not_legal(level: Level, rules: RuleSet) -> None:
    def choose(state: GameState) -> Play:
        assert state.turn is not None
        chosen = level(seat_view(state, state.turn), 1)
        assert chosen in legal_plays(state)
        return chosen

    for seed in range(15):
        *_, (last, _played) = steps(Terms(rules, None), seed, choose)
        assert last.outcome is not None


def otherwise_hidden(state: GameState, seed: int) -> GameState:
    """The same game as the seat to move sees it, with the cards it does not see changed about."""
    table, seat = state.round, state.turn
    assert table is not None
    assert seat is not None
    theirs = table.hands[seat.other]
    hidden = [*theirs, *table.stock]
    chance_from(seed).shuffle(hidden)
    hands = table.hands.replace(seat.other, tuple(hidden[: len(theirs)]))
    return replace(state, round=replace(table, hands=hands, stock=tuple(hidden[len(theirs) :])))


@pytest.mark.parametrize("level", bots.LEVELS)
def test_the_play_is_the_same_whatever_the_hidden_cards_are(level: str) -> None:
    chance = chance_from(f"hidden from {level}")
    for number in range(POSITIONS):
        rules = ALL_RULES[number % len(ALL_RULES)]
        state, past = after_plays(rules, chance, chance.randrange(48))
        chosen = bots.choose_play(level, seat_view(state, state.turn), number, past)
        for other in range(DEALS):
            changed = otherwise_hidden(state, other)
            view = seat_view(changed, state.turn)
            assert bots.choose_play(level, view, number, past) == chosen


@pytest.mark.parametrize("level", LEVELS)
def test_only_who_is_to_move_is_asked(level: Level) -> None:
    view = seen("2C 3C", "KH")
    for elsewhere in (replace(view, turn=Seat.B), replace(view, seat=None)):
        with pytest.raises(ValueError, match="on its turn"):
            level(elsewhere, 1)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("hand", "floor"), [("8C 2D KS QH", "8H"), ("KC 3D 9S 2H", "KH")])
def test_a_basra_that_lies_open_is_always_taken(level: Level, hand: str, floor: str) -> None:
    assert plays_of(level, hand, floor).keys() == {hand.split()[0]}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("hand", ["JC KD 2S 9H", "7D KD 2S 9H", "JC 7D JH 9H"])
def test_a_jack_or_the_komi_is_never_laid_on_an_empty_floor(level: Level, hand: str) -> None:
    assert not plays_of(level, hand, "").keys() & {"JC", "JH", "7D"}


@pytest.mark.parametrize("level", LEVELS)
def test_a_jack_sweeps_a_full_floor(level: Level) -> None:
    assert plays_of(level, "JC KD QS", "9C 8D 6H 5S 4C 3D 2H").keys() == {"JC"}


# Easy


def test_easy_overlooks_a_sum_now_and_then_and_a_long_one_oftener() -> None:
    short = plays_of(easy.choose_play, "10C KD QS", "6H 4S 9C")["10C"]
    long = plays_of(easy.choose_play, "10C KD QS", "2D 3H 5S 9C")["10C"]
    # An overlooked ten may be laid down all the same.
    assert 200 > short > long > 200 // 3


def test_easy_never_overlooks_a_card_of_the_same_rank() -> None:
    assert plays_of(easy.choose_play, "9D KD QS 2H", "9C 5H").keys() == {"9D"}


def test_easy_sometimes_spends_a_jack_on_little_and_more_often_keeps_it() -> None:
    spent = plays_of(easy.choose_play, "JC KD QS 2H", "9C 5H")["JC"]
    assert 0 < spent < 100


def test_easy_makes_other_mistakes_with_another_seed_and_the_same_with_the_same() -> None:
    view = seen("10C KD QS 2H", "6H 4S 9C")
    assert len({easy.choose_play(view, seed) for seed in range(50)}) > 1
    assert all(len({easy.choose_play(view, seed) for _ in range(5)}) == 1 for seed in range(20))


# Medium


def test_medium_lays_the_card_that_the_other_can_no_longer_take() -> None:
    # Both other kings are gone, all queens but one may still be about.
    view = seen("KD QD", "", unseen="QS QC 2C 3C 4C 5C 6C 8C 9C 10C")
    assert {medium.choose_play(view, seed).card for seed in range(20)} == {Card.parse("KD")}


def test_medium_does_not_make_the_floor_one_basra() -> None:
    # With 2C beside 8S any ten would sweep both; the king cannot be summed.
    assert plays_of(medium.choose_play, "2C KD", "8S", times=20).keys() == {"KD"}


def test_medium_keeps_its_jack_from_a_single_card() -> None:
    assert "JC" not in plays_of(medium.choose_play, "JC KD QS 9H", "2C", times=20)


def test_medium_decides_by_the_seed_between_plays_that_are_equally_good() -> None:
    # Two kings on an empty floor are the same to everybody.
    assert plays_of(medium.choose_play, "KD KS", "", times=50).keys() == {"KD", "KS"}


# Who wins


def test_hard_beats_medium() -> None:
    duel = Duel("hard", "medium", Terms(STANDARD, None), seed=5)
    assert points([play_match(duel, number) for number in range(20)]).mean > 0


@pytest.mark.parametrize(("first", "second"), [("easy", "random"), ("medium", "easy")])
@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=lambda rules: rules.name)
def test_each_level_beats_the_one_below(first: str, second: str, rules: RuleSet) -> None:
    duel = Duel(first, second, Terms(rules, None), seed=5)
    assert points([play_match(duel, number) for number in range(25)]).low > 0


def test_medium_wins_more_than_four_rounds_of_five_against_play_at_random() -> None:
    duel = Duel("medium", "random", Terms(STANDARD, None), seed=5)
    assert wins([play_match(duel, number) for number in range(40)]).mean > 0.8
