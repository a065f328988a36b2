"""The table as somebody at a browser uses it, and games to sit down at."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from django.conf import settings
from django.test import Client
from playwright.sync_api import Page, expect

from accounts.guests import create_guest
from accounts.models import User
from games import engine, selectors, services
from games.engine import Basras, Pair, RoundState, Seat, parse_cards
from games.models import Challenge, Fingerprint, Game, Play
from games.snapshot import read_state, write_state

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Locator, Request

YOUR_TURN = "Your turn."
ME, COMPUTER = Seat.B, Seat.A  # against the computer the human is the one who joins

CHOICE = ("8S KC", "2H 9D", "5C 3D 3H QS")
"""For `lay`: the eight takes the five with either three."""
CROWDED = ("10S 9S 8S 3S", "2H 9D QD JC", "AC AD AH 2C 2D 2S 4C 4D 5C 5D 6H KS")
"""For `lay`: twelve cards on the floor, and many more ways to take them than fit on a page."""
A_POLL = 2_100
"""Milliseconds, a little more than between two polls of a table of two people."""
_LOOK_AWAY = """hidden => {
    Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
    document.dispatchEvent(new Event("visibilitychange"));
}"""
TELL_OF_VIOLATIONS = """
    document.addEventListener("securitypolicyviolation", event =>
      console.error("violation", event.violatedDirective, event.blockedURI));
