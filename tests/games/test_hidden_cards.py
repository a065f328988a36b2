"""A hidden card never leaves the server, in whatever notation and by whatever way."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Callable, Iterator
from functools import cache

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts.models import User
from basra_site.logging import JsonFormatter
from games import engine, hints, replaying, selectors, services, table
from games.engine import PACK, Card, GameState, Seat
from games.models import Challenge, Game
from games.snapshot import read_state
from games.table import TableView
from games.tasks import finish_computer_replies
from games.views import fairness as fairness_pages
from games.views import home as home_page
from games.views import rules as rules_pages
from games.views import table as table_pages
from tests import cast
from tests.games.leaks import (
    cards_in,
    forms_of,
    masked,
    notations_of,
    numbers_in_odd_places,
    secrets_in,
    sent_by,
)

pytestmark = pytest.mark.django_db

PAGES_BESIDE_THE_TABLE = ("log", "game_rules", "fairness", "fairness_document")
ASKED_FIRST = ("resign", "abort")
LAST_PLAYS = selectors.PLAYS_AT_THE_TABLE


def test_the_search_finds_every_card_in_every_notation() -> None:
    for card in PACK:
        for notation in notations_of(card):
            assert cards_in(notation) == {card}, notation


def test_the_search_finds_secrets_however_they_are_written() -> None:
    for seed in range(20):
        secret = cast.tip_of(seed)
        for form in forms_of(secret):
            assert secrets_in(f'"{form}"', {secret}) == {secret}, form
        assert not secrets_in(cast.tip_of(seed + 1).hex(), {secret})


def test_the_search_finds_nothing_in_words_and_numbers() -> None:
    for text in ("as it was, ah, ad hoc", "2026-11-30 10:07", "Deal 3 of 6", "in 10 days", "3s"):
        assert cards_in(text.replace("3s", "every 3 s")) == set()


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """Everything that is logged, however unimportant, as the site writes it."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield stream
    root.setLevel(before)
    root.removeHandler(handler)


def hidden_from(seat: Seat | None, state: GameState) -> set[Card]:
    """The cards that ``seat`` may not know now."""
    if state.round is None:
        return set()
    hands = [state.round.hands[other] for other in Seat if other is not seat]
    return {*state.round.stock, *(card for hand in hands for card in hand)}


def closed_secrets(game: Game, seed: int) -> set[bytes]:
    """The secrets of rounds that are not final, and the tip."""
    final = selectors.finished_rounds(game).count()
    return set(_chain(seed)[final:])


@cache
def _chain(seed: int) -> list[bytes]:
    return [
        engine.secret_of_round(cast.tip_of(seed), engine.ROUNDS_SEALED, number)
        for number in range(1, engine.ROUNDS_SEALED + 1)
    ]


def without_earlier_rounds(page: str, game: Game, round_number: int) -> str:
    """Leave out what a page tells of rounds that are over: there every card was seen."""
    page = re.sub(r'"rounds": \[.*\]', "", page)  # the fairness document has those alone
    page = re.sub(r'<section class="panel opened">.*?</section>', "", page, flags=re.DOTALL)
    logged = page.split('<section class="panel">')
    if "full-log" in page:
        return logged[0] + "".join(
            part for part in logged[1:] if f"<h2>Round {round_number}</h2>" in part
        )
    earlier = game.plays.filter(round_number__lt=round_number, ply__gt=game.plies - LAST_PLAYS)
    if earlier.exists():  # the last plays and the summary still tell of the round before
        page = re.sub(r'<ol class="log".*?</ol>', "", page, flags=re.DOTALL)
        page = re.sub(r'<section class="steps".*?</section>', "", page, flags=re.DOTALL)
        page = re.sub(r'data-announce=".*?"', "", page)
        page = re.sub(r'<p class="status">.*?</article>', "", page, flags=re.DOTALL)
    return re.sub(r'<div class="panel end">.*?<section class="player', "", page, flags=re.DOTALL)


