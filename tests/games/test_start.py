"""From a click to a dealt table."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Callable

import pytest
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse

from accounts.models import User
from games import engine, selectors
from games.engine import Reason
from games.forms import signed_proposal
from games.models import Challenge, Fingerprint, Game, Seal
from tests import cast

pytestmark = pytest.mark.django_db

TERMS = {"level": "easy", "rule_set": engine.DEFAULT_RULE_SET, "target": "round"}


def click_play(browser: Client, **changed: str) -> str:
    """Post the form of the home page; return the address that it leads to."""
    form = TERMS | {"form_key": str(uuid.uuid4())} | changed
    response = cast.posted(browser, reverse("games:play_computer"), form)
    assert response.status_code == 302
    return response["Location"]


def words_in(page: str) -> dict[str, str]:
    """Return what the form of a sealed challenge posts if nobody changes it."""
    (proposal,) = re.findall(r'name="proposal" value="([^"]+)"', page)
    (words,) = re.findall(r'id="words" name="words"[^>]*value="(\w+)"', page)
    return {"words": words, "proposal": proposal}


def test_one_click_leads_to_the_seal_and_its_script_deals_at_once() -> None:
    browser = cast.browser_of(cast.person("Mona"))
    page = browser.get(click_play(browser)).content.decode()
    challenge = Challenge.objects.get()
    assert challenge.seal.anchor in page
    assert " data-deal-at-once" in page
    form = words_in(page)
    assert form["proposal"] == signed_proposal(challenge.pk, form["words"])
    assert not Game.objects.exists()


def test_what_the_page_of_the_seal_posts_leads_to_a_dealt_table() -> None:
    browser = cast.browser_of(cast.person("Mona"))
    page = browser.get(click_play(browser)).content.decode()
    challenge = Challenge.objects.get()
    response = cast.post(browser, "accept", challenge, words_in(page))
    assert (response.status_code, response["Location"]) == (302, f"/games/{challenge.pk}/")
    assert 'data-phase="play"' in browser.get(response["Location"]).content.decode()
    assert Fingerprint.objects.get().words_by == Fingerprint.By.SERVER


def test_the_page_of_the_seal_leads_to_the_table_once_it_is_dealt() -> None:
    browser = cast.browser_of(cast.person("Mona"))
    address = click_play(browser)
    challenge = Challenge.objects.get()
    cast.post(browser, "accept", challenge, {"words": "mine"})
    response = browser.get(address)
    assert (response.status_code, response["Location"]) == (302, f"/games/{challenge.pk}/")


def test_who_wants_words_of_their_own_is_not_hurried() -> None:
    browser = cast.browser_of(cast.person("Mona"))
    page = browser.get(click_play(browser, own_words="on")).content.decode()
    assert "data-deal-at-once" not in page
    assert "Your words" in page


def test_the_home_page_offers_a_game_whose_defaults_are_one_round_of_the_default_rules() -> None:
    page = cast.text_of(cast.look(cast.browser_of(), "home"))
    assert re.search(rf'value="{engine.DEFAULT_RULE_SET}"[^>]* checked', page)
    assert re.search(r'<option value="round" selected>', page)


@pytest.mark.parametrize("rules", engine.RULE_SETS)
@pytest.mark.parametrize("target", engine.TARGETS)
def test_every_rule_set_can_be_played_to_every_target(rules: str, target: int | None) -> None:
    browser = cast.browser_of(cast.person("Mona"))
    click_play(browser, rule_set=rules, target=str(target or "round"))
    challenge = Challenge.objects.get()
    cast.post(browser, "accept", challenge, {"words": "mine"})
    for terms in (challenge, Game.objects.get()):
        assert (terms.rule_set, terms.target) == (rules, target)
        assert (terms.rules_version, terms.shuffle_version) == (1, "basra-shuffle-v1")


@pytest.mark.parametrize(
    "wrong",
    [
        {"level": "harder"},
        {"level": ""},
        {"rule_set": "poker"},
        {"rule_set": ""},
        {"target": "52"},
        {"target": "None"},
        {"target": "-51"},
        {"target": "5" * 5000},
        {"form_key": "7"},
        {"form_key": ""},
    ],
)
def test_terms_that_are_not_there_are_refused_with_the_form_still_there(
    wrong: dict[str, str],
) -> None:
    browser = cast.browser_of(cast.person("Mona"))
    form = TERMS | {"form_key": str(uuid.uuid4())} | wrong
    response = cast.posted(browser, reverse("games:play_computer"), form)
    assert response.status_code == 422
    assert 'role="alert"' in cast.text_of(response)
    assert "Play the computer" in cast.text_of(response)
    assert not Challenge.objects.exists()


def test_one_form_posted_twice_makes_one_game() -> None:
    browser = cast.browser_of(cast.person("Mona"))
    key = str(uuid.uuid4())
    assert click_play(browser, form_key=key) == click_play(browser, form_key=key)
    assert Challenge.objects.count() == Seal.objects.count() == 1


def test_a_form_that_was_somebody_elses_makes_a_game_of_my_own() -> None:
    key = str(uuid.uuid4())
    mona, karim = cast.browser_of(cast.person("Mona")), cast.browser_of(cast.person("Karim"))
    hers, his = click_play(mona, form_key=key), click_play(karim, form_key=key)
    assert hers != his
    assert karim.get(his).status_code == 200
    assert karim.get(hers).status_code == 404


def test_a_visitor_who_clicks_twice_can_deal_either_way() -> None:
    key = str(uuid.uuid4())
    for _click in range(2):
        visitor = cast.browser_of()  # the cookie of the first answer has not arrived yet
        assert visitor.get(click_play(visitor, form_key=key)).status_code == 200


def test_there_is_an_end_to_how_many_games_one_can_have_running(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(selectors, "MOST_OPEN_GAMES", 2)
    mona = cast.person("Mona")
    browser = cast.browser_of(mona)
    finished = cast.sit_down(mona, cast.person("Karim"))
    click_play(browser)
    form = TERMS | {"form_key": str(uuid.uuid4())}
    response = cast.posted(browser, reverse("games:play_computer"), form)
    assert response.status_code == 409
    assert "as many running games and open offers as one can have" in cast.text_of(response)
    cast.play_to_the_end(finished)
    click_play(browser)


def offered_to(player: User, *, seed: int = 1) -> Challenge:
    """A challenge by the computer whose seal waits for the player's words."""
    return cast.offer(cast.the_computer(), player, seed=seed)


