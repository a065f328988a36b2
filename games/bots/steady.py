"""The computer's way of playing: take what is worth most, and leave little behind.

A play is judged by what it brings now (cards towards the majority, basras, strong cards) less what
it is likely to give away: for every card that may be in the other hand, what it could make of the
floor that is left. Which cards may be there follows from the view alone: all that are neither in
the own hand, nor on the floor, nor in a pile. No dice: equal views give equal plays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from games.engine import (
    KOMI,
    PACK,
    Capture,
    Card,
    Play,
    RuleSet,
    Seat,
    SeatView,
    captures,
    single_cards,
)

# Worth in points. A round's majority is 30 points for 27 cards, so a card is worth about one; the
# two sweepers are worth the floor they can take later, and more than any plain card.
_JACK_IN_HAND = 5.0
_KOMI_IN_HAND = 6.0
# How much of the other's best answers to count: they hold few of the unseen cards, and have to
# have the right one.
_CAUTION = 0.9


def choose_play(view: SeatView) -> Play:
    """Return a legal play for the seat that ``view`` belongs to; it must be that seat's turn."""
    unseen = _unseen(view)
    best = max(
        (
            (_judge(view, capture, unseen), -order, capture)
            for order, capture in enumerate(_all_captures(view))
        ),
        key=lambda judged: judged[:2],
    )[2]
    return Play(best.card, frozenset(best.cards))


def _all_captures(view: SeatView) -> Iterable[Capture]:
    for options in view.options().values():
        yield from options


def _unseen(view: SeatView) -> tuple[Card, ...]:
    seen = {*view.hand, *view.floor, *view.piles[Seat.A], *view.piles[Seat.B]}
    return tuple(card for card in PACK if card not in seen)


def _judge(view: SeatView, capture: Capture, unseen: Sequence[Card]) -> float:
    rules = view.terms.rules
    taken = set(capture.cards)
    floor = [card for card in view.floor if card not in taken]
    if not capture.cards:
        floor.append(capture.card)
    gain = capture.points + _worth_of_pile(rules, capture)
    return gain - _cost_of_playing(capture) - _CAUTION * _danger(view, floor, unseen)


def _worth_of_pile(rules: RuleSet, capture: Capture) -> float:
    if not capture.cards:
        return 0.0
    cards = [*capture.cards, capture.card]
    singles = sum(points for _card, points in single_cards(rules, cards))
    return rules.majority / 27 * len(cards) + singles


def _cost_of_playing(capture: Capture) -> float:
    if capture.card.is_jack:
        return _JACK_IN_HAND
    return _KOMI_IN_HAND if capture.card == KOMI else 0.0


def _danger(view: SeatView, floor: Sequence[Card], unseen: Sequence[Card]) -> float:
    """What the other player can be expected to make of ``floor``, in points."""
    hidden = len(unseen)
    opponent = view.hand_counts[_seat(view).other]
    if not floor or not opponent or not hidden:
        return 0.0
    worths = sorted((_best_answer(view.terms.rules, floor, card) for card in unseen), reverse=True)
    # The best card counts if the other holds it, the second best if not the best but it, and so on.
    expected, none_better = 0.0, 1.0
    for index, worth in enumerate(worths):
        if worth <= 0.0:
            break
        holds_it = min(1.0, opponent / (hidden - index))
        expected += none_better * holds_it * worth
        none_better *= 1.0 - holds_it
    return expected


def _best_answer(rules: RuleSet, floor: Sequence[Card], card: Card) -> float:
    return max(
        capture.points + _worth_of_pile(rules, capture) for capture in captures(rules, floor, card)
    )


def _seat(view: SeatView) -> Seat:
    if view.seat is None:
        raise ValueError("a computer player needs a seat")
    return view.seat
