"""Rounds and games: against the slow rules, by property, by counting, and step by step."""

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from games.engine import (
    PACK,
    RULE_SETS,
    TARGETS,
    BasraError,
    Basras,
    Card,
    Deal,
    GameOver,
    GameState,
    IllegalPlay,
    InvalidInput,
    Kind,
    NotYourTurn,
    Outcome,
    Pair,
    Play,
    Reason,
    RuleSet,
    Seat,
    Terms,
    deal,
    dump_state,
    end,
    forced_play,
    format_cards,
    legal_plays,
    new_game,
    play,
    problems,
    resign,
    seat_view,
)
from games.engine.rounds import PLAYS

from . import reference
from .helpers import (
    ALL_RULES,
    at_random,
    cards,
    cases,
    chance_from,
    sealed_deal,
    steps,
    values_of,
)

BASRA_2 = RULE_SETS["egyptian_basra_2"]


def started(rules: RuleSet = BASRA_2, target: int | None = 101, seed: int = 1) -> GameState:
    return deal(new_game(Terms(rules, target)), sealed_deal(rules, seed, 1))


def test_random_games_score_and_end_as_the_slow_rules_say() -> None:
    chance = chance_from("games")
    for seed in range(36):
        rules, target = ALL_RULES[seed % len(ALL_RULES)], chance.choice(TARGETS)
        totals, carried, slow = {"A": 0, "B": 0}, 0, None
        for state, played in steps(Terms(rules, target), seed, at_random(seed)):
            if played is None:
                assert state.round is not None
                dealt = sealed_deal(rules, seed, state.round_number)
                slow = reference.SlowRound(
                    values_of(rules), state.round.dealer, [str(card) for card in dealt.cards]
                )
                continue
            assert slow is not None
            assert slow.turn == played.seat
            kind = slow.play(str(played.card), [str(card) for card in played.captured])
            assert kind == played.kind
            if played.finished is None:
                assert state.round is not None
                assert [str(card) for card in state.round.floor] == slow.floor
                continue
            points, carried = slow.points(carried)
            totals = {seat: totals[seat] + points[seat] for seat in "AB"}
            assert [score.total for score in played.finished.score] == list(points.values())
            assert list(played.finished.totals) == list(state.totals) == list(totals.values())
            assert list(played.finished.cards) == [len(slow.piles[seat]) for seat in "AB"]
            assert played.finished.carried == state.carried == carried
            result = reference.result_after(target, totals, state.round_number)
            winner = None if state.outcome is None else state.outcome.winner or "draw"
            assert winner == result


def test_every_state_of_a_game_is_sound() -> None:
    for seed, rules in enumerate(ALL_RULES):
        for state, _ in steps(Terms(rules, 51), seed, at_random(seed)):
            assert problems(state) == []


def test_a_round_is_six_deals_and_forty_eight_plays() -> None:
    plays, deals = 0, []
    for state, played in steps(Terms(BASRA_2, None), 3, at_random(3)):
        plays += played is not None
        if state.round is not None and (played is None or played.deals_next):
            deals.append((plays, state.round.deal_number))
    assert plays == PLAYS
    assert deals == [(0, 1), (8, 2), (16, 3), (24, 4), (32, 5), (40, 6)]


def test_the_deal_alternates_and_the_non_dealer_plays_first() -> None:
    dealers = []
    for state, played in steps(Terms(BASRA_2, 201), 5, at_random(5)):
        if played is None:
            assert state.round is not None
            assert state.turn is state.round.dealer.other
            dealers.append(state.round.dealer)
    assert len(dealers) > 2
    assert all(one is not next_ for one, next_ in pairwise(dealers))


