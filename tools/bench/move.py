"""A move over HTTP beside the floor of a move, in turns, served alike.

The site and the floor are served by granian with one worker and one thread each, on one PostgreSQL,
both all the time; only one of them is asked at a time, in passes that go through the kinds of
request forwards, then backwards, so that a machine that slows down slows all of them.
"""

from __future__ import annotations

import gzip
import time
import uuid
from collections import deque
from dataclasses import dataclass, field
from statistics import fmean, median, quantiles
from typing import TYPE_CHECKING

from django.urls import reverse

from accounts.guests import create_guest
from games import selectors
from games.auditing import problems_of
from games.engine import Seat
from games.models import Game
from tools.bench.ground import cpu_seconds, postmaster, server
from tools.bench.load import (
    CONNECTIONS,
    CONNECTIONS_AT_A_RATE,
    Request,
    Work,
    at_rate,
    get,
    keep_busy,
    post,
)
from tools.bench.people import Move, dealt_game, make, moves_of_the_round, next_move, session_of
from tools.bench.report import Aim, Report, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from uuid import UUID

SITE = "basra_site.settings"
FLOOR = "tools.bench.floor.settings"
PLIES_OF_THE_SAMPLE = 20
WARM_UP_SECONDS = 1.0
# Games prepared for each second of load: more moves than one worker has ever answered.
GAMES_A_SECOND = 10
PAGE_RUNS = 3
HALF_LOAD = 4  # as many times as long as one measurement, for the slowest in a hundred to show


class TableWork:
    """The moves of one game, each in the session of whoever makes it."""

    def __init__(self, game: Game, sessions: dict[int, str], moves: deque[Move]) -> None:
        self.game_id = game.pk
        self._path = reverse("games:play", args=[game.pk])
        self._sessions = sessions
        self._moves = moves

    def next(self) -> Request | None:
        """Return the next move."""
        if not self._moves:
            return None
        move = self._moves.popleft()
        return post(self._path, self._sessions[move.player.pk], move.form())


@dataclass
class SameWork:
    """The same request again and again, but for the id of the move."""

    path: str
    session: str
    form: dict[str, str] | None

    def next(self) -> Request:
        """Return the request once more."""
        if self.form is None:
            return get(self.path, self.session)
        return post(self.path, self.session, self.form | {"move_id": str(uuid.uuid4())})


@dataclass
class Kind:
    """One kind of request: where it is sent, and what was seen of it, pass by pass."""

    name: str
    server: tuple[int, int]  # port and process id
    pool: deque[Work]
    refill: Callable[[float], None] = lambda _seconds: None
    rates: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)  # microseconds a request
    database_cpu: list[float] = field(default_factory=list)
    compressed: list[int] = field(default_factory=list)
    raw: list[int] = field(default_factory=list)

    def run(self, seconds: float) -> None:
        """Keep the server busy for so long, and note what it took."""
        self.refill(seconds)
        port, process = self.server
        before = time.monotonic(), cpu_seconds(process), cpu_seconds(postmaster())
        answers = keep_busy(port, self.pool, seconds)
        after = time.monotonic(), cpu_seconds(process), cpu_seconds(postmaster())
        number = len(answers.bodies)
        self.rates.append(number / (after[0] - before[0]))
        self.cpu.append((after[1] - before[1]) / number * 1e6)
        self.database_cpu.append((after[2] - before[2]) / number * 1e6)
        self.compressed += map(len, answers.bodies)
        self.raw += [len(gzip.decompress(body)) for body in answers.bodies]

    def forget(self) -> None:
        """Start anew after warming up."""
        for figures in (self.rates, self.cpu, self.database_cpu, self.compressed, self.raw):
            figures.clear()

    def row(self) -> tuple[str | float, ...]:
        """Return the medians."""
        return (
            self.name, median(self.rates), median(self.cpu), median(self.database_cpu),
            round(fmean(self.raw)), round(fmean(self.compressed)),
        )  # fmt: skip


@dataclass
class Tables:
    """Games prepared for the moves of one kind: with another person, or with the computer."""

    with_computer: bool
    pool: deque[Work] = field(default_factory=deque)
    games: list[UUID] = field(default_factory=list)

    def refill(self, seconds: float) -> None:
        """Deal as many games as so many seconds can need."""
        wanted = int(GAMES_A_SECOND * seconds) + CONNECTIONS_AT_A_RATE
        for _ in range(wanted - len(self.pool)):
            player = create_guest()
            other = None if self.with_computer else create_guest()
            game = dealt_game(player, other)
            sessions = {one.pk: session_of(one) for one in (player, other) if one}
            self.games.append(game.pk)
            self.pool.append(TableWork(game, sessions, moves_of_the_round(game)))


