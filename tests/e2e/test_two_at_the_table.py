"""Two people in two browsers: an offer, a game to its end, a rematch, and the ways out."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils import timezone
from playwright.sync_api import expect

from accounts.names import isolated_name as isolated
from games import services
from games.models import Challenge, Fingerprint, Game
from tests import cast
from tests.games.leaks import cards_in, masked
from tests.games.test_hidden_cards import hidden_from

from .table import (
    Table,
    address,
    address_of_offer,
    expect_score_adds_up,
    expect_waiting,
    go_to_more,
    meet,
    offer_by_link,
    poll,
    press_tab_to,
    sign_in,
    sit_down,
)

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page
    from pytest_django.live_server_helper import LiveServer

SEEN_WITHIN = 3.5
"""Seconds: a play is seen by the other within 3 of its commit; the rest is for a busy machine."""
MOST_PLAYS = 48
MONA, KARIM = map(isolated, ("Mona", "Karim"))


def test_a_friend_accepts_by_link_and_both_play_a_whole_game(
    phone: Page, desktop: Page, live_server: LiveServer
) -> None:
    sign_in(phone, live_server.url, cast.person("Mona"))
    phone.clock.install()
    desktop.clock.install()
    link = offer_by_link(phone, live_server.url)

    desktop.goto(link)
    expect(desktop.get_by_role("heading", name="Mona offers you a game")).to_be_visible()
    offer = desktop.locator("#offer")
    expect(offer).to_contain_text("Egyptian Basra 2, one round")
    expect(offer).to_contain_text("A jack basra and a komi basra count 30.")
    desktop.get_by_role("button", name="Accept and deal").click()
    karims, monas = Table(desktop), Table(phone)
    expect(karims.status).to_be_visible()
    expect(phone).to_have_url(desktop.url)  # her page goes there by itself

    onlooker = another_visitor(desktop)
    onlooker.goto(f"{desktop.url}replay/")
    play_to_the_end([monas, karims], plays=2, in_real_time=2)
    while not karims.is_over():
        expect_nothing_hidden(onlooker)
        play_to_the_end([monas, karims], plays=7)
    for table in (monas, karims):
        expect(table.status).to_have_text(re.compile(r"^(You win!|.+ wins\.|A draw.*)$"))
        expect_score_adds_up(table.page)
    assert totals(monas) == totals(karims)[::-1]
    assert Game.objects.get().status == Game.Status.FINISHED


def test_a_friend_without_javascript_plays_by_refreshing(
    phone: Page, without_script: Page, live_server: LiveServer
) -> None:
    sign_in(phone, live_server.url, cast.person("Mona"))
    phone.clock.install()
    page = without_script
    page.goto(offer_by_link(phone, live_server.url))
    page.get_by_role("button", name="Accept and deal").click()
    karims, monas = Table(page), Table(phone)
    expect(phone).to_have_url(page.url)
    play_to_the_end([monas, karims], plays=4)

    game = Game.objects.get()
    cast.play_until_ply(game, 44)
    page.get_by_role("link", name="My games").click()
    page.get_by_role("link", name="Against Mona").click()
    poll(phone)
    play_to_the_end([monas, karims])
    for table in (monas, karims):
        expect(table.status).to_have_text(re.compile(r"^(You win!|.+ wins\.|A draw.*)$"))
        expect_score_adds_up(table.page)


def test_a_game_to_51_begins_and_ends_in_two_browsers(
    phone: Page, desktop: Page, live_server: LiveServer
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    sign_in(phone, live_server.url, mona)
    sign_in(desktop, live_server.url, karim)
    phone.clock.install()
    desktop.clock.install()
    phone.goto(f"{live_server.url}/challenges/new/")
    phone.get_by_label("Play", exact=True).select_option("51")
    phone.get_by_role("button", name="Offer the game").click()
    desktop.goto(phone.get_by_label("Send this link to your friend").input_value())
    desktop.get_by_role("button", name="Accept and deal").click()
    karims, monas = Table(desktop), Table(phone)
    expect(karims.board).to_be_visible()
    expect(monas.board).to_be_visible()
    play_to_the_end([monas, karims], plays=2)

    while not karims.is_over():
        play_to_the_last_deal(Game.objects.get())
        for table in (monas, karims):
            table.page.reload()
        number = cast.state_of(Game.objects.get()).round_number
        while not karims.is_over() and not heading(karims, number).is_visible():
            play_one([monas, karims])
        for table in (monas, karims):
            # The round's end comes first, whatever was dealt meanwhile.
            expect(table.page.get_by_role("table", name=f"Round {number}")).to_be_visible()
            if not table.is_over():
                table.page.get_by_role("button", name="Continue").click()
                expect(heading(table, number)).to_have_count(0)
    assert max(totals(karims)) >= 51
    assert totals(monas) == totals(karims)[::-1]


def test_the_last_card_of_a_deal_and_the_new_cards_are_told_one_after_the_other(
    phone: Page, desktop: Page, live_server: LiveServer
) -> None:
    mona, karim = cast.person("Mona", forced=False), cast.person("Karim", forced=False)
    game = cast.play_until_ply(cast.sit_down(mona, karim), 6)
    mover, other = meet(live_server.url, game, (phone, mona), (desktop, karim))
    mover.play_first_card()
    poll_until_current(other, mover.version())
    other.play_first_card()
    assert [first_word(step) for step in other.steps.all_inner_texts()] == ["You", "Four"]
    poll_until_current(mover, other.version())
    steps = mover.steps.all_inner_texts()
    assert [first_word(step) for step in steps] == ["You", isolated(mover.other_name()), "Four"]
    assert steps[-1] == "Four new cards each are dealt."
    assert len(mover.codes()) == 4


def test_the_end_of_a_round_is_told_before_the_next_one(
    phone: Page, desktop: Page, live_server: LiveServer
) -> None:
    mona, karim = cast.person("Mona", forced=False), cast.person("Karim", forced=False)
    game = cast.play_until_ply(cast.sit_down(mona, karim, target=51), 46)
    mover, other = meet(live_server.url, game, (phone, mona), (desktop, karim))
    mover.play_first_card()
    poll_until_current(other, mover.version())
    other.play_first_card()
    poll_until_current(mover, other.version())
    for table, told in (
        (other, ["You", "Round"]),
        (mover, ["You", isolated(mover.other_name()), "Round"]),
    ):
        for _ in range(2):
            expect(table.status).to_have_text("Round 1 is over")
            steps = table.steps.all_inner_texts()
            assert [first_word(step) for step in steps] == told
            assert steps[-1] == "Round 1 is over."
            expect(table.play_button).to_have_count(0)
            table.page.reload()
        table.page.get_by_role("button", name="Continue").click()
        expect(table.page.get_by_text("Round 2", exact=True)).to_be_visible()
        table.expect_focus()


def test_an_offer_can_be_taken_back_and_its_link_says_so(
    phone: Page, desktop: Page, live_server: LiveServer
) -> None:
    sign_in(phone, live_server.url, cast.person("Mona"))
    link = offer_by_link(phone, live_server.url)
    desktop.goto(link)
    phone.get_by_role("button", name="Take the challenge back").tap()
    expect(phone.get_by_role("heading", name=re.compile("Play Basra|My games"))).to_be_visible()
    desktop.get_by_role("button", name="Accept and deal").click()
    expect(desktop.get_by_role("heading", name="no longer available")).to_be_visible()
    expect(desktop.get_by_role("button", name="Accept and deal")).to_have_count(0)
    phone.goto(link)
    expect(phone.get_by_role("heading", name="You took this challenge back")).to_be_visible()
    assert Game.objects.count() == 0


def test_an_offer_that_is_gone_says_why(desktop: Page, live_server: LiveServer) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    expired = cast.offer(mona, seed=1)
    Challenge.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(hours=1))
    taken = cast.offer(mona, seed=2)
    services.accept_challenge(
        challenge_id=taken.pk, player=karim, words="tea", words_by=Fingerprint.By.OPPONENT
    )
    sign_in(desktop, live_server.url, cast.person("Salma"))
    for offered, why in ((expired, "no longer available"), (taken, "has taken this seat")):
        desktop.goto(address_of_offer(live_server.url, offered))
        expect(desktop.get_by_role("heading", name=why)).to_be_visible()
        expect(desktop.get_by_role("button")).to_have_count(0)
        expect(desktop.get_by_role("link", name="Offer a game")).to_be_visible()


def test_ones_own_link_waits_and_offers_nothing_to_accept(
    desktop: Page, live_server: LiveServer
) -> None:
    mona = cast.person("Mona")
    sign_in(desktop, live_server.url, mona)
    desktop.goto(address_of_offer(live_server.url, cast.offer(mona)))
    expect(desktop.get_by_role("heading", name="Waiting for somebody to accept")).to_be_visible()
    expect(desktop.get_by_role("button", name="Accept and deal")).to_have_count(0)
    desktop.get_by_role("button", name="Copy the link").click()
    expect(desktop.get_by_role("button", name="Copied")).to_be_visible()


def test_a_double_click_reload_and_back_make_one_offer(
    desktop: Page, live_server: LiveServer
) -> None:
    sign_in(desktop, live_server.url, cast.person("Mona"))
    waiting = desktop.get_by_role("heading", name="Waiting for somebody to accept")
    desktop.goto(f"{live_server.url}/challenges/new/")
    desktop.get_by_role("button", name="Offer the game").dblclick()
    expect(waiting).to_be_visible()
    desktop.reload()
    desktop.go_back()
    expect(desktop.get_by_role("button", name="Offer the game")).to_be_visible()
    desktop.go_forward()
    expect(waiting).to_be_visible()
    assert Challenge.objects.count() == 1


def test_a_game_is_offered_on_the_open_table_and_found_there(
    phone: Page, desktop: Page, live_server: LiveServer
) -> None:
    sign_in(phone, live_server.url, cast.person("Mona"))
    sign_in(desktop, live_server.url, cast.person("Karim"))
    phone.goto(f"{live_server.url}/challenges/")
    phone.get_by_role("link", name="Offer a game here").tap()
    expect(phone.get_by_label("it stands on the open table")).to_be_checked()
    phone.get_by_role("button", name="Offer the game").tap()
    expect(phone.get_by_role("heading", name="Waiting for somebody to accept")).to_be_visible()
    desktop.goto(live_server.url)
    desktop.get_by_role("link", name="Open table").click()
    desktop.get_by_role("link", name="Mona offers a game").click()
    desktop.get_by_role("button", name="Accept and deal").click()
    expect(Table(desktop).board).to_be_visible()
    expect(Table(phone).board).to_be_visible()


def test_offering_accepting_playing_and_resigning_by_keyboard_alone(
    phone: Page, desktop: Page, live_server: LiveServer
) -> None:
    site = live_server.url
    sign_in(phone, site, cast.person("Mona"))
    sign_in(desktop, site, cast.person("Karim"))
    phone.goto(f"{site}/challenges/new/")
    press_tab_to(phone, phone.get_by_role("button", name="Offer the game"))
    phone.keyboard.press("Enter")
    expect(phone.get_by_role("heading", name="Waiting for somebody to accept")).to_be_visible()
    link = phone.get_by_label("Send this link to your friend")
    press_tab_to(phone, link)
    desktop.goto(link.input_value())
    press_tab_to(desktop, desktop.get_by_role("button", name="Accept and deal"))
    desktop.keyboard.press("Enter")
    karims, monas = Table(desktop), Table(phone)
    expect(karims.board).to_be_visible()
    expect(monas.board).to_be_visible()
    mover, other = sorted((karims, monas), key=lambda table: not table.is_mine_to_play())
    version = mover.version()
    mover.page.keyboard.press("1")
    mover.page.keyboard.press("Enter")
    mover.expect_board_after(version)
    other.expect_board_after(version)
    mover.expect_focus()
    other.expect_focus()
    press_tab_to(other.page, other.page.get_by_role("link", name="More", exact=True))
    other.page.keyboard.press("Enter")
    expect(other.page.get_by_role("heading", name="More at this table")).to_be_visible()
    press_tab_to(other.page, other.page.get_by_role("link", name="Resign"))
    other.page.keyboard.press("Enter")
    expect(other.page.get_by_role("heading", name="Resign the game?")).to_be_visible()
    press_tab_to(other.page, other.page.get_by_role("button", name="Resign"))
    other.page.keyboard.press("Enter")
    expect(other.status).to_have_text(re.compile(r"^You resigned\."))
    expect(mover.status).to_have_text(re.compile(r"^You win: .+ resigned\.$"))


def test_resigning_is_asked_once_more_and_escape_leaves(
    phone: Page, desktop: Page, live_server: LiveServer
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.sit_down(mona, karim)
    meet(live_server.url, game, (phone, mona), (desktop, karim))
    for page, by in ((desktop, "mouse"), (desktop, "Enter"), (phone, "touch")):
        go_to_more(page)
        link = page.get_by_role("link", name="Resign")
        match by:
            case "mouse":
                link.click()
            case "Enter":
                link.press("Enter")
            case _:
                link.tap()
        expect(page.get_by_role("heading", name="Resign the game?")).to_be_visible()
        expect(page.get_by_text("The game ends now")).to_contain_text("wins it")
        assert cast.as_it_is(game).status == Game.Status.RUNNING
        page.keyboard.press("Escape")
        expect(Table(page).status).to_be_visible()
        assert cast.as_it_is(game).status == Game.Status.RUNNING

    go_to_more(phone)
    phone.get_by_role("link", name="Resign").tap()
    phone.get_by_role("button", name="Resign").tap()
    poll(desktop)
    expect(Table(phone).status).to_have_text(f"You resigned. {KARIM} wins.")
    expect(Table(desktop).status).to_have_text(f"You win: {MONA} resigned.")


def test_an_offer_to_end_the_game_stands_until_it_is_answered(
    phone: Page, desktop: Page, live_server: LiveServer
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.sit_down(mona, karim)
    mine, theirs = meet(live_server.url, game, (phone, mona), (desktop, karim))
    theirs.page.goto("about:blank")
    go_to_more(mine.page)
    mine.page.get_by_role("button", name="Offer to end the game uncounted").click()
    offered = mine.page.get_by_text("The offer stands until it is answered.")
    expect(offered).to_be_visible()
    mine.play_first_card()
    expect(offered).to_be_visible()

    page = theirs.page
    page.goto(address(live_server.url, game))
    expect(page.get_by_text("offers to end the game. It would not count.")).to_be_visible()
    page.get_by_role("button", name="No, play on").click()
    expect(page.locator("#cancel-offer")).to_have_count(0)
    expect(page.get_by_text("You are asked to end this game")).to_have_count(0)
    poll(mine.page)
    expect(offered).to_have_count(0)
    mine.page.locator("#log summary").click()
    said = f"{isolated(mine.other_name())} declined to end the game."
    expect(mine.page.locator("#log")).to_contain_text(said)


def test_playing_on_ends_the_offer_and_agreeing_ends_the_game(
    phone: Page, desktop: Page, live_server: LiveServer
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.sit_down(mona, karim)
    mover = cast.player_to_play(game)
    services.offer_to_cancel(game_id=game.pk, player=karim if mover == mona else mona)
    mine, theirs = meet(live_server.url, game, (phone, mona), (desktop, karim))
    mine.play_first_card()
    expect(mine.page.locator("#cancel-offer")).to_have_count(0)
    poll(theirs.page)
    expect(theirs.page.get_by_text("The offer stands until it is answered.")).to_have_count(0)
    mine.page.locator("#log summary").click()
    expect(mine.page.locator("#log")).to_contain_text("the offer to end the game is gone")

    go_to_more(mine.page)
    mine.page.get_by_role("button", name="Offer to end the game uncounted").click()
    poll(theirs.page)
    theirs.page.get_by_role("button", name="End the game").click()
    poll(mine.page)
    for table in (mine, theirs):
        expect(table.status).to_have_text("You both agreed to end the game; it does not count.")


def test_a_game_is_called_off_before_both_have_played(
    phone: Page, desktop: Page, live_server: LiveServer
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.sit_down(mona, karim)
    meet(live_server.url, game, (phone, mona), (desktop, karim))
    go_to_more(phone)
    phone.get_by_role("link", name="Call the game off").tap()
    expect(phone.get_by_text("Nobody wins or loses.")).to_be_visible()
    phone.get_by_role("button", name="Call it off").tap()
    poll(desktop)
    for page in (phone, desktop):
        expect(Table(page).status).to_have_text("The game was called off before it began.")


def test_both_who_press_rematch_meet_in_one_new_game(
    phone: Page, desktop: Page, live_server: LiveServer
) -> None:
    game = finished_game()
    sign_in(phone, live_server.url, game.player_a)
    sign_in(desktop, live_server.url, game.player_b)
    phone.goto(address(live_server.url, game))
    phone.get_by_role("button", name="Rematch").tap()
    expect(phone.get_by_role("heading", name="Waiting for Karim to answer")).to_be_visible()
    desktop.goto(live_server.url)
    expect(desktop.get_by_role("link", name="Mona offers a rematch")).to_be_visible()
    expect_waiting(desktop, 1)

    desktop.goto(address(live_server.url, game))
    expect(desktop.get_by_text("Mona offers a rematch.")).to_be_visible()
    desktop.get_by_role("button", name="Accept the rematch").click()
    karims, monas = Table(desktop), Table(phone)
    expect(karims.floor.first).to_be_visible()
    expect(monas.floor.first).to_be_visible()
    assert phone.url == desktop.url
    assert Game.objects.count() == 2
    assert not Challenge.objects.filter(state=Challenge.State.WAITING).exists()
    assert sorted([*karims.chosen(), *monas.chosen()]) == []
    desktop.goto(address(live_server.url, game))
    expect(desktop.get_by_role("link", name="To the rematch")).to_be_visible()


def test_a_rematch_without_javascript_takes_one_more_button(
    without_script: Page, live_server: LiveServer
) -> None:
    page = without_script
    game = finished_game()
    services.offer_rematch(game_id=game.pk, player=game.player_a)
    sign_in(page, live_server.url, game.player_b)
    page.goto(address(live_server.url, game))
    page.get_by_role("button", name="Accept the rematch").click()
    page.get_by_role("button", name="Accept and deal").click()
    expect(Table(page).floor.first).to_be_visible()
    assert Game.objects.count() == 2


def test_an_offered_rematch_comes_to_an_open_table_and_a_refused_one_is_told(
    phone: Page, desktop: Page, live_server: LiveServer
) -> None:
    game = finished_game()
    meet(live_server.url, game, (phone, game.player_a), (desktop, game.player_b))
    phone.get_by_role("button", name="Rematch").tap()
    expect(phone.get_by_role("heading", name="Waiting for Karim to answer")).to_be_visible()
    poll(desktop, 10_100)
    desktop.get_by_role("link", name="See the offer").click()
    desktop.get_by_role("button", name="No, thanks").click()
    expect(desktop.get_by_role("heading", name="My games")).to_be_visible()
    phone.clock.fast_forward(3_100)
    expect(phone.get_by_role("heading", name="Your challenge was declined.")).to_be_visible()
    phone.goto(address(live_server.url, game))
    expect(phone.get_by_text("Karim declined a rematch.")).to_be_visible()


def test_a_finished_game_keeps_result_summary_and_rematch(
    desktop: Page, live_server: LiveServer
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.play_to_the_end(cast.sit_down(mona, karim))
    table = sit_down(desktop, live_server.url, karim, game)
    before = table.status.inner_text()
    desktop.reload()
    expect(table.status).to_have_text(before)
    expect_score_adds_up(desktop)
    expect(desktop.get_by_role("button", name="Rematch")).to_be_visible()


# How the two play


def play_to_the_end(
    tables: list[Table], plays: int = MOST_PLAYS + 1, *, in_real_time: int = 0
) -> int:
    """Play a card on whichever table is to play, until the game is over; return how many.

    The first ones are waited for; for the rest the other page's clock is moved on.
    """
    for number in range(plays):
        if tables[0].is_over() and tables[1].is_over():
            return number
        play_one(tables, in_real_time=number < in_real_time)
    return plays


def another_visitor(page: Page) -> Page:
    """A third person, who is not signed in, in a browser of their own."""
    browser = page.context.browser
    assert browser is not None
    return browser.new_context().new_page()


def expect_nothing_hidden(onlooker: Page) -> None:
    """The onlooker sees the latest play, and no card that a stranger may not know."""
    game = Game.objects.get()
    onlooker.reload()
    expect(onlooker.locator("#replay")).to_contain_text(f"{game.plies} of {game.plies}")
    hidden = hidden_from(None, cast.state_of(game))
    assert hidden
    assert not cards_in(masked(onlooker.content())) & hidden


def play_one(tables: list[Table], *, in_real_time: bool = False) -> None:
    """Play a card, and see that the other player sees it in time."""
    mover, other = sorted(tables, key=lambda table: not table.is_mine_to_play())
    mover.play_first_card()
    landed, version = time.monotonic(), mover.version()
    if refresh_by_hand(other):
        expect(other.board).to_have_attribute("data-version", version)
    elif in_real_time:
        expect(other.board).to_have_attribute("data-version", version, timeout=SEEN_WITHIN * 1000)
        assert time.monotonic() - landed <= SEEN_WITHIN
    else:
        poll_until_current(other, version)


def refresh_by_hand(table: Table) -> bool:
    """Press the link of a page that does not renew itself; return whether it is such a page."""
    if table.page.evaluate("Boolean(window.htmx)"):
        return False
    table.page.get_by_role("link", name="Refresh").click()
    return True


def poll_until_current(table: Table, version: str) -> None:
    """Move the page's clock on by less than three seconds, and see that the board has come."""
    table.page.clock.fast_forward(2_000)
    expect(table.board).to_have_attribute("data-version", version, timeout=1_500)


def play_to_the_last_deal(game: Game) -> None:
    """Play on both sides until no cards are left to deal in the round."""
    for _ in range(MOST_PLAYS):
        state = cast.state_of(game)
        if state.round is not None and not state.round.stock:
            return
        cast.play_one(game)
    raise AssertionError("the last deal never came")


def finished_game() -> Game:
    """Return a game that Mona resigned to Karim."""
    game = cast.sit_down(cast.person("Mona"), cast.person("Karim"))
    return services.resign(game_id=game.pk, player=game.player_a)


def heading(table: Table, number: int) -> Locator:
    """The head of the summary of a round."""
    return table.page.get_by_role("heading", name=f"Round {number} is over")


def totals(table: Table) -> list[int]:
    """The points of the game: mine, theirs."""
    row = table.page.locator("table.score tfoot tr").last
    return [int(text) for text in row.get_by_role("cell").all_inner_texts()]


def first_word(sentence: str) -> str:
    """Who or what a sentence is about."""
    return sentence.split()[0]
