"""The facts of a play: true, and known to who makes it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from games.bots.facts import Facts, facts
from games.engine import (
    RULE_SETS,
    Card,
    Kind,
    Play,
    RuleSet,
    Seat,
    Terms,
    format_cards,
    legal_plays,
    parse_cards,
    play,
    seat_view,
)
from tests.bots.positions import position, seen
from tests.engine.helpers import ALL_RULES, at_random, steps


def facts_of(
    card: str, hand: str, floor: str, *, unseen: str | None = None, pile: str = ""
) -> Facts:
    return facts(seen(hand, floor, unseen=unseen, pile=pile), Play(Card.parse(card)))


def clearings(found: Facts) -> dict[str, int]:
    """The ranks that could clear the floor, and how many of each are unseen."""
    return {one.card.code: one.unseen for one in found.clearings}


def test_a_capture_tells_what_it_takes_and_what_it_leaves() -> None:
    found = facts_of("10C", "10C KD", "6H 4S 9C", pile="2C 2D")
    assert format_cards(found.taken) == "6H 4S"
    assert format_cards(found.floor) == "9C"
    assert (found.cards_won, found.own_cards, found.sweeps) == (3, 5, False)
    assert (found.kind, found.points) == (Kind.NONE, 0)


def test_a_card_that_takes_nothing_wins_nothing_and_stays() -> None:
    found = facts_of("KD", "10C KD", "6H 4S", pile="2C 2D")
    assert (found.taken, found.cards_won, found.own_cards) == ((), 0, 2)
    assert format_cards(found.floor) == "6H 4S KD"


def test_a_basra_is_told_with_its_kind_and_points() -> None:
    found = facts_of("JC", "JC KD", "JH")
    assert (found.kind, found.points, found.sweeps) == (Kind.JACK, 30, True)


def test_what_could_clear_the_floor_is_counted_among_the_unseen_cards_alone() -> None:
    unseen = "10C 10D 5S JC JH 7D KC KH AS 2S"
    found = facts_of("KD", "KD QD", "4H", unseen=unseen)
    # The king cannot be summed, so that only jacks and the komi clear both.
    assert clearings(found) == {"7D": 1, "JC": 2}
    assert (found.can_clear, found.can_make_basra) == (3, 0)


def test_a_sum_that_would_be_a_basra_is_found_with_its_points() -> None:
    found = facts_of("6D", "6D QD", "4H", unseen="10C 10D 5S JC JH 7S KC KH AS 2S")
    assert clearings(found) == {"10C": 2, "JC": 2}
    assert [(one.kind, one.points) for one in found.clearings] == [
        (Kind.BASRA, 10),
        (Kind.NONE, 0),
    ]
    assert found.can_make_basra == 2


def test_the_komi_is_told_apart_from_the_other_sevens() -> None:
    found = facts_of("QD", "QD KD", "7S", unseen="7C 7H 7D 2S 3S 4S 5S 6S 8S 9S")
    assert clearings(found) == {"7D": 1}
    found = facts_of("4D", "4D KD", "3S", unseen="7C 7H 7D 2S AS 4S 5S 6S 8S 9S")
    assert clearings(found) == {"7C": 2, "7D": 1}


def test_an_empty_floor_cannot_be_cleared() -> None:
    assert facts_of("8C", "8C KD", "8H").clearings == ()


def test_jacks_and_the_komi_are_counted_where_they_may_be() -> None:
    found = facts_of("JC", "JC JD 7D 2C", "9S", unseen="JH 3C 4C 5C 2S 3S 4S 5S 6S 8S QS KS")
    assert (found.jacks_unseen, found.jacks_kept) == (1, 1)
    assert (found.komi_unseen, found.komi_kept) == (False, True)
    found = facts_of("2C", "2C", "9S", unseen="7D")
    assert (found.jacks_unseen, found.komi_unseen, found.komi_kept) == (0, True, False)


def test_the_rest_of_a_rank_is_counted_and_the_komi_is_a_seven() -> None:
    found = facts_of("7S", "7S KD", "", unseen="7C 7D 2S 3S 4S 5S 6S 8S 9S 10S")
    assert found.same_rank_unseen == 2


def test_the_majority_is_27_cards() -> None:
    pile = "AC 2C 3C 4C 5C 6C 7C 8C 9C 10C JC QC KC AD 2D 3D 4D 5D 6D 8D 9D JD QD KD"
    found = facts_of("QH", "QH 4H", "QS 10D", unseen="KH KS", pile=pile)
    assert (found.own_cards, found.their_cards) == (26, 22)
    assert (found.lacks_for_majority, found.has_majority) == (1, False)
    found = facts_of("QH", "QH 4H", "QS", unseen="KH KS", pile=pile + " 10D")
    assert (found.lacks_for_majority, found.has_majority) == (0, True)


def test_a_card_without_a_choice_is_told_as_the_only_one() -> None:
    assert facts_of("6D", "6D", "KH", unseen="5S").only_play
    one_card_two_captures = facts_of("6D", "6D", "2H 3S 5C AH", unseen="5S")
    assert one_card_two_captures.choices == 2
    assert one_card_two_captures.only_card
    assert not one_card_two_captures.only_play
    assert not facts_of("6D", "6D 2C", "KH").only_card


def test_which_of_two_captures_was_chosen_is_told() -> None:
    view = seen("6D", "2H 3S 5C AH", unseen="5S")
    found = facts(view, Play(Card.parse("6D"), frozenset(parse_cards("5C AH"))))
    assert format_cards(found.floor) == "2H 3S"


def test_the_end_of_the_pack_is_told() -> None:
    found = facts_of("6D", "6D", "KH", unseen="5S")
    assert (found.last_deal, found.last_play) == (True, False)
    assert found.last_capturer is found.left_over_to is Seat.B
    found = facts_of("6D", "6D", "6H 9C", unseen="5S")
    assert found.last_capturer is found.left_over_to is Seat.A
    assert not facts_of("6D", "6D", "KH").last_deal


def test_the_dealer_would_get_what_is_left_where_nobody_has_captured() -> None:
    view = seat_view(position("6D", "KH", unseen="5S", last_capturer=None), Seat.A)
    found = facts(view, Play(Card.parse("6D")))
    assert (found.last_capturer, found.left_over_to) == (None, Seat.B)


def test_nothing_is_left_over_to_anybody_by_rules_that_say_so() -> None:
    rules = replace(RULE_SETS["standard"], name="custom", left_over="nobody")
    view = seat_view(position("6D", "6H 9C", unseen="5S", rules=rules), Seat.A)
    assert facts(view, Play(Card.parse("6D"))).left_over_to is None


def test_after_the_last_play_nothing_can_be_cleared_any_more() -> None:
    state = position("2C", "5H", unseen="9S")
    state, _played = play(state, Seat.A, Play(Card.parse("2C")))
    found = facts(seat_view(state, Seat.B), Play(Card.parse("9S")))
    assert found.last_play
    assert found.clearings == ()


def test_a_last_card_that_makes_no_basra_by_the_rules_is_not_told_as_one() -> None:
    rules = replace(RULE_SETS["standard"], name="custom", last_card_basra=False)
    view = seat_view(position("2C", "5H", unseen="7S", rules=rules), Seat.A)
    found = facts(view, Play(Card.parse("2C")))
    assert clearings(found) == {"7S": 1}
    assert found.can_make_basra == 0


def test_a_play_that_is_not_open_has_no_facts() -> None:
    view = seen("6D", "KH")
    for wrong in (Play(Card.parse("KC")), Play(Card.parse("6D"), frozenset(parse_cards("KH")))):
        with pytest.raises(ValueError, match="not open"):
            facts(view, wrong)
    with pytest.raises(ValueError, match="turn"):
        facts(replace(view, turn=Seat.B), Play(Card.parse("6D")))


@pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: f"{rules.name}-{rules.base}")
def test_over_whole_rounds_the_facts_are_what_then_happens(rules: RuleSet) -> None:
    for seed in range(3):
        for state, _played in steps(Terms(rules, None), seed, at_random(seed)):
            if (seat := state.turn) is None or state.round is None:
                continue
            for chosen in legal_plays(state):
                found = facts(seat_view(state, seat), chosen)
                after, played = play(state, seat, chosen)
                assert found.taken == played.captured
                assert (found.kind, found.points) == (played.kind, played.points)
                assert found.last_play == (played.finished is not None)
                if after.round is None:
                    continue
                assert found.floor == after.round.floor
                assert found.own_cards == len(after.round.piles[seat])
                assert found.last_capturer == after.round.last_capturer
                kinds = {(one.card.rank, one.card.is_komi): one for one in found.clearings}
                for answer in legal_plays(after):
                    _then, reply = play(after, seat.other, answer)
                    clears = kinds.get((answer.card.rank, answer.card.is_komi))
                    empty = bool(reply.captured) and len(reply.captured) == len(found.floor)
                    assert (clears is not None) == empty
                    if clears is not None:
                        assert (clears.kind, clears.points) == (reply.kind, reply.points)