def test_dealing_mixes_my_words_in_and_keeps_their_fingerprint_only() -> None:
    mona = cast.person("Mona")
    challenge = offered_to(mona)
    form = {"words": "  where the jasmine grows ", "proposal": "0123456789abcdef"}
    response = cast.post(cast.browser_of(mona), "accept", challenge, form)
    assert response.status_code == 302
    fingerprint = Fingerprint.objects.get()
    digest = hashlib.sha256(b"where the jasmine grows").hexdigest()
    assert (fingerprint.words_sha256, fingerprint.words_by) == (digest, "opponent")
    assert "jasmine" not in str(cast.everything_stored())
    assert Game.objects.get().status == Game.Status.RUNNING


def test_the_record_says_whose_words_they_are() -> None:
    mona = cast.person("Mona")
    other = offered_to(mona, seed=9)
    claims: list[tuple[str, Callable[[Challenge], str], str]] = [
        ("abc", lambda one: signed_proposal(one.pk, "abc"), "server"),
        ("mine", lambda one: signed_proposal(one.pk, "abc"), "opponent"),
        ("mine", lambda _one: "mine", "opponent"),  # what the server never proposed
        ("abc", lambda _one: signed_proposal(other.pk, "abc"), "opponent"),
        ("", lambda _one: "", "opponent"),
    ]
    for seed, (words, proposed, said) in enumerate(claims, start=1):
        challenge = offered_to(mona, seed=seed)
        form = {"words": words, "proposal": proposed(challenge)}
        cast.post(cast.browser_of(mona), "accept", challenge, form)
        assert Fingerprint.objects.get(game=challenge.pk).words_by == said


def test_after_the_deal_it_is_my_turn_whoever_led() -> None:
    mona = cast.person("Mona")
    browser = cast.browser_of(mona)
    led = set()
    for seed in range(1, 7):
        challenge = offered_to(mona, seed=seed)
        table = cast.post(browser, "accept", challenge, {})["Location"]
        assert 'data-phase="play"' in browser.get(table).content.decode()
        led.add(Game.objects.get(pk=challenge.pk).plies)
    assert led == {0, 1}


def test_dealing_twice_with_the_same_words_deals_once() -> None:
    mona = cast.person("Mona")
    challenge = offered_to(mona)
    browser = cast.browser_of(mona)
    cast.post(browser, "accept", challenge, {"words": "one"})
    stored = cast.everything_stored()
    response = cast.post(browser, "accept", challenge, {"words": "one"})
    assert (response.status_code, response["Location"]) == (302, f"/games/{challenge.pk}/")
    assert cast.everything_stored() == stored


def test_words_that_come_after_the_deal_are_refused_and_the_table_is_shown() -> None:
    mona = cast.person("Mona")
    challenge = offered_to(mona)
    browser = cast.browser_of(mona)
    cast.post(browser, "accept", challenge, {"words": "one"})
    stored = cast.everything_stored()
    response = cast.post(browser, "accept", challenge, {"words": "two"})
    assert response.status_code == 409
    assert "these words are not part of the shuffle" in cast.text_of(response)
    assert 'data-phase="play"' in cast.text_of(response)
    assert cast.everything_stored() == stored


