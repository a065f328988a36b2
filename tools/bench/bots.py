"""The computer players: their core against the engine, how fast it is, and what a play costs."""

from __future__ import annotations

import gc
import random
import time
from statistics import median
from typing import TYPE_CHECKING

from games import bots
from games.bots import SeenPlay, hard, seen_after
from games.bots.core import CARDS_MASK, POINTS, Core, core_of
from games.engine import (
    DEFAULT_RULE_SET,
    PACK,
    RULE_SETS,
    Card,
    Deal,
    InvalidInput,
    Play,
    RuleSet,
    Seat,
    Terms,
    captures,
    deal,
    legal_plays,
    new_game,
    play,
    seat_view,
)
from tools.bench.report import Aim, Report, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SEED = 20261130
ROUNDS_COMPARED = 100_000
PLAYS = 48

_POINTS = (0, 1, 7, 10, 25, 30, 100)
_CHOICES: dict[str, tuple[object, ...]] = {
    "komi_basra_test": ("any value", "ten or less"),
    "komi_on_lone_jack": ("jack", "none"),
    "komi_alone": ("any card", "ordinary seven"),
    "jack_on_lone_komi": ("komi", "none"),
    "komi_among_others": ("any card", "ordinary seven"),
    "majority": _POINTS,
    "equal_cards": ("nobody", "carried"),
    "basra": _POINTS,
    "jack_basra": _POINTS,
    "komi_basra": _POINTS,
    "single_cards": ("none", "2C", "2S"),
    "last_card_basra": (True, False),
    "left_over": ("last capturer", "nobody"),
}


def measure(seconds: float, games: int) -> Report:
    """Compare the core with the engine, time it, and let the levels play so many rounds."""
    report = Report()
    _equal(report)
    _playouts(report, seconds)
    # The garbage of all that came before would be looked through in the middle of a play.
    gc.freeze()
    _games(report, games)
    gc.unfreeze()
    return report


# The core against the engine


def _equal(report: Report) -> None:
    chance = random.Random(SEED)  # noqa: S311 - the same rounds on every run
    wrong = 0
    for rules in rule_sets(chance, ROUNDS_COMPARED):
        wrong += difference(rules, chance) is not None
    report.aims.append(
        Aim(
            f"rounds of {ROUNDS_COMPARED:,} that core and engine see differently",
            wrong,
            0,
            binding=True,
        )
    )


