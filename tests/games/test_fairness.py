"""The deal can be checked: what is sealed, when it is opened, and that it dealt these cards."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from itertools import pairwise
from uuid import UUID

import pytest
from django.db import Error, connection, transaction
from django.test import Client

from games import engine, selectors, services
from games.engine import Card, Deal, Seat
from games.models import Fingerprint, Game, Seal
from games.sealing.models import SealedTip
from tests import cast

pytestmark = pytest.mark.django_db


def document(game: Game, browser: Client | None = None) -> dict[str, object]:
    response = cast.look(browser or cast.browser_of(game.player_b), "fairness", game)
    assert response.status_code == 200
    assert response["Content-Type"] == "application/json"
    found = json.loads(cast.text_of(response))
    assert isinstance(found, dict)
    return found


def test_the_anchor_is_stored_before_it_is_shown_and_hangs_on_the_tip() -> None:
    mona = cast.person("Mona")
    game = cast.seal(services.computer_player(), mona, seed=3)
    link = cast.tip_of(3)
    for _round in range(128):
        link = hashlib.sha256(link).digest()
    stored = Seal.objects.get(game=game)
    assert (stored.anchor, stored.rounds_sealed) == (link.hex(), 128)
    assert not Fingerprint.objects.exists()
    assert document(game)["anchor"] == link.hex()
    cast.post(cast.browser_of(mona), "deal", game, {"words": cast.WORDS})
    assert Fingerprint.objects.get().at >= stored.at


def test_each_game_has_a_seal_of_its_own() -> None:
    mona = cast.person("Mona")
    rules = engine.RULE_SETS["standard"]
    games = [services.seal_computer_game(player=mona, rules=rules, target=None) for _ in range(20)]
    assert len({game.seal.anchor for game in games}) == 20
    assert len({bytes(tip) for tip in SealedTip.objects.values_list("tip", flat=True)}) == 20


def test_a_document_before_the_deal_has_the_seal_and_no_words() -> None:
    game = cast.seal(services.computer_player(), cast.person("Mona"))
    assert document(game) == {
        "version": "basra-shuffle-v1",
        "game_id": str(game.pk),
        "rounds_sealed": 128,
        "anchor": game.seal.anchor,
        "words_sha256": None,
        "words_by": None,
        "replaced": "bottom",
        "rounds": [],
    }


@pytest.mark.parametrize("table", ["games_seal", "games_fingerprint"])
@pytest.mark.parametrize("way", ["row by row", "all at once", "in SQL"])
def test_a_seal_and_a_fingerprint_are_never_changed(table: str, way: str) -> None:
    game = cast.sit_down(cast.person("Mona"), cast.person("Karim"))
    model = Seal if table == "games_seal" else Fingerprint
    column = "anchor" if model is Seal else "words_sha256"
    row = model._default_manager.get(game=game)
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
    game = cast.seal(mona, karim)
    dealt = set()
    for words in ("one", "two"):
        with transaction.atomic():
            services.deal_first_round(
                game_id=game.pk, player=karim, words=words, words_by=Fingerprint.By.OPPONENT
            )
            state = cast.state_of(game)
            assert state.round is not None
            dealt.add(state.round.stock)
            transaction.set_rollback(True)
    assert len(dealt) == 2


def test_the_document_is_for_the_players_until_the_game_is_over_and_then_for_everybody() -> None:
    game = cast.sit_down(cast.person("Mona"), cast.person("Karim"))
    for browser in (cast.browser_of(), cast.browser_of(cast.person("Salma"))):
        assert cast.look(browser, "fairness", game).status_code == 404
    for player in (game.player_a, game.player_b):
        assert cast.look(cast.browser_of(player), "fairness", game).status_code == 200
    cast.play_to_the_end(game)
    for browser in (cast.browser_of(), cast.browser_of(cast.person("Tarek"))):
        opened = document(game, browser)["rounds"]
        assert isinstance(opened, list)
        assert [one["round"] for one in opened] == [1]
