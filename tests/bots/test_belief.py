"""What hard makes of the other's plays: which hands it thinks likelier than others."""

from __future__ import annotations

from collections import Counter

import pytest

from games.bots import SeenPlay, seen_after
from games.bots.belief import possible_hands
from games.bots.core import Core, core_of
from games.bots.counting import Counting, unseen_by
from games.engine import (
    Card,
    Play,
    RuleSet,
    Seat,
    SeatView,
    Terms,
    deal,
    legal_plays,
    new_game,
    play,
    seat_view,
)
from tests.bots.positions import position
from tests.engine.helpers import ALL_RULES, chance_from
from tools.bench.bots import random_deal

EVERY = 10_000
"""More hands than any position here has."""


def believed(
    view: SeatView, *past: SeenPlay, most: int = EVERY, draws: int = EVERY
) -> dict[int, float]:
    """How likely each kind of card is in the other hand: shares of all weights."""
    counting = Counting(core_of(view.terms.rules), view.carried)
    hands = possible_hands(counting, view, past, at_most=most, draws=draws, seed=1)
    total = sum(weight for weight, _ in hands)
    return {
        kind: sum(weight for weight, hand in hands if kind in hand) / total
        for kind in map(counting.core.kind, unseen_by(view))
    }


def after_their_play(floor: str, theirs: str) -> tuple[SeatView, SeenPlay]:
    """A's view when B has played the first card of ``theirs``, and that play."""
    stock = "2C 3C 4C 5C 6C 8C 9C 10C AC 3D JS QD"
    pile = "AH AD AS 2D 2H 3H 4D 4S 5D 5S 6D 6S 7C 7H"
    state = position("KS KD KH 5H", floor, unseen=f"{theirs} {stock}", pile=pile)
    # A plays a king first.
    state, _played = play(state, Seat.A, Play(Card.parse("KS")))
    state, played = play(state, Seat.B, Play(Card.parse(theirs.split()[0])))
    return seat_view(state, Seat.A), SeenPlay(Seat.B, played.card, played.captured)


def kind_of(code: str, view: SeatView) -> int:
    return core_of(view.terms.rules).kind(Card.parse(code))


def test_who_does_not_make_the_basra_that_lies_open_hardly_holds_the_card_for_it() -> None:
    view, seen = after_their_play("KC 8S", "QC 2S 3S 9S")
    eight = kind_of("8C", view)
    assert believed(view)[eight] > 0.15
    assert 0 < believed(view, seen)[eight] < 0.03


def test_without_a_play_to_read_every_deal_is_as_likely() -> None:
    state = position("KC 3D 9S 2H", "5H")
    view = seat_view(state, Seat.A)
    unseen = Counter(map(core_of(view.terms.rules).kind, unseen_by(view)))
    hidden = sum(unseen.values())
    likely = believed(view)
    for kind, count in unseen.items():
        none = 1.0
        for card in range(4):
            none *= (hidden - count - card) / (hidden - card)
        assert likely[kind] == pytest.approx(1 - none)


def test_hands_drawn_come_near_to_all_of_them() -> None:
    view, seen = after_their_play("KC 8S", "QC 2S 3S 9S")
    exact, drawn = believed(view, seen), believed(view, seen, most=2000, draws=200)
    assert all(abs(exact[kind] - drawn[kind]) < 0.15 for kind in exact)


@pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: f"{rules.name}-{rules.base}")
def test_the_hand_that_they_do_hold_is_always_thought_possible(rules: RuleSet) -> None:
    # Whatever they play, however foolish: at random here.
    chance, core = chance_from(f"possible {rules.name} {rules.base}"), core_of(rules)
    state, past = deal(new_game(Terms(rules, None)), random_deal(chance)), list[SeenPlay]()
    while (seat := state.turn) is not None and state.round is not None and state.round.stock:
        hands = possible_hands(
            Counting(core, 0), seat_view(state, seat), past, at_most=EVERY, draws=EVERY, seed=1
        )
        weights = {hand: weight for weight, hand in hands}
        assert weights[tuple(sorted(map(core.kind, state.round.hands[seat.other])))] > 0
        state, played = play(state, seat, chance.choice(legal_plays(state)))
        past = seen_after(past, played)


@pytest.mark.parametrize("most", [1, 7, 50])
def test_never_more_hands_than_asked_for_and_none_that_cannot_be(most: int) -> None:
    view, seen = after_their_play("KC 8S", "QC 2S 3S 9S")
    core: Core = core_of(view.terms.rules)
    unseen = Counter(map(core.kind, unseen_by(view)))
    hands = possible_hands(Counting(core, 0), view, [seen], at_most=most, draws=300, seed=3)
    assert 1 <= len(hands) <= most
    for weight, hand in hands:
        assert weight > 0
        assert list(hand) == sorted(hand)
        assert not Counter(hand) - unseen
        assert len(hand) == view.hand_counts.b
