"""The check of a deal in the browser: it finds what was sealed, and every tampering."""

from __future__ import annotations

import random
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Error, expect

from games.models import Seal
from tests import cast
from tests.engine.helpers import ALL_RULES, cases
from tests.tampering import (
    KINDS,
    TAMPERINGS_OF_A_KIND,
    WORDS,
    document,
    tampered,
    tamperings,
    vector_document,
)

from .table import address, sign_in, watch
from .test_what_can_go_wrong import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page, Route
    from pytest_django.live_server_helper import LiveServer

    from games.models import Game

CHECK = "([documents, words]) => documents.map(one => BasraFairness.check(one, words))"
SOUND = "Everything fits: the cards of every round that is over are those that were sealed."


@pytest.fixture
def game() -> Game:
    """A game of Mona and Karim in its second round."""
    mona, karim = cast.person("Mona"), cast.person("Karim")
    return cast.play_until_ply(cast.sit_down(mona, karim, target=101, seed=2), 60)


def open_check(page: Page, site: str, game: Game) -> None:
    """Open the fairness page of `game` as Karim, who gave the words."""
    sign_in(page, site, game.player_b)
    page.goto(f"{address(site, game)}fairness/")


def checked(page: Page, documents: list[Any], words: str | None = None) -> list[Any]:
    """What the browser's checker says of documents."""
    found: list[Any] = page.evaluate(CHECK, [documents, words])
    return found


def test_the_checker_agrees_with_the_recipe_and_catches_every_tampering(
    desktop: Page, live_server: LiveServer, game: Game
) -> None:
    open_check(desktop, live_server.url, game)
    for vector in cases("vectors"):
        (found,) = checked(desktop, [vector_document(vector)], vector["words"])
        assert found["problems"] == []
        assert found["rounds"][-1] == {"round": vector["round"], "problem": None}
    whole = [document(turn, rules, 20) for turn, rules in enumerate(ALL_RULES)]
    for found in checked(desktop, whole, f" {WORDS}\t"):
        assert found["problems"] == []
        assert [one["round"] for one in found["rounds"]] == list(range(1, 21))
    changed = tamperings(ALL_RULES)
    caught = dict.fromkeys(KINDS, 0)
    for (kind, _), found in zip(
        changed, checked(desktop, [one for _, one in changed]), strict=True
    ):
        caught[kind] += bool(found["problems"])
    assert caught == dict.fromkeys(KINDS, TAMPERINGS_OF_A_KIND)


def test_the_checker_tells_words_and_refuses_what_is_no_document(
    desktop: Page, live_server: LiveServer, game: Game
) -> None:
    open_check(desktop, live_server.url, game)
    exchanged = document("exchanged", ALL_RULES[0], 2, words="the server's")
    assert checked(desktop, [exchanged])[0]["problems"] == []
    for words in (WORDS, "", "the server's\ufeff", "\ud83c"):
        told = desktop.evaluate(CHECK, [[exchanged], words])[0]["problems"]
        assert told == [{"code": "words", "round": None}]
    good = document("hostile", ALL_RULES[0], 1)
    (one,) = good["rounds"]
    hostile: list[Any] = [
        None, 7, "game", [], {}, {**good, "rounds": None}, {**good, "rounds": {"length": 1}},
        {**good, "rounds": [None]}, {**good, "rounds": [one, one]}, {**good, "rounds": [one] * 129},
        {**good, "rounds_sealed": 0}, {**good, "rounds_sealed": 1e300}, {**good, "anchor": None},
        {**good, "rounds_sealed": "128"}, {**good, "game_id": "game"}, {**good, "game_id": 7},
        {**good, "words_sha256": None}, {**good, "words_sha256": "zz"}, {**good, "version": None},
        *({**good, "rounds": [{**one, **changes}]} for changes in (
            {"round": True}, {"round": "1"}, {"round": 0}, {"secret": None}, {"secret": ""},
            {"secret": [one["secret"]]}, {"deck": None}, {"deck": [one["deck"]]},
            {"deck": "AC " * 52}, {"first_dealer": None}, {"first_dealer": "nobody"},
        )),
    ]  # fmt: skip
    for bad, found in zip(hostile, checked(desktop, hostile), strict=True):
        assert found["problems"], bad


