"""Fairness documents of made-up games, and what a cheat would change in them."""

from __future__ import annotations

import copy
import hashlib
import random
import uuid
from typing import Any
from uuid import UUID

from games.engine import (
    ROUNDS_SEALED,
    SHUFFLE_VERSION,
    RuleSet,
    Seat,
    deal_round,
    format_cards,
    words_digest,
)
from games.engine.rulesets import Replaced

type Document = dict[str, Any]

WORDS = "tea with mint, no sugar – شاي"
KINDS = ("deck", "secret", "anchor", "words", "game id", "round order")
TAMPERINGS_OF_A_KIND = 100


def document(
    seed: object, rules: RuleSet, rounds: int = ROUNDS_SEALED, *, words: str = WORDS
) -> Document:
    """Return what a game publishes whose first ``rounds`` rounds are over."""
    chance = random.Random(f"document {seed}")
    return published_of(
        tip=chance.randbytes(32),
        game_id=UUID(bytes=chance.randbytes(16), version=4),
        rounds_sealed=ROUNDS_SEALED,
        words=words,
        replaced=rules.replaced,
        rounds=rounds,
    )


def vector_document(vector: dict[str, Any]) -> Document:
    """Return the document that ends with the round of a worked vector, its cards as given there."""
    published = published_of(
        tip=bytes.fromhex(vector["tip"]),
        game_id=UUID(vector["game_id"]),
        rounds_sealed=vector["rounds_sealed"],
        words=vector["words"],
        replaced="bottom",
        rounds=vector["round"],
    )
    given = {name: vector[name] for name in ("round", "secret", "deck")}
    if vector["round"] == 1:
        given["first_dealer"] = vector["bottom"]["first_dealer"]
    published["rounds"][-1] = given
    return published | {name: vector[name] for name in ("anchor", "words_sha256")}


def published_of(
    *,
    tip: bytes,
    game_id: UUID,
    rounds_sealed: int,
    words: str,
    replaced: Replaced,
    rounds: int,
) -> Document:
    """Return the document of a game whose chain ends in ``tip``."""
    chain = [tip]
    for _round in range(rounds_sealed):
        chain.append(hashlib.sha256(chain[-1]).digest())
    chain.reverse()
    published: Document = {
        "version": SHUFFLE_VERSION,
        "game_id": str(game_id),
        "rounds_sealed": rounds_sealed,
        "anchor": chain[0].hex(),
        "words_sha256": words_digest(words).hex(),
        "words_by": "opponent",
        "replaced": replaced,
        "rounds": [],
    }
    for number in range(1, rounds + 1):
        deal = deal_round(
            secret=chain[number],
            game_id=game_id,
            round_number=number,
            words_sha256=words_digest(words),
            replaced=replaced,
        )
        one = {"round": number, "secret": chain[number].hex(), "deck": format_cards(deal.deck)}
        if deal.first_dealer is not None:
            one["first_dealer"] = "creator" if deal.first_dealer is Seat.A else "opponent"
        published["rounds"].append(one)
    return published


def tamperings(rules: list[RuleSet]) -> list[tuple[str, Document]]:
    """Return documents with one thing changed in each: as many of every kind, the same ever."""
    changed = []
    for kind in KINDS:
        for turn in range(TAMPERINGS_OF_A_KIND):
            chance = random.Random(f"{kind} {turn}")
            whole = document(chance.random(), chance.choice(rules), chance.randint(2, 6))
            changed.append((kind, tampered(whole, kind, chance)))
    return changed


def tampered(whole: Document, kind: str, chance: random.Random) -> Document:
    """Return ``whole`` with one thing changed that means something."""
    changed = copy.deepcopy(whole)
    rounds = changed["rounds"]
    one = chance.choice(rounds)
    match kind:
        case "deck":
            cards = one["deck"].split(" ")
            first, second = chance.sample(range(52), 2)
            cards[first], cards[second] = cards[second], cards[first]
            one["deck"] = " ".join(cards)
        case "secret":
            one["secret"] = with_a_bit_flipped(one["secret"], chance)
        case "anchor":
            changed["anchor"] = with_a_bit_flipped(changed["anchor"], chance)
        case "words":
            changed["words_sha256"] = chance.choice(
                [
                    with_a_bit_flipped(changed["words_sha256"], chance),
                    words_digest(f"other words {chance.random()}").hex(),
                ]
            )
        case "game id":
            changed["game_id"] = chance.choice(
                [
                    str(UUID(with_a_bit_flipped(UUID(changed["game_id"]).hex, chance))),
                    str(uuid.UUID(bytes=chance.randbytes(16), version=4)),
                ]
            )
        case _:
            _disorder(rounds, chance)
    assert changed != whole
    return changed


def with_a_bit_flipped(text: str, chance: random.Random) -> str:
    """Return hex digits with one bit changed."""
    bits = int(text, 16) ^ (1 << chance.randrange(4 * len(text)))
    return f"{bits:0{len(text)}x}"


def _disorder(rounds: list[Document], chance: random.Random) -> None:
    first, second = chance.sample(range(len(rounds)), 2)
    one, other = rounds[first], rounds[second]
    match chance.choice(["places", "numbers", "secrets", "contents", "dropped", "doubled"]):
        case "places":
            rounds[first], rounds[second] = other, one
        case "numbers":
            one["round"], other["round"] = other["round"], one["round"]
        case "secrets":
            one["secret"], other["secret"] = other["secret"], one["secret"]
        case "contents":
            for part in ("secret", "deck"):
                one[part], other[part] = other[part], one[part]
        case "dropped":  # never the last: that is how the document looked a round earlier
            del rounds[min(first, second)]
        case _:
            rounds.insert(first, copy.deepcopy(one))
