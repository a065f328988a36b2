"""The rules alone: captures on the hardest floors, random rounds, and the computer's choice."""

from __future__ import annotations

import random
import time
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from games import bots
from games.engine import (
    DEFAULT_RULE_SET,
    PACK,
    RULE_SETS,
    Deal,
    GameState,
    InvalidInput,
    Play,
    Seat,
    Terms,
    captures,
    deal,
    legal_plays,
    new_game,
    play,
    seat_view,
)
from games.engine.captures import counts_of, maximal_groups
from tools.bench.floors import TEN, floor_of
from tools.bench.report import Aim, Report, Table

if TYPE_CHECKING:
    from collections.abc import Callable

    type Chooser = Callable[[GameState, Seat], Play]

RULES = RULE_SETS[DEFAULT_RULE_SET]
SEED = 20261130

# Found by `python -m tools.bench.floors` among all floors of so many numerals: the slowest to
# search, and the one with the most captures. Those of 13 and 14 cannot come to lie at a table; they
# are here because the aim was set for any floor.
HARDEST = {
    "8 numerals, slowest": "11122349",
    "8 numerals, most captures": "12222333",
    "13 numerals, slowest": "1233344555678",
    "13 numerals, most captures": "1111222233335",
    "14 numerals, slowest": "11222234455678",
    "14 numerals, most captures": "11112222333378",
    "8 that can lie, slowest": "12234556",
    "8 that can lie, most captures": "11122345",
    "13 that can lie (one is a ten), slowest": "111223456789",
    "13 that can lie (one is a ten), most captures": "112333456789",
}

COLD_RUNS = 51
WARM_RUNS = 1001


def measure(seconds: float) -> Report:
    """Measure for about four times so many seconds."""
    report = Report()
    _captures(report)
    _rounds(report, seconds)
    return report


def _captures(report: Report) -> None:
    rows, searches = [], []
    for name, ranks in HARDEST.items():
        floor = floor_of(ranks)
        search = partial(maximal_groups, TEN.rank, counts_of(floor))
        spelt = partial(captures, RULES, floor, TEN)
        cold, warm = _cold(search) * 1e3, _warm(search) * 1e6
        searches.append((cold, warm))
        rows.append(
            (f"{name}: {ranks}", len(spelt()), cold, warm, _cold(spelt) * 1e3, _warm(spelt) * 1e3)
        )
    report.tables.append(
        Table(
            "What a ten captures (medians)",
            ("floor", "captures", "search, cold ms", "warm us", "with cards, cold ms", "warm ms"),
            rows,
        )
    )
    report.aims += [
        Aim("captures, slowest search, cold, ms", max(cold for cold, _ in searches), 1.0),
        Aim("captures, slowest search, warm, us", max(warm for _, warm in searches), 5.0),
    ]


def _cold(call: Callable[[], object]) -> float:
    def once() -> float:
        maximal_groups.cache_clear()
        return _seconds(call)

    return median(once() for _ in range(COLD_RUNS))


def _warm(call: Callable[[], object]) -> float:
    once = _seconds(call)
    # What takes long needs fewer runs to be told from chance.
    return median(_seconds(call) for _ in range(WARM_RUNS if once < 1e-3 else COLD_RUNS))


def _seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def _rounds(report: Report, seconds: float) -> None:
    chance = random.Random(SEED)  # noqa: S311 - the same rounds on every run

    # The pack is shuffled, so the first card of a hand is as good as any.
    def first_card(state: GameState, seat: Seat) -> Play:
        return Play(state.round.hands[seat][0] if state.round else PACK[0])

    def any_play(state: GameState, seat: Seat) -> Play:
        del seat
        return chance.choice(legal_plays(state))

    def computer(state: GameState, seat: Seat) -> Play:
        return bots.choose_play("medium", seat_view(state, seat), chance.getrandbits(64))

    choosers: dict[str, Chooser] = {
        "a random card and its default capture": first_card,
        "a random one of all legal plays": any_play,
        "the medium computer player against itself": computer,
    }
    rows = [(name, *_rounds_a_second(choose, chance, seconds)) for name, choose in choosers.items()]
    report.tables.append(
        Table("Whole rounds of 48 plays", ("plays", "rounds a core-second", "us a play"), rows)
    )


def _rounds_a_second(choose: Chooser, chance: random.Random, seconds: float) -> tuple[float, float]:
    rounds = 0
    started = time.process_time()
    while (spent := time.process_time() - started) < seconds:
        state = deal(new_game(Terms(RULES, None)), _random_deal(chance))
        while (seat := state.turn) is not None:
            state, _played = play(state, seat, choose(state, seat))
        rounds += 1
    return rounds / spent, spent / rounds / 48 * 1e6


def _random_deal(chance: random.Random) -> Deal:
    while True:
        try:
            return Deal.from_cards(chance.sample(PACK, len(PACK)), Seat.A)
        except InvalidInput:  # a jack or the komi in the first floor
            continue
