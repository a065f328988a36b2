"""The deal can be checked: what is sealed, when it is opened, and that it dealt these cards."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from itertools import pairwise
from uuid import UUID

import pytest
from django.db import Error, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from games import engine, selectors, services
from games.engine import Card, Deal, Seat
from games.models import Fingerprint, Game, Seal
from games.sealing.models import SealedTip
from tests import cast
from tests.games.leaks import cards_in, masked

pytestmark = pytest.mark.django_db


def document(game: Game, browser: Client | None = None) -> dict[str, object]:
    response = cast.look(browser or cast.browser_of(game.player_b), "fairness_document", game)
    assert response.status_code == 200
    assert response["Content-Type"] == "application/json"
    found = json.loads(cast.text_of(response))
    assert isinstance(found, dict)
    return found


def test_the_anchor_is_stored_before_it_is_shown_and_hangs_on_the_tip() -> None:
    mona = cast.person("Mona")
    challenge = cast.offer(cast.the_computer(), mona, seed=3)
    link = cast.tip_of(3)
    for _round in range(128):
        link = hashlib.sha256(link).digest()
    stored = Seal.objects.get(challenge=challenge)
    assert (stored.anchor, stored.rounds_sealed) == (link.hex(), 128)
    assert not Fingerprint.objects.exists()
    browser = cast.browser_of(mona)
    assert link.hex() in cast.text_of(cast.look(browser, "challenge", challenge))
    cast.post(browser, "accept", challenge, {"words": cast.WORDS})
    assert Fingerprint.objects.get().at >= stored.at
    assert document(selectors.game_by_id(challenge.pk))["anchor"] == link.hex()


def test_each_game_has_a_seal_of_its_own() -> None:
    mona = cast.person("Mona")
    rules = engine.RULE_SETS["standard"]
    challenges = [
        services.make_challenge(player=mona, rules=rules, target=None, listed=False)
        for _ in range(20)
    ]
    assert len({challenge.seal.anchor for challenge in challenges}) == 20
    assert len({bytes(tip) for tip in SealedTip.objects.values_list("tip", flat=True)}) == 20


def test_a_document_of_a_fresh_game_has_the_seal_and_no_secret() -> None:
    game = cast.sit_down(cast.person("Mona"), cast.person("Karim"))
    assert document(game) == {
        "version": "basra-shuffle-v1",
        "game_id": str(game.pk),
        "rounds_sealed": 128,
        "anchor": Seal.objects.get(pk=game.pk).anchor,
        "words_sha256": hashlib.sha256(cast.WORDS.encode()).hexdigest(),
        "words_by": "opponent",
        "replaced": "bottom",
        "rounds": [],
    }


@pytest.mark.parametrize("table", ["games_seal", "games_fingerprint"])
@pytest.mark.parametrize("way", ["row by row", "all at once", "in SQL"])
def test_a_seal_and_a_fingerprint_are_never_changed(table: str, way: str) -> None:
    game = cast.sit_down(cast.person("Mona"), cast.person("Karim"))
    model = Seal if table == "games_seal" else Fingerprint
    column = "anchor" if model is Seal else "words_sha256"
    row = model._default_manager.get(pk=game.pk)
    setattr(row, column, "0" * 64)
    change: Callable[[], object] = {
        "row by row": lambda: row.save(),
        "all at once": lambda: model._default_manager.update(**{column: "0" * 64}),
        "in SQL": lambda: connection.cursor().execute(
            f"UPDATE {table} SET {column} = %s",  # noqa: S608 - our own names
            ["0" * 64],
        ),
    }[way]
    stored = cast.everything_stored()[table]
    with pytest.raises(Error, match="insert-only"), transaction.atomic():
        change()
    assert cast.everything_stored()[table] == stored


def test_the_words_are_stored_as_a_fingerprint_only() -> None:
    game = cast.sit_down(cast.person("Mona"), cast.person("Karim"))
    stored = str(cast.everything_stored())
    assert hashlib.sha256(cast.WORDS.encode()).hexdigest() in stored
    assert cast.WORDS not in stored
    assert document(game)["words_by"] == "opponent"


@pytest.mark.parametrize("rules", engine.RULE_SETS)
def test_the_opened_secrets_hang_on_the_anchor_and_deal_the_cards_that_were_played(
    rules: str,
) -> None:
    game = cast.play_to_the_end(
        cast.sit_down(cast.person("Mona"), cast.person("Karim"), rules=rules, target=51, seed=4)
    )
    published = document(game)
    rounds = published["rounds"]
    assert isinstance(rounds, list)
    assert len(rounds) == selectors.finished_rounds(game).count() >= 1
    for opened in rounds:
        number, secret = opened["round"], bytes.fromhex(opened["secret"])
        link = secret
        for _step in range(number):
            link = hashlib.sha256(link).digest()
        assert link.hex() == published["anchor"]
        deal = engine.deal_round(
            secret=secret,
            game_id=UUID(str(published["game_id"])),
            round_number=number,
            words_sha256=bytes.fromhex(str(published["words_sha256"])),
            replaced=engine.RULE_SETS[rules].replaced,
        )
        assert opened["deck"] == engine.format_cards(deal.deck)
        assert cards_played(game, number) == in_order_of_the_deal(deal)
        if number == 1:
            assert deal.first_dealer is not None
            who = {Seat.A: "creator", Seat.B: "opponent"}[deal.first_dealer]
            assert opened["first_dealer"] == who
        else:
            assert "first_dealer" not in opened


def cards_played(game: Game, number: int) -> list[list[Card]]:
    """The cards of each hand of four that were played in a round: leader, dealer, leader …"""
    plays = list(game.plays.filter(round_number=number).order_by("ply"))
    cards = [engine.parse_play(play.text).card for play in plays]
    return [
        sorted(cards[start + who : start + 8 : 2]) for start in range(0, 48, 8) for who in range(2)
    ]


def in_order_of_the_deal(deal: Deal) -> list[list[Card]]:
    cards = (*deal.non_dealer, *deal.dealer, *deal.stock)
    return [sorted(cards[start : start + 4]) for start in range(0, 48, 4)]


def test_the_dealer_of_round_one_is_drawn_and_then_alternates() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    first = set()
    for seed in range(1, 4):
        game = cast.play_to_the_end(cast.sit_down(mona, karim, target=51, seed=seed))
        dealers = [one.dealer for one in selectors.finished_rounds(game)]
        first.add(dealers[0])
        assert all(one != two for one, two in pairwise(dealers))
        for number, dealer in enumerate(dealers, start=1):
            leader = game.plays.filter(round_number=number).order_by("ply")[0].seat
            assert leader != dealer
    assert first == {"A", "B"}


def test_other_words_deal_other_cards() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    challenge = cast.offer(mona, karim)
    dealt = set()
    for words in ("one", "two"):
        with transaction.atomic():
            game = services.accept_challenge(
                challenge_id=challenge.pk,
                player=karim,
                words=words,
                words_by=Fingerprint.By.OPPONENT,
            )
            state = cast.state_of(game)
            assert state.round is not None
            dealt.add(state.round.stock)
            transaction.set_rollback(True)
    assert len(dealt) == 2


@pytest.mark.parametrize("page", ["fairness", "fairness_document"])
def test_the_check_is_for_the_players_until_the_game_is_over_and_then_for_everybody(
    page: str,
) -> None:
    game = cast.sit_down(cast.person("Mona"), cast.person("Karim"))
    for browser in (cast.browser_of(), cast.browser_of(cast.person("Salma"))):
        assert cast.look(browser, page, game).status_code == 404
    for player in (game.player_a, game.player_b):
        assert cast.look(cast.browser_of(player), page, game).status_code == 200
    cast.play_to_the_end(game)
    for browser in (cast.browser_of(), cast.browser_of(cast.person("Tarek"))):
        assert cast.look(browser, page, game).status_code == 200
        opened = document(game, browser)["rounds"]
        assert isinstance(opened, list)
        assert [one["round"] for one in opened] == [1]


def test_the_page_shows_the_seal_the_fingerprint_and_who_gave_the_words() -> None:
    game = cast.sit_down(cast.person("Mona"), cast.person("Karim"))
    seal, fingerprint = Seal.objects.get(pk=game.pk), Fingerprint.objects.get()
    page = page_of(game)
    assert page.count(f">{seal.anchor}<") == 1
    assert page.count(f">{fingerprint.words_sha256}<") == 1
    assert "Words of <bdi>Karim</bdi>, who joined." in page
    stored = re.findall(r"([\d-]+ [\d:.]+) UTC</time>", page)
    assert stored == [at.strftime("%Y-%m-%d %H:%M:%S.%f") for at in (seal.at, fingerprint.at)]
    assert "No round is over yet." in page
    assert cast.WORDS not in page


def test_the_page_says_when_the_server_proposed_the_words() -> None:
    karim = cast.person("Karim")
    challenge = cast.offer(cast.person("Mona"), karim)
    game = services.accept_challenge(
        challenge_id=challenge.pk, player=karim, words="tea", words_by=Fingerprint.By.SERVER
    )
    assert "Words that our server proposed to <bdi>Karim</bdi> after the sealing." in page_of(game)


def test_the_page_opens_a_round_when_it_is_over_and_not_before() -> None:
    game = cast.sit_down(cast.person("Mona"), cast.person("Karim"), target=51, seed=2)
    game = cast.play_until_ply(game, 40)
    secrets = [
        engine.secret_of_round(cast.tip_of(2), engine.ROUNDS_SEALED, number).hex()
        for number in (1, 2)
    ]
    assert not any(secret in page_of(game) for secret in secrets)
    page = page_of(cast.play_until_ply(game, 60))
    assert f">{secrets[0]}<" in page
    assert f">{engine.format_cards(cast.deal_of(2).deck)}<" in page
    assert secrets[1] not in page
    assert "The secret of a round is opened when the round is over." in page
    assert "The secret of a round is opened" not in page_of(cast.play_to_the_end(game))


def test_the_page_shows_no_card_of_a_round_that_goes_on() -> None:
    game = cast.sit_down(cast.person("Mona"), cast.person("Karim"), target=51, seed=2)
    assert cards_in(masked(page_of(game))) == set()
    page = page_of(cast.play_until_ply(game, 60))
    opened = re.compile(r'<section class="panel opened">.*?</section>', re.DOTALL)
    assert len(opened.findall(page)) == 1
    assert len(cards_in(masked(page))) == len(engine.PACK)
    assert cards_in(masked(opened.sub("", page))) == set()


def test_only_the_players_are_led_back_to_the_table() -> None:
    game = cast.play_to_the_end(cast.sit_down(cast.person("Mona"), cast.person("Karim")))
    table = f'href="{reverse("games:table", args=[game.pk])}"'
    assert table in page_of(game)
    assert table not in cast.text_of(cast.look(cast.browser_of(), "fairness", game))


def test_no_cache_keeps_the_page() -> None:
    game = cast.sit_down(cast.person("Mona"), cast.person("Karim"))
    response = cast.look(cast.browser_of(game.player_a), "fairness", game)
    assert "no-store" in response["Cache-Control"]


def test_a_page_without_its_seal_says_that_the_game_is_being_repaired() -> None:
    game = cast.sit_down(cast.person("Mona"), cast.person("Karim"))
    Seal.objects.filter(pk=game.pk).delete()
    for page in ("fairness", "fairness_document"):
        assert cast.look(cast.browser_of(game.player_a), page, game).status_code == 503


def test_the_page_takes_few_statements_however_long_the_game() -> None:
    mona = cast.person("Mona")
    game = cast.sit_down(mona, cast.person("Karim"), target=201)
    browser = cast.browser_of(mona)
    cast.look(browser, "home")  # the first visit of a day renews the session's cookie
    counts = set()
    for ply in (1, 140):
        game = cast.play_until_ply(game, ply)
        with CaptureQueriesContext(connection) as captured:
            assert cast.look(browser, "fairness", game).status_code == 200
        counts.add(len(captured))
    assert len(counts) == 1
    assert counts.pop() <= 7


def page_of(game: Game) -> str:
    response = cast.look(cast.browser_of(game.player_b), "fairness", game)
    assert response.status_code == 200
    return cast.text_of(response)
