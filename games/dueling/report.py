"""What the matches of a duel add up to, in words.

The two tables of a match share their packs, so that a match is one observation: means are over
matches, and intervals are the normal approximation, 1.96 standard errors to either side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .matches import Duel, Match, Side, Table

_STANDARD_ERRORS = 1.96


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its 95 % interval, ``within`` to either side; infinite for one match."""

    mean: float
    within: float

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.mean - self.within

    @classmethod
    def of(cls, values: Sequence[float]) -> Estimate:
        """Estimate the mean behind ``values``, of which there is at least one."""
        number = len(values)
        mean = math.fsum(values) / number
        if number == 1:
            return cls(mean, math.inf)
        variance = math.fsum((value - mean) ** 2 for value in values) / (number - 1)
        return cls(mean, _STANDARD_ERRORS * math.sqrt(variance / number))


def points(matches: Sequence[Match]) -> Estimate:
    """The first player's points less the second's, a game."""
    return Estimate.of([_mean(match, lambda table: table.margin) for match in matches])


def wins(matches: Sequence[Match]) -> Estimate:
    """The share of games that the first player won, a draw counted as half."""
    return Estimate.of([_mean(match, _won) for match in matches])


def report(duel: Duel, matches: Sequence[Match]) -> str:
    """What is to be told of a duel, in lines; at least one match has been played."""
    margin, won = points(matches), wins(matches)
    games = "one round" if duel.terms.target is None else f"games to {duel.terms.target}"
    packs = f"{len(matches)} packs, each played twice with the seats changed"
    return "\n".join(
        [
            f"{duel.first} against {duel.second}, {duel.terms.rules.name}, {games}: {packs}",
            f"points a game: {margin.mean:+.2f} ± {margin.within:.2f}",
            f"games won: {won.mean:.1%} ± {won.within:.1%}, a draw counted as half",
            "(± is a 95 % interval: 1.96 standard errors over the pairs of games)",
            _times(duel.first, [table.first for match in matches for table in match.tables]),
            _times(duel.second, [table.second for match in matches for table in match.tables]),
        ]
    )


def _mean(match: Match, value: Callable[[Table], float]) -> float:
    one, two = match.tables
    return (value(one) + value(two)) / 2


def _won(table: Table) -> float:
    return 0.5 if table.margin == 0 else float(table.margin > 0)


def _times(name: str, sides: Sequence[Side]) -> str:
    plays = sum(side.thinking.plays for side in sides)
    mean = sum(side.thinking.seconds for side in sides) / plays
    longest = max(side.thinking.longest for side in sides)
    return f"{name}: {mean * 1e3:.2f} ms of CPU a play, {longest * 1e3:.1f} at most"
