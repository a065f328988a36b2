"""What is true of a play: the facts from which a hint or an explanation is worded.

Everything here follows from one seat's view, so that it can be told to that seat. There are no
words here, and no opinions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from games.engine import (
    KOMI,
    PACK,
    Capture,
    Card,
    Kind,
    Play,
    Seat,
    SeatView,
    captures,
    single_cards,
)
from games.engine.captures import without_basra
from games.engine.rounds import gets_left_over

from .counting import unseen_by

MAJORITY_CARDS: Final = len(PACK) // 2 + 1
"""With so many cards, 27, nobody can have as many."""


@dataclass(frozen=True, slots=True)
class Clearing:
    """Unseen cards that would take all of the floor that is left.

    ``card`` stands for all unseen cards of its rank, ``unseen`` says how many these are; the komi
    stands for itself alone. ``kind`` and ``points`` are those of the basra it would make.
    """

    card: Card
    unseen: int
    kind: Kind
    points: int

    @property
    def makes_basra(self) -> bool:
        """Whether it would be a basra, not a plain sweep."""
        return self.kind is not Kind.NONE


@dataclass(frozen=True, slots=True)
class Facts:
    """What is true of a play, as its player could know before making it.

    Unseen cards are those in the other hand or in the stock. Piles, floor and last capturer are
    as the play leaves them.
    """

    card: Card
    taken: tuple[Card, ...]
    """The floor cards it takes, in pack order."""
    kind: Kind
    points: int
    """What its basra counts."""
    single_points: int
    """What the cards that go into the pile count by themselves, where the rules let any."""
    choices: int
    """How many captures the card can choose between, 1 for no choice."""
    only_card: bool
    """Whether it is the last card of the hand."""
    only_play: bool
    """Whether there is no other play."""

    floor: tuple[Card, ...]
    clearings: tuple[Clearing, ...]
    """What could clear ``floor`` next turn; empty when no turn follows."""

    jacks_unseen: int
    komi_unseen: bool
    jacks_kept: int
    """Jacks that stay in the own hand."""
    komi_kept: bool
    same_rank_unseen: int
    """Unseen cards of the rank of the card played."""

    majority: int
    """What the majority counts in this round, with what earlier ties carried into it."""
    own_cards: int
    """Cards in the own pile."""
    their_cards: int

    last_deal: bool
    """Whether no more cards are dealt in this round."""
    last_play: bool
    """Whether it is the last play of the round."""
    last_capturer: Seat | None
    left_over_to: Seat | None
    """Who would get the cards of the floor if nobody captured any more."""

    @property
    def sweeps(self) -> bool:
        """Whether it takes the whole floor."""
        return bool(self.taken) and not self.floor

    @property
    def cards_won(self) -> int:
        """How many cards go into the pile, the one played among them."""
        return len(self.taken) + 1 if self.taken else 0

    @property
    def can_clear(self) -> int:
        """How many unseen cards could clear the floor."""
        return sum(one.unseen for one in self.clearings)

    @property
    def can_make_basra(self) -> int:
        """How many unseen cards could make a basra of the floor."""
        return sum(one.unseen for one in self.clearings if one.makes_basra)

    @property
    def has_majority(self) -> bool:
        """Whether the own pile has more than half of the pack."""
        return self.own_cards >= MAJORITY_CARDS

    @property
    def lacks_for_majority(self) -> int:
        """How many cards the own pile lacks for more than half of the pack."""
        return max(0, MAJORITY_CARDS - self.own_cards)


def facts(view: SeatView, play: Play) -> Facts:
    """Return what is true of ``play`` for the seat of ``view``, whose turn it is.

    A play without a capture is the card's default one. Raises ``ValueError`` for a play that is
    not open to that seat.
    """
    if view.seat is None or view.seat is not view.turn:
        raise ValueError("it is not this seat's turn")
    seat, rules = view.seat, view.terms.rules
    options = view.options()
    option = _chosen(options.get(play.card, ()), play)
    unseen = unseen_by(view)
    floor = _floor_after(view.floor, option)
    plays_left = view.stock_count + sum(view.hand_counts) - 1
    last_capturer = seat if option.cards else view.last_capturer
    dealer = view.dealer
    return Facts(
        card=option.card,
        taken=option.cards,
        kind=option.kind,
        points=option.points,
        single_points=sum(worth for _card, worth in single_cards(rules, _won(option))),
        choices=len(options[option.card]),
        only_card=len(options) == 1,
        only_play=sum(len(made) for made in options.values()) == 1,
        floor=floor,
        clearings=tuple(_clearings(view, floor, unseen, plays_left)),
        jacks_unseen=sum(card.is_jack for card in unseen),
        komi_unseen=KOMI in unseen,
        jacks_kept=sum(card.is_jack for card in view.hand if card != option.card),
        komi_kept=KOMI in view.hand and option.card != KOMI,
        same_rank_unseen=sum(card.rank == option.card.rank for card in unseen),
        majority=rules.majority + view.carried,
        own_cards=len(view.piles[seat]) + len(_won(option)),
        their_cards=len(view.piles[seat.other]),
        last_deal=not view.stock_count,
        last_play=not plays_left,
        last_capturer=last_capturer,
        left_over_to=gets_left_over(rules, last_capturer, dealer) if dealer is not None else None,
    )


def _chosen(options: Sequence[Capture], play: Play) -> Capture:
    for option in options:
        if play.capture is None or play.capture == set(option.cards):
            return option
    raise ValueError("that play is not open to this seat")


def _won(option: Capture) -> tuple[Card, ...]:
    return (option.card, *option.cards) if option.cards else ()


def _floor_after(floor: Sequence[Card], option: Capture) -> tuple[Card, ...]:
    if not option.cards:
        return (*floor, option.card)
    return tuple(card for card in floor if card not in option.cards)


def _clearings(
    view: SeatView, floor: Sequence[Card], unseen: Sequence[Card], plays_left: int
) -> Iterator[Clearing]:
    if not floor or not plays_left:
        return
    rules = view.terms.rules
    for rank in sorted({card.rank for card in unseen}):
        of_rank = [card for card in unseen if card.rank == rank]
        for kind in ([card for card in of_rank if card != KOMI], [KOMI] * (KOMI in of_rank)):
            if not kind:
                continue
            capture = captures(rules, floor, kind[0])[0]
            if plays_left == 1 and not rules.last_card_basra:
                capture = without_basra(capture)
            if len(capture.cards) == len(floor):
                yield Clearing(kind[0], len(kind), capture.kind, capture.points)
