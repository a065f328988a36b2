"""The fair shuffle ``basra-shuffle-v1`` (docs/fair-shuffle.md).

Nothing here is random: the sealed tip comes in as an argument, and the same arguments give the
same deal for ever.
"""

import hashlib
import hmac
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from .cards import PACK, Card
from .errors import InvalidInput
from .rulesets import Replaced
from .seats import Seat

SHUFFLE_VERSION: Final = "basra-shuffle-v1"

ROUNDS_SEALED: Final = 128
"""How many secrets are sealed for a game, and so the most rounds it can have."""

SECRET_BYTES: Final = 32
MOST_WORDS: Final = 200
"""The most code points that the words of the player who joins may have."""


@dataclass(frozen=True, slots=True)
class Deal:
    """One round as it is dealt.

    ``deck`` is the shuffled pack before floor cards are replaced. ``first_dealer`` is drawn for
    round 1 only; the creator of the game sits at A.
    """

    deck: tuple[Card, ...]
    first_dealer: Seat | None
    non_dealer: tuple[Card, ...]
    dealer: tuple[Card, ...]
    floor: tuple[Card, ...]
    stock: tuple[Card, ...]

    @classmethod
    def from_cards(cls, cards: Sequence[Card], first_dealer: Seat | None = None) -> "Deal":
        """The deal with the 52 ``cards`` in dealing order, no floor card left to replace.

        In dealing order come four cards of the non-dealer, four of the dealer, four of the
        floor, then the stock. Raises :class:`InvalidInput` (``card``) if the cards are not one
        whole pack or a jack or the komi lies in the floor.
        """
        if sorted(cards) != list(PACK):
            raise InvalidInput("These are not the 52 cards of one pack.", "card")
        deck = tuple(cards)
        floor = deck[8:12]
        if any(may_not_open(card) for card in floor):
            raise InvalidInput("A jack or the komi lies in the first floor.", "card")
        return cls(deck, first_dealer, deck[:4], deck[4:8], floor, deck[12:])

    @property
    def cards(self) -> tuple[Card, ...]:
        """The 52 cards in dealing order, after floor cards were replaced."""
        return self.non_dealer + self.dealer + self.floor + self.stock


class ByteStream:
    """The bytes that one round key gives, and even draws from them."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._block = b""
        self.used = 0
        """How many bytes have been taken."""

    def byte(self) -> int:
        """Take the next byte: block j of the stream is HMAC(key, uint32be(j))."""
        number, place = divmod(self.used, hashlib.sha256().digest_size)
        if place == 0:
            self._block = _hmac(self._key, number.to_bytes(4, "big"))
        self.used += 1
        return self._block[place]

    def below(self, limit: int) -> int:
        """Draw a number from 0 to ``limit - 1``, each exactly as likely; limit 1–256."""
        fair = 256 - 256 % limit
        while (byte := self.byte()) >= fair:
            pass
        return byte % limit


def secret_of_round(tip: bytes, rounds_sealed: int, round_number: int) -> bytes:
    """The secret of a round on the chain that ends in ``tip``; round 0 gives the anchor.

    Raises :class:`InvalidInput` (``hex`` for a tip that is not 32 bytes, ``number``).
    """
    if len(tip) != SECRET_BYTES:
        raise InvalidInput("A tip is 32 bytes.", "hex")
    if not 1 <= rounds_sealed <= ROUNDS_SEALED or not 0 <= round_number <= rounds_sealed:
        raise InvalidInput("That round is not on the chain.", "number")
    return _hashed(tip, rounds_sealed - round_number)


def anchor_of(tip: bytes, rounds_sealed: int) -> bytes:
    """The public first link of the chain that ends in ``tip``."""
    return secret_of_round(tip, rounds_sealed, 0)


def anchor_from_secret(secret: bytes, round_number: int) -> bytes:
    """The anchor that the revealed secret of a round hangs on."""
    return _hashed(secret, round_number)


def clean_words(text: str) -> str:
    """Trim the words of the player who joins and check that they can be used.

    Raises :class:`InvalidInput`: ``number`` for more than 200 code points, ``json`` for control
    characters, line breaks and lone surrogates.
    """
    words = text.strip()
    if len(words) > MOST_WORDS:
        raise InvalidInput(f"Words have at most {MOST_WORDS} characters.", "number")
    if not is_one_line(words):
        raise InvalidInput("Words are one line of text without control characters.", "json")
    return words


def is_one_line(text: str) -> bool:
    """Whether a text is without control characters, line breaks and lone surrogates."""
    # Cc control characters, Cs lone surrogates, Zl and Zp the line breaks outside Cc.
    return not any(unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp") for one in text)


def words_digest(words: str) -> bytes:
    """The fingerprint of the words, which are cleaned first; errors as in ``clean_words``."""
    return hashlib.sha256(clean_words(words).encode()).digest()


def round_key(*, secret: bytes, game_id: UUID, round_number: int, words_sha256: bytes) -> bytes:
    """The key of a round's byte stream.

    Raises :class:`InvalidInput` (``hex`` for a wrong number of bytes, ``number``).
    """
    if len(secret) != SECRET_BYTES or len(words_sha256) != hashlib.sha256().digest_size:
        raise InvalidInput("Secrets and fingerprints are 32 bytes.", "hex")
    if not 1 <= round_number <= ROUNDS_SEALED:
        raise InvalidInput(f"Rounds are numbered 1 to {ROUNDS_SEALED}.", "number")
    message = (
        SHUFFLE_VERSION.encode()
        + b"\0"
        + game_id.bytes
        + round_number.to_bytes(2, "big")
        + words_sha256
    )
    return _hmac(secret, message)


def shuffled_pack(stream: ByteStream) -> tuple[Card, ...]:
    """The pack, shuffled by draws from ``stream``."""
    deck = list(PACK)
    for last in range(len(deck) - 1, 0, -1):
        other = stream.below(last + 1)
        deck[last], deck[other] = deck[other], deck[last]
    return tuple(deck)


def may_not_open(card: Card) -> bool:
    """Whether this card is replaced when it turns up in the first floor."""
    return card.is_jack or card.is_komi


def deal_round(
    *, secret: bytes, game_id: UUID, round_number: int, words_sha256: bytes, replaced: Replaced
) -> Deal:
    """Shuffle and deal one round; ``replaced`` says where replaced floor cards go.

    Raises :class:`InvalidInput` as ``round_key`` does.
    """
    key = round_key(
        secret=secret, game_id=game_id, round_number=round_number, words_sha256=words_sha256
    )
    stream = ByteStream(key)
    deck = shuffled_pack(stream)
    first_dealer = None
    if round_number == 1:
        first_dealer = Seat.B if stream.below(2) else Seat.A
    floor, stock = list(deck[8:12]), list(deck[12:])
    for place in range(len(floor)):
        while may_not_open(card := floor[place]):
            floor[place] = stock.pop(0)
            if replaced == "random place":
                stock.insert(stream.below(len(stock) + 1), card)
            else:
                stock.append(card)
    return Deal(deck, first_dealer, deck[:4], deck[4:8], tuple(floor), tuple(stock))


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")


def _hashed(value: bytes, times: int) -> bytes:
    for _ in range(times):
        value = hashlib.sha256(value).digest()
    return value
