"""What each page asks of the database and of the line, for players with few and many games."""

from __future__ import annotations

import gzip
import re
import secrets
import uuid
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.guests import create_guest
from games import engine, selectors, services
from games.models import Challenge, FinishedRound, Game, Play, Seal
from tools.bench.ground import HOST
from tools.bench.people import RULES, Move, dealt_game, make, next_move
from tools.bench.report import Aim, Cell, Report, Table

if TYPE_CHECKING:
    from accounts.models import User

NUMBERS_OF_GAMES = (1, 30, 300)
MOST_RUNNING = selectors.MOST_OPEN_GAMES - 10  # room for the games that are looked at
LONG_TARGET = 201
PLAYS = 48
PLAYS_OF_A_DEAL = 8

TRANSACTION_CONTROL = ("BEGIN", "SAVEPOINT", "RELEASE", "COMMIT", "ROLLBACK")
SESSION = re.compile(r'"django_session"')
USER = re.compile(
    r'^SELECT "accounts_user"."id", .*FROM "accounts_user" WHERE "accounts_user"."id" ='
)
FILES = re.compile(r'(?:href|src)="(/static/[^"#]+)')


@dataclass(frozen=True, slots=True)
class Seen:
    """What one answer took: statements of its own and in all, bytes plain and as sent."""

    statements: int
    in_all: int
    plain: int
    sent: int
    files: frozenset[str]


class Browser:
    """A signed-in player's browser, which counts."""

    def __init__(self, player: User | None) -> None:
        self._client = Client(SERVER_NAME=HOST)
        self.seen: dict[str, list[Seen]] = {}
        if player is not None:
            self._client.force_login(player)
            # The first request of a day renews the session; that is not the page's.
            self._client.get("/", secure=True)

    def get(self, kind: str, path: str) -> Seen:
        """Open a page; its answer is kept among those of its kind."""
        return self._count(kind, "get", path, {}, {})

    def poll(self, kind: str, path: str, tag: str) -> Seen:
        """Ask for news, with the tag of what is on the page."""
        return self._count(kind, "get", path, {}, {"HX-Request": "true", "HX-PTag": tag})

    def post(self, kind: str, path: str, form: dict[str, str], *, htmx: bool = True) -> Seen:
        """Send a form as htmx does. Without a kind the caller keeps the answer itself."""
        return self._count(kind, "post", path, form, {"HX-Request": "true"} if htmx else {})

    def _count(
        self, kind: str, method: str, path: str, data: dict[str, str], headers: dict[str, str]
    ) -> Seen:
        with CaptureQueriesContext(connection) as queries:
            response = getattr(self._client, method)(
                path, data, secure=True, headers={"Accept-Encoding": "gzip", **headers}
            )
        if response.status_code not in {200, 302, 304}:
            raise RuntimeError(f"{path} answered {response.status_code}")
        statements = [query["sql"] for query in queries.captured_queries]
        plain, sent, files = _weighed(response)
        own = sum(map(_is_the_pages_own, statements))
        seen = Seen(own, len(statements), plain, sent, files)
        if kind:
            self.keep(kind, seen)
        return seen

    def keep(self, kind: str, seen: Seen) -> None:
        """Count an answer among those of its kind."""
        self.seen.setdefault(kind, []).append(seen)


def _weighed(response: Any) -> tuple[int, int, frozenset[str]]:
    """Return the bytes of an answer unpacked and as sent, and the files that a page asks for."""
    sent = body = b"".join(response)
    if response.headers.get("Content-Encoding") == "gzip":
        body = gzip.decompress(sent)
    is_page = response.headers.get("Content-Type", "").startswith("text/html")
    files = frozenset(FILES.findall(body.decode())) if is_page else frozenset()
    return len(body), len(sent), files


def measure() -> Report:
    """Measure on the database at hand, for a player of each number of games."""
    browsers = {number: _player_with(number) for number in NUMBERS_OF_GAMES}
    report = Report()
    _pages(report, browsers)
    _first_visit(report)
    return report


