"""Positions: made up of the cards that matter, or met in a round of random plays."""

from __future__ import annotations

import random

from games.bots import SeenPlay
from games.engine import (
    DEFAULT_RULE_SET,
    PACK,
    RULE_SETS,
    Basras,
    GameState,
    Pair,
    Play,
    RoundState,
    RuleSet,
    Seat,
    SeatView,
    Terms,
    deal,
    legal_plays,
    new_game,
    parse_cards,
    play,
    seat_view,
)
from tools.bench.bots import random_deal


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


type Past = list[SeenPlay]


def after_plays(rules: RuleSet, chance: random.Random, plays: int) -> tuple[GameState, Past]:
    """A round after so many random plays, and those since the last deal."""
    state = deal(new_game(Terms(rules, None)), random_deal(chance))
    past: Past = []
    for _ in range(plays):
        state = and_then(state, past, chance.choice(legal_plays(state)))
    return state, past


def and_then(state: GameState, past: Past, chosen: Play) -> GameState:
    """The state after a play, which is added to the ``past``, or begins a new deal."""
    assert state.turn is not None
    after, played = play(state, state.turn, chosen)
    past.append(SeenPlay(state.turn, played.card, played.captured))
    if played.deals_next:
        past.clear()
    return after