"""


@dataclass(frozen=True)
class Table:
    """What is at the table on `page`, found by roles and names."""

    page: Page

    @property
    def board(self) -> Locator:
        """The part that is exchanged after each play."""
        return self.page.get_by_role("region", name="Table", exact=True)

    @property
    def hand(self) -> Locator:
        """The cards to choose from."""
        return self.page.get_by_role("group", name="Your hand").locator("input[name=card]")

    @property
    def floor(self) -> Locator:
        """The cards on the floor, or the sentence that there is none."""
        return self.page.get_by_role("region", name=re.compile("on the floor")).get_by_role(
            "listitem"
        )

    @property
    def steps(self) -> Locator:
        """The last plays, oldest first."""
        return self.page.get_by_role("region", name="Last plays").get_by_role("listitem")

    @property
    def play_button(self) -> Locator:
        """What confirms the chosen card."""
        return self.page.get_by_role("button", name="Play", exact=True)

    @property
    def status(self) -> Locator:
        """Whose turn it is, or how it ended."""
        return self.page.locator("#status")

    @property
    def next_link(self) -> Locator:
        """The way to the next game that waits, with their number, in the head of every page."""
        return self.page.get_by_role("banner").get_by_role("link", name=re.compile("^Next"))

    @property
    def play_again(self) -> Locator:
        """What starts another game on the same terms; there when the game is over."""
        return self.page.get_by_role("button", name="Play again")

    def label(self, index: int = 0) -> Locator:
        """The picture of a card of the hand: what a finger or a mouse hits."""
        return self.page.locator(f"label[for={self.hand.nth(index).get_attribute('id')}]")

    def chosen(self) -> list[str]:
        """The codes of the chosen cards: one or none."""
        codes: list[str] = self.hand.evaluate_all(
            "all => all.filter(one => one.checked).map(one => one.value)"
        )
        return codes

    def codes(self) -> list[str]:
        """The codes of the cards in hand."""
        codes: list[str] = self.hand.evaluate_all("all => all.map(one => one.value)")
        return codes

    def other_name(self) -> str:
        """Who sits on the other side."""
        return self.page.locator(".player .name").first.inner_text()

    def version(self) -> str:
        """The version of the board that is shown."""
        return self.board.get_attribute("data-version") or ""

    def expect_my_turn(self) -> None:
        """Wait until it is."""
        expect(self.page.get_by_role("heading", name=YOUR_TURN)).to_be_visible()

    def expect_board_after(self, version: str) -> None:
        """Wait until the board is no longer that of `version`."""
        expect(self.board).not_to_have_attribute("data-version", version)

    def is_mine_to_play(self) -> bool:
        """Whether a card can be played here now."""
        return self.board.get_attribute("data-phase") == "play"

    def floor_codes(self) -> list[str]:
        """The codes of the cards on the floor."""
        codes: list[str] = self.page.locator(".floor [data-card]").evaluate_all(
            "all => all.map(one => one.dataset.card)"
        )
        return codes

    def is_over(self) -> bool:
        """Whether the game is."""
        return self.board.get_attribute("data-phase") == "over"

    def play_first_card(self) -> None:
        """Choose the first card with the mouse, confirm, and wait for the board after it."""
        before = self.version()
        self.label().click()
        self.play_button.click()
        self.expect_board_after(before)

    def expect_focus(self) -> None:
        """Expect that something has the focus: it is not lost to the top of the page."""
        expect(self.page.locator(":focus")).to_have_count(1)


def start_game(page: Page, site: str) -> Table:
    """Go home and click once: a dealt table."""
    page.goto(site)
    page.get_by_role("button", name="Play the computer").click()
    table = Table(page)
    table.expect_my_turn()
    page.wait_for_load_state()  # its keys work from then on
    return table


def sit_down(page: Page, site: str, player: User, game: Game) -> Table:
    """Open a game of `player`, signed in as that player."""
    sign_in(page, site, player)
    page.goto(address(site, game))
    return Table(page)


def sign_in(page: Page, site: str, player: User) -> None:
    """Give the browser a session of `player`."""
    client = Client()
    client.force_login(player)
    name = settings.SESSION_COOKIE_NAME
    page.context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": site}])


def meet(site: str, game: Game, *places: tuple[Page, User]) -> list[Table]:
    """Open `game` on each page as its player; whoever is to play comes first.

    The clocks of the pages can be moved on.
    """
    for page, _player in places:
        page.clock.install()
    tables = [sit_down(page, site, player, game) for page, player in places]
    return sorted(tables, key=lambda table: not table.is_mine_to_play())


def offer_by_link(page: Page, site: str) -> str:
    """Offer a game of one round from home, and return the link to send."""
    page.goto(site)
    page.get_by_role("link", name="Play a friend").click()
    page.get_by_role("button", name="Offer the game").click()
    expect(page.get_by_role("heading", name="Waiting for somebody to accept")).to_be_visible()
    return page.get_by_label("Send this link to your friend").input_value()


def expect_waiting(page: Page, number: int) -> None:
    """Expect that head and title tell the same `number` of games that wait."""
    link = Table(page).next_link
    if number:
        expect(link.locator("[data-count]")).to_have_text(str(number))
        expect(page).to_have_title(re.compile(rf"^\({number}\) "))
    else:
        expect(link).to_have_count(0)
        expect(page).to_have_title(re.compile(r"^[^(]"))


def poll(page: Page, milliseconds: int = A_POLL) -> None:
    """Let the page's clock run on until it asks for news, and wait for the answer."""
    with page.expect_response(lambda response: response.request.method == "GET"):
        page.clock.fast_forward(milliseconds)
    # What came is on the page when this does not fail any more.
    page.wait_for_timeout(50)


def look_away(page: Page, *, hidden: bool) -> None:
    """Hide the tab or show it again, as far as the page can tell."""
    page.evaluate(_LOOK_AWAY, hidden)


def requests_of(page: Page) -> list[str]:
    """The pages that are asked for from now on, as the list grows; not pictures and the like."""
    asked: list[str] = []

    def note(request: Request) -> None:
        if "/static/" not in request.url:
            asked.append(request.url)

    page.on("request", note)
    return asked


def go_to_more(page: Page) -> None:
    """Go from the table to the page of what is seldom done."""
    page.get_by_role("link", name="More", exact=True).click()
    expect(page.get_by_role("heading", name="More at this table")).to_be_visible()


def address(site: str, game: Game) -> str:
    """Where the table of `game` is."""
    return f"{site}/games/{game.pk}/"


