"""What the table tells by itself: spoken plays, keys, choices, forced cards, waiting."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from accounts.guests import create_guest
from games import services, tasks, wording
from games.engine import format_cards, read_play
from games.selectors import game_by_id

from .table import (
    CHOICE,
    COMPUTER,
    CROWDED,
    Table,
    address,
    address_of_offer,
    dealt_game,
    lay,
    look_away,
    my_plays,
    offer_of_the_computer,
    requests_of,
    sign_in,
    sit_down,
    start_game,
)

if TYPE_CHECKING:
    import pytest
    from playwright.sync_api import Page
    from pytest_django.live_server_helper import LiveServer

    from games.models import Game

KEEP_WHAT_IS_SPOKEN = """
    window.spoken = [];
    document.querySelectorAll("main > [role=status]").forEach(place => {
      new MutationObserver(() => { if (place.textContent) spoken.push(place.textContent); })
        .observe(place, {childList: true, characterData: true, subtree: true});
    });
"""
A_POLL = 3_100
"""Milliseconds, a little more than between two polls."""


def test_each_reply_is_spoken_once(desktop: Page, live_server: LiveServer) -> None:
    table = start_game(desktop, live_server.url)
    desktop.wait_for_timeout(300)
    desktop.evaluate(KEEP_WHAT_IS_SPOKEN)
    for turn in range(1, 3):
        table.play_first_card()
        desktop.wait_for_timeout(300)
        spoken = desktop.evaluate("spoken")
        assert len(spoken) == turn
        assert re.search(r"^You played \w+ of \w+.*Simsim.* played .*Your turn\.$", spoken[-1])


def test_equal_words_are_spoken_again(
    desktop: Page, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wording, "play_sentence", lambda *_, **__: "A five was played.")
    table = start_game(desktop, live_server.url)
    desktop.wait_for_timeout(300)
    desktop.evaluate(KEEP_WHAT_IS_SPOKEN)
    for _ in range(2):
        table.play_first_card()
        desktop.wait_for_timeout(300)
    first, second = desktop.evaluate("spoken")
    assert first == second


def test_the_help_opens_and_closes_by_keys(desktop: Page, live_server: LiveServer) -> None:
    table = start_game(desktop, live_server.url)
    keyboard = desktop.keyboard
    keyboard.press("1")
    keyboard.press("?")
    dialog = desktop.get_by_role("dialog", name="Keys")
    expect(dialog).to_be_visible()
    keyboard.press("2")
    assert table.chosen() == [table.codes()[0]], "the table's keys rest while the help is open"
    keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert table.chosen() == [table.codes()[0]], "Escape closed the help and nothing else"
    table.expect_focus()
    keyboard.press("Escape")
    assert table.chosen() == []
    table.expect_focus()
    assert my_plays() == []


def test_a_held_key_plays_one_card(desktop: Page, live_server: LiveServer) -> None:
    table = start_game(desktop, live_server.url)
    version = table.version()
    desktop.keyboard.press("1")
    for _ in range(5):  # pressed again without being let go: what a held key repeats
        desktop.keyboard.down("Enter")
    desktop.keyboard.up("Enter")
    table.expect_board_after(version)
    table.expect_my_turn()
    assert len(my_plays()) == 1


def test_keys_are_letters_while_own_words_are_typed(desktop: Page, live_server: LiveServer) -> None:
    desktop.goto(live_server.url)
    desktop.get_by_text("Choose the rules").click()
    desktop.get_by_label("own words").check()
    desktop.get_by_role("button", name="Play the computer").click()
    words = desktop.get_by_label("Your words")
    words.fill("")
    words.press_sequentially("1 tea? 4 mints!")
    expect(words).to_have_value("1 tea? 4 mints!")
    expect(desktop.get_by_role("dialog")).to_have_count(0)
    words.press("Enter")
    Table(desktop).expect_my_turn()


def test_a_game_that_was_sealed_earlier_is_dealt_when_it_is_opened(
    desktop: Page, live_server: LiveServer
) -> None:
    player = create_guest()
    sign_in(desktop, live_server.url, player)
    desktop.goto(address_of_offer(live_server.url, offer_of_the_computer(player)))
    Table(desktop).expect_my_turn()


def test_where_captures_overlap_the_chosen_one_lands(
    desktop: Page, live_server: LiveServer
) -> None:
    player, game = dealt_game()
    lay(game, *CHOICE)
    table = sit_down(desktop, live_server.url, player, game)
    desktop.keyboard.press("2")
    assert table.chosen() == ["8S"]
    options = desktop.get_by_role("group", name=re.compile("^2 ways")).get_by_role("radio")
    expect(options).to_have_count(2)
    expect(options.first).to_be_checked()
    for option in options.all():
        pictures = option.locator("xpath=..").locator("svg")
        assert len([one for one in pictures.all() if one.is_visible()]) == 2
    with_hearts = desktop.get_by_role("radio", name=re.compile("three of hearts"))
    expect(with_hearts).not_to_be_checked()
    with_hearts.check()
    assert lifted(table) == ["5C", "3H"], "the floor shows what would be taken"
    version = table.version()
    table.play_button.click()
    table.expect_board_after(version)
    card, captured, _kind = read_play(my_plays(game)[0])
    assert (card.code, format_cards(captured)) == ("8S", "5C 3H")


def test_a_choice_fits_a_phone_with_a_crowded_floor(phone: Page, live_server: LiveServer) -> None:
    player, game = dealt_game()
    lay(game, *CROWDED)
    table = sit_down(phone, live_server.url, player, game)
    for index in range(4):
        table.label(index).tap()
        expect(table.play_button).to_be_in_viewport(ratio=1)
        for card in table.floor.all():
            expect(card).to_be_in_viewport(ratio=1)


def test_forced_last_cards_are_shown_one_after_the_other(
    desktop: Page, live_server: LiveServer
) -> None:
    player, game = dealt_game()
    lay(game, mine="QC KC", theirs="QD KD", floor="2S")
    table = sit_down(desktop, live_server.url, player, game)
    table.play_first_card()
    steps = table.steps.all_inner_texts()
    assert len(steps) == 4, "my card, the reply, and both last cards"
    assert "You played" in steps[0]
    assert "Simsim" in steps[1]
    assert "You played" in steps[2]
    assert "Simsim" in steps[3]
    assert len(my_plays(game)) == 1
    delays = [
        step.evaluate("one => parseFloat(getComputedStyle(one).animationDelay)")
        for step in table.steps.all()
    ]
    assert delays == sorted(set(delays))


def test_who_asked_for_less_motion_gets_none(desktop: Page, live_server: LiveServer) -> None:
    desktop.emulate_media(reduced_motion="reduce")
    table = start_game(desktop, live_server.url)
    table.play_first_card()
    assert desktop.evaluate("document.getAnimations().length") == 0


def test_an_interrupted_reply_arrives_by_itself(
    desktop: Page, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, game = wait_for_a_reply(desktop, live_server, monkeypatch)
    expect(desktop.get_by_role("heading", name=re.compile("^Waiting for"))).to_be_visible()
    desktop.get_by_text("Log", exact=True).click()
    with desktop.expect_response(address(live_server.url, game)):
        desktop.clock.fast_forward(A_POLL)  # it finds nothing new
    expect(desktop.get_by_role("link", name="The whole log")).to_be_visible()
    expect(desktop.locator("#log summary")).to_be_focused()

    version = table.version()
    monkeypatch.setattr(tasks, "_INTERRUPTED_FOR", timedelta(0))
    tasks.finish_computer_replies()
    desktop.clock.fast_forward(A_POLL)
    table.expect_board_after(version)
    table.expect_my_turn()
    expect(desktop.get_by_role("link", name="The whole log")).to_be_visible()
    table.expect_focus()


def test_a_choice_is_left_alone(desktop: Page, live_server: LiveServer) -> None:
    desktop.clock.install()
    table = start_game(desktop, live_server.url)
    asked = requests_of(desktop)
    desktop.keyboard.press("1")
    for _ in range(3):
        desktop.clock.fast_forward(A_POLL)
        desktop.wait_for_timeout(100)
    assert asked == [], "the computer does nothing meanwhile"
    with desktop.expect_response(desktop.url):  # for the number of other games that wait
        desktop.clock.fast_forward(30_000)
    assert table.chosen() == [table.codes()[0]]
    expect(table.hand.first).to_be_focused()


def test_a_table_that_nobody_looks_at_asks_for_nothing_and_is_renewed_on_return(
    desktop: Page, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, game = wait_for_a_reply(desktop, live_server, monkeypatch)
    services.computer_reply(game_by_id(game.pk))
    version = table.version()
    asked = requests_of(desktop)
    look_away(desktop, hidden=True)
    desktop.clock.fast_forward(A_POLL)
    desktop.wait_for_timeout(200)
    assert asked == []
    look_away(desktop, hidden=False)
    table.expect_board_after(version)
    table.expect_my_turn()


def test_a_poll_that_fails_is_told_and_mends_itself(
    desktop: Page, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, game = wait_for_a_reply(desktop, live_server, monkeypatch)
    desktop.context.set_offline(True)
    desktop.clock.fast_forward(A_POLL)
    notice = desktop.get_by_text("No connection at the moment")
    expect(notice).to_be_visible()
    desktop.context.set_offline(False)
    services.computer_reply(game_by_id(game.pk))
    desktop.clock.fast_forward(A_POLL)
    table.expect_my_turn()
    expect(notice).to_have_count(0)


def test_without_javascript_one_refreshes_while_waiting(
    without_script: Page, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    player, game = dealt_game()
    table = sit_down(without_script, live_server.url, player, game)
    with monkeypatch.context() as interrupted:
        interrupted.setattr(services, "computer_reply", no_reply)
        table.play_first_card()
    refresh = without_script.get_by_role("link", name="Refresh")
    expect(refresh).to_be_visible()
    expect(table.play_button).to_have_count(0)
    services.computer_reply(game_by_id(game.pk))
    refresh.click()
    table.expect_my_turn()


def test_a_round_of_a_longer_game_ends_with_a_summary_that_stays(
    desktop: Page, live_server: LiveServer
) -> None:
    player, game = dealt_game(target=51)
    lay(game, mine="QC", theirs="QD", floor="2S", first=COMPUTER)
    services.computer_reply(game_by_id(game.pk))
    table = sit_down(desktop, live_server.url, player, game)
    heading = desktop.get_by_role("heading", name="Round 1 is over")
    expect(heading).to_be_visible()
    desktop.reload()
    expect(heading).to_be_visible()
    desktop.get_by_role("button", name="Continue").click()
    expect(heading).to_have_count(0)
    table.expect_my_turn()
    table.expect_focus()


def wait_for_a_reply(
    page: Page, server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> tuple[Table, Game]:
    """Play a card that the computer does not answer yet, on a page whose clock can be advanced."""
    player, game = dealt_game()
    page.clock.install()
    table = sit_down(page, server.url, player, game)
    with monkeypatch.context() as interrupted:
        interrupted.setattr(services, "computer_reply", no_reply)
        table.play_first_card()
    return table, game


def no_reply(game: Game) -> Game:
    """Stand in for the computer's reply as if the server had been stopped before it."""
    return game


def lifted(table: Table) -> list[str]:
    """The codes of the floor cards that are shown as taken."""
    codes: list[str] = table.floor.evaluate_all(
        "all => all.filter(one => one.classList.contains('taken')).map(one => one.dataset.card)"
    )
    return codes
