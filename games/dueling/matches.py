"""Duplicate matches: the same packs twice, the players' seats changed, so that luck is shared.

Matches are kept in a file as JSON lines, of which the first says what is played. A duel that was
interrupted goes on where its file ends. Results follow from the seed; only the times differ.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self
from uuid import UUID

from games.bots import SeenPlay, seen_after
from games.engine import Deal, Pair, Seat, Terms, deal, deal_round, new_game, play

from .players import PLAYERS


class CannotGoOn(Exception):
    """The file is not one of this duel."""


@dataclass(frozen=True, slots=True)
class Duel:
    """Who plays whom, on what terms; the packs and the players' dice come from ``seed``."""

    first: str
    second: str
    terms: Terms
    seed: int

    def to_line(self) -> str:
        """The first line of a duel's file."""
        rules, target = self.terms.rules.to_json(), self.terms.target
        line = {"first": self.first, "second": self.second, "rules": rules, "target": target}
        return json.dumps({**line, "seed": self.seed})

    def pack(self, number: int, round_number: int) -> Deal:
        """What is dealt in a round of match ``number``, at both tables; the site's recipe."""
        secret = hashlib.sha256(f"duel {self.seed} {number} {round_number}".encode()).digest()
        return deal_round(
            secret=secret,
            game_id=UUID(int=number),
            round_number=round_number,
            words_sha256=bytes(32),
            replaced=self.terms.rules.replaced,
        )


@dataclass(slots=True)
class Thinking:
    """What a player's choices took, in seconds of one core."""

    plays: int = 0
    seconds: float = 0.0
    longest: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one more play."""
        self.plays += 1
        self.seconds += seconds
        self.longest = max(self.longest, seconds)


@dataclass(frozen=True, slots=True)
class Side:
    """One player's part in a game: the points made, and the time it took."""

    points: int
    thinking: Thinking


@dataclass(frozen=True, slots=True)
class Table:
    """One game that was played out."""

    first: Side
    second: Side

    @property
    def margin(self) -> int:
        """The first player's points less the second's."""
        return self.first.points - self.second.points


@dataclass(frozen=True, slots=True)
class Match:
    """The two tables at which the packs of ``number`` were played."""

    number: int
    tables: tuple[Table, Table]

    def to_line(self) -> str:
        """The match as a line of JSON."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_line(cls, line: str) -> Self:
        """Read what ``to_line`` wrote; raises ``ValueError``, ``KeyError`` or ``TypeError``."""
        value = json.loads(line)
        one, two = (
            Table(_side(table["first"]), _side(table["second"])) for table in value["tables"]
        )
        return cls(value["number"], (one, two))


def _side(value: dict[str, object]) -> Side:
    points, thinking = value["points"], value["thinking"]
    if not isinstance(points, int) or not isinstance(thinking, dict):
        raise TypeError("that is no side of a table")
    return Side(points, Thinking(**thinking))


def play_match(duel: Duel, number: int) -> Match:
    """Play the packs of this number at both tables."""
    return Match(number, (_play_table(duel, number, Seat.A), _play_table(duel, number, Seat.B)))


def _play_table(duel: Duel, number: int, first: Seat) -> Table:
    players = Pair(PLAYERS[duel.second], PLAYERS[duel.second]).replace(first, PLAYERS[duel.first])
    thinking = Pair(Thinking(), Thinking())
    state = new_game(duel.terms)
    # So that no two plays of a duel have the same dice.
    seed = (duel.seed * 1_000_000 + number) * 100_000 + (first is Seat.A) * 50_000
    past: list[SeenPlay] = []
    while state.outcome is None:
        if (seat := state.turn) is None:
            state, past = deal(state, duel.pack(number, state.round_number + 1)), []
            continue
        started = time.process_time()
        chosen = players[seat](state, seed, past)
        thinking[seat].add(time.process_time() - started)
        state, played = play(state, seat, chosen)
        past = seen_after(past, played)
        seed += 1
    sides = Pair.of(lambda seat: Side(state.totals[seat], thinking[seat]))
    return Table(sides[first], sides[first.other])


def matches_of(duel: Duel, file: Path, number: int) -> Iterator[Match]:
    """The first so many matches: those in ``file``, then new ones, each written as it is played.

    Raises :class:`CannotGoOn` if the file holds something else.
    """
    before = _already_in(file, duel)
    yield from before[:number]
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as lines:
        if not lines.tell():
            lines.write(duel.to_line() + "\n")
        for next_number in range(len(before), number):
            match = play_match(duel, next_number)
            lines.write(match.to_line() + "\n")
            lines.flush()
            yield match


def _already_in(file: Path, duel: Duel) -> list[Match]:
    if not file.exists():
        return []
    *lines, cut_off = file.read_text(encoding="utf-8").split("\n")
    if (lines and lines[0] != duel.to_line()) or (cut_off and not lines):
        raise CannotGoOn(f"{file} is not of this duel.")
    try:
        matches = [Match.from_line(line) for line in lines[1:]]
    except (ValueError, KeyError, TypeError) as error:
        raise CannotGoOn(f"{file} is damaged.") from error
    if [match.number for match in matches] != list(range(len(matches))):
        raise CannotGoOn(f"{file} is damaged.")
    if cut_off:
        # It was interrupted in the middle of a line, whose match is played again.
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return matches