@pytest.mark.parametrize("case", cases("rounds"), ids=lambda case: case["id"])
def test_the_end_of_every_worked_round_holds(case: dict[str, Any]) -> None:
    """The last plays are set up as the end of a real round, the other cards lying in the piles."""
    rules = RuleSet.from_json(case["rule_set"])
    floor = [Card.parse(code) for code in case["floor"]]
    last = [(Seat(seat), Card.parse(card)) for seat, card in case["last_plays"]]
    capturer = Seat(str(case["last_capturer"]))
    table = started(rules).round
    assert table is not None
    away = tuple(card for card in PACK if card not in floor and card not in dict(last).values())
    hands = {Seat.A: (), Seat.B: ()} | {seat: (card,) for seat, card in last}
    table = replace(
        table,
        dealer=last[-1][0],
        hands=Pair(hands[Seat.A], hands[Seat.B]),
        floor=tuple(floor),
        stock=(),
        piles=table.piles.replace(capturer, away),
        last_capturer=capturer,
    )
    state = replace(started(rules), round=table, next_dealer=table.dealer.other)
    for (seat, card), taken, kind, points in zip(
        last, case["captured"], case["kinds"], case["points"], strict=True
    ):
        state, played = play(state, seat, Play(card))
        assert {str(one) for one in played.captured} == set(taken)
        assert (played.kind, played.points) == (kind, points)
    assert played.finished is not None
    left_over = case["left_over_to"]
    if left_over is None:
        assert (played.finished.left_over, played.finished.left_over_to) == ((), None)
    else:
        assert played.finished.left_over_to == left_over[0]
        assert {str(one) for one in played.finished.left_over} == set(left_over[1])


def test_left_overs_go_to_the_dealer_when_nobody_captured() -> None:
    state = started()
    table = state.round
    assert table is not None
    # No such round can be played, but the rule is there for it.
    table = replace(table, hands=Pair(cards("3C"), ()), floor=cards("9C"), stock=(), dealer=Seat.A)
    state, played = play(replace(state, round=table), Seat.A, Play(Card.parse("3C")))
    assert played.finished is not None
    assert (played.finished.left_over_to, played.finished.cards) == (Seat.A, Pair(2, 0))


def test_left_overs_to_nobody_stay_out_of_both_piles() -> None:
    rules = RuleSet.from_json({"base": "standard", "left_over": "nobody"})
    found = 0
    for seed in range(12):
        for _, played in steps(Terms(rules, None), seed, at_random(seed)):
            if played is not None and played.finished is not None:
                result = played.finished
                found += bool(result.left_over)
                assert result.left_over_to is None
                assert sum(result.cards) + len(result.left_over) == len(PACK)
    assert found


def test_a_basra_with_the_last_card_counts_only_where_the_rules_say_so() -> None:
    for last_card_basra, kind, points in ((True, Kind.BASRA, 10), (False, Kind.NONE, 0)):
        rules = RuleSet.from_json({"base": "standard", "last_card_basra": last_card_basra})
        state = started(rules)
        assert state.round is not None
        table = replace(
            state.round, hands=Pair(cards("9S"), ()), floor=cards("9C"), stock=(), dealer=Seat.A
        )
        state = replace(state, round=table)
        ((shown,),) = seat_view(state, Seat.A).options().values()
        assert (shown.kind, shown.points) == (kind, points)
        _, played = play(state, Seat.A, Play(Card.parse("9S")))
        assert (played.captured, played.kind, played.points) == (cards("9C"), kind, points)


# Counting: how many sequences of plays there are from fixed deals, found by the slow rules.

COUNTS = {
    # (rule set, seed of the deal): sequences of 1, 2 … 9 plays
    ("egyptian_basra", 11): [4, 16, 48, 144, 288, 576, 576, 576, 2304],
    ("egyptian_basra_v2", 12): [4, 16, 48, 146, 292, 584, 584, 584, 2336],
    ("egyptian_basra_2", 13): [4, 16, 51, 153, 344, 688, 802, 802, 3208],
    ("standard", 14): [4, 16, 48, 144, 288, 576, 576, 576, 2304],
}


def count(state: GameState, depth: int) -> int:
    if depth == 0:
        return 1
    assert state.turn is not None
    seat = state.turn
    return sum(count(play(state, seat, one)[0], depth - 1) for one in legal_plays(state))


@pytest.mark.parametrize(("name", "seed"), list(COUNTS))
def test_there_are_as_many_sequences_of_plays_as_the_slow_rules_find(name: str, seed: int) -> None:
    state = started(RULE_SETS[name], seed=seed)
    assert [count(state, depth) for depth in range(1, 10)] == COUNTS[name, seed]


