"""The floors on which captures take longest, and the search that found them.

`python -m tools.bench.floors` repeats the search: every floor of so many numerals for a ten that is
played, which has the most ways to add up. It takes a few minutes.
"""

from __future__ import annotations

import heapq
import time
from math import comb, prod
from typing import TYPE_CHECKING

from games.engine import Card
from games.engine.captures import counts_of, maximal_groups

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TEN = Card.parse("10S")
AMONG_THE_SLOWEST = 20


def floor_of(ranks: str) -> tuple[Card, ...]:
    """Return the cards of ranks written like "1123": of each rank the first suits."""
    return tuple(Card(ranks[:place].count(rank), int(rank)) for place, rank in enumerate(ranks))


def floors(numerals: int, rank: int = 1) -> Iterator[str]:
    """Yield every floor of so many numerals below ten, as its ranks from `rank` up."""
    if rank == 10:
        if numerals == 0:
            yield ""
        return
    for count in range(min(4, numerals) + 1):
        for rest in floors(numerals - count, rank + 1):
            yield str(rank) * count + rest


def cold_seconds(ranks: str) -> float:
    """Return how long the search for the maximal captures of a ten takes, nothing remembered."""
    counts = counts_of(floor_of(ranks))
    maximal_groups.cache_clear()
    started = time.perf_counter()
    maximal_groups(TEN.rank, counts)
    return time.perf_counter() - started


def sets_of(ranks: str) -> int:
    """Return how many sets of cards a ten may take."""
    vectors = maximal_groups(TEN.rank, counts_of(floor_of(ranks)))
    return sum(
        prod(comb(ranks.count(str(rank)), vector >> 4 * (rank - 1) & 7) for rank in range(1, 10))
        for vector in vectors
    )


def can_lie(ranks: str) -> bool:
    """Whether numerals below ten can lie on a floor: no rank twice, but among the first four."""
    return len(ranks) - len(set(ranks)) <= 3


def search(candidates: Iterable[str]) -> tuple[str, str]:
    """Return the floor slowest to search, and the one with the most sets to spell out."""
    slowest: list[tuple[float, str]] = []
    most = (0, "")
    for ranks in candidates:
        # One slow measurement can be chance, so the slowest are measured again below.
        heapq.heappush(slowest, (cold_seconds(ranks), ranks))
        if len(slowest) > AMONG_THE_SLOWEST:
            heapq.heappop(slowest)
        most = max(most, (sets_of(ranks), ranks))
    again = {ranks: min(cold_seconds(ranks) for _ in range(20)) for _seconds, ranks in slowest}
    return max(again, key=again.__getitem__), most[1]


if __name__ == "__main__":
    for size in (8, 13, 14):
        print(size, *search(floors(size)), flush=True)
    # Twelve and a ten, which is taken by its rank, are the most numerals that a floor can hold.
    for size in (8, 12):
        print(size, "that can lie", *search(filter(can_lie, floors(size))), flush=True)