def rule_sets(chance: random.Random, count: int) -> Iterator[RuleSet]:
    """So many rule sets: the named ones in turn, and between them others made up at random.

    Of the others each is used for some rounds, for what a core remembers is part of the test.
    """
    named = list(RULE_SETS.values())
    made_up = named[0]
    for number in range(count):
        if number % 40 == 0:
            own = {key: chance.choice(values) for key, values in _CHOICES.items()}
            made_up = RuleSet.from_json({"base": chance.choice(named).name, **own})
        yield made_up if number % 2 else named[number // 2 % len(named)]


def difference(rules: RuleSet, chance: random.Random) -> str | None:
    """Play a random round with the engine, follow it with the core, and say where they part.

    The core has to find as many plays that differ as the engine has, the one made among them, and
    to count the same cards and points in the end.
    """
    core = core_of(rules)
    state = deal(new_game(Terms(rules, None)), random_deal(chance))
    gains = {Seat.A: 0, Seat.B: 0}
    while (seat := state.turn) is not None and (table := state.round) is not None:
        floor = core.floor(table.floor)
        chosen = chance.choice(legal_plays(state))
        taken = chosen.capture or frozenset()
        options = {
            _left(core, table.floor, one.cards, chosen.card)
            for one in captures(rules, table.floor, chosen.card)
        }
        outcomes = core.outcomes(floor, core.kind(chosen.card))
        at = f"{rules}: {chosen} on {table.floor}"
        if sorted(after for after, _, _ in outcomes) != sorted(options):
            return f"other captures, {at}"
        after = _left(core, table.floor, taken, chosen.card)
        gain, plain = next(rest for one, *rest in outcomes if one == after)
        gains[seat] += plain if table.on_last_card and not rules.last_card_basra else gain
        state, played = play(state, seat, chosen)
        result = played.finished
        if result is None:
            continue
        if result.left_over_to is not None:
            gains[result.left_over_to] += core.gain_of(core.floor(result.left_over))
        for one in Seat:
            score = result.score[one]
            points = score.total - score.majority - score.carried_won
            if gains[one] != points << POINTS | result.cards[one]:
                return f"{gains[one] >> POINTS} points and {gains[one] & CARDS_MASK} cards, {at}"
    return None


def _left(core: Core, floor: Sequence[Card], taken: Iterable[Card], card: Card) -> int:
    """Return the floor that is left when a card has taken these, or stays where it takes none."""
    left = [lying for lying in floor if lying not in taken]
    return core.floor(left if len(left) < len(floor) else [*left, card])


def random_deal(chance: random.Random) -> Deal:
    """Return a deal of a shuffled pack."""
    while True:
        try:
            return Deal.from_cards(chance.sample(PACK, len(PACK)), chance.choice(list(Seat)))
        except InvalidInput:  # a jack or the komi in the first floor
            continue


# How fast it is


def _playouts(report: Report, seconds: float) -> None:
    rules = RULE_SETS[DEFAULT_RULE_SET]
    core, chance = core_of(rules), random.Random(SEED)  # noqa: S311 - the same rounds on every run
    pack = [core.kind(card) for card in PACK]
    rows: list[tuple[str, float]] = []
    # Twice, for the core gets faster the more floors it has met.
    for name in ("core, from nothing", "core, after that"):
        rounds, started = 0, time.process_time()
        while (spent := time.process_time() - started) < seconds:
            for _ in range(100):
                chance.shuffle(pack)
                play_out(core, pack)
            rounds += 100
        rows.append((name, rounds / spent))
    report.aims.append(
        Aim("rounds played out by the core, a core-second", rows[-1][1], 20_000, at_least=True)
    )
    rounds, started = 0, time.process_time()
    while (spent := time.process_time() - started) < seconds:
        state = deal(new_game(Terms(rules, None)), random_deal(chance))
        while (seat := state.turn) is not None and state.round is not None:
            state, _played = play(state, seat, Play(state.round.hands[seat][0]))
        rounds += 1
    rows.append(("engine", rounds / spent))
    report.tables += [
        Table("Random rounds of 48 plays, shuffle and all", ("by", "rounds a core-second"), rows),
        Table(
            "What 100 ms of one core are enough for",
            ("what", "number"),
            [
                (
                    "looks of hard at what a card does to a floor",
                    median(looks_a_second(chance) for _ in range(9)) / 10,
                ),
                ("plays of the engine", rounds / spent * PLAYS / 10),
            ],
        ),
    ]


def play_out(core: Core, pack: Sequence[int]) -> tuple[int, int]:
    """Play the kinds of a shuffled pack in the order dealt; return both gains, left-overs not.

    In a shuffled pack the next card of a hand is as good as any: it is a random round.
    """
    known, gains, seat = core.known, [0, 0], 0
    floor = sum(1 << 4 * kind for kind in pack[8:12])
    for kind in (*pack[:8], *pack[12:]):
        try:
            outcomes = known[kind][floor]
        except KeyError:
            outcomes = core.outcomes(floor, kind)
        floor, gain, _ = outcomes[0]
        gains[seat] += gain
        seat = 1 - seat
    return gains[0], gains[1]


def _games(report: Report, number: int) -> None:
    chance = random.Random(SEED)  # noqa: S311 - the same games on every run
    spent: dict[str, list[float]] = {level: [] for level in bots.LEVELS}
    for rules in rule_sets(chance, number):
        play_game(Terms(rules, None), chance, spent)
    report.tables.append(
        Table(
            f"{number:,} rounds of players of all levels, by all kinds of rules: ms of one core",
            ("level", "plays", "median", "three of four", "99 of 100", "most"),
            [(level, len(times), *_shares(times)) for level, times in spent.items() if times],
        )
    )
    for limit in (100.0, 150.0):
        slower = sum(one * 1e3 > limit for times in spent.values() for one in times)
        report.aims.append(
            Aim(f"plays of a computer player that take over {limit:.0f} ms", slower, 0)
        )


def _shares(times: list[float]) -> list[float]:
    times.sort()
    return [times[len(times) * part // 100] * 1e3 for part in (50, 75, 99)] + [times[-1] * 1e3]


def play_game(terms: Terms, chance: random.Random, spent: dict[str, list[float]]) -> None:
    """Play a round of two levels drawn by chance; note the seconds that each play took.

    Whatever they choose goes through the engine, which raises where it is not legal.
    """
    # Hard, which thinks a hundred times as long, in one seat of eight.
    levels = {seat: chance.choices(list(bots.LEVELS), weights=(4, 3, 1))[0] for seat in Seat}
    state = deal(new_game(terms), random_deal(chance))
    past: list[SeenPlay] = []
    while (seat := state.turn) is not None:
        view, seed = seat_view(state, seat), chance.getrandbits(32)
        started = time.process_time()
        chosen = bots.choose_play(levels[seat], view, seed, past)
        spent[levels[seat]].append(time.process_time() - started)
        state, played = play(state, seat, chosen)
        past = seen_after(past, played)


def looks_a_second(chance: random.Random) -> float:
    """Return how often hard works out what a card does in a core-second, at the first play.

    So its own budget counts: each position is one look, judging a floor counts as several.
    """
    state = deal(new_game(Terms(RULE_SETS[DEFAULT_RULE_SET], None)), random_deal(chance))
    view = seat_view(state, state.turn)
    thinking = hard.Search(view, [], hard.EFFORT)
    started = time.process_time()
    thinking.best(list(hard.ordered_choices(view)), SEED)
    return thinking.spent / (time.process_time() - started)
