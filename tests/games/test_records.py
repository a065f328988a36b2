"""The record of a game as a file, and records that people bring to look at."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts.models import User
from games import engine, services
from games.engine import Outcome, Pair, Reason, Record, RuleSet, Seat, Terms
from games.models import Game, UploadedRecord
from games.snapshot import load_result
from games.uploads import MOST_CHARACTERS, MOST_RECORDS
from tests import cast
from tests.engine.helpers import recorded_game

pytestmark = pytest.mark.django_db

SEED = 14


def a_game(target: int | None = None, plies: int = 0, names: str = "Mona Karim") -> Game:
    mona, karim = (cast.person(name, forced=False) for name in names.split())
    return cast.play_until_ply(cast.sit_down(mona, karim, target=target, seed=SEED), plies)


def record_of(game: Game, browser: Client | None = None) -> HttpResponse:
    return cast.look(browser or cast.browser_of(), "record", game)


def told_by(response: Any) -> str:
    """The words of a page that refuses."""
    page = cast.without_the_way_back(response.content.decode())
    told = re.search("<main.*</main>", page, re.DOTALL)
    assert told
    return told[0]


def text_of(game: Game) -> str:
    return cast.text_of(record_of(game))


def to_the_end(game: Game) -> Game:
    return cast.play_to_the_end(game)


def resigned(game: Game) -> Game:
    return services.resign(game_id=game.pk, player=game.player_b)


def aborted(game: Game) -> Game:
    return services.abort(game_id=game.pk, player=game.player_a)


def cancelled(game: Game) -> Game:
    services.offer_to_cancel(game_id=game.pk, player=game.player_a)
    return services.agree_to_cancel(game_id=game.pk, player=game.player_b)


ENDINGS: list[tuple[int | None, int, Callable[[Game], Game], Outcome | None]] = [
    (51, 0, to_the_end, None),
    (None, 0, to_the_end, None),
    (201, 67, resigned, Outcome(Seat.A, Reason.RESIGNED)),
    (201, 48, resigned, Outcome(Seat.A, Reason.RESIGNED)),
    (None, 0, aborted, Outcome(None, Reason.ABORTED)),
    (101, 1, aborted, Outcome(None, Reason.ABORTED)),
    (101, 55, cancelled, Outcome(None, Reason.CANCELLED)),
]


@pytest.mark.parametrize(("target", "plies", "end", "outcome"), ENDINGS)
def test_the_record_of_a_finished_game_is_read_and_replayed_by_the_engine(
    target: int | None, plies: int, end: Callable[[Game], Game], outcome: Outcome | None
) -> None:
    game = cast.as_it_is(end(a_game(target, plies)))
    text = text_of(game)
    record = engine.parse_record(text)
    state = engine.replay(record)
    assert engine.format_record(record) == text
    assert state.outcome == record.outcome
    if outcome is not None:
        assert record.outcome == outcome
    assert state == cast.state_of(game)
    assert record.game_id == game.pk
    assert record.terms == Terms(engine.RULE_SETS[engine.DEFAULT_RULE_SET], target)
    assert record.names == Pair("Mona", "Karim")


def test_every_move_has_its_time_player_card_captured_cards_and_mark() -> None:
    game = cast.play_to_the_end(a_game(51))
    told = [
        f"{seat} {play}"
        for seat, play in re.findall(r"^([AB]) (\S+) \S+Z$", text_of(game), re.MULTILINE)
    ]
    assert told == [f"{play.seat} {play.text}" for play in game.plays.order_by("ply")]
    times = re.findall(r"^[AB] \S+ (\S+)Z$", text_of(game), re.MULTILINE)
    assert times == [f"{play.at:%Y-%m-%dT%H:%M:%S.%f}" for play in game.plays.order_by("ply")]
    assert any("*" in line for line in told)
    assert any("+" in line for line in told)


def test_it_has_score_rules_and_the_recipe_of_every_deck() -> None:
    game = cast.play_to_the_end(a_game(51))
    record = engine.parse_record(text_of(game))
    rounds = list(game.finished_rounds.order_by("number"))
    assert len(record.rounds) == len(rounds) > 1
    assert record.fairness is not None
    assert record.fairness.words_sha256 == engine.words_digest(cast.WORDS)
    for number, (recorded, finished) in enumerate(zip(record.rounds, rounds, strict=True), 1):
        assert recorded.secret is not None
        assert recorded.secret.hex() == finished.secret
        assert recorded.cards == cast.deal_of(SEED, number).cards
        assert recorded.score is not None
        assert recorded.score == engine.RecordedScore.of(load_result(finished))
    assert "rules egyptian_basra_2\ntarget 51\n" in text_of(game)


def test_a_record_that_was_changed_is_refused() -> None:
    text = text_of(cast.play_to_the_end(a_game(51)))
    secret = re.search(r"^secret (\w)", text, re.MULTILINE)
    assert secret
    other = "1" if secret[1] == "0" else "0"
    with pytest.raises(engine.RecordError):
        engine.replay(
            engine.parse_record(text.replace(f"secret {secret[1]}", f"secret {other}", 1))
        )


def test_the_names_are_those_of_the_players_in_whatever_script() -> None:
    game = resigned(a_game(None, 3, names="منى O'Brien-7."))
    record = engine.parse_record(text_of(game))
    assert record.names == Pair("منى", "O'Brien-7.")


def test_the_computer_has_its_name_in_the_record() -> None:
    game = cast.sit_down_with_the_computer(cast.person("Mona"), seed=SEED)
    services.resign(game_id=game.pk, player=game.player_b)
    assert "name A Simsim\nname B Mona\n" in text_of(game)


def test_everybody_may_have_the_record_once_the_game_is_over_and_nobody_before() -> None:
    game = a_game(None, 40)
    browsers = [cast.browser_of(), cast.browser_of(game.player_a), cast.browser_of(game.player_b)]
    for browser in browsers:
        refused = record_of(game, browser)
        assert refused.status_code == 404
        assert told_by(refused) == told_by(browser.get("/games/nothing/"))
    game = cast.play_to_the_end(game)
    for browser in browsers:
        assert record_of(game, browser).status_code == 200


def test_it_comes_as_a_file_with_a_plain_name() -> None:
    game = cast.play_to_the_end(a_game())
    response = record_of(game)
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert game.finished_at is not None
    assert response["Content-Disposition"] == (
        f'attachment; filename="basra-{game.finished_at:%Y-%m-%d}-{str(game.pk)[:8]}.txt"'
    )


def test_a_game_whose_publications_are_damaged_says_so() -> None:
    game = cast.play_to_the_end(a_game())
    game.finished_rounds.update(secret="no hex")
    assert record_of(game).status_code == 503


# Bringing a record

RECORDS = "/records/"


def bring(browser: Client, text: str, key: uuid.UUID | None = None) -> HttpResponse:
    return cast.posted(browser, RECORDS, {"text": text, "form_key": str(key or uuid.uuid4())})


def a_record(*, rules: str = "standard", seed: int = 3) -> str:
    return engine.format_record(recorded_game(Terms(engine.RULE_SETS[rules], None), seed)[0])


def brought(player: User, text: str | None = None) -> UploadedRecord:
    assert bring(cast.browser_of(player), text or a_record()).status_code == 302
    return UploadedRecord.objects.latest("uploaded_at")


def page_of(browser: Client, kept: UploadedRecord, query: str = "") -> HttpResponse:
    response = browser.get(reverse("games:uploaded", args=[kept.pk]) + query)
    assert isinstance(response, HttpResponse)
    return response


def test_a_record_that_was_brought_is_shown_play_by_play_with_both_hands() -> None:
    mona = cast.person("Mona")
    text = a_record()
    kept = brought(mona, text)
    browser = cast.browser_of(mona)
    record = engine.parse_record(text)
    page = cast.text_of(page_of(browser, kept))
    assert "<bdi>Mona</bdi> against <bdi>Karim El-Sayed</bdi>" in page
    for card in record.rounds[0].cards[:12]:
        assert f"#{card.code}" in page
    assert "0 of 48" in page
    assert "48 of 48" in cast.text_of(page_of(browser, kept, "?ply=last"))
    assert page_of(browser, kept, "?ply=49").status_code == 404
    assert page_of(browser, kept, "?ply=x").status_code == 404
    assert str(kept.pk) in cast.text_of(cast.look(browser, "records"))


def test_the_record_of_an_own_game_can_be_brought_again() -> None:
    game = cast.as_it_is(resigned(a_game(201, 70)))
    kept = brought(game.player_a, text_of(game))
    assert kept.text == text_of(game)
    page = cast.text_of(page_of(cast.browser_of(game.player_a), kept, "?ply=last"))
    assert "\u2068Mona\u2069 wins: \u2068Karim\u2069 resigned." in page


def test_a_record_may_be_written_by_hand() -> None:
    mona = cast.person("Mona")
    text = a_record()
    lines = text.replace("\nA ", "\r\n  A ").splitlines(keepends=True)
    kept = brought(mona, "# a fine game\n\n" + "\n".join(lines))
    assert kept.text == text


def test_a_record_without_names_times_scores_or_end_can_be_looked_at() -> None:
    mona = cast.person("Mona")
    record, _state = recorded_game(Terms(engine.RULE_SETS["standard"], 51), 5)
    begun = Record(record.terms, record.rounds[:1])
    kept = brought(mona, engine.format_record(begun))
    browser = cast.browser_of(mona)
    assert "<bdi>Player A</bdi>" in cast.text_of(page_of(browser, kept))
    end = page_of(browser, kept, "?ply=last")
    assert end.status_code == 200
    assert "A game without names" in cast.text_of(cast.look(browser, "records"))


def wrong_card(text: str) -> str:
    return re.sub(r"^([AB]) \S+$", r"\1 XX", text, count=1, flags=re.MULTILINE)


def no_such_basra(text: str) -> str:
    return re.sub(r"^([AB]) (\w+)$", r"\1 \2:AS*K", text, count=1, flags=re.MULTILINE)


def wrong_total(text: str) -> str:
    return re.sub(r"^totals \d+", "totals 999", text, flags=re.MULTILINE)


def one_card_twice(text: str) -> str:
    return re.sub(r"^cards (\S+) \S+", r"cards \1 \1", text, flags=re.MULTILINE)


def the_third_play_again(text: str) -> str:
    lines = text.split("\n")
    first = next(at for at, line in enumerate(lines) if line.startswith("cards")) + 1
    return "\n".join([*lines[: first + 3], lines[first + 2], *lines[first + 4 :]])


HOSTILE: dict[str, tuple[Callable[[str], str], str]] = {
    "nothing": (lambda _: "", "Please paste a record."),
    "spaces": (lambda _: "  \n \r\n", "Please paste a record."),
    "prose": (lambda _: "<script>alert(1)</script>", "A line &#x27;basra-record&#x27; is missing."),
    "another version": (lambda text: text.replace("basra-record 1", "basra-record 2"), "version 1"),
    "no rules": (lambda text: text.replace("rules standard", "rules poker"), "no rule set"),
    "deep rules": (
        lambda text: text.replace("rules standard", 'rules {"a":' + "[" * 20_000),
        "no rule set",
    ),
    "a huge number": (
        lambda text: text.replace("rules standard", 'rules {"basra":' + "9" * 9_000 + "}"),
        "no rule set",
    ),
    "no target": (lambda text: text.replace("target one round", "target 7"), "no target"),
    "a card that is none": (wrong_card, "Play 1 of round 1 is wrong."),
    "a capture that is none": (no_such_basra, "of round 1 is wrong."),
    "a play out of turn": (the_third_play_again, "Play 4 of round 1 is wrong."),
    "a wrong total": (wrong_total, "Round 1 of this record is wrong. (The stated score"),
    "a card twice": (one_card_twice, "Round 1 of this record is wrong."),
    "a rest": (lambda text: text + "and more\n", "does not belong here"),
    "no round": (lambda text: text[: text.index("round 1\n")], "This record has no round"),
    "another end": (
        lambda text: re.sub(r"^outcome.*$", "outcome A time", text, flags=re.MULTILINE),
        "The stated outcome does not follow",
    ),
    "a NUL": (lambda text: text + "\0", "Null characters"),
    "too long": (
        lambda text: text + "#" * MOST_CHARACTERS,
        f"A record has at most {MOST_CHARACTERS} characters",
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_record_that_is_wrong_is_refused_with_the_place_and_stays_typed(what: str) -> None:
    change, sentence = HOSTILE[what]
    text = change(a_record())
    browser = cast.browser_of(tells_errors=False)
    response = bring(browser, text)
    assert response.status_code == 422
    page = cast.text_of(response)
    assert sentence in page
    assert "<script>alert" not in page
    assert "maxlength" not in page, "the browser would cut a longer text short without a word"
    typed = re.search(r"<textarea[^>]*>\s*(.*?)</textarea>", page, re.DOTALL)
    assert typed
    assert unescape(typed[1]).strip()[:40] == text.strip()[:40]
    assert not UploadedRecord.objects.exists()
    assert not User.objects.exists(), "a visitor who brought nothing is no guest"


def test_a_body_that_is_too_large_is_told_so() -> None:
    response = bring(cast.browser_of(tells_errors=False), "#" * 70_000)
    assert response.status_code == 413
    assert "too large" in cast.text_of(response)


def test_a_form_without_its_key_is_refused() -> None:
    for form in ({"text": a_record()}, {"text": a_record(), "form_key": "x"}, {}):
        assert cast.posted(cast.browser_of(), RECORDS, form).status_code == 422


def test_bringing_a_record_makes_a_visitor_a_guest_who_finds_it_again() -> None:
    browser = cast.browser_of()
    assert "Brought earlier" not in cast.text_of(cast.look(browser, "records"))
    answer = bring(browser, a_record())
    assert answer.status_code == 302
    assert User.objects.get().kind == User.Kind.GUEST
    assert browser.get(answer["Location"]).status_code == 200
    assert "Brought earlier" in cast.text_of(cast.look(browser, "records"))


def test_one_form_brings_one_record_however_often_it_is_sent() -> None:
    mona = cast.person("Mona")
    browser, key = cast.browser_of(mona), uuid.uuid4()
    places = {bring(browser, a_record(), key)["Location"] for _ in range(3)}
    assert len(places) == 1
    assert UploadedRecord.objects.count() == 1
    assert bring(browser, a_record())["Location"] not in places
    assert UploadedRecord.objects.count() == 2
    # The key of another's form gives nothing away of it.
    karim = cast.browser_of(cast.person("Karim"))
    assert bring(karim, a_record(seed=9), key)["Location"] not in places


def test_one_keeps_a_limited_number_of_records() -> None:
    mona = cast.person("Mona")
    browser = cast.browser_of(mona)
    kept = brought(mona)
    UploadedRecord.objects.bulk_create(
        UploadedRecord(owner=mona, form_key=uuid.uuid4(), text=kept.text, plays=48)
        for _ in range(MOST_RECORDS - 1)
    )
    refused = bring(browser, a_record())
    assert refused.status_code == 409
    assert "as many records as one can" in cast.text_of(refused)
    assert UploadedRecord.objects.count() == MOST_RECORDS
    delete = reverse("games:delete_uploaded", args=[kept.pk])
    assert browser.post(delete).status_code == 302
    assert bring(browser, a_record()).status_code == 302


def test_nobody_else_sees_or_deletes_a_record() -> None:
    kept = brought(cast.person("Mona"))
    delete = reverse("games:delete_uploaded", args=[kept.pk])
    nothing = reverse("games:uploaded", args=[cast.game_id_of(1)])
    for browser in (cast.browser_of(cast.person("Karim")), cast.browser_of()):
        refused = page_of(browser, kept)
        assert refused.status_code == 404
        assert told_by(refused) == told_by(browser.get(nothing))
        assert str(kept.pk) not in cast.text_of(cast.look(browser, "records"))
        browser.post(delete)
    assert UploadedRecord.objects.filter(pk=kept.pk).exists()
    assert cast.browser_of().get(delete).status_code == 405


def test_a_record_is_deleted_by_its_owner_once_and_again_is_harmless() -> None:
    mona = cast.person("Mona")
    kept = brought(mona)
    browser = cast.browser_of(mona)
    for _ in range(2):
        answer = browser.post(reverse("games:delete_uploaded", args=[kept.pk]))
        assert answer.status_code == 302
        assert answer["Location"] == RECORDS
    assert page_of(browser, kept).status_code == 404


def test_names_of_any_length_and_times_of_any_year_make_a_page_of_ordinary_size() -> None:
    mona = cast.person("Mona")
    for letter, year in (("Ṁ", "0000"), ("\u0307", "0001"), ("W", "9999")):
        text = a_record().replace("name A Mona", f"name A {letter * 15_000}")
        timed = re.sub(r"^([AB] \S+)$", rf"\1 {year}-12-31T23:59:59Z", text, flags=re.MULTILINE)
        kept = brought(mona, timed)
        for query in ("", "?ply=7"):
            response = page_of(cast.browser_of(mona), kept, query)
            assert response.status_code == 200
            assert len(response.content) < 60_000
    assert cast.look(cast.browser_of(mona), "records").status_code == 200


def test_a_time_that_no_calendar_has_is_left_out() -> None:
    mona = cast.person("Mona")
    text = re.sub(
        r"^([AB] \S+)$", r"\1 2026-02-30T10:00:00Z", a_record(), count=1, flags=re.MULTILINE
    )
    page = cast.text_of(page_of(cast.browser_of(mona), brought(mona, text)))
    assert "<time" not in page


def test_the_longest_record_that_fits_is_read_and_shown() -> None:
    worthless = {"majority": 0, "basra": 0, "jack_basra": 0, "komi_basra": 0}
    rules = RuleSet.from_json({"base": "standard", "equal_cards": "nobody", **worthless})
    record, _state = recorded_game(Terms(rules, 201), 2)
    assert len(record.rounds) == engine.ROUNDS_SEALED
    rounds = 90
    while len(text := engine.format_record(Record(record.terms, record.rounds[:rounds]))) > 50_000:
        rounds -= 1
    mona = cast.person("Mona")
    kept = brought(mona, text)
    assert kept.plays == 48 * rounds > 3_000
    page = page_of(cast.browser_of(mona), kept, "?ply=last")
    assert f"{kept.plays} of {kept.plays}" in cast.text_of(page)


def test_a_record_that_was_damaged_in_the_database_says_so() -> None:
    mona = cast.person("Mona")
    kept = brought(mona)
    UploadedRecord.objects.update(text=kept.text.replace("standard", "nonsense"))
    assert page_of(cast.browser_of(mona), kept).status_code == 503