def test_the_counting_table_is_what_the_slow_rules_count() -> None:
    for (name, seed), counts in COUNTS.items():
        dealt = sealed_deal(RULE_SETS[name], seed, 1)
        texts = [str(card) for card in dealt.cards]
        assert dealt.first_dealer is not None
        for depth in (1, 2, 3):
            found = reference.count_sequences(
                reference.RULE_SETS[name], dealt.first_dealer, texts, depth
            )
            assert found == counts[depth - 1]


# What is refused


def refusals(state: GameState) -> list[tuple[object, object]]:
    """Seats and plays that must be refused in ``state``."""
    assert state.round is not None
    assert state.turn is not None
    turn, table = state.turn, state.round
    own, others = table.hands[turn][0], table.hands[turn.other][0]
    return [
        (turn, Play(others)),
        (turn, Play(table.stock[0])),
        (turn, Play(table.floor[0])),
        (turn.other, Play(others)),
        (turn, Play(own, frozenset({own}))),
        (turn, Play(own, frozenset({table.stock[0]}))),
        (turn, Play(own, [table.floor[0]])),  # type: ignore[arg-type]  # wrong on purpose
        (turn, Play((own.suit, own.rank))),  # type: ignore[arg-type]  # wrong on purpose
        (turn, Play(None)),  # type: ignore[arg-type]  # wrong on purpose
        (turn, Play(True)),  # type: ignore[arg-type]  # wrong on purpose
        (turn, Play(1.5)),  # type: ignore[arg-type]  # wrong on purpose
        (turn, own),
        (turn, None),
        ("A", Play(own)),
        (None, Play(own)),
    ]


def test_what_is_no_legal_play_is_refused_and_changes_nothing() -> None:
    for seed, rules in enumerate(ALL_RULES):
        state = started(rules, seed=seed)
        before = dump_state(state)
        for seat, wrong in refusals(state):
            with pytest.raises(BasraError):
                play(state, seat, wrong)  # type: ignore[arg-type]  # wrong on purpose
        assert dump_state(state) == before


def test_the_three_kinds_of_wrong_are_told_apart() -> None:
    state = started()
    assert state.turn is not None
    assert state.round is not None
    turn, table = state.turn, state.round
    with pytest.raises(NotYourTurn):
        play(state, turn.other, Play(table.hands[turn.other][0]))
    with pytest.raises(IllegalPlay):
        play(state, turn, Play(table.hands[turn.other][0]))
    with pytest.raises(InvalidInput):
        play(state, turn, Play("8C"))  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(GameOver):
        play(resign(state, turn), turn, legal_plays(state)[0])
    with pytest.raises(NotYourTurn):
        play(new_game(state.terms), turn, legal_plays(state)[0])


def test_a_card_made_of_floats_becomes_the_card_of_the_hand() -> None:
    state = started()
    assert state.turn is not None
    assert state.round is not None
    own = state.round.hands[state.turn][0]
    wrong = Card(float(own.suit), float(own.rank))  # type: ignore[arg-type]  # wrong on purpose
    _, played = play(state, state.turn, Play(wrong))
    assert type(played.card.rank) is int


def test_a_round_cannot_be_dealt_while_one_is_played_or_the_game_is_over() -> None:
    state = started()
    with pytest.raises(IllegalPlay):
        deal(state, sealed_deal(BASRA_2, 1, 2))
    with pytest.raises(GameOver):
        deal(resign(state, Seat.A), sealed_deal(BASRA_2, 1, 2))
    with pytest.raises(InvalidInput):
        deal(new_game(state.terms), sealed_deal(BASRA_2, 1, 2))


def test_resigning_and_ending_give_an_outcome_with_its_reason() -> None:
    state = started()
    assert resign(state, Seat.A).outcome == Outcome(Seat.B, Reason.RESIGNED)
    assert end(state, Reason.ABORTED).outcome == Outcome(None, Reason.ABORTED)
    assert end(state, Reason.TIME, Seat.A).outcome == Outcome(Seat.A, Reason.TIME)
    assert problems(resign(state, Seat.A)) == []
    for reason, winner in (
        (Reason.SCORE, Seat.A),
        (Reason.CANCELLED, Seat.A),
        (Reason.RESIGNED, None),
    ):
        with pytest.raises(InvalidInput):
            end(state, reason, winner)
    with pytest.raises(GameOver):
        end(resign(state, Seat.A), Reason.ABORTED)


