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
from games import engine, selectors, services
from games.engine import Basras, Pair, RoundState, Seat, parse_cards
from games.models import Fingerprint, Game, Play
from games.snapshot import read_state, write_state

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Locator, Request

    from accounts.models import User

YOUR_TURN = "Your turn."
ME, COMPUTER = Seat.B, Seat.A  # against the computer the human is the one who joins

CHOICE = ("8S KC", "2H 9D", "5C 3D 3H QS")
"""For `lay`: the eight takes the five with either three."""
CROWDED = ("10S 9S 8S 3S", "2H 9D QD JC", "AC AD AH 2C 2D 2S 4C 4D 5C 5D 6H KS")
"""For `lay`: twelve cards on the floor, and many more ways to take them than fit on a page."""
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

    def version(self) -> str:
        """The version of the board that is shown."""
        return self.board.get_attribute("data-version") or ""

    def expect_my_turn(self) -> None:
        """Wait until it is."""
        expect(self.page.get_by_role("heading", name=YOUR_TURN)).to_be_visible()

    def expect_board_after(self, version: str) -> None:
        """Wait until the board is no longer that of `version`."""
        expect(self.board).not_to_have_attribute("data-version", version)

    def is_over(self) -> bool:
        """Whether the game is."""
        return self.board.get_attribute("data-phase") == "over"

    def play_first_card(self) -> None:
        """Choose the first card with the mouse, confirm, and wait for the board after it."""
        before = self.version()
        self.label().click()
        self.play_button.click()
        self.expect_board_after(before)

    def focused(self) -> str:
        """The name of the element that has the focus, `BODY` where it is lost."""
        name: str = self.page.evaluate("document.activeElement?.tagName ?? 'BODY'")
        return name


def start_game(page: Page, site: str) -> Table:
    """Go home and click once: a dealt table."""
    page.goto(site)
    page.get_by_role("button", name="Play the computer").click()
    table = Table(page)
    table.expect_my_turn()
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


def address(site: str, game: Game) -> str:
    """Where the table of `game` is."""
    return f"{site}/games/{game.pk}/"


def dealt_game(target: int | None = None, player: User | None = None) -> tuple[User, Game]:
    """Return a guest with a game against the computer in which the guest is to play."""
    player = player or create_guest()
    game = sealed_game(player, target)
    game = services.deal_first_round(
        game_id=game.pk, player=player, words="tea and mint", words_by=Fingerprint.By.SERVER
    )
    return player, services.computer_reply(game)


def sealed_game(player: User, target: int | None = None) -> Game:
    """Return a game against the computer that waits for the words of `player`."""
    rules = engine.RULE_SETS[engine.DEFAULT_RULE_SET]
    return services.seal_computer_game(player=player, rules=rules, target=target)


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
