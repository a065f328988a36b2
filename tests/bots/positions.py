"""Made-up positions, written as the cards that matter."""

from __future__ import annotations

from games.engine import (
    DEFAULT_RULE_SET,
    PACK,
    RULE_SETS,
    Basras,
    GameState,
    Pair,
    RoundState,
    RuleSet,
    Seat,
    SeatView,
    Terms,
    parse_cards,
    seat_view,
)


def position(
    hand: str,
    floor: str,
    *,
    unseen: str | None = None,
    pile: str = "",
    last_capturer: Seat | None = Seat.B,
    rules: RuleSet = RULE_SETS[DEFAULT_RULE_SET],
) -> GameState:
    """A round in which A is to play ``hand``, and B has dealt and holds as many cards.

    ``unseen`` are the cards of B's hand, then those of the stock; some twenty cards if it is not
    said. ``pile`` is A's; what is nowhere else has been captured by B.
    """
    mine, lying, captured = parse_cards(hand), parse_cards(floor), parse_cards(pile)
    rest = [card for card in PACK if card not in (*mine, *lying, *captured)]
    hidden = rest[: len(mine) + 16] if unseen is None else parse_cards(unseen)
    table = RoundState(
        dealer=Seat.B,
        hands=Pair(mine, tuple(hidden[: len(mine)])),
        floor=lying,
        stock=tuple(hidden[len(mine) :]),
        piles=Pair(captured, tuple(card for card in rest if card not in hidden)),
        basras=Pair(Basras(), Basras()),
        last_capturer=last_capturer,
    )
    return GameState(Terms(rules, None), 1, table, Pair(0, 0), 0, Seat.A, None)


def seen(hand: str, floor: str, *, unseen: str | None = None, pile: str = "") -> SeatView:
    """What A sees of such a position by the default rules."""
    return seat_view(position(hand, floor, unseen=unseen, pile=pile), Seat.A)