def test_only_the_one_who_is_asked_deals() -> None:
    mona, karim, salma = cast.person("Mona"), cast.person("Karim"), cast.person("Salma")
    challenge = cast.offer(mona, karim)
    browsers = [cast.browser_of(mona), cast.browser_of(salma), cast.browser_of()]
    stored = cast.everything_stored()
    statuses = [
        cast.post(browser, "accept", challenge, {"words": "mine"}).status_code
        for browser in browsers
    ]
    assert statuses == [409, 404, 404]
    assert cast.everything_stored() == stored
    cast.post(cast.browser_of(karim), "accept", challenge, {"words": "his"})
    assert Game.objects.get().status == Game.Status.RUNNING


@pytest.mark.parametrize(
    "words",
    ["x" * 201, "x" * 1001, "x" * 30_000, "a\nb", "bell\a", "a\tb", "a\u2028b", "\x7f", "م" * 201],
)
def test_words_that_cannot_be_used_are_refused_kindly_and_stay_typed(words: str) -> None:
    mona = cast.person("Mona")
    challenge = offered_to(mona)
    stored = cast.everything_stored()
    response = cast.post(cast.browser_of(mona), "accept", challenge, {"words": words})
    page = cast.text_of(response)
    assert response.status_code == 422
    assert "one line of at most 200 characters" in page
    assert f'value="{words}"' in page
    assert "data-deal-at-once" not in page
    assert cast.everything_stored() == stored


def test_words_that_look_like_markup_are_only_text() -> None:
    mona = cast.person("Mona")
    words = '"><script>alert(1)</script>' + "x" * 200
    response = cast.post(cast.browser_of(mona), "accept", offered_to(mona), {"words": words})
    page = cast.text_of(response)
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_when_a_game_is_over_the_same_terms_are_one_click_away() -> None:
    mona = cast.person("Mona")
    game = cast.play_to_the_end(
        cast.sit_down(cast.the_computer(), mona, rules="standard", target=51)
    )
    page = cast.text_of(cast.look(cast.browser_of(mona), "table", game))
    assert "Play again" in page
    assert re.search(r'type="hidden" name="rule_set" value="standard"', page)
    assert re.search(r'type="hidden" name="target" value="51"', page)


def test_home_lists_my_games_and_nobody_elses() -> None:
    mona, karim, salma = (cast.person(name) for name in ("Mona", "Karim", "Salma"))
    mine = cast.sit_down(mona, karim, seed=1)
    theirs = cast.sit_down(salma, karim, seed=2)
    page = cast.text_of(cast.look(cast.browser_of(mona), "home"))
    assert reverse("games:table", args=[mine.pk]) in page
    assert reverse("games:table", args=[theirs.pk]) not in page
    assert "<bdi>Karim</bdi>" in page


def test_home_says_what_each_game_waits_for() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    running = cast.sit_down(mona, karim, seed=2)
    finished = cast.play_to_the_end(cast.sit_down(mona, karim, seed=3))
    page = cast.text_of(cast.look(cast.browser_of(cast.player_to_play(running)), "home"))
    rows = dict(
        re.findall(r'<a href="/games/([\w-]+)/">.*?<p class="status">(.*?)</p>', page, re.DOTALL)
    )
    assert rows[str(running.pk)] == "Your turn."
    assert finished.reason == Reason.SCORE
    assert "win" in rows[str(finished.pk)]


def test_a_challenge_stands_where_it_needs_an_answer_and_where_one_is_waited_for() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    challenge = cast.offer(mona, karim)
    here = reverse("games:challenge", args=[challenge.pk])
    for player, block in ((karim, "Needs an answer"), (mona, "Waiting")):
        page = cast.text_of(cast.look(cast.browser_of(player), "home"))
        headings = re.findall(r"<h2[^>]*>([^<]+)</h2>", page.partition(f'"{here}"')[0])
        assert headings[-1] == block


def test_home_has_older_finished_games_on_pages_of_their_own() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    first = cast.play_to_the_end(cast.sit_down(mona, karim, seed=1))
    copies = []
    for number in range(selectors.FINISHED_GAMES_ON_A_PAGE):
        copy = Game.objects.get(pk=first.pk)
        copy.pk, copy.changed_at = cast.game_id_of(100 + number), Now()
        copies.append(copy)
    Game.objects.bulk_create(copies)
    browser = cast.browser_of(mona)
    here = reverse("games:table", args=[first.pk])
    assert here not in browser.get("/").content.decode()
    assert "page=2" in browser.get("/").content.decode()
    assert here in browser.get("/?page=2").content.decode()
    assert browser.get("/?page=3").content.decode().count("<article") == 0
    for strange in ("0", "-1", "1.5", "x", "", "٢", "9" * 5000, "2%0a"):
        assert browser.get(f"/?page={strange}").status_code == 404, strange


def test_home_shows_a_game_that_waits_for_me_however_many_are_newer() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    first = cast.sit_down(mona, karim, seed=1)
    waiting = cast.player_to_play(first)
    for seed in range(2, 32):
        game = cast.sit_down(mona, karim, seed=seed)
        if cast.player_to_play(game) == waiting:
            cast.play_one(game)
    page = cast.text_of(cast.look(cast.browser_of(waiting), "home"))
    assert reverse("games:table", args=[first.pk]) in page
