"""What a part of the bench found: tables for people, the same rows as JSON, and the aims."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

type Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under named columns, with the units in the names."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]

    def __str__(self) -> str:
        lines = [self.columns, *(tuple(map(_shown, row)) for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        numbers = [
            all(isinstance(cell, int | float | None) for cell in column)
            for column in zip(*self.rows, strict=True)
        ]
        text = [self.title, ""]
        for line in lines:
            cells = [
                cell.rjust(width) if number else cell.ljust(width)
                for cell, width, number in zip(line, widths, numbers, strict=True)
            ]
            text.append("  " + "  ".join(cells).rstrip())
        return "\n".join(text)

    def data(self) -> dict[str, Any]:
        """Return the table as JSON: one object a row."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"title": self.title, "rows": rows}


@dataclass(frozen=True, slots=True)
class Aim:
    """Something to reach, at least or at most; a binding one fails the run when it is missed."""

    what: str
    measured: float
    limit: float
    at_least: bool = False
    binding: bool = False

    @property
    def met(self) -> bool:
        """Whether the figure is on the right side of the limit."""
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


@dataclass(slots=True)
class Report:
    """What one part found."""

    tables: list[Table] = field(default_factory=list)
    aims: list[Aim] = field(default_factory=list)

    def data(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return {
            "tables": [table.data() for table in self.tables],
            "aims": [{**asdict(aim), "met": aim.met} for aim in self.aims],
        }


def table_of_aims(aims: list[Aim]) -> Table:
    """Return the aims of a whole run as a table."""
    return Table(
        "Aims",
        ("what", "measured", "aim", "", "verdict"),
        [
            (
                aim.what,
                aim.measured,
                f"{'≥' if aim.at_least else '≤'} {_shown(aim.limit)}",
                "binding" if aim.binding else "",
                "met" if aim.met else "NOT MET",
            )
            for aim in aims
        ],
    )


def _shown(cell: Cell) -> str:
    match cell:
        case None:
            return "–"
        case float():
            return f"{cell:,.{0 if cell >= 1000 else 1 if cell >= 20 else 2}f}"
        case int():
            return f"{cell:,}"
        case str():
            return cell