class Watcher:
    """Reads all that one seat of a game is sent, and fails at the first hidden card."""

    def __init__(self, game: Game | Challenge, player: User, seed: int) -> None:
        self.game, self.player, self.seed = game, player, seed
        self.browser = cast.browser_of(player)
        self.seen: set[Card] = set()
        self.responses = 0

    def read(self, response: HttpResponse) -> str:
        game = selectors.all_games().filter(pk=self.game.pk).first()
        sent = sent_by(response)
        self.responses += 1
        assert numbers_in_odd_places(response.content.decode()) == set()
        if game is None:  # a challenge so far
            assert not secrets_in(sent, set(_chain(self.seed)))
            assert cards_in(masked(sent)) == set()
        else:
            assert not secrets_in(sent, closed_secrets(game, self.seed))
            state = read_state(game)
            part = without_earlier_rounds(masked(sent), game, state.round_number)
            shown = cards_in(part)
            assert not shown & hidden_from(game.seat_of(self.player), state)
            self.seen |= shown
        return response.content.decode()

    def look_everywhere(self) -> str:
        for page in (*PAGES_BESIDE_THE_TABLE, *ASKED_FIRST, "challenge"):
            self.read(cast.look(self.browser, page, self.game))
        for page in ("home", "open_table"):
            self.read(cast.look(self.browser, page))
        self.read(cast.look(self.browser, "table", self.game, htmx=True))
        self.poll()
        return self.read(cast.look(self.browser, "table", self.game))

    def poll(self) -> None:
        """Ask for news as an open table does: with the tag it has, and with an old one."""
        url = reverse("games:table", args=[self.game.pk])
        for tag in (*re.findall('hx-ptag="(.*?)"', self.browser.get(url).content.decode()), "old"):
            answer = self.browser.get(url, headers=cast.HTMX | {"HX-PTag": tag})
            assert isinstance(answer, HttpResponse)
            self.read(answer)


@pytest.mark.parametrize(
    ("rules", "target", "seed"),
    [
        ("egyptian_basra_2", 51, 2),
        ("egyptian_basra_v2", None, 4),
    ],
)
def test_a_whole_game_against_the_computer_shows_only_what_the_player_may_see(
    rules: str, target: int | None, seed: int, logged: io.StringIO
) -> None:
    mona = cast.person("Mona")
    computer = cast.the_computer()
    challenge = cast.offer(computer, mona, rules=rules, target=target, seed=seed)
    watcher = Watcher(challenge, mona, seed)
    watcher.look_everywhere()
    late = {"words": "x" * 201}
    watcher.read(cast.post(watcher.browser, "accept", challenge, late))
    watcher.read(cast.post(watcher.browser, "accept", challenge, {"words": cast.WORDS}))
    game = Game.objects.get()
    watcher.read(cast.post(watcher.browser, "accept", challenge, {"words": "others, too late"}))
    all_that_was_hidden: set[Card] = set()
    while cast.as_it_is(game).turn:
        state = cast.state_of(game)
        all_that_was_hidden |= hidden_from(Seat.B, state)
        if state.round is not None and len(state.round.hands.b) == 4 - state.round.deal_number % 3:
            watcher.look_everywhere()
        before = cast.as_it_is(game)
        htmx = bool(before.plies % 3)
        watcher.read(cast.post_play(watcher.browser, game, htmx=htmx))
        if before.plies % 4 == 0:  # what is refused shows the board as well
            form = cast.form_of(engine.Play(engine.KOMI), before.version)
            watcher.read(cast.post(watcher.browser, "play", game, form, htmx=htmx))
            for answer in ("offer", "agree", "nonsense"):  # the computer always plays on
                form = {"answer": answer}
                watcher.read(cast.post(watcher.browser, "cancel", game, form, htmx=htmx))
    watcher.look_everywhere()
    assert watcher.responses > 40
    assert len(all_that_was_hidden) > 40
    # That nothing was found is not because nothing is ever found.
    assert len(watcher.seen) > 48
    assert cards_in(masked_ids(logged.getvalue())) == set()
    assert cast.tip_of(seed).hex() not in logged.getvalue()


def masked_ids(logged: str) -> str:
    """Leave out ids, and where the project's files happen to lie."""
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32,}|/[^\s\":]*/", "…", logged)


def test_two_people_at_one_table_each_see_their_own_hand_only() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.sit_down(mona, karim, seed=5)
    watchers = {Seat.A: Watcher(game, mona, 5), Seat.B: Watcher(game, karim, 5)}
    while cast.as_it_is(game).turn:
        if cast.as_it_is(game).plies % 12 == 1:
            for seat, watcher in watchers.items():
                page = watcher.look_everywhere()
                hand = engine.seat_view(cast.state_of(game), seat).hand
                assert set(hand) <= cards_in(masked(page))
        mover = watchers[cast.seat_to_play(game)]
        mover.read(cast.post_play(mover.browser, game, htmx=True))
    assert watchers[Seat.A].responses > 30


