"""What a card takes, and what that counts."""

from itertools import pairwise
from typing import Any

import pytest

from games.engine import KOMI, PACK, RULE_SETS, Card, Kind, RuleSet, captures, maximal_captures
from games.engine.captures import counts_of, maximal_groups

from . import reference
from .helpers import ALL_RULES, cards, cases, chance_from, values_of

WORST_FLOORS = [
    "2C 2D 2H 2S 4C 4D 4H 4S 6C 6D",
    "AC AD AH AS 2C 2D 2H 2S 3C 3D",
    "AC 2C 3C 4C 5C 6C 7C 8C 9C QH",
    "3C 3D 3H 7C 7D 7H 4C 6D AS 2H",
    "5C 5D 5H 5S AC AD 4H 4S 9C 10D",
]


@pytest.mark.parametrize("case", cases("captures"), ids=lambda case: f"{case['id']}")
def test_every_worked_case_holds(case: dict[str, Any]) -> None:
    rules = RuleSet.from_json(case["rule_set"])
    floor = [Card.parse(code) for code in case["floor"]]
    found = captures(rules, floor, Card.parse(case["played"]))
    chosen = case["choice"] or [str(card) for card in found[0].cards]
    made = next(one for one in found if {str(card) for card in one.cards} == set(chosen))
    assert {str(card) for card in made.cards} == set(case["captured"])
    assert (made.kind, made.points) == (case["kind"], case["points"])
    sets = {frozenset(map(str, one.cards)) for one in found}
    assert sets == {frozenset(one) for one in case["maximal_captures"]}


def check_against_the_slow_rules(rules: RuleSet, floor: list[Card], card: Card) -> None:
    texts, played = [str(lying) for lying in floor], str(card)
    expected = reference.maximal_sets(values_of(rules), texts, played)
    found = captures(rules, floor, card)
    assert [[str(taken) for taken in one.cards] for one in found] == expected
    for one, taken in zip(found, expected, strict=True):
        kind = reference.kind(values_of(rules), texts, played, taken)
        assert (one.kind, one.points) == (kind, reference.points_of(values_of(rules), kind))


def test_captures_on_random_floors_are_those_of_brute_force() -> None:
    chance = chance_from("floors")
    for _ in range(1500):
        rules = chance.choice(ALL_RULES)
        card, *floor = chance.sample(PACK, chance.randint(1, 9))
        check_against_the_slow_rules(rules, floor, card)


def test_captures_with_the_komi_on_the_floor_are_those_of_brute_force() -> None:
    chance = chance_from("komi")
    pack = [card for card in PACK if card != KOMI]
    for _ in range(800):
        rules = chance.choice(ALL_RULES)
        card, *floor = chance.sample(pack, chance.randint(1, 8))
        floor.insert(chance.randrange(len(floor) + 1), KOMI)
        check_against_the_slow_rules(rules, floor, card)


def test_sweeps_by_the_komi_are_those_of_brute_force() -> None:
    chance = chance_from("sweeps")
    pack = [card for card in PACK if card != KOMI]
    for _ in range(800):
        floor = chance.sample(pack, chance.randint(1, 5))
        check_against_the_slow_rules(chance.choice(ALL_RULES), floor, KOMI)


@pytest.mark.parametrize("floor", WORST_FLOORS)
def test_captures_on_crowded_floors_are_those_of_brute_force(floor: str) -> None:
    lying = list(cards(floor))
    v2 = RULE_SETS["egyptian_basra_v2"]
    for card in (one for one in cards("10S 9S 8S 7S 6S 5S QS") if one not in lying):
        check_against_the_slow_rules(v2, lying, card)


def test_no_maximal_group_lies_within_another() -> None:
    floor = cards("2C 2D 2H 2S 4C 4D 4H 4S 6C 6D 10C 10D 10H 10S")
    groups = maximal_groups(10, counts_of(floor, below=10))
    counts = [[group >> 4 * place & 15 for place in range(10)] for group in groups]
    assert len(counts) > 1
    for one in counts:
        for other in counts:
            within = all(mine <= theirs for mine, theirs in zip(one, other, strict=True))
            assert within == (one == other)


@pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: rules.base)
def test_the_examples_of_the_rules_page_hold_in_every_rule_set(rules: RuleSet) -> None:
    first = cards("AH 7S KC 8D")
    assert maximal_captures(rules, first, Card.parse("8C")) == (cards("8D AH 7S"),)
    assert maximal_captures(rules, first, Card.parse("9H")) == (cards("8D AH"),)
    assert maximal_captures(rules, first, Card.parse("KH")) == (cards("KC"),)
    (sweep,) = captures(rules, first, Card.parse("JS"))
    assert (len(sweep.cards), sweep.kind) == (4, Kind.NONE)
    for floor, card in (("10H 5S 4C AD", "10C"), ("AH 2S 3C 4D", "5H")):
        (made,) = captures(rules, cards(floor), Card.parse(card))
        assert (set(made.cards), made.kind) == (set(cards(floor)), Kind.BASRA)
    choice = maximal_captures(rules, cards("2H 3S 5C AH"), Card.parse("6D"))
    assert choice == (cards("AH 2H 3S"), cards("5C AH"))


@pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: rules.base)
def test_a_jack_on_an_empty_floor_stays_and_makes_nothing(rules: RuleSet) -> None:
    (made,) = captures(rules, (), Card.parse("JS"))
    assert (made.cards, made.kind, made.points) == ((), Kind.NONE, 0)


def test_every_komi_basra_of_ten_or_less_is_one_of_any_value_too() -> None:
    any_value, ten_or_less = RULE_SETS["egyptian_basra_2"], RULE_SETS["standard"]
    chance = chance_from("ten")
    pack = [card for card in PACK if card.value is not None and card != KOMI]
    seen = 0
    for _ in range(3000):
        floor = chance.sample(pack, chance.randint(1, 4))
        if captures(ten_or_less, floor, KOMI)[0].kind is Kind.BASRA:
            seen += 1
            assert captures(any_value, floor, KOMI)[0].kind is Kind.BASRA
    assert seen > 100


def test_a_lone_komi_is_ruled_by_komi_alone_and_not_by_komi_among_others() -> None:
    rules = RuleSet.from_json({"base": "egyptian_basra_v2", "komi_alone": "ordinary seven"})
    assert maximal_captures(rules, [KOMI], Card.parse("KS")) == ((),)
    (made,) = captures(rules, [KOMI], Card.parse("7S"))
    assert (made.cards, made.kind) == ((KOMI,), Kind.BASRA)


def test_a_jack_on_a_lone_komi_makes_a_komi_basra_where_only_that_is_set() -> None:
    rules = RuleSet.from_json({"base": "standard", "jack_on_lone_komi": "komi", "komi_basra": 20})
    (made,) = captures(rules, [KOMI], Card.parse("JS"))
    assert (made.kind, made.points) == (Kind.KOMI, 20)


def test_the_default_takes_the_most_cards_and_then_comes_first_in_pack_order() -> None:
    found = maximal_captures(RULE_SETS["standard"], cards("2S 2H 2C 3D"), Card.parse("5D"))
    assert found == (cards("2C 3D"), cards("3D 2H"), cards("3D 2S"))
    sizes = [len(one) for one in found]
    assert all(before >= after for before, after in pairwise(sizes))
