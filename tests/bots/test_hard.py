"""Hard: what it knows, what it plays at the end of the pack, and that it always answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from games.bots import hard
from games.bots.core import core_of
from games.engine import (
    PACK,
    RULE_SETS,
    Basras,
    GameState,
    Pair,
    Play,
    RuleSet,
    Seat,
    SeatView,
    Terms,
    deal,
    legal_plays,
    new_game,
    parse_cards,
    play,
    seat_view,
)
from games.engine.rounds import RoundState
from tests.bots.positions import Past, after_plays, and_then
from tests.engine.helpers import ALL_RULES, at_random, chance_from
from tools.bench.bots import random_deal, rule_sets

LITTLE = 2000
"""An effort that lets a test play many games."""


def seen(state: GameState) -> SeatView:
    return seat_view(state, state.turn)


def lead_of(state: GameState, seat: Seat) -> int:
    return state.totals[seat] - state.totals[seat.other]


def outcome_for(state: GameState, seat: Seat) -> int:
    """1 for a game that ``seat`` has won, -1 for one that it has lost, 0 for one that goes on."""
    if state.outcome is None or state.outcome.winner is None:
        return 0
    return 1 if state.outcome.winner is seat else -1


def best_end(state: GameState, seat: Seat, judge: Callable[[GameState, Seat], int]) -> int:
    """What ``seat`` gets of a round if both see all cards: the plain way, by the engine alone."""
    if state.round is None:
        return judge(state, seat)
    ends = []
    for option in legal_plays(state):
        assert state.turn is not None
        ends.append(best_end(play(state, state.turn, option)[0], seat, judge))
    return max(ends) if state.turn is seat else min(ends)


def made_up(hand: str, floor: str, stock_count: int, rules: RuleSet) -> SeatView:
    """What the non-dealer at A sees at the beginning of a deal that no play need lead to."""
    mine, lying = parse_cards(hand), parse_cards(floor)
    rest = [card for card in PACK if card not in (*mine, *lying)]
    theirs, stock, gone = rest[:4], rest[4 : 4 + stock_count], rest[4 + stock_count :]
    table = RoundState(
        dealer=Seat.B,
        hands=Pair(mine, tuple(theirs)),
        floor=lying,
        stock=tuple(stock),
        piles=Pair((), tuple(gone)),
        basras=Pair(Basras(), Basras()),
        last_capturer=Seat.B,
    )
    return seat_view(GameState(Terms(rules, None), 1, table, Pair(0, 0), 0, Seat.A, None), Seat.A)


def test_the_same_seed_gives_the_same_play_whatever_was_thought_about_before() -> None:
    chance = chance_from("again")
    positions = [after_plays(RULE_SETS["standard"], chance, 11 * n % 40) for n in range(12)]

    def chosen(state: GameState, past: Past) -> Play:
        return hard.choose_play(seen(state), 5, past, LITTLE)

    first = [chosen(*position) for position in positions]
    core_of.cache_clear()
    assert [chosen(*position) for position in reversed(positions)] == first[::-1]


@pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: f"{rules.name}-{rules.base}")
def test_the_end_of_the_pack_is_played_exactly(rules: RuleSet) -> None:
    chance = chance_from(f"end {rules.name} {rules.base}")
    for number in range(12):
        state, _past = after_plays(rules, chance, 42 + number % 5)
        seat = state.turn
        assert seat is not None
        chosen = hard.choose_play(seen(state), number)
        reached = best_end(play(state, seat, chosen)[0], seat, lead_of)
        assert reached == best_end(state, seat, lead_of)


def test_whole_games_by_any_rules_end_without_an_illegal_play() -> None:
    chance = chance_from("games of hard")
    for number, rules in enumerate(rule_sets(chance, 24)):
        state = new_game(Terms(rules, (None, 51, 101)[number % 3]))
        while state.outcome is None and state.round_number < 4:
            state = deal(state, random_deal(chance))
            past: Past = []
            while state.turn is not None:
                # An illegal play raises.
                chosen = hard.choose_play(seen(state), number, past, 600)
                state = and_then(state, past, chosen)


def test_hard_beats_a_player_at_random_by_far() -> None:
    chance, lead = chance_from("against random"), 0
    for number in range(12):
        state = deal(new_game(Terms(RULE_SETS["egyptian_basra_2"], None)), random_deal(chance))
        past: Past = []
        thinks, anyhow = list(Seat)[number % 2], at_random(number)
        while (seat := state.turn) is not None:
            if seat is thinks:
                chosen = hard.choose_play(seen(state), number, past)
            else:
                chosen = anyhow(state)
            state = and_then(state, past, chosen)
        lead += lead_of(state, thinks)
    assert lead > 12 * 10


@pytest.mark.parametrize("number", range(40))
def test_a_game_that_can_be_won_now_is_won_and_one_that_can_be_kept_open_is_not_lost(
    number: int,
) -> None:
    chance = chance_from(f"target {number}")
    state, _past = after_plays(chance.choice(ALL_RULES), chance, 43)
    totals = Pair(chance.randrange(20, 50), chance.randrange(20, 50))
    state = replace(state, terms=Terms(state.terms.rules, 51), totals=totals)
    seat = state.turn
    assert seat is not None
    chosen = hard.choose_play(seen(state), number)
    after, _played = play(state, seat, chosen)
    assert best_end(after, seat, outcome_for) == best_end(state, seat, outcome_for)


def test_an_effort_too_small_for_the_position_still_gives_a_legal_play() -> None:
    chance = chance_from("no effort")
    for plays in range(48):
        state, past = after_plays(RULE_SETS["standard"], chance, plays)
        assert hard.choose_play(seen(state), plays, past, 0) in legal_plays(state)


def test_a_floor_made_to_be_hard_is_answered_within_the_effort() -> None:
    # Dozens of captures for each ten, and hands full of them.
    for rules in ALL_RULES:
        for hidden in (24, 0):
            view = made_up("10S 10H 10D 9S", "AC AD 2C 3C 3D 4C 5C 6C 7C 8C 9C 10C", hidden, rules)
            chosen = hard.choose_play(view, 1)
            assert chosen.capture in {
                frozenset(capture.cards) for capture in view.options()[chosen.card]
            }


def test_only_who_is_to_move_is_asked() -> None:
    state, _past = after_plays(RULE_SETS["standard"], chance_from("turn"), 7)
    assert state.turn is not None
    for seat in (state.turn.other, None):
        with pytest.raises(ValueError, match="on its turn"):
            hard.choose_play(seat_view(state, seat), 1)