def test_in_the_second_round_the_first_is_checked_and_after_the_end_every_round(
    phone: Page, live_server: LiveServer, game: Game
) -> None:
    complaints = watch(phone, live_server.url)
    open_check(phone, live_server.url, game)
    verdict, results = phone.locator("#check-verdict"), phone.locator("#check-results li")
    expect(verdict).to_have_text(SOUND)
    expect(results).to_have_text(["Round 1: the cards are those that were sealed."])
    expect(phone.get_by_role("alert")).to_have_count(0)
    game = cast.play_to_the_end(game)
    phone.context.clear_cookies()
    phone.reload()
    expect(verdict).to_have_text(SOUND)
    rounds = game.finished_rounds.count()
    assert rounds > 1
    expect(results).to_have_count(rounds)
    assert complaints == []


def test_words_are_compared_in_the_browser_and_sent_nowhere(
    desktop: Page, live_server: LiveServer, game: Game
) -> None:
    open_check(desktop, live_server.url, game)
    expect(desktop.locator("#check-verdict")).to_have_text(SOUND)
    asked: list[str] = []
    desktop.on("request", lambda request: asked.append(request.url))
    field = desktop.get_by_label("Your words, if you kept them")
    told = desktop.locator("#words-result")
    field.fill("tea")
    field.press("Enter")
    expect(told.get_by_role("alert")).to_contain_text("These are other words")
    field.fill(f" {cast.WORDS} ")
    desktop.get_by_role("button", name="Check the words").click()
    expect(told).to_have_text("These are the words.")
    assert asked == []


def answer_with(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Route], None]:
    """Let the document come changed, as a cheating server would send it."""

    def answer(route: Route) -> None:
        route.fulfill(json=change(route.fetch().json()))

    return answer


def test_the_answer_to_an_earlier_check_does_not_speak_over_the_latest(
    desktop: Page, live_server: LiveServer, game: Game
) -> None:
    held: list[Route] = []
    tampering = answer_with(lambda published: tampered(published, "deck", random.Random("late")))

    def hold_the_first(route: Route) -> None:
        if held:
            tampering(route)
        else:
            held.append(route)

    desktop.route("**/fairness.json", hold_the_first)
    open_check(desktop, live_server.url, game)
    wait_for(desktop, lambda: bool(held))
    desktop.get_by_role("button", name="Check again").click()
    verdict = desktop.locator("#check-verdict")
    expect(verdict.get_by_role("alert").first).to_contain_text("something is wrong!")
    with suppress(Error):  # where the page has given it up
        held[0].continue_()
    desktop.wait_for_timeout(300)
    expect(verdict).not_to_contain_text("Everything fits")


def test_a_tampered_document_is_shouted_on_the_page(
    desktop: Page, live_server: LiveServer, game: Game
) -> None:
    said = {
        "deck": "Round 1: something is wrong! These are not the cards that the secret deals.",
        "secret": "The secret does not hang on the anchor",
        "anchor": "under another seal than this page shows",
        "words": "These are not the cards that the secret deals.",
        "game id": "under another seal than this page shows",
        "round order": "Round 2: something is wrong! This round is missing, comes twice",
    }
    assert set(said) == set(KINDS)
    desktop.emulate_media(reduced_motion="reduce")
    open_check(desktop, live_server.url, game)
    verdict = desktop.locator("#check-verdict")
    for kind, sentence in said.items():

        def change(published: dict[str, Any], kind: str = kind) -> dict[str, Any]:
            if kind == "round order":
                return published | {"rounds": published["rounds"] * 2}
            return tampered(published, kind, random.Random(kind))

        desktop.route("**/fairness.json", answer_with(change))
        desktop.get_by_role("button", name="Check again").click()
        expect(verdict.get_by_role("alert").first).to_contain_text(sentence)
        expect(verdict).not_to_contain_text("Everything fits")
        desktop.unroute("**/fairness.json")
    assert axe_finds(desktop) == []


def test_the_document_of_another_seal_is_shouted_though_it_fits_in_itself(
    desktop: Page, live_server: LiveServer, game: Game
) -> None:
    other = document("another", ALL_RULES[0], 1)
    desktop.route("**/fairness.json", lambda route: route.fulfill(json=other))
    open_check(desktop, live_server.url, game)
    expect(desktop.locator("#check-verdict").get_by_role("alert")).to_contain_text(
        "under another seal than this page shows"
    )


