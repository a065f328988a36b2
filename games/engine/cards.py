"""The 52 cards.

A card is written rank + suit, as in ``7D`` or ``10C``. Cards sort in pack order: suits C D H S,
in each suit A 2 … 10 J Q K (docs/fair-shuffle.md, "pack").
"""

from collections.abc import Iterable
from typing import NamedTuple

from .errors import NotACard, shown

SUITS = "CDHS"
RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")

JACK, QUEEN, KING = 11, 12, 13


class Card(NamedTuple):
    """One card: ``suit`` 0–3 for C D H S, ``rank`` 1–13 for A to K."""

    suit: int
    rank: int

    @classmethod
    def parse(cls, text: object) -> "Card":
        """Return the card written ``text``; raise :class:`NotACard` for anything else."""
        card = _BY_CODE.get(text) if isinstance(text, str) else None
        if card is None:
            raise NotACard(f"{shown(text)} is not a card.")
        return card

    @property
    def code(self) -> str:
        """The card as it is written, such as ``10D``."""
        return _CODES[self]

    @property
    def is_jack(self) -> bool:
        """Whether this is one of the four jacks."""
        return self.rank == JACK

    @property
    def is_komi(self) -> bool:
        """Whether this is the seven of diamonds."""
        return self == KOMI

    @property
    def value(self) -> int | None:
        """1–10 for the numerals (an ace is 1), ``None`` for J, Q and K."""
        return self.rank if self.rank < JACK else None

    def __str__(self) -> str:
        return _CODES[self]


PACK: tuple[Card, ...] = tuple(Card(suit, rank) for suit in range(4) for rank in range(1, 14))
"""The whole pack in pack order."""

KOMI = Card(SUITS.index("D"), 7)
"""The seven of diamonds."""

_CODES = {card: RANKS[card.rank - 1] + SUITS[card.suit] for card in PACK}
_BY_CODE = {code: card for card, code in _CODES.items()}


def parse_cards(text: str) -> tuple[Card, ...]:
    """Read cards separated by spaces, ``8D 7S``; an empty text is no cards.

    Raises :class:`NotACard`. That no card comes twice is not checked here.
    """
    return tuple(Card.parse(word) for word in text.split())


def format_cards(cards: Iterable[Card]) -> str:
    """Write cards separated by spaces, in the order given."""
    return " ".join([_CODES[card] for card in cards])