def test_a_stranger_and_a_visitor_see_no_card_at_all() -> None:
    salma = cast.person("Salma")
    game = cast.sit_down(cast.person("Mona"), cast.person("Karim"), seed=6)
    for ply in range(0, 48, 12):
        game = cast.play_until_ply(game, ply)
        for browser in (cast.browser_of(salma), cast.browser_of()):
            of_the_site = ("home", "open_table")
            of_the_game = ("table", *PAGES_BESIDE_THE_TABLE, *ASKED_FIRST, "challenge")
            for page in (*of_the_site, *of_the_game):
                response = cast.look(browser, page, None if page in of_the_site else game)
                sent = sent_by(response)
                assert response.status_code == (200 if page in of_the_site else 404)
                assert cards_in(masked(sent)) == set()
                assert not secrets_in(sent, closed_secrets(game, 6))
                assert str(cast.as_it_is(game).anchor) not in sent
            for page in ("play", "accept", "seen", "after_move", "cancel", "rematch"):
                form = cast.form_of(cast.a_play(game), game.version)
                assert cards_in(masked(sent_by(cast.post(browser, page, game, form)))) == set()


def test_the_other_hand_is_shown_as_backs_that_are_all_alike() -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)
    browser = cast.browser_of(mona)
    for _play in range(3):
        page = cast.text_of(cast.look(browser, "table", game))
        backs = re.findall(r'<p class="backs">.*?</p>', page, re.DOTALL)[0]
        drawn = re.findall(r"<svg.*?</svg>", backs, re.DOTALL)
        table_now = cast.state_of(game).round
        assert table_now is not None
        assert len(drawn) == len(table_now.hands.a)
        assert len(set(drawn)) == 1
        cast.post_play(browser, game)


def test_a_challenge_shows_its_seal_and_nothing_more() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    challenge = cast.offer(karim, seed=7)
    for browser in (cast.browser_of(mona), cast.browser_of(karim), cast.browser_of()):
        for htmx in (False, True):
            response = cast.look(browser, "challenge", challenge, htmx=htmx)
            sent = sent_by(response)
            assert cards_in(masked(sent)) == set()
            assert not secrets_in(sent, {cast.tip_of(7), *_chain(7)})
    page = cast.text_of(cast.look(cast.browser_of(mona), "challenge", challenge))
    assert challenge.seal.anchor in page


def test_what_ends_a_game_early_is_answered_with_nothing_hidden() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    for seed, end in enumerate(("resign", "abort", "cancel"), start=20):
        game = cast.sit_down(mona, karim, seed=seed)
        watchers = [Watcher(game, player, seed) for player in (mona, karim)]
        if end == "cancel":
            offer = {"answer": "offer"}
            watchers[1].read(cast.post(watchers[1].browser, "cancel", game, offer, htmx=True))
        for watcher in watchers:
            watcher.look_everywhere()
        form = {"answer": "agree"}
        watchers[0].read(cast.post(watchers[0].browser, end, game, form, htmx=True))
        assert cast.as_it_is(game).status == Game.Status.FINISHED
        for watcher in watchers:
            watcher.look_everywhere()


def test_the_hand_is_shown_in_pack_order_whatever_the_order_of_the_deal() -> None:
    for seed in range(1, 6):
        game = cast.sit_down(cast.person(f"Mona {seed}"), cast.person(f"Karim {seed}"), seed=seed)
        page = cast.text_of(cast.look(cast.browser_of(cast.player_to_play(game)), "table", game))
        hand = [Card.parse(code) for code in re.findall(r'name="card"[^>]*value="(\w+)"', page)]
        assert hand == sorted(hand)
        assert len(hand) == 4


def test_the_secret_of_a_round_is_opened_when_the_round_is_final_and_not_before() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.sit_down(mona, karim, target=51, seed=8)
    browser = cast.browser_of(mona)
    while game.turn:
        game = cast.play_until_ply(game, game.plies + 5)
        final = game.plies // 48
        rounds = json.loads(cast.text_of(cast.look(browser, "fairness_document", game)))["rounds"]
        assert [one["round"] for one in rounds] == list(range(1, final + 1))
        assert [one["secret"] for one in rounds] == [
            engine.secret_of_round(cast.tip_of(8), 128, number).hex()
            for number in range(1, final + 1)
        ]


def test_nothing_of_a_running_game_lies_in_clear_in_the_database() -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona, seed=9)
    browser = cast.browser_of(mona)
    while game.plies < 40:
        stored = "\n".join(row for rows in cast.everything_stored().values() for row in rows)
        state = cast.state_of(game)
        hidden = hidden_from(None, state)
        # Ids, fingerprints and what is encrypted can be read as anything.
        readable = re.sub(
            r"(?m)^\d+ |b'gAAAA[\w=-]+'|[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{32,64}\b", "…", stored
        )
        shown = cards_in(masked(readable))
        assert not shown & hidden
        assert state.round is not None
        assert set(state.round.floor) <= shown
        assert not secrets_in(stored, closed_secrets(game, 9))
        cast.post_play(browser, game)
        game = cast.as_it_is(game)


