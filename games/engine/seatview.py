"""What one seat may see.

Pages, mails and computer players all start from a :class:`SeatView`. It is built by naming what
goes in, so that a field added to the state stays hidden until somebody adds it here.
"""

from dataclasses import dataclass

from .captures import Capture, captures, without_basra
from .cards import Card
from .game import GameState, Terms
from .rounds import Basras
from .scoring import Outcome
from .seats import Pair, Seat


@dataclass(frozen=True, slots=True)
class SeatView:
    """A game as seen from ``seat``; ``None`` is a stranger, who holds no hand.

    Between rounds there is nothing on the table: ``dealer`` and ``turn`` are ``None``,
    ``deal_number`` is 0, hands, floor and piles are empty. ``hand`` is in pack order, so that
    it tells nothing of the order of the deal.
    """

    seat: Seat | None
    terms: Terms
    round_number: int
    dealer: Seat | None
    turn: Seat | None
    deal_number: int
    hand: tuple[Card, ...]
    hand_counts: Pair[int]
    stock_count: int
    floor: tuple[Card, ...]
    piles: Pair[tuple[Card, ...]]
    basras: Pair[Basras]
    last_capturer: Seat | None
    totals: Pair[int]
    carried: int
    outcome: Outcome | None

    @property
    def own_seat(self) -> Seat:
        """The seat that the view belongs to. Raises ``ValueError`` for a stranger's view."""
        if self.seat is None:
            raise ValueError("a stranger has no seat")
        return self.seat

    def options(self) -> dict[Card, tuple[Capture, ...]]:
        """What each card of the own hand could take now, whoever is to move."""
        rules = self.terms.rules
        options = {card: captures(rules, self.floor, card) for card in self.hand}
        on_last_card = not self.stock_count and self.hand_counts.a + self.hand_counts.b == 1
        if on_last_card and not rules.last_card_basra:
            return {card: tuple(map(without_basra, made)) for card, made in options.items()}
        return options


def seat_view(state: GameState, seat: Seat | None) -> SeatView:
    """The game as ``seat`` sees it, or a stranger where ``seat`` is ``None``."""
    table = state.round
    if table is None:
        return SeatView(
            seat=seat,
            terms=state.terms,
            round_number=state.round_number,
            dealer=None,
            turn=None,
            deal_number=0,
            hand=(),
            hand_counts=Pair(0, 0),
            stock_count=0,
            floor=(),
            piles=Pair((), ()),
            basras=Pair(Basras(), Basras()),
            last_capturer=None,
            totals=state.totals,
            carried=state.carried,
            outcome=state.outcome,
        )
    return SeatView(
        seat=seat,
        terms=state.terms,
        round_number=state.round_number,
        dealer=table.dealer,
        turn=state.turn,
        deal_number=table.deal_number,
        hand=tuple(sorted(table.hands[seat])) if seat is not None else (),
        hand_counts=Pair(len(table.hands.a), len(table.hands.b)),
        stock_count=len(table.stock),
        floor=table.floor,
        piles=table.piles,
        basras=table.basras,
        last_capturer=table.last_capturer,
        totals=state.totals,
        carried=state.carried,
        outcome=state.outcome,
    )
