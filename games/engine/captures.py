"""What a card takes from the floor (docs/rules.md 2).

Whether cards add up depends on their ranks alone. So the search works on *rank vectors*, which
say how many cards of each numeral are meant, and remembers its answers; suits come in only when
the vectors found are spelt out for the floor at hand.

A vector is packed into one integer, four bits for each of the ten numerals: three for a count of
0–4 and a guard bit above them. With all guard bits set in the larger vector, one subtraction
compares all ten counts at once: a guard bit is borrowed from exactly where a count falls short.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import combinations, product

from .cards import JACK, KING, KOMI, QUEEN, Card
from .rulesets import RuleSet


class Kind(StrEnum):
    """What sort of basra a capture is."""

    NONE = "none"
    BASRA = "basra"
    JACK = "jack"
    KOMI = "komi"


@dataclass(frozen=True, slots=True)
class Capture:
    """What one card takes: ``cards`` from the floor in pack order, and what that counts."""

    card: Card
    cards: tuple[Card, ...]
    kind: Kind
    points: int


def captures(rules: RuleSet, floor: Sequence[Card], card: Card) -> tuple[Capture, ...]:
    """All maximal captures of ``card``, the default first, with kind and points.

    There is always at least one entry; a card that takes nothing has one with no cards. Points
    are what the capture counts when it is not the last of a round under rules where that one
    makes no basra.
    """
    found = []
    for cards in maximal_captures(rules, floor, card):
        kind = _kind(rules, floor, card, cards)
        found.append(Capture(card, cards, kind, points_of(rules, kind)))
    return tuple(found)


def without_basra(capture: Capture) -> Capture:
    """The same capture where it makes no basra: with the last card, by rules that say so."""
    return Capture(capture.card, capture.cards, Kind.NONE, 0)


def maximal_captures(
    rules: RuleSet, floor: Sequence[Card], card: Card
) -> tuple[tuple[Card, ...], ...]:
    """The sets of floor cards that ``card`` may take, the default first.

    Each set is in pack order. The default takes the most cards, and among those is the first in
    pack order (docs/rules.md 2.5).
    """
    if not floor:
        return ((),)
    if card.is_jack or card == KOMI or _takes_lone_komi(rules, floor):
        return (tuple(sorted(floor)),)
    if rules.komi_among_others == "any card" and len(floor) > 1 and KOMI in floor:
        return _with_free_komi([other for other in floor if other != KOMI], card)
    return _spelt_out(floor, card, _vectors(floor, card))


def points_of(rules: RuleSet, kind: Kind) -> int:
    """What a basra of this kind counts."""
    match kind:
        case Kind.NONE:
            return 0
        case Kind.BASRA:
            return rules.basra
        case Kind.JACK:
            return rules.jack_basra
        case Kind.KOMI:
            return rules.komi_basra or 0


def _takes_lone_komi(rules: RuleSet, floor: Sequence[Card]) -> bool:
    return rules.komi_alone == "any card" and len(floor) == 1 and floor[0] == KOMI


def _kind(rules: RuleSet, floor: Sequence[Card], card: Card, taken: tuple[Card, ...]) -> Kind:
    if not taken or len(taken) < len(floor):
        return Kind.NONE
    lone = floor[0] if len(floor) == 1 else None
    if card.is_jack:
        if lone is not None and lone.is_jack:
            return Kind.JACK
        if lone == KOMI and rules.jack_on_lone_komi == "komi":
            return Kind.KOMI
        return Kind.NONE
    if card == KOMI:
        if lone is not None and lone.is_jack:
            return Kind.JACK if rules.komi_on_lone_jack == "jack" else Kind.NONE
        return Kind.BASRA if _komi_makes_basra(rules, floor) else Kind.NONE
    return Kind.KOMI if _takes_lone_komi(rules, floor) else Kind.BASRA


def _komi_makes_basra(rules: RuleSet, floor: Sequence[Card]) -> bool:
    """Whether a komi that sweeps this floor makes a basra (docs/rules.md 2.4)."""
    values = [card.rank for card in floor]
    highest = max(values)
    if rules.komi_basra_test == "ten or less":
        return highest < JACK and sum(values) <= 10
    if highest >= JACK:
        return highest in (QUEEN, KING) and min(values) == highest
    for value in range(highest, 11):
        smaller = counts_of(floor, below=value)
        if smaller in maximal_groups(value, smaller):
            return True
    return False


# Spelling vectors out in cards


def _with_free_komi(others: list[Card], card: Card) -> tuple[tuple[Card, ...], ...]:
    """Captures where any card may take the komi besides whatever else it takes.

    The komi can always be taken, so it is in every maximal capture: by itself, or as the seven
    of a sum, whichever lets the card take more of the others.
    """
    vectors = set(_vectors(others, card))
    if card.rank in (8, 9, 10):
        with_seven = maximal_groups(card.rank, counts_of(others, below=card.rank) + _SEVEN)
        vectors.update(vector - _SEVEN for vector in with_seven if vector & _COUNT_OF_SEVEN)
    return _spelt_out(others, card, _maximal(vectors), besides=(KOMI,))


def _vectors(floor: Iterable[Card], card: Card) -> tuple[int, ...]:
    if card.rank > 10:
        return (0,)
    return maximal_groups(card.rank, counts_of(floor, below=card.rank))


def _spelt_out(
    floor: Iterable[Card], card: Card, vectors: Collection[int], besides: tuple[Card, ...] = ()
) -> tuple[tuple[Card, ...], ...]:
    """The sets of cards of which the ``vectors`` are the ranks, in the order of the rules.

    To each set come all cards of the played card's own rank, and those ``besides``.
    """
    by_rank: dict[int, list[Card]] = {}
    for lying in floor:
        by_rank.setdefault(lying.rank, []).append(lying)
    always = [*by_rank.get(card.rank, ()), *besides]
    if not any(vectors):
        return (tuple(sorted(always)),)
    sets: list[tuple[Card, ...]] = []
    for vector in vectors:
        choices = [
            combinations(cards, count)
            for rank, cards in by_rank.items()
            if rank <= 10 and (count := vector >> 4 * (rank - 1) & 0b111)
        ]
        sets.extend(
            tuple(sorted([*always, *(one for group in groups for one in group)]))
            for groups in product(*choices)
        )
    sets.sort(key=lambda cards: (-len(cards), cards))
    return tuple(sets)


# Rank vectors

_SEVEN = 1 << 4 * (7 - 1)
_COUNT_OF_SEVEN = 0b111 << 4 * (7 - 1)
_GUARDS = sum(0b1000 << 4 * place for place in range(10))


def counts_of(cards: Iterable[Card], below: int = 11) -> int:
    """The rank vector of the numerals among ``cards`` whose value is less than ``below``."""
    vector = 0
    for card in cards:
        if card.rank < below and card.rank <= 10:
            vector += 1 << 4 * (card.rank - 1)
    return vector


@lru_cache(maxsize=1 << 16)
def maximal_groups(value: int, counts: int) -> tuple[int, ...]:
    """The largest unions of disjoint groups that each add up to ``value``, as rank vectors.

    ``counts`` is the rank vector of the numerals smaller than ``value`` on the floor. A vector
    in the answer lies within ``counts`` and in no other union; the empty union is the answer
    where nothing adds up.
    """
    # Vectors of what is left on the floor, each with its guard bits set.
    full = counts | _GUARDS
    groups = [group for group in _GROUPS[value] if (full - group) & _GUARDS == _GUARDS]
    left_over = {full}
    for group in groups:
        layer: Collection[int] = left_over
        while layer:
            layer = {
                rest
                for left in layer
                if (rest := left - group) & _GUARDS == _GUARDS and rest not in left_over
            }
            left_over |= layer
    return _maximal([full - left for left in left_over if not _extends(left, groups)])


def _extends(left: int, groups: list[int]) -> bool:
    return any((left - group) & _GUARDS == _GUARDS for group in groups)


def _maximal(vectors: Collection[int]) -> tuple[int, ...]:
    """Those of ``vectors`` that lie within no other one."""
    # A vector within another is the smaller number, so only those before it can contain it.
    kept: list[int] = []
    for vector in sorted(vectors, reverse=True):
        if not any((larger | _GUARDS) - vector & _GUARDS == _GUARDS for larger in kept):
            kept.append(vector)
    return tuple(kept)


def _partitions(value: int, largest: int) -> Iterator[int]:
    """Rank vectors of all multisets of numerals up to ``largest`` that add up to ``value``."""
    if value == 0:
        yield 0
    for part in range(min(value, largest), 0, -1):
        for rest in _partitions(value - part, part):
            yield rest + (1 << 4 * (part - 1))


def _fits_a_pack(vector: int) -> bool:
    return all(vector >> 4 * place & 0b1111 <= 4 for place in range(10))


def _groups_adding_to(value: int) -> tuple[int, ...]:
    # Five cards of a rank are in no pack, and eight would reach into the guard bits.
    return tuple(filter(_fits_a_pack, _partitions(value, value - 1)))


_GROUPS = {value: _groups_adding_to(value) for value in range(1, 11)}