def test_a_document_that_does_not_come_can_be_asked_for_again(
    desktop: Page, live_server: LiveServer, game: Game
) -> None:
    desktop.route("**/fairness.json", lambda route: route.abort())
    open_check(desktop, live_server.url, game)
    verdict = desktop.locator("#check-verdict")
    expect(verdict).to_contain_text("could not be fetched")
    desktop.unroute("**/fairness.json")
    desktop.get_by_role("button", name="Check again").click()
    expect(verdict).to_have_text(SOUND)


def test_a_browser_without_script_is_told_of_the_program_and_sees_everything(
    without_script: Page, live_server: LiveServer, game: Game
) -> None:
    open_check(without_script, live_server.url, game)
    expect(without_script.get_by_text("needs JavaScript")).to_be_visible()
    expect(without_script.get_by_role("button", name="Check")).to_have_count(0)
    first = game.finished_rounds.get(number=1)
    for shown in (Seal.objects.get(pk=game.pk).anchor, first.secret, first.deck):
        expect(without_script.get_by_text(shown, exact=True)).to_be_visible()
    for link in ("Download the seal", "Download the program"):
        href = without_script.get_by_role("link", name=re.compile(link)).get_attribute("href")
        assert without_script.request.get(f"{live_server.url}{href}").ok


def remembered(page: Page) -> dict[str, str]:
    """What the browser remembers of anchors."""
    kept: dict[str, str] = page.evaluate("({...localStorage})")
    return {key: value for key, value in kept.items() if key.startswith("basra.anchor.")}


@pytest.mark.parametrize("path", ["", "fairness/"])
def test_an_anchor_that_changed_is_shouted_and_stays(
    path: str, desktop: Page, live_server: LiveServer, game: Game
) -> None:
    sign_in(desktop, live_server.url, game.player_b)
    desktop.goto(f"{address(live_server.url, game)}{path}")
    anchor, key = Seal.objects.get(pk=game.pk).anchor, f"basra.anchor.{game.pk}"
    assert remembered(desktop)[key].split(" ")[0] == anchor
    desktop.reload()
    shout = desktop.locator("[data-kind=anchor-changed]")
    expect(shout).to_have_count(0)
    before = "0" * 64
    desktop.evaluate("([key, value]) => localStorage.setItem(key, value)", [key, f"{before} 1"])
    for _visit in range(2):
        desktop.reload()
        expect(shout).to_have_count(1)
        expect(shout).to_have_role("alert")
        expect(shout).to_be_visible()
        expect(shout).to_contain_text("This game has another seal")
        expect(shout.locator("code")).to_have_text([before, anchor])
    assert axe_finds(desktop) == []
    if path == "":
        desktop.evaluate("htmx.ajax('GET', location.href, {target: '#table', swap: 'outerHTML'})")
        desktop.wait_for_load_state("networkidle")
        expect(shout).to_have_count(1)


def test_the_browser_remembers_the_two_hundred_latest_games(
    desktop: Page, live_server: LiveServer, game: Game
) -> None:
    sign_in(desktop, live_server.url, game.player_b)
    desktop.goto(live_server.url)
    desktop.evaluate(
        """() => {
            for (let n = 0; n < 250; n += 1) localStorage.setItem(`basra.anchor.${n}`, `aa ${n}`);
            localStorage.setItem("something else", "kept");
        }"""
    )
    desktop.goto(f"{address(live_server.url, game)}fairness/")
    kept = remembered(desktop)
    assert len(kept) == 200
    assert f"basra.anchor.{game.pk}" in kept
    assert "basra.anchor.249" in kept
    assert "basra.anchor.50" not in kept
    assert desktop.evaluate("localStorage.getItem('something else')") == "kept"


def test_a_browser_without_a_memory_shows_the_page_all_the_same(
    desktop: Page, live_server: LiveServer, game: Game
) -> None:
    sign_in(desktop, live_server.url, game.player_b)
    for lost in (
        "Object.defineProperty(window, 'localStorage', {get() { throw new Error('denied'); }})",
        "Object.defineProperty(window, 'localStorage', {value: null})",
        "Storage.prototype.setItem = () => { throw new Error('full'); }",
    ):
        page = desktop.context.new_page()
        page.add_init_script(lost)
        complaints = watch(page, live_server.url)
        page.goto(f"{address(live_server.url, game)}fairness/")
        expect(page.locator("#check-verdict")).to_have_text(SOUND)
        expect(page.get_by_role("alert")).to_have_count(0)
        assert complaints == []


def axe_finds(page: Page) -> list[str]:
    """What axe finds wrong with the page."""
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {node['html'][:120]}" for one in found for node in one["nodes"]]
