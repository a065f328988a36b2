"""The two seats, and a pair of values with one for each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum


class Seat(StrEnum):
    """A place at the table. Whoever creates the game sits at A, whoever joins sits at B."""

    A = "A"
    B = "B"

    @property
    def other(self) -> "Seat":
        """The seat across the table."""
        return Seat.B if self is Seat.A else Seat.A


@dataclass(frozen=True, slots=True)
class Pair[T]:
    """One value for each seat, so that nothing has to branch on who is who."""

    a: T
    b: T

    @classmethod
    def of(cls, value_of: Callable[[Seat], T]) -> "Pair[T]":
        """Build a pair by asking ``value_of`` for each seat, A first."""
        return cls(value_of(Seat.A), value_of(Seat.B))

    def __getitem__(self, seat: Seat) -> T:
        return self.a if seat is Seat.A else self.b

    def __iter__(self) -> Iterator[T]:
        yield self.a
        yield self.b

    def map[R](self, function: Callable[[T], R]) -> "Pair[R]":
        """Apply ``function`` to both values."""
        return Pair(function(self.a), function(self.b))

    def replace(self, seat: Seat, value: T) -> "Pair[T]":
        """The same pair with ``value`` at ``seat``."""
        return Pair(value, self.b) if seat is Seat.A else Pair(self.a, value)
