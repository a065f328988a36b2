"""The fair shuffle: the worked vectors, and that the shuffle is even."""

import hashlib
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from games.engine import (
    PACK,
    ROUNDS_SEALED,
    Card,
    InvalidInput,
    Seat,
    anchor_of,
    clean_words,
    deal_round,
    format_cards,
    secret_of_round,
    words_digest,
)
from games.engine.shuffle import ByteStream, anchor_from_secret, round_key, shuffled_pack

from .helpers import cases, chance_from

DEALERS = {"creator": Seat.A, "opponent": Seat.B, None: None}
GAME = UUID("00112233-4455-6677-8899-aabbccddeeff")


@pytest.mark.parametrize("vector", cases("vectors"), ids=lambda one: f"{one['case']}{one['round']}")
def test_every_worked_vector_comes_out(vector: dict[str, Any]) -> None:
    tip, number = bytes.fromhex(vector["tip"]), vector["round"]
    assert anchor_of(tip, vector["rounds_sealed"]).hex() == vector["anchor"]
    secret = secret_of_round(tip, vector["rounds_sealed"], number)
    assert secret.hex() == vector["secret"]
    assert anchor_from_secret(secret, number).hex() == vector["anchor"]
    words = words_digest(vector["words"])
    assert words.hex() == vector["words_sha256"]
    game_id = UUID(vector["game_id"])
    key = round_key(secret=secret, game_id=game_id, round_number=number, words_sha256=words)
    assert key.hex() == vector["key"]
    stream = ByteStream(key)
    assert format_cards(shuffled_pack(stream)) == vector["deck"]
    for replaced in ("bottom", "random place"):
        expected = vector[replaced.replace(" ", "_")]
        dealt = deal_round(
            secret=secret,
            game_id=game_id,
            round_number=number,
            words_sha256=words,
            replaced=replaced,
        )
        assert format_cards(dealt.deck) == vector["deck"]
        assert dealt.first_dealer is DEALERS[expected.get("first_dealer")]
        for part in ("non_dealer", "dealer", "floor", "stock"):
            assert format_cards(getattr(dealt, part)) == expected[part]


def test_a_replaced_card_is_replaced_again_and_none_is_lost() -> None:
    replacements = 0
    for number in range(1, 129):
        for replaced in ("bottom", "random place"):
            dealt = deal_round(
                secret=hashlib.sha256(f"secret {number}".encode()).digest(),
                game_id=GAME,
                round_number=number,
                words_sha256=bytes(32),
                replaced=replaced,
            )
            assert sorted(dealt.cards) == list(PACK)
            assert not any(card.is_jack or card.is_komi for card in dealt.floor)
            out = [one for one in dealt.deck[8:12] if one.is_jack or one.is_komi]
            replacements += len(out)
            if replaced == "bottom" and out:
                assert set(out) <= set(dealt.stock[-len(out) - 4 :])
    assert replacements > 50


@pytest.mark.parametrize(
    ("words", "code"),
    [("a" * 201, "number"), ("a\0b", "json"), ("a\nb", "json"), ("\ud800", "json")],
)
def test_words_that_cannot_be_used_are_refused(words: str, code: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        words_digest(words)
    assert refused.value.code == code


def test_words_are_trimmed_and_otherwise_kept() -> None:
    assert clean_words("  بصرة ٧♦ \n") == "بصرة ٧♦"
    assert words_digest(" x ") == hashlib.sha256(b"x").digest()
    assert len(clean_words("🂡" * 200)) == 200


@pytest.mark.parametrize(("sealed", "number"), [(0, 0), (129, 1), (4, 5), (128, -1)])
def test_a_round_that_is_not_on_the_chain_is_refused(sealed: int, number: int) -> None:
    with pytest.raises(InvalidInput):
        secret_of_round(bytes(32), sealed, number)


@pytest.mark.parametrize(
    ("secret", "words", "number"),
    [(bytes(31), bytes(32), 1), (bytes(32), b"", 1), (bytes(32), bytes(32), ROUNDS_SEALED + 1)],
)
def test_a_deal_from_wrong_parts_is_refused(secret: bytes, words: bytes, number: int) -> None:
    with pytest.raises(InvalidInput):
        deal_round(
            secret=secret,
            game_id=GAME,
            round_number=number,
            words_sha256=words,
            replaced="bottom",
        )


# Evenness. The statistic counts which card lies at which place: 51 × 51 degrees of freedom, so
# mean 2601 and deviation about 72. The streams are fixed, so the tests cannot fail by chance.

SHUFFLES = 8000
FIVE_DEVIATIONS = 51 * 51 + 5 * (2 * 51 * 51) ** 0.5


def chi_squared(shuffle: Callable[[ByteStream], list[Card] | tuple[Card, ...]]) -> float:
    seen = [[0] * 52 for _ in range(52)]
    numbers = {card: number for number, card in enumerate(PACK)}
    for turn in range(SHUFFLES):
        deck = shuffle(ByteStream(hashlib.sha256(f"key {turn}".encode()).digest()))
        for place, card in enumerate(deck):
            seen[place][numbers[card]] += 1
    expected = SHUFFLES / 52
    return sum((count - expected) ** 2 / expected for row in seen for count in row)


def naive(stream: ByteStream) -> list[Card]:
    deck = list(PACK)
    for place in range(52):
        other = stream.below(52)
        deck[place], deck[other] = deck[other], deck[place]
    return deck


def sattolo(stream: ByteStream) -> list[Card]:
    deck = list(PACK)
    for last in range(51, 0, -1):
        other = stream.below(last)
        deck[last], deck[other] = deck[other], deck[last]
    return deck


def modulo(stream: ByteStream) -> list[Card]:
    deck = list(PACK)
    for last in range(51, 0, -1):
        other = stream.byte() % (last + 1)
        deck[last], deck[other] = deck[other], deck[last]
    return deck


def test_every_card_lies_at_every_place_equally_often() -> None:
    assert chi_squared(shuffled_pack) < FIVE_DEVIATIONS


@pytest.mark.parametrize("faulty", [naive, sattolo, modulo])
def test_the_known_faults_of_shuffles_would_be_noticed(
    faulty: Callable[[ByteStream], list[Card]],
) -> None:
    assert chi_squared(faulty) > FIVE_DEVIATIONS


@pytest.mark.parametrize("limit", [1, 2, 3, 52, 255, 256])
def test_draws_stay_below_their_limit_and_reach_all_of_it(limit: int) -> None:
    stream = ByteStream(chance_from(limit).randbytes(32))
    assert {stream.below(limit) for _ in range(40 * limit)} <= set(range(limit))
    small = min(limit, 3)
    assert {stream.below(small) for _ in range(200)} == set(range(small))
