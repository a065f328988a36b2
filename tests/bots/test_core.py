"""The core of the computer players knows no other rules than the game."""

from __future__ import annotations

import pytest

from games.bots.core import CARDS_MASK, POINTS, core_of
from games.engine import PACK, RULE_SETS, RuleSet, captures
from tests.engine.helpers import ALL_RULES, cards, chance_from
from tools.bench.bots import difference, play_out, rule_sets


def test_random_rounds_by_named_and_made_up_rules_are_those_of_the_engine() -> None:
    chance = chance_from("rounds of the core")
    for rules in rule_sets(chance, 2000):
        assert difference(rules, chance) is None


def test_any_floor_gives_the_captures_of_the_engine_even_one_that_cannot_come_to_lie() -> None:
    chance = chance_from("floors of the core")
    for _ in range(2000):
        rules = chance.choice(ALL_RULES)
        core = core_of(rules)
        card, *lying = chance.sample(PACK, chance.randint(1, 12))
        floor = core.floor(lying)
        expected = {core.outcome(floor, capture) for capture in captures(rules, lying, card)}
        found = core.outcomes(floor, core.kind(card))
        assert set(found) == expected
        assert len(found) == len(expected)


def test_the_capture_that_brings_most_comes_first() -> None:
    core = core_of(RULE_SETS["standard"])
    floor = core.floor(cards("2H 3S 5C AH"))
    (three, gain, _), (two, less, _) = core.outcomes(floor, core.kind(cards("6D")[0]))
    assert (three, gain) == (core.floor(cards("5C")), 4)
    assert (two, less) == (core.floor(cards("2H 3S")), 3)


def test_a_jack_takes_the_fullest_floor_there_is() -> None:
    core = core_of(RULE_SETS["standard"])
    lying = cards("AC AD AH AS 2C 3C 4C 5C 6C 7C 8C 9C 10C QC KC")
    assert core.outcomes(core.floor(lying), core.kind(cards("JC")[0])) == ((0, 16, 16),)


def test_cards_with_points_of_their_own_are_told_apart_only_where_they_have_them() -> None:
    plain, counting = (
        RULE_SETS["standard"],
        RuleSet.from_json({"base": "standard", "single_cards": "2S"}),
    )
    for codes, same in (("2S 2H", False), ("2C 2H", True), ("10D 10H", False), ("7D 7H", False)):
        one, other = cards(codes)
        assert (core_of(counting).kind(one) == core_of(counting).kind(other)) is same
        assert core_of(plain).kind(one) == core_of(plain).kind(other) or one.is_komi
    core = core_of(counting)
    floor = core.floor(cards("2S 8H AC"))
    assert core.gain_of(floor) == 3 << POINTS | 3


@pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: rules.name)
def test_nobody_gets_more_cards_than_there_are(rules: RuleSet) -> None:
    chance, core = chance_from("whole packs"), core_of(rules)
    for _ in range(50):
        pack = [core.kind(card) for card in chance.sample(PACK, len(PACK))]
        gains = play_out(core, pack)
        assert 0 < sum(gain & CARDS_MASK for gain in gains) <= len(PACK)
