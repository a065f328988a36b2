"""The rules once more: slow, plain, and written from docs/rules.md without looking at the engine.

Cards are texts such as "10D", a rule set is a dict, captures are found by trying every subset of
the floor. Nothing of the engine is imported here.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

SUITS = ["C", "D", "H", "S"]
RANKS = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"]
PACK = [rank + suit for suit in SUITS for rank in RANKS]

type Rules = dict[str, Any]

EGYPTIAN_BASRA: Rules = {
    "replaced": "bottom",
    "komi_basra_test": "any value",
    "komi_on_lone_jack": "jack",
    "komi_alone": "any card",
    "jack_on_lone_komi": "komi",
    "komi_among_others": "ordinary seven",
    "majority": 30,
    "equal_cards": "nobody",
    "basra": 10,
    "jack_basra": 10,
    "komi_basra": 10,
    "single_cards": "none",
    "last_card_basra": True,
    "left_over": "last capturer",
}
RULE_SETS: dict[str, Rules] = {
    "egyptian_basra": EGYPTIAN_BASRA,
    "egyptian_basra_v2": {
        **EGYPTIAN_BASRA,
        "replaced": "random place",
        "jack_on_lone_komi": "none",
        "komi_among_others": "any card",
        "jack_basra": 30,
    },
    "egyptian_basra_2": {**EGYPTIAN_BASRA, "jack_basra": 30, "komi_basra": 30},
    "standard": {
        **EGYPTIAN_BASRA,
        "replaced": "random place",
        "komi_basra_test": "ten or less",
        "komi_on_lone_jack": "none",
        "komi_alone": "ordinary seven",
        "jack_on_lone_komi": "none",
        "equal_cards": "carried",
        "jack_basra": 30,
        "komi_basra": None,
    },
}


def rank(card: str) -> str:
    return card[:-1]


def value(card: str) -> int:
    """1-10 for numerals, 0 for the others."""
    return RANKS.index(rank(card)) + 1 if rank(card) not in "JQK" else 0


def in_pack_order(cards: Sequence[str]) -> list[str]:
    return sorted(cards, key=PACK.index)


def subsets(cards: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for size in range(len(cards) + 1):
        yield from combinations(cards, size)


def in_groups(cards: Sequence[str], total: int) -> bool:
    """Whether the cards fall apart into groups of two and more that each add up to total."""
    if not cards:
        return True
    first, rest = cards[0], list(cards[1:])
    for others in subsets(rest):
        if others and value(first) + sum(map(value, others)) == total:
            remaining = [card for card in rest if card not in others]
            if in_groups(remaining, total):
                return True
    return False


def may_take(rules: Rules, floor: Sequence[str], played: str, wanted: Sequence[str]) -> bool:
    """Whether the ordinary card ``played`` may take just these cards (rule 5)."""
    if "7D" in wanted and rules["komi_among_others"] == "any card" and len(floor) > 1:
        without = [card for card in wanted if card != "7D"]
        if may_take({**rules, "komi_among_others": "ordinary seven"}, floor, played, without):
            return True
    others = [card for card in wanted if rank(card) != rank(played)]
    if rank(played) in "QK":
        return not others
    if any(not 0 < value(card) < value(played) for card in others):
        return False
    return in_groups(others, value(played))


def legal_sets(rules: Rules, floor: Sequence[str], played: str) -> list[list[str]]:
    if not floor:
        return [[]]
    everything_only = (
        rank(played) == "J"
        or played == "7D"
        or (list(floor) == ["7D"] and rules["komi_alone"] == "any card")
    )
    if everything_only:
        return [list(floor)]
    return [list(wanted) for wanted in subsets(floor) if may_take(rules, floor, played, wanted)]


def maximal_sets(rules: Rules, floor: Sequence[str], played: str) -> list[list[str]]:
    """All maximal captures, the default first."""
    legal = [set(cards) for cards in legal_sets(rules, floor, played)]
    maximal = [cards for cards in legal if not any(cards < other for other in legal)]
    ordered = [in_pack_order(list(cards)) for cards in maximal]
    return sorted(ordered, key=lambda cards: (-len(cards), [PACK.index(card) for card in cards]))


def kind(rules: Rules, floor: Sequence[str], played: str, taken: Sequence[str]) -> str:
    if not floor or set(taken) != set(floor):
        return "none"
    lone = floor[0] if len(floor) == 1 else ""
    if rank(played) == "J":
        if lone and rank(lone) == "J":
            return "jack"
        return "komi" if lone == "7D" and rules["jack_on_lone_komi"] == "komi" else "none"
    if lone == "7D" and rules["komi_alone"] == "any card":
        return "komi"
    if played != "7D":
        return "basra"
    if lone and rank(lone) == "J":
        return "jack" if rules["komi_on_lone_jack"] == "jack" else "none"
    if rules["komi_basra_test"] == "ten or less":
        few = all(value(card) > 0 for card in floor) and sum(map(value, floor)) <= 10
        return "basra" if few else "none"
    ordinary = [one for one in RANKS if one != "J"]
    plain = {**rules, "komi_among_others": "ordinary seven"}
    # The suit of the card that might have done it does not matter; X is none.
    return "basra" if any(may_take(plain, floor, one + "X", floor) for one in ordinary) else "none"


def points_of(rules: Rules, made: str) -> int:
    amounts = {
        "none": 0,
        "basra": rules["basra"],
        "jack": rules["jack_basra"],
        "komi": rules["komi_basra"],
    }
    return amounts[made] or 0


class SlowRound:
    """One round, played by cards named from outside."""

    def __init__(self, rules: Rules, dealer: str, cards: Sequence[str]) -> None:
        self.rules = rules
        self.dealer = dealer
        self.first = "B" if dealer == "A" else "A"
        self.hands = {self.first: list(cards[:4]), dealer: list(cards[4:8])}
        self.floor = list(cards[8:12])
        self.stock = list(cards[12:])
        self.piles: dict[str, list[str]] = {"A": [], "B": []}
        self.made: dict[str, list[str]] = {"A": [], "B": []}
        self.last_capturer: str | None = None
        self.turn = self.first
        self.plays = 0

    def options(self, played: str) -> list[list[str]]:
        return maximal_sets(self.rules, self.floor, played)

    def play(self, played: str, taken: Sequence[str]) -> str:
        assert played in self.hands[self.turn]
        assert in_pack_order(taken) in self.options(played)
        made = kind(self.rules, self.floor, played, taken)
        self.plays += 1
        if self.plays == 48 and not self.rules["last_card_basra"]:
            made = "none"
        self.hands[self.turn].remove(played)
        if taken:
            self.floor = [card for card in self.floor if card not in taken]
            self.piles[self.turn] += [played, *taken]
            self.last_capturer = self.turn
            if made != "none":
                self.made[self.turn].append(made)
        else:
            self.floor.append(played)
        self.turn = "B" if self.turn == "A" else "A"
        if self.plays % 8 == 0 and self.stock:
            self.hands[self.first] = self.stock[:4]
            self.hands[self.dealer] = self.stock[4:8]
            self.stock = self.stock[8:]
        if self.plays == 48 and self.rules["left_over"] == "last capturer":
            self.piles[self.last_capturer or self.dealer] += self.floor
            self.floor = []
        return made

    def points(self, carried: int) -> tuple[dict[str, int], int]:
        """Both sides' points, and what is carried on."""
        points = {
            seat: sum(points_of(self.rules, made) for made in self.made[seat]) for seat in "AB"
        }
        if self.rules["single_cards"] != "none":
            for seat in "AB":
                for card in self.piles[seat]:
                    if rank(card) in ("J", "A"):
                        points[seat] += 1
                    elif card == "10D":
                        points[seat] += 3
                    elif card == self.rules["single_cards"]:
                        points[seat] += 2
        a, b = len(self.piles["A"]), len(self.piles["B"])
        if a == b:
            more = self.rules["majority"] if self.rules["equal_cards"] == "carried" else 0
            return points, carried + more
        points["A" if a > b else "B"] += self.rules["majority"] + carried
        return points, 0


def result_after(target: int | None, totals: dict[str, int], rounds: int) -> str | None:
    """ "A", "B", "draw", or None while the game goes on."""
    a, b = totals["A"], totals["B"]
    if target is None:
        return "draw" if a == b else "A" if a > b else "B"
    if (a >= target or b >= target) and a != b:
        return "A" if a > b else "B"
    return "draw" if rounds == 128 else None


def count_sequences(rules: Rules, dealer: str, cards: Sequence[str], depth: int) -> int:
    """How many sequences of ``depth`` plays there are from a deal."""

    def count(history: list[tuple[str, list[str]]], left: int) -> int:
        table = SlowRound(rules, dealer, cards)
        for played, taken in history:
            table.play(played, taken)
        if left == 0:
            return 1
        return sum(
            count([*history, (played, taken)], left - 1)
            for played in list(table.hands[table.turn])
            for taken in table.options(played)
        )

    return count([], depth)