def test_the_last_card_of_a_hand_without_choice_is_forced() -> None:
    state = started()
    assert forced_play(state) is None
    assert state.round is not None
    table = replace(state.round, hands=Pair(cards("6D"), ()), dealer=Seat.A)
    one_way = replace(state, round=replace(table, floor=cards("KC")))
    assert forced_play(one_way) == Play(Card.parse("6D"), frozenset())
    two_ways = replace(state, round=replace(table, floor=cards("2H 3S 5C AH")))
    assert forced_play(two_ways) is None


def test_a_game_after_its_last_possible_round_is_a_draw_with_that_reason() -> None:
    state = replace(started(), round_number=128)
    while state.round is not None and state.turn is not None:
        state, _ = play(state, state.turn, legal_plays(state)[0])
    assert state.outcome == Outcome(None, Reason.ROUND_LIMIT)


@pytest.mark.parametrize("target", [0, 100, 101.0, True, "101"])
def test_a_target_that_is_not_on_the_list_is_refused(target: int) -> None:
    with pytest.raises(InvalidInput):
        Terms(BASRA_2, target)


# What is wrong with a state


def test_problems_names_everything_that_is_wrong_with_a_state() -> None:
    state = started()
    table = state.round
    assert table is not None
    twice = table.stock[:-1] + table.stock[:1]
    broken = [
        replace(state, totals=Pair(-10, 0)),
        replace(state, totals=Pair(30, 0)),
        replace(state, carried=30),
        replace(state, round_number=129),
        replace(state, round_number=0),
        replace(state, next_dealer=None),
        replace(state, next_dealer=table.dealer),
        replace(state, outcome=Outcome(Seat.A, Reason.SCORE)),
        replace(state, outcome=Outcome(None, Reason.RESIGNED)),
        replace(state, round=None, totals=Pair(120, 0)),
        replace(state, round=replace(table, stock=twice)),
        replace(state, round=replace(table, hands=Pair((), ()))),
        replace(state, round=replace(table, last_capturer=Seat.A)),
        replace(state, round=replace(table, floor=table.floor + table.floor[:1])),
        replace(state, round=replace(table, floor=(*table.floor, Card.parse("JS")))),
        replace(state, round=replace(table, basras=Pair(Basras(jack=3), Basras()))),
        replace(state, round=replace(table, basras=Pair(Basras(komi=2), Basras()))),
        replace(state, round=replace(table, basras=Pair(Basras(basra=-1), Basras()))),
    ]
    assert problems(state) == []
    for one in broken:
        assert problems(one), one


def test_a_tied_game_above_the_target_goes_on_and_is_sound() -> None:
    state = replace(new_game(Terms(BASRA_2, 101)), round_number=3, next_dealer=Seat.A)
    assert problems(replace(state, totals=Pair(110, 110))) == []
    assert problems(replace(state, totals=Pair(110, 100))) == ["The game should be over."]


# The view of one seat


def test_a_seat_sees_its_own_hand_and_never_the_other_nor_the_stock() -> None:
    for state, _ in steps(Terms(BASRA_2, 51), 8, at_random(8)):
        table = state.round
        for seat in (*Seat, None):
            view = seat_view(state, seat)
            assert (view.totals, view.turn) == (state.totals, state.turn)
            if table is None:
                assert (view.hand, view.hand_counts, view.dealer) == ((), Pair(0, 0), None)
                continue
            own = table.hands[seat] if seat is not None else ()
            assert view.hand == tuple(sorted(own))
            assert view.stock_count == len(table.stock)
            assert set(view.options()) == set(own)
            hidden = {*table.hands.a, *table.hands.b, *table.stock} - set(own)
            assert not any(repr(card) in repr(view) for card in hidden)


def test_two_games_that_differ_only_in_hidden_cards_look_the_same() -> None:
    state = started()
    table = state.round
    assert table is not None
    other = table.dealer
    swapped = replace(
        table,
        hands=table.hands.replace(other, table.stock[:4]),
        stock=table.hands[other] + table.stock[4:],
    )
    twin = replace(state, round=swapped)
    assert seat_view(twin, other.other) == seat_view(state, other.other)
    assert seat_view(twin, None) == seat_view(state, None)
    assert seat_view(twin, other) != seat_view(state, other)