def address_of_offer(site: str, offered: Challenge) -> str:
    """Where the page of a challenge is."""
    return f"{site}/challenges/{offered.pk}/"


def dealt_game(target: int | None = None, player: User | None = None) -> tuple[User, Game]:
    """Return a guest with a game against the computer in which the guest is to play."""
    player = player or create_guest()
    game = services.accept_challenge(
        challenge_id=offer_of_the_computer(player, target).pk,
        player=player,
        words="tea and mint",
        words_by=Fingerprint.By.SERVER,
    )
    return player, services.computer_reply(game)


def offer_of_the_computer(player: User, target: int | None = None) -> Challenge:
    """Return a challenge by the computer that waits for the words of `player`."""
    rules = engine.RULE_SETS[engine.DEFAULT_RULE_SET]
    easy = User.Level.EASY
    return services.challenge_by_the_computer(player=player, level=easy, rules=rules, target=target)


def lay(game: Game, mine: str, theirs: str, floor: str, *, first: Seat = ME) -> None:
    """Lay out the last deal of a round: these cards, and all others taken, half by each.

    In the last deal nothing is dealt any more, so the cards need not be the sealed ones.
    """
    hands = Pair(parse_cards(theirs), parse_cards(mine))
    on_floor = parse_cards(floor)
    taken = [card for card in engine.PACK if card not in {*hands.a, *hands.b, *on_floor}]
    half = len(taken) // 2
    state = read_state(game)
    laid = engine.GameState(
        terms=state.terms,
        round_number=state.round_number,
        round=RoundState(
            dealer=first.other,
            hands=hands,
            floor=on_floor,
            stock=(),
            piles=Pair(tuple(taken[:half]), tuple(taken[half:])),
            basras=Pair(Basras(), Basras()),
            last_capturer=COMPUTER,
        ),
        totals=state.totals,
        carried=state.carried,
        next_dealer=first,
        outcome=None,
    )
    assert engine.problems(laid) == []
    game.turn = laid.turn or ""
    game.public, game.hidden = write_state(laid, game)
    game.save(update_fields=["turn", "public", "hidden"])


def play_elsewhere(game: Game, player: User) -> Game:
    """Play a card of `player` as if from another device; the computer answers."""
    game = selectors.game_by_id(game.pk)
    game = services.play_card(
        game_id=game.pk,
        player=player,
        play=engine.legal_plays(read_state(game))[0],
        version=game.version,
        move_id=uuid4(),
    )
    return services.computer_reply(game)


def my_plays(game: Game | None = None) -> list[str]:
    """The plays that the human chose, in order, in the engine's notation."""
    plays = Play.objects.filter(seat=ME, forced=False).order_by("game", "ply")
    if game is not None:
        plays = plays.filter(game=game)
    return [play.text for play in plays]


def watch(page: Page, site: str) -> list[str]:
    """Note from now on what the browser complains about, and every request to another site."""
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    def ask(request: Request) -> None:
        if not request.url.startswith(f"{site}/"):
            complaints.append(f"a request to {request.url}")

    page.add_init_script(TELL_OF_VIOLATIONS)
    page.on("console", note)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", ask)
    return complaints


def press_tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until one of `wanted` has the focus."""
    for _ in range(30):
        if wanted.evaluate_all("all => all.includes(document.activeElement)"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{wanted} is not reached by Tab")


def expect_score_adds_up(page: Page) -> None:
    """Check that the lines of the round's summary add up to its points, and those to the total."""
    rows: dict[str, tuple[int, int]] = {}
    for row in page.get_by_role("table", name="Round 1").get_by_role("row").all()[1:]:
        mine, theirs = row.get_by_role("cell").all_inner_texts()
        rows[row.get_by_role("rowheader").inner_text()] = int(mine), int(theirs)
    cards, points, total = rows.pop("Cards"), rows.pop("Points of the round"), rows.pop("Total")
    assert sum(cards) <= 52
    assert points == tuple(map(sum, zip(*rows.values(), strict=True)))
    assert total == points, "it is the only round"