def measure(seconds: float, passes: int) -> Report:
    """Measure so many passes, each kind of request for so many seconds a pass."""
    alone, replied = Tables(with_computer=False), Tables(with_computer=True)
    sample = _sample()
    report = Report()
    with server(SITE) as site, server(FLOOR) as floor:
        moves = [Kind("move", site, alone.pool, alone.refill)]
        moves += _floors(floor, sample, Seat(sample.turn).other, "of a move")
        moves += [Kind("move with the computer's reply", site, replied.pool, replied.refill)]
        moves += _floors(floor, sample, Seat(sample.turn), "of a move with reply")
        for kind in moves:
            kind.run(WARM_UP_SECONDS)
            kind.forget()
        for number in range(passes):
            for kind in moves if number % 2 == 0 else reversed(moves):
                kind.run(seconds)
        pages = _pages(site, sample)
        for kind in pages * PAGE_RUNS:
            kind.run(seconds)
        half = [_at_half_load(kind, seconds * HALF_LOAD) for kind in (moves[0], moves[3])]
    columns = ("request", "a second", "CPU us each", "PostgreSQL us", "bytes", "compressed")
    report.tables = [
        Table(
            "One worker kept busy (medians of passes)",
            columns,
            [kind.row() for kind in moves + pages],
        ),
        Table(
            "A move beside its floor, pass by pass: median (least to most)",
            ("move", "floor", "throughput", "", "CPU", ""),
            [_beside(moves[first], moves[other]) for first in (0, 3) for other in
             (first + 1, first + 2)],
        ),
        Table(
            "At half of that load",
            ("request", "a second", "p50 ms", "p99 ms", "p99 / p50"),
            half,
        ),
    ]  # fmt: skip
    damaged = [game for game in _games(alone, replied) if problems_of(game)]
    template = moves[1]
    report.aims = [
        Aim(
            "throughput of a move / floor with the site's template",
            _median_ratio(moves[0].rates, template.rates),
            0.8,
            at_least=True,
        ),
        Aim(
            "CPU of the floor with the site's template / of a move",
            _median_ratio(template.cpu, moves[0].cpu),
            0.8,
            at_least=True,
        ),
        Aim("p99 / p50 of a move at half load", float(half[0][-1]), 2.0),
        Aim("games damaged by the load", len(damaged), 0, binding=True),
    ]
    return report


def _sample() -> Game:
    """Return a game in the middle of a round, whose board the floor shows."""
    game = dealt_game(create_guest(), create_guest())
    while game.plies < PLIES_OF_THE_SAMPLE and (move := next_move(game)) is not None:
        game = make(game, move)
    return game


def _floors(floor: tuple[int, int], sample: Game, seat: Seat, name: str) -> list[Kind]:
    """The floor with the site's template, and with the same bytes as a ready text."""
    session = session_of(create_guest())
    kinds = []
    for rendering, rendered in (("template", "the site's template"), ("text", "a ready text")):
        # A game for each connection: nobody waits for a row that another one writes.
        games = [dealt_game(create_guest(), create_guest()) for _ in range(CONNECTIONS)]
        form = {"card": "8C", "capture-8C": "", "version": "1"}
        pool: deque[Work] = deque(
            SameWork(f"/floor/{rendering}/{sample.pk}/{seat}/{game.pk}/", session, form)
            for game in games
        )
        kinds.append(Kind(f"floor {name}, {rendered}", floor, pool))
    return kinds


def _pages(site: tuple[int, int], sample: Game) -> list[Kind]:
    session = session_of(sample.player_b)
    paths = {"table page": reverse("games:table", args=[sample.pk]), "home": reverse("games:home")}
    return [
        Kind(name, site, deque(SameWork(path, session, None) for _ in range(CONNECTIONS)))
        for name, path in paths.items()
    ]


def _at_half_load(kind: Kind, seconds: float) -> tuple[str, float, float, float, float]:
    kind.refill(seconds)
    rate = median(kind.rates) / 2
    answers = at_rate(kind.server[0], kind.pool, rate, seconds)
    hundredths = quantiles(answers.seconds, n=100)
    p50, p99 = hundredths[49] * 1e3, hundredths[98] * 1e3
    return kind.name, rate, p50, p99, p99 / p50


def _beside(move: Kind, floor: Kind) -> tuple[str, str, float, str, float, str]:
    figures: list[float | str] = []
    for ours, theirs in ((move.rates, floor.rates), (move.cpu, floor.cpu)):
        ratios = _ratios(ours, theirs)
        figures += [median(ratios), f"({min(ratios):.2f} to {max(ratios):.2f})"]
    throughput, throughputs, cpu, cpus = figures
    return move.name, floor.name, float(throughput), str(throughputs), float(cpu), str(cpus)


def _ratios(ours: list[float], theirs: list[float]) -> list[float]:
    return [one / other for one, other in zip(ours, theirs, strict=True)]


def _median_ratio(ours: list[float], theirs: list[float]) -> float:
    return median(_ratios(ours, theirs))


def _games(*tables: Tables) -> Iterator[Game]:
    ids = [game for one in tables for game in one.games]
    return selectors.all_games().filter(pk__in=ids).iterator()