# Determinism

HASHING = """
from tests.engine.test_games import digest_of_games
print(digest_of_games())
"""


def digest_of_games() -> str:
    digest = hashlib.sha256()
    for seed, rules in enumerate(ALL_RULES):
        for state, _ in steps(Terms(rules, 51), seed, at_random(seed)):
            digest.update(repr((dump_state(state), legal_texts(state))).encode())
    return digest.hexdigest()


def legal_texts(state: GameState) -> list[str]:
    return [f"{one.card} {format_cards(sorted(one.capture or ()))}" for one in legal_plays(state)]


def test_games_are_the_same_whatever_the_hash_seed() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", HASHING],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        for seed in ("0", "1", "2")
    }
    assert digests == {digest_of_games()}


# A machine that does whatever the rules allow, in any order


class AnyGame(RuleBasedStateMachine):
    """Games with the four rule sets and custom ones, played, resigned and dealt on."""

    @initialize(
        rules=st.sampled_from(ALL_RULES), goal=st.sampled_from(TARGETS), seed=st.integers(0, 999)
    )
    def start(self, rules: RuleSet, goal: int | None, seed: int) -> None:
        self.seed = seed
        self.state = new_game(Terms(rules, goal))

    @precondition(lambda self: self.state.round is None and self.state.outcome is None)
    @rule()
    def deal_the_next_round(self) -> None:
        number = self.state.round_number + 1
        self.state = deal(self.state, sealed_deal(self.state.terms.rules, self.seed, number))

    @precondition(lambda self: self.state.turn is not None)
    @rule(choice=st.integers(0, 1000))
    def play_any_legal_card(self, choice: int) -> None:
        assert self.state.turn is not None
        plays = legal_plays(self.state)
        self.state, _ = play(self.state, self.state.turn, plays[choice % len(plays)])

    @precondition(lambda self: self.state.turn is not None)
    @rule(choices=st.lists(st.integers(0, 1000), min_size=8, max_size=48))
    def play_on(self, choices: list[int]) -> None:
        for choice in choices:
            if self.state.turn is not None:
                self.play_any_legal_card(choice)

    @precondition(lambda self: self.state.turn is not None)
    @rule(card=st.sampled_from(PACK), seat=st.sampled_from(list(Seat)))
    def play_any_card_at_all(self, card: Card, seat: Seat) -> None:
        state, table = self.state, self.state.round
        assert table is not None
        legal = seat is state.turn and card in table.hands[seat]
        try:
            self.state, _ = play(state, seat, Play(card))
        except BasraError:
            assert not legal
            assert self.state is state
        else:
            assert legal

    @precondition(lambda self: self.state.outcome is None)
    @rule(seat=st.sampled_from(list(Seat)), really=st.integers(0, 9))
    def resign(self, seat: Seat, really: int) -> None:
        if really == 0:
            self.state = resign(self.state, seat)

    @precondition(lambda self: self.state.outcome is not None)
    @rule(seat=st.sampled_from(list(Seat)), card=st.sampled_from(PACK))
    def nothing_more_happens(self, seat: Seat, card: Card) -> None:
        with pytest.raises(GameOver):
            play(self.state, seat, Play(card))
        with pytest.raises(GameOver):
            resign(self.state, seat)

    @invariant()
    def the_state_is_sound(self) -> None:
        assert problems(self.state) == []

    @invariant()
    def whoever_is_to_move_can(self) -> None:
        assert bool(legal_plays(self.state)) == (self.state.turn is not None)


AnyGame.TestCase.settings = settings(
    max_examples=40,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestAnyGame = AnyGame.TestCase


def test_a_deal_needs_one_whole_pack_and_an_ordinary_first_floor() -> None:
    with pytest.raises(InvalidInput):
        Deal.from_cards(PACK[:51] + PACK[:1])
    with pytest.raises(InvalidInput):
        Deal.from_cards(PACK)  # The floor would be 9C 10C JC QC.