def _is_the_pages_own(sql: str) -> bool:
    """Neither the session, nor the user of the request, nor transaction control."""
    return not (sql.startswith(TRANSACTION_CONTROL) or SESSION.search(sql) or USER.search(sql))


def _pages(report: Report, browsers: dict[int, Browser]) -> None:
    kinds = list(dict.fromkeys(kind for browser in browsers.values() for kind in browser.seen))
    counts = {
        kind: [_most_statements(browser.seen.get(kind, [])) for browser in browsers.values()]
        for kind in kinds
    }
    answers = {
        kind: [seen for browser in browsers.values() for seen in browser.seen.get(kind, [])]
        for kind in kinds
    }
    sent = {kind: [seen.sent for seen in answers[kind]] for kind in kinds}
    columns = tuple(f"{number} games" for number in NUMBERS_OF_GAMES)
    report.tables += [
        Table(
            "Statements beside session, user and transaction control, the most of any answer",
            ("request", *columns, "in all"),
            [(kind, *counts[kind], max(seen.in_all for seen in answers[kind])) for kind in kinds],
        ),
        Table(
            "Bytes (compressed ones with up to 100 of random padding)",
            ("request", "answers", "plain, most", "compressed, median", "most"),
            [
                (
                    kind, len(answers[kind]), max(seen.plain for seen in answers[kind]),
                    round(median(sent[kind])), max(sent[kind]),
                )
                for kind in kinds
            ],
        ),
    ]  # fmt: skip
    moves = max(_most(counts[kind]) for kind in kinds if kind.startswith("move"))
    polls = max(seen.in_all for seen in answers["idle poll"])
    # How many plays the computer answers with, and so its statements, depends on the cards.
    uneven = [kind for kind in kinds if "reply" not in kind and len(set(counts[kind]) - {None}) > 1]
    plays = [size for kind in kinds if "move" in kind for size in sent[kind]]
    report.aims += [
        Aim("statements of a move, no reply", moves, 8, binding=True),
        Aim("statements of the table page", _most(counts["table"]), 5, binding=True),
        Aim("statements of an idle poll, in all", polls, 3, binding=True),
        Aim("statements of home", _most(counts["home"]), 5, binding=True),
        Aim("pages that take more statements for more games", len(uneven), 0, binding=True),
        Aim("table page, files at hand, median bytes", median(sent["table"]), 3000, binding=True),
        Aim("the same, largest", max(sent["table"]), 3000),
        Aim("answer to a play, median bytes", median(plays), 3000, binding=True),
        Aim("the same, largest", max(plays), 3000),
    ]


def _most_statements(answers: list[Seen]) -> int | None:
    return max((seen.statements for seen in answers), default=None)


def _most(counts: list[int | None]) -> int:
    return max(count or 0 for count in counts)