def every_view(game: Game) -> dict[str, Callable[[Client], HttpResponse]]:
    form = cast.form_of(cast.a_play(game), game.version)
    return {
        "home": lambda browser: cast.look(browser, "home"),
        "table": lambda browser: cast.look(browser, "table", game),
        "board": lambda browser: cast.look(browser, "table", game, htmx=True),
        "log": lambda browser: cast.look(browser, "log", game),
        "fairness": lambda browser: cast.look(browser, "fairness", game),
        "document": lambda browser: cast.look(browser, "fairness_document", game),
        "rules": lambda browser: cast.look(browser, "game_rules", game),
        "why": lambda browser: cast.get(
            browser, reverse("games:why", args=[game.pk]), {"ply": "1"}
        ),
        "resign": lambda browser: cast.post(browser, "resign", game, {}),
        "abort": lambda browser: cast.post(browser, "abort", game, {}, htmx=True),
        "cancel": lambda browser: cast.post(browser, "cancel", game, {"answer": "offer"}),
        "accept": lambda browser: cast.post(browser, "accept", game, {"words": ""}),
        "play": lambda browser: cast.post(browser, "play", game, form),
        "seen": lambda browser: cast.post(browser, "seen", game, {"round": "1"}, htmx=True),
    }


@pytest.mark.parametrize(
    "view",
    [
        "home", "table", "board", "log", "rules", "why", "fairness", "document", "accept", "play",
        "seen", "resign", "abort", "cancel",
    ],
)  # fmt: skip
def test_an_error_with_cards_at_hand_tells_none_of_them(
    view: str, logged: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona, seed=10)
    state = cast.state_of(game)
    hidden = sorted(hidden_from(Seat.B, state))
    told = f"{engine.format_cards(hidden)} {cast.tip_of(10).hex()}"
    requested = every_view(game)[view]

    def falls_over(*_args: object, **_kwargs: object) -> object:
        cards_in_a_local_variable = hidden
        raise KeyError(cards_in_a_local_variable[0], told, state)

    for module, name in (
        (table_pages, "table_view"),
        (home_page, "game_row"),
        (table_pages, "game_row"),
        (table_pages, "log_rounds"),
        (fairness_pages, "document"),
        (fairness_pages, "fairness_view"),
        (rules_pages, "terms_of"),
        (replaying, "choice_at"),
        (services, "accept_challenge"),
        (services, "resign"),
        (services, "abort"),
        (services, "offer_to_cancel"),
        (services, "play_card"),
        (services, "dismiss_summary"),
    ):
        monkeypatch.setattr(module, name, falls_over)
    response = requested(cast.browser_of(mona, tells_errors=False))
    assert response.status_code == 500
    assert cards_in(masked(sent_by(response))) == set()
    assert "KeyError" in logged.getvalue()
    assert cards_in(masked_ids(logged.getvalue())) == set()
    assert cast.tip_of(10).hex() not in logged.getvalue() + sent_by(response)


def test_a_hint_that_fails_with_cards_at_hand_tells_none_of_them(
    logged: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona, seed=10)
    hidden = hidden_from(Seat.B, cast.state_of(game))

    def falls_over(*_args: object, **_how: object) -> object:
        raise KeyError(engine.format_cards(sorted(hidden)))

    monkeypatch.setattr(hints, "facts", falls_over)
    form = {"version": str(game.version)}
    response = cast.post(cast.browser_of(mona), "hint", game, form)
    assert response.status_code == 409
    assert not cards_in(masked(sent_by(response))) & hidden
    assert "KeyError" in logged.getvalue()
    assert cards_in(masked_ids(logged.getvalue())) == set()


def test_an_error_in_a_task_with_cards_at_hand_tells_none_of_them(
    logged: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = cast.sit_down_with_the_computer(cast.person("Mona"), seed=11)
    hidden = sorted(hidden_from(Seat.B, cast.state_of(game)))

    def falls_over(*_args: object, **_kwargs: object) -> object:
        raise KeyError(engine.format_cards(hidden))

    monkeypatch.setattr(selectors, "awaiting_the_computer", falls_over)
    finish_computer_replies.apply(throw=False)
    assert "KeyError" in logged.getvalue()
    assert cards_in(masked_ids(logged.getvalue())) == set()


def test_what_a_page_gets_has_no_room_for_a_state() -> None:
    fields = TableView.__dataclass_fields__
    words = " ".join(f"{field.type}" for field in fields.values())
    for forbidden in ("GameState", "RoundState", "Deal", "Game,", "SealedDeals", "Any", "object"):
        assert forbidden not in words
    assert "read_state" not in vars(table)