def _player_with(number: int) -> Browser:
    player, other = create_guest(), create_guest()
    browser = Browser(player)
    game = dealt_game(player, other, LONG_TARGET)
    if number > 1:
        finished = dealt_game(player)
        while (move := next_move(finished)) is not None:
            finished = make(finished, move)
        running = min(number // 2, MOST_RUNNING)
        _copy(game, running - 1)
        _copy(finished, number - running - 1)
    _look_around(browser, player, game)
    return browser


def _copy(game: Game, times: int) -> None:
    """Fill a player's lists with copies of a game: rows to be listed, not to be played on."""
    plays, rounds = list(game.plays.all()), list(game.finished_rounds.all())
    for _ in range(times):
        challenge = Challenge.objects.get(pk=game.pk)
        challenge.pk, challenge.form_key = uuid.uuid4(), None
        challenge.save(force_insert=True)
        Seal.objects.create(challenge=challenge, anchor=secrets.token_hex(32), rounds_sealed=1)
        game = Game.objects.get(pk=game.pk)
        game.pk = challenge.pk
        game.save(force_insert=True)
        for rows in (plays, rounds):
            for row in rows:
                row.pk, row.game = None, game
        Play.objects.bulk_create(plays)
        FinishedRound.objects.bulk_create(rounds)


def _look_around(browser: Browser, player: User, game: Game) -> None:
    """Open every page, play two rounds with another person and one with the computer."""
    browser.get("home", reverse("games:home"))
    browser.get("rules", reverse("games:rules"))
    challenge = services.make_challenge(
        player=create_guest(), rules=RULES, target=LONG_TARGET, listed=True
    )
    browser.get("open table", reverse("games:open_table"))
    browser.get("challenge page", reverse("games:challenge", args=[challenge.pk]))
    path = reverse("games:table", args=[game.pk])
    # Two rounds: it is the dealer's plays that end a deal, and the deal alternates.
    for number in (1, 2):
        while game.plies < number * PLAYS and (move := next_move(game)) is not None:
            if move.player == player:
                browser.get("table", path)
                _poll(browser, player, game)
            game = _make(browser, player, game, move, "move")
        browser.get("table with a summary", path)
        browser.post("summary put away", f"{path}seen/", {"round": str(number)})
    browser.get("log of two rounds", f"{path}log/")
    browser.get("fairness document", f"{path}fairness.json")

    game = dealt_game(player)
    while (move := next_move(game)) is not None:
        game = _make(browser, player, game, move, "with the computer's reply: move")
    browser.get("table of a finished game", reverse("games:table", args=[game.pk]))


def _poll(browser: Browser, player: User, game: Game) -> None:
    now = selectors.pulse(player, game.pk)
    if now is None:
        raise RuntimeError("the game is not the player's")
    browser.poll("idle poll", reverse("games:table", args=[game.pk]), now[1])


def _make(browser: Browser, player: User, game: Game, move: Move, kind: str) -> Game:
    """Let the player make the move in the browser, and anybody else by the service."""
    if move.player != player:
        return make(game, move)
    before = game.plies
    seen = browser.post("", f"{reverse('games:table', args=[game.pk])}play/", move.form())
    game = selectors.game_by_id(game.pk)
    if game.plies // PLAYS > before // PLAYS:
        kind += " that ends a round"
    elif game.plies // PLAYS_OF_A_DEAL > before // PLAYS_OF_A_DEAL:
        kind += " after which new cards are dealt"
    browser.keep(kind, seen)
    return game


def _first_visit(report: Report) -> None:
    """Come to a table for the first time, and weigh everything that the browser fetches."""
    visitor = Browser(None)
    visitor.get("home", "/")
    form = {
        "level": "medium", "rule_set": engine.DEFAULT_RULE_SET, "target": "round",
        "form_key": str(uuid.uuid4()),
    }  # fmt: skip
    visitor.post("a challenge is made", reverse("games:play_computer"), form, htmx=False)
    key = Challenge.objects.latest("created_at").pk
    to_deal = visitor.get("challenge page", reverse("games:challenge", args=[key]))
    words = {"words": "", "proposal": ""}
    visitor.post("answer to the words", reverse("games:accept", args=[key]), words, htmx=False)
    table = visitor.get("table", reverse("games:table", args=[key]))
    files = {name: visitor.get(name, name) for name in sorted(table.files | to_deal.files)}
    rows: list[tuple[Cell, ...]] = [
        (name, seen.statements, seen.plain, seen.sent)
        for name, of_a_kind in visitor.seen.items()
        for seen in of_a_kind
    ]
    columns = ("answer", "statements", "bytes", "compressed")
    report.tables.append(Table("A first visit, step by step", columns, rows))
    weight = table.sent + sum(file.sent for file in files.values())
    report.aims += [
        Aim("first visit to a table, compressed bytes", weight, 32_000, binding=True),
        Aim("first visit to a table, requests", 1 + len(files), 6, binding=True),
    ]
