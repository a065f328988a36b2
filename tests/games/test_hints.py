"""A hint at the table, and why the computer played a card: what is said, to whom, and when."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from games import bots, engine, hints, replaying, selectors, services
from games.bots.facts import facts
from games.engine import (
    RULE_SETS,
    Card,
    GameState,
    Kind,
    Pair,
    Play,
    RuleSet,
    Seat,
    SeatView,
    Terms,
    legal_plays,
    parse_cards,
    seat_view,
)
from games.models import Game
from games.snapshot import write_state
from tests import cast
from tests.bots.positions import position, seen
from tests.engine.helpers import ALL_RULES, at_random, steps
from tests.games.leaks import cards_in, masked
from tests.games.test_hidden_cards import Watcher, hidden_from
from tests.games.test_statements import Counted, warm

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_thought_of_before() -> None:
    hints._best.cache_clear()  # made-up games share their ids


MANY = "AC 2C 3C 4C 5C 6C 7C 8C 9C 10C JC QC KC AD 2D 3D 4D 5D 6D 8D 9D JD QD KD"
EL_USTA = "\u2068El Usta\u2069"


def said_of(view: SeatView, play: Play) -> tuple[list[str], list[str]]:
    """What a hint says for a play, and what is told of it after the round."""
    found = facts(view, play)
    assert view.seat is not None
    return (
        list(hints.hint_reasons(found, view.seat)),
        list(hints.told_reasons(found, view.seat, name="El Usta")),
    )


def hinted(card: str, hand: str, floor: str, *, unseen: str | None = None, pile: str = "") -> str:
    """What a hint says for a card of A's hand."""
    view = seen(hand, floor, unseen=unseen, pile=pile)
    return " ".join(said_of(view, Play(Card.parse(card)))[0])


def told(card: str, hand: str, floor: str, *, unseen: str | None = None, pile: str = "") -> str:
    """What is told of a card that A played."""
    view = seen(hand, floor, unseen=unseen, pile=pile)
    return " ".join(said_of(view, Play(Card.parse(card)))[1])


# What is said


def test_a_card_without_a_choice_is_called_that_and_no_reason_is_made_up_for_it() -> None:
    where = ("6D", "6D", "KH")
    assert hinted(*where, unseen="5S") == (
        "It is your only play. It takes nothing and stays on the floor."
    )
    assert told(*where, unseen="5S") == (
        "There was no other play. It took nothing and stayed on the floor."
    )


@pytest.mark.parametrize(
    ("card", "floor", "basra"),
    [("5C", "5S", "basra: 10"), ("JC", "JH", "jack basra: 30"), ("2C", "7D", "komi basra: 30")],
)
def test_a_basra_is_named_with_its_points(card: str, floor: str, basra: str) -> None:
    assert hinted(card, f"{card} KD", floor) == (
        f"It is a {basra} points. It leaves the floor empty: the next card can take nothing."
    )
    assert told(card, f"{card} KD", floor) == (
        f"It was a {basra} points. It left the floor empty: the next card could take nothing."
    )


def test_a_point_is_one_point() -> None:
    base = RULE_SETS["egyptian_basra_2"]
    rules = replace(base, name="custom", basra=1, jack_basra=1, komi_basra=1)
    for card, floor, kind in (
        ("5C", "5S", "basra"), ("JC", "JH", "jack basra"), ("2C", "7D", "komi basra")
    ):  # fmt: skip
        view = seat_view(position(f"{card} KD", floor, rules=rules), Seat.A)
        hint, after = said_of(view, Play(Card.parse(card)))
        assert hint[0] == f"It is a {kind}: 1 point."
        assert after[0] == f"It was a {kind}: 1 point."


@pytest.mark.parametrize(("floor", "count"), [("9H", "1 card"), ("9H 3S QD", "3 cards")])
def test_a_jack_takes_the_whole_floor(floor: str, count: str) -> None:
    assert hinted("JC", "JC KD", floor).startswith(
        f"It clears the floor: {count}, and no basra. It leaves"
    )
    assert told("JC", "JC KD", floor).startswith(
        f"It cleared the floor: {count}, and no basra. It left"
    )


@pytest.mark.parametrize(
    ("hand", "floor", "count"),
    [
        ("10D KD", "6H 4S 9C", "3 points"),
        ("2C KD", "AH AS 9C", "4 points"),
        ("JC KD", "KH 9C", "1 point"),
        ("5C KD", "AH 4S 9C", "1 point"),
    ],
)
def test_cards_that_count_by_themselves_are_told_where_the_rules_let_them(
    hand: str, floor: str, count: str
) -> None:
    play = Play(Card.parse(hand.split()[0]))
    rules = RuleSet.from_json({"base": "standard", "single_cards": "2C"})
    view = seat_view(position(hand, floor, rules=rules), Seat.A)
    hint, told_after = said_of(view, play)
    assert f"The cards that you win with it count {count} by themselves." in hint
    assert f"The cards won with it counted {count} by themselves." in told_after
    without = seat_view(position(hand, floor, rules=RULE_SETS["standard"]), Seat.A)
    assert "by themselves" not in " ".join(said_of(without, play)[0])


def test_what_is_taken_is_counted_and_what_is_left_is_safe_where_nothing_can_clear_it() -> None:
    unseen = "10S 4D 4H 2S 3S 6S 8S QS KS KC"
    assert hinted("10C", "10C KD", "6H 4S 9C 5D", unseen=unseen) == (
        "It takes 2 cards. No unseen card could clear the floor after it."
    )
    assert told("10C", "10C KD", "6H 4S 9C 5D", unseen=unseen) == (
        f"It took 2 cards. No card that {EL_USTA} had not seen could clear the floor after it."
    )
    assert hinted("9C", "9C KD", "9S 6H 5D", unseen=unseen).startswith("It takes 1 card. ")
    assert told("9C", "9C KD", "9S 6H 5D", unseen=unseen).startswith("It took 1 card. ")


def test_a_basra_that_could_follow_is_told_by_rank_and_number() -> None:
    where, one = ("6D", "6D QD", "4H"), "10C 5C 5S JC JH 7S KC KH AS 2S"
    assert hinted(*where, unseen=one) == (
        "It takes nothing and stays on the floor. "
        "1 unseen card could make a basra after it (ten). "
        "You have seen all other cards of its rank."
    )
    assert told(*where, unseen=one) == (
        "It took nothing and stayed on the floor. "
        f"1 card that {EL_USTA} had not seen could make a basra after it (ten). "
        f"{EL_USTA} had seen all other cards of its rank."
    )
    three = "10C 10D 5S JC JH 7D KC KH AS 2S"
    assert "3 unseen cards could make a basra after it (komi, ten)." in hinted(*where, unseen=three)
    assert f"3 cards that {EL_USTA} had not seen could make a basra after it (komi, ten)." in told(
        *where, unseen=three
    )


def test_where_only_jacks_could_clear_the_floor_no_basra_can_follow() -> None:
    unseen = "10C 10D 5S JC JH 2S KC KH AS QH"
    assert hinted("KD", "KD QD", "4H 3C", unseen=unseen) == (
        "It takes nothing and stays on the floor. No unseen card could make a basra after it. "
        "2 other cards of its rank are unseen. 2 jacks are still unseen."
    )
    assert told("KD", "KD QD", "4H 3C", unseen=unseen) == (
        "It took nothing and stayed on the floor. "
        f"No card that {EL_USTA} had not seen could make a basra after it. "
        f"2 other cards of its rank were still unseen for {EL_USTA}. "
        f"2 jacks were still unseen for {EL_USTA}."
    )


def test_one_unseen_card_is_spoken_of_as_one() -> None:
    unseen = "10C 10D 5S JC 3S 2S KC 8H AS QH"
    hint, after = (how("KD", "KD QD", "4H 3C", unseen=unseen) for how in (hinted, told))
    assert hint.endswith("1 other card of its rank is unseen. 1 jack is still unseen.")
    assert after.endswith(
        f"1 other card of its rank was still unseen for {EL_USTA}. "
        f"1 jack was still unseen for {EL_USTA}."
    )


def test_a_seven_is_not_safe_while_the_komi_is_unseen() -> None:
    rest = "10C 5C 5S JC JH QS KC KH AS"
    assert "1 other card of its rank is unseen." in hinted(
        "7S", "7S QD", "4H 2H", unseen=f"{rest} 7D"
    )
    assert "You have seen all other cards of its rank." in hinted(
        "7S", "7S QD", "4H 2H", unseen=f"{rest} QC"
    )


def test_a_full_floor_is_safe_from_sweeping_where_jacks_and_komi_are_gone() -> None:
    unseen = "10C 10D 5S 6S 3S 2S KC 8H AS QH"
    hint, after = (how("KD", "KD QD", "4H 3C", unseen=unseen) for how in (hinted, told))
    assert hint.endswith("You have seen all jacks and the komi.")
    assert after.endswith(f"{EL_USTA} had seen all jacks and the komi.")


@pytest.mark.parametrize(
    ("kept", "hint", "after"),
    [
        ("JS", "your jack for later", "a jack for later"),
        ("JS JD", "your 2 jacks for later", "2 jacks for later"),
        ("7D", "the komi for later", "the komi for later"),
        ("JS 7D", "your jack and the komi for later", "a jack and the komi for later"),
        ("JS JD 7D", "your 2 jacks and the komi for later", "2 jacks and the komi for later"),
    ],
)
def test_jacks_and_the_komi_that_stay_in_the_hand_are_told(
    kept: str, hint: str, after: str
) -> None:
    assert f" It keeps {hint}." in hinted("6D", f"6D {kept}", "4H")
    assert f" It kept {after}." in told("6D", f"6D {kept}", "4H")


def test_nothing_is_kept_for_later_where_a_jack_or_the_komi_is_played_or_a_basra_made() -> None:
    assert "keeps" not in hinted("JC", "JC JD 7D", "4H 9S")
    assert "keeps" not in hinted("7D", "JC JD 7D", "QH 9S")
    assert "keeps" not in hinted("4C", "4C JD 7D", "4H")


def test_the_way_to_the_majority_is_told_when_it_is_near() -> None:
    fewer = MANY.removeprefix("AC 2C 3C 4C 5C ")
    for pile, unseen, lacks in (
        (MANY, "KH KS", 1),
        (fewer, "KH KS AC 2C 3C 4C 5C", 6),
    ):
        own = 27 - lacks
        hint, after = (
            how("QH", "QH 4H", "QS 10D 3H", unseen=unseen, pile=pile) for how in (hinted, told)
        )
        assert hint.endswith(f"It brings you to {own} cards: the majority needs {lacks} more.")
        assert after.endswith(
            f"It brought {EL_USTA} to {own} cards: the majority needed {lacks} more."
        )
    far, unseen = fewer.removeprefix("6C "), "KH KS AC 2C 3C 4C 5C 6C"
    assert "majority" not in hinted("QH", "QH 4H", "QS 10D 3H", unseen=unseen, pile=far)


def test_a_majority_that_is_out_of_reach_or_counts_nothing_is_not_spoken_of() -> None:
    pile = MANY.removeprefix("AC 2C 3C ")  # B has 26 cards already
    view = seen("QH 4H", "QS", unseen="KH 5H", pile=pile)
    assert len(view.piles.b) == 26
    assert "majority" not in " ".join(said_of(view, Play(Card.parse("QH")))[0])
    worthless = RuleSet.from_json({"base": "standard", "majority": 0})
    state = position("QH 4H", "QS 10D 3H", unseen="KH KS", pile=f"{MANY} AH", rules=worthless)
    said = said_of(seat_view(state, Seat.A), Play(Card.parse("QH")))[0]
    assert said[0] == "It takes 1 card."
    assert "majority" not in " ".join(said)


def test_of_sevens_the_komi_is_one() -> None:
    unseen = "7S 7D 5S 6S KH KS QS QC"
    assert "2 other cards of its rank are unseen." in hinted(
        "7H", "7H JC JS", "KD 10H", unseen=unseen
    )


def test_the_majority_is_told_by_the_card_that_wins_it_and_not_again() -> None:
    where = ("QH", "QH 4H", "QS 10D 3H")
    assert hinted(*where, unseen="KH KS", pile=f"{MANY} AH") == (
        "It takes 1 card. It gives you the majority: 27 cards. "
        "No unseen card could clear the floor after it. "
        "It is the last deal: if nobody takes any more, "
        "what lies on the floor at the end goes to you."
    )
    assert told(*where, unseen="KH KS", pile=f"{MANY} AH") == (
        f"It took 1 card. It gave {EL_USTA} the majority: 27 cards. "
        f"No card that {EL_USTA} had not seen could clear the floor after it. "
        "It was the last deal: if nobody took any more, "
        f"what lay on the floor at the end would go to {EL_USTA}."
    )
    assert "majority" not in hinted(*where, unseen="KH KS", pile=f"{MANY} AH AS 2H")
    assert "majority" not in hinted("4H", "QH 4H", "QS", unseen="KH KS", pile=f"{MANY} AH AS 2H")


@pytest.mark.parametrize(
    ("floor", "left", "go", "went"),
    [
        ("4D 2D 4H QH KC", "3 cards left on the floor", "go", "went"),
        ("4D 2D 4H", "card left on the floor", "goes", "went"),
    ],
)
def test_the_last_card_of_a_round_tells_who_gets_what_is_left(
    floor: str, left: str, go: str, went: str
) -> None:
    view = replace(seen("6S", floor, unseen="9S"), hand_counts=Pair(1, 0), hand=parse_cards("6S"))
    hint, after = said_of(view, Play(Card.parse("6S"), frozenset(parse_cards("2D 4D"))))
    assert hint == [
        "It takes 2 cards.",
        f"It is the last card of the round: the {left} {go} to you.",
    ]
    assert after == [
        "It took 2 cards.",
        f"It was the last card of the round: the {left} {went} to {EL_USTA}.",
    ]


# That it is true


def test_whatever_is_said_is_what_playing_it_out_brings() -> None:
    chance, positions = random.Random(1), 0
    for rules in ALL_RULES:
        for seed in range(2):
            for state, _played in steps(Terms(rules, None), seed, at_random(seed)):
                if state.turn is not None and chance.random() < 0.4:
                    play = chance.choice(legal_plays(state))
                    expect_true(state, play, said_of(seat_view(state, state.turn), play)[0])
                    positions += 1
    assert positions > 200


def expect_true(state: GameState, play: Play, said: list[str]) -> None:
    """Check the sentences of a hint one by one against what can happen next."""
    seat = state.turn
    assert seat is not None
    assert state.round is not None
    after, played = engine.play(state, seat, play)
    assert 1 <= len(said) <= hints.MOST_REASONS
    assert len(set(said)) == len(said)
    replies = [*every_reply(state, play)]
    basras = sum(reply.kind is not Kind.NONE for reply in replies)
    clear = sum(bool(reply.captured) for reply in replies if _clears(after, reply))
    unseen = unseen_by(seat, state)
    for sentence in said:
        number = int((re.findall(r"\d+", sentence) or ["0"])[0])
        match re.sub(r"\d+|\(.*\)", "…", sentence):
            case "It is your only play.":
                assert len(legal_plays(state)) == 1
            case "It is a basra: … points." | "It is a jack basra: … points.":
                assert (played.points, played.kind is Kind.NONE) == (number, False)
            case "It takes nothing and stays on the floor.":
                assert played.captured == ()
            case "It takes … card." | "It takes … cards.":
                assert len(played.captured) == number < len(state.round.floor)
            case (
                "The cards that you win with it count … point by themselves."
                | "The cards that you win with it count … points by themselves."
            ):
                won = engine.single_cards(state.terms.rules, (played.card, *played.captured))
                assert sum(points for _card, points in won) == number > 0
            case (
                "It clears the floor: … card, and no basra."
                | "It clears the floor: … cards, and no basra."
            ):
                assert len(played.captured) == number == len(state.round.floor)
                assert played.kind is Kind.NONE
            case (
                "… unseen card could make a basra after it …."
                | "… unseen cards could make a basra after it …."
            ):
                assert basras == number > 0
            case "No unseen card could make a basra after it.":
                assert basras == 0 < clear
            case "No unseen card could clear the floor after it.":
                assert clear == 0
            case "It leaves the floor empty: the next card can take nothing.":
                assert not any(reply.captured for reply in replies)
            case "… jack is still unseen." | "… jacks are still unseen.":
                assert sum(card.is_jack for card in unseen) == number < 4
            case "You have seen all jacks and the komi.":
                assert not any(card.is_jack or card.is_komi for card in unseen)
            case "… other card of its rank is unseen." | "… other cards of its rank are unseen.":
                assert sum(card.rank == play.card.rank for card in unseen) == number < 3
            case "You have seen all other cards of its rank.":
                assert not any(card.rank == play.card.rank for card in unseen)
            case "It brings you to … cards: the majority needs … more.":
                pile = len(state.round.piles[seat]) + 1 + len(played.captured)
                lacks = int(re.findall(r"\d+", sentence)[1])
                assert (pile, pile + lacks) == (number, 27)
                assert len(state.round.piles[seat.other]) + 27 <= 52
            case "It gives you the majority: … cards.":
                pile = len(state.round.piles[seat]) + 1 + len(played.captured)
                assert pile == number >= 27 > len(state.round.piles[seat])
            case _:
                assert sentence.startswith(("It keeps", "It is a komi")) or (
                    sentence.startswith("It is the last") and not state.round.stock
                )


def _clears(after: GameState, reply: engine.Played) -> bool:
    return after.round is not None and len(reply.captured) == len(after.round.floor)


def unseen_by(seat: Seat, state: GameState) -> list[Card]:
    """The cards that ``seat`` does not see."""
    return sorted(hidden_from(seat, state))


def every_reply(state: GameState, play: Play) -> list[engine.Played]:
    """What each unseen card would do, if the other player held it and played it next."""
    seat = state.turn
    assert seat is not None
    after, _played = engine.play(state, seat, play)
    if after.turn is None:
        return []  # it was the last card of the round
    held = [with_card(after, seat.other, card) for card in unseen_by(seat, state)]
    return [engine.play(one, seat.other, Play(card))[1] for one, card in held]


def with_card(state: GameState, seat: Seat, card: Card) -> tuple[GameState, Card]:
    """The same game where ``seat`` has a hidden card in hand, for another one; and that card."""
    table = state.round
    assert table is not None
    (given, *_rest) = table.hands[seat]
    if card in table.hands[seat]:
        return state, card
    return exchanged(state, {card: given, given: card}), card


def exchanged(state: GameState, new: dict[Card, Card]) -> GameState:
    """The same game with cards in hands and stock changed for others."""
    table = state.round
    assert table is not None
    hands = table.hands.map(lambda hand: tuple(new.get(card, card) for card in hand))
    stock = tuple(new.get(card, card) for card in table.stock)
    return replace(state, round=replace(table, hands=hands, stock=stock))


def otherwise_hidden(state: GameState, seat: Seat, seed: int) -> GameState:
    """The same game to ``seat``, with the cards that it does not see changed about."""
    hidden = unseen_by(seat, state)
    shuffled = random.Random(seed).sample(hidden, len(hidden))
    return exchanged(state, dict(zip(hidden, shuffled, strict=True)))


def test_a_hint_is_the_same_whatever_the_hidden_cards_are() -> None:
    rules, changed = RULE_SETS["egyptian_basra_v2"], 0
    for number, (state, _played) in enumerate(steps(Terms(rules, None), 3, at_random(3))):
        if state.turn is None or state.round is None or number % 5:
            continue
        hint = hints.hint(seat_view(state, state.turn), number)
        for seed in range(3):
            other = otherwise_hidden(state, state.turn, seed)
            changed += other != state
            assert hints.hint(seat_view(other, state.turn), number) == hint
    assert changed > 15


# At the table


def ask(browser: Client, game: Game, *, htmx: bool = False, version: int | None = None) -> str:
    """Ask for a hint on the board as it is, and return the page that comes."""
    shown = cast.as_it_is(game).version if version is None else version
    response = cast.post(browser, "hint", game, {"version": str(shown)}, htmx=htmx)
    assert response.status_code == 200
    return cast.text_of(response)


def in_words(page: str) -> str:
    """The box with the hint as it is read."""
    box = re.findall(r'<section class="advice".*?</section>', page, re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<.*?>", " ", "".join(box)))).strip()


def test_mona_is_told_what_the_hard_player_would_play_for_her_and_why() -> None:
    mona = cast.person("Mona")
    game = cast.play_until_ply(cast.sit_down_with_the_computer(mona), 12)
    game = services.computer_reply(game)
    browser = cast.browser_of(mona)
    view = seat_view(cast.state_of(game), Seat.B)
    seed, past = bots.seed_of(game.pk, game.plies + 1), selectors.plays_since_the_deal(game)
    play = bots.choose_play("hard", view, seed, past)
    before = cast.everything_stored()
    for htmx in (False, True):
        page = ask(browser, game, htmx=htmx)
        assert page.lstrip().startswith("<!doctype") is not htmx
        assert 'id="announcer"' in page or htmx
        box = in_words(page)
        for reason in hints.hint_reasons(facts(view, play), Seat.B):
            assert reason in box
        (advised,) = re.findall(r'<label class="in-hand advised" for="card-(\d)">', page)
        assert f'id="card-{advised}" value="{play.card.code}"' in page
        assert page.count(" – the hint</span>") == 1
        assert "checked" not in page.split('<div class="confirm')[0], "it is not chosen for her"
        spoken = hints.hint(view, seed, past).announcement
        assert f'data-news="{spoken}"' in unescape(page)
    assert cast.everything_stored() == before
    assert "advice" not in cast.text_of(cast.look(browser, "table", game))


def test_a_hint_names_the_capture_where_there_are_several() -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)
    lay(game, "8S", "2H", "5C 3D 3H QS")
    page = ask(cast.browser_of(mona), game)
    assert page.count('class="option advised"') == 1
    assert "Play eight of spades and take five of clubs, three of diamonds." in in_words(page)


def lay(game: Game, mine: str, theirs: str, floor: str) -> None:
    """Lay out the last cards of a round, Mona to play."""
    state = cast.state_of(game)
    laid = position(theirs, floor, unseen=mine)
    assert laid.round is not None
    table = replace(
        laid.round,
        dealer=Seat.A,
        hands=Pair(parse_cards(theirs), parse_cards(mine)),
    )
    state = replace(state, round=table, next_dealer=Seat.B)
    assert engine.problems(state) == []
    game.turn, (game.public, game.hidden) = Seat.B, write_state(state, game)
    game.save(update_fields=["turn", "public", "hidden"])


def test_the_page_with_a_hint_is_the_same_whatever_the_hidden_cards_are() -> None:
    mona = cast.person("Mona")
    game = cast.play_until_ply(cast.sit_down_with_the_computer(mona, seed=4), 9)
    game = services.computer_reply(game)
    state, browser = cast.state_of(game), cast.browser_of(mona)
    pages = set()
    for seed in range(4):
        other = otherwise_hidden(state, Seat.B, seed)
        game.public, game.hidden = write_state(other, game)
        game.save(update_fields=["public", "hidden"])
        pages.add(masked(ask(browser, game)))
    assert len(pages) == 1
    assert in_words(pages.pop())


def test_in_a_whole_game_no_hint_shows_a_hidden_card() -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona, target=51, seed=2, level=User.Level.MEDIUM)
    watcher, reasons = Watcher(game, mona, 2), set()
    while cast.as_it_is(game).turn:
        page = watcher.read(
            cast.post(watcher.browser, "hint", game, {"version": str(cast.as_it_is(game).version)})
        )
        if "advice" in page:
            reasons.add(in_words(page))
        else:
            cast.post(watcher.browser, "seen", game, {"round": str(cast.as_it_is(game).seen_b + 1)})
            continue
        watcher.read(cast.post_play(watcher.browser, game, htmx=True))
    assert len(reasons) > 20


def test_a_hint_takes_one_statement_more_than_the_table() -> None:
    mona = cast.person("Mona")
    browser = warm(mona)
    game = cast.sit_down_with_the_computer(mona, target=201)
    for _play in range(3):
        with Counted() as of_the_table:
            cast.look(browser, "table", game)
        version = cast.as_it_is(game).version
        with Counted() as of_the_hint:
            ask(browser, game, htmx=True, version=version)
        # The plays since the deal, if there are any: what the hard player makes of them.
        since_the_deal = bool(cast.as_it_is(game).plies % 8)
        assert (len(of_the_table), len(of_the_hint)) == (3, 3 + since_the_deal)
        cast.post_play(browser, game)


def test_there_is_a_button_against_the_computer_on_my_turn_and_nowhere_else() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.sit_down(mona, karim)
    button = 'id="hint"'
    for player in (mona, karim):
        assert button not in cast.text_of(cast.look(cast.browser_of(player), "table", game))
    game = cast.sit_down_with_the_computer(mona, seed=2)
    browser = cast.browser_of(mona)
    assert button in cast.text_of(cast.look(browser, "table", game))
    game = cast.play_one(game)
    assert button not in cast.text_of(cast.look(browser, "table", game))
    cast.play_to_the_end(game)
    assert button not in cast.text_of(cast.look(browser, "table", game))


def test_in_a_game_of_two_people_there_is_no_hint() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.sit_down(mona, karim)
    for player in (mona, karim):
        response = cast.post(cast.browser_of(player), "hint", game, {"version": "0"})
        assert response.status_code == 404


def test_who_does_not_play_gets_no_hint() -> None:
    game = cast.sit_down_with_the_computer(cast.person("Mona"))
    for browser in (cast.browser_of(cast.person("Salma")), cast.browser_of()):
        for page, form in (("hint", {"version": str(game.version)}), ("hint", {})):
            response = cast.post(browser, page, game, form)
            assert response.status_code == 404
            assert cards_in(masked(cast.text_of(response))) == set()


def refused(browser: Client, game: Game, form: dict[str, str], status: int) -> str:
    """Ask for a hint that is not given, and return the page; the table is on it and no hint."""
    for htmx in (True, False):
        response = cast.post(browser, "hint", game, form, htmx=htmx)
        page = cast.text_of(response)
        assert response.status_code == status
        assert 'role="alert"' in page
        assert f'data-version="{cast.as_it_is(game).version}"' in page
        assert "advice" not in page
    return page


def test_a_hint_for_a_board_that_is_gone_brings_the_board_that_is() -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)
    browser, old = cast.browser_of(mona), cast.as_it_is(game).version
    cast.post_play(browser, game)
    page = refused(browser, game, {"version": str(old)}, 409)
    assert "The game had gone on since you saw it." in page


def test_a_hint_out_of_turn_or_after_the_end_is_refused_in_a_sentence() -> None:
    mona = cast.person("Mona")
    game = cast.play_one(cast.sit_down_with_the_computer(mona))
    browser = cast.browser_of(mona)
    assert game.turn == Seat.A
    page = refused(browser, game, {"version": str(game.version)}, 409)
    assert "It is not your turn." in page
    game = cast.play_to_the_end(game)
    page = refused(browser, game, {"version": str(game.version)}, 409)
    assert "This game is over" in page


def test_before_the_summary_is_put_away_nothing_is_said_of_the_next_round() -> None:
    mona = cast.person("Mona")
    game = cast.play_until_ply(cast.sit_down_with_the_computer(mona, target=201), 48)
    game = services.computer_reply(game)
    browser = cast.browser_of(mona)
    page = refused(browser, game, {"version": str(game.version)}, 409)
    assert "Put the summary of the round away first." in page
    cast.post(browser, "seen", game, {"round": "1"})
    assert in_words(ask(browser, game))


@pytest.mark.parametrize("version", [None, "", "x", "-1", "9" * 40, "1.5", "\0"])
def test_a_form_that_cannot_be_read_brings_the_board(version: str | None) -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)
    form = {} if version is None else {"version": version}
    page = refused(cast.browser_of(mona), game, form, 400)
    assert "The table could not read that." in page


def test_where_the_hard_player_fails_the_table_stays(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)

    def falls_over(*_args: object) -> Play:
        raise KeyError("whatever")

    monkeypatch.setattr(bots, "choose_play", falls_over)
    page = refused(cast.browser_of(mona), game, {"version": str(game.version)}, 409)
    assert "No hint can be given here." in page
    assert "no hint could be given" in caplog.text


def test_who_asks_again_on_the_same_board_is_not_thought_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)
    browser, thought = cast.browser_of(mona), []
    choose_play = bots.choose_play

    def noted(*args: Any) -> Play:
        thought.append(args)
        return choose_play(*args)

    monkeypatch.setattr(bots, "choose_play", noted)
    first = in_words(ask(browser, game, htmx=True))
    assert all(in_words(ask(browser, game, htmx=True)) == first for _ in range(5))
    assert len(thought) == 1


# Why it played that


def why(browser: Client, game: Game, ply: object) -> tuple[int, str]:
    """Ask why the play of a number was made: the status and the page."""
    url = reverse("games:why", args=[game.pk])
    response = cast.get(browser, url, {"ply": str(ply)})
    return response.status_code, cast.text_of(response)


def plies_of(game: Game, seat: Seat) -> list[int]:
    """The numbers of the plays of a seat."""
    return list(game.plays.filter(seat=seat).values_list("ply", flat=True))


@pytest.fixture
def played() -> tuple[User, Game]:
    """Mona's game against the easy player, in its second round."""
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona, target=201, seed=3)
    browser = cast.browser_of(mona)
    while cast.as_it_is(game).plies < 55:
        cast.post_play(browser, game)
    return mona, cast.as_it_is(game)


def test_after_the_round_mona_reads_why_the_computer_played_each_card(
    played: tuple[User, Game],
) -> None:
    mona, game = played
    browser, better = cast.browser_of(mona), 0
    log = cast.text_of(cast.look(browser, "log", game))
    told_of = [int(ply) for ply in re.findall(r'/why/\?ply=(\d+)"', log)]
    chosen = game.plays.filter(seat=Seat.A, forced=False, round_number=1)
    assert told_of == list(chosen.values_list("ply", flat=True))
    assert len(told_of) > 12
    for ply in told_of:
        status, page = why(browser, game, ply)
        assert status == 200
        text = re.sub(r"<.*?>|\s+", " ", unescape(page))
        assert "Why \u2068" not in text
        row = game.plays.get(ply=ply)
        assert row.text.split("x")[0][:2] in page
        assert any(f"It {did}" in text for did in ("took", "was", "cleared"))
        better += "would have played" in text
        assert f"#play-{ply}" in page
    assert 0 < better < len(told_of), "the easy player plays as the hard one now and then"


def test_what_the_computer_saw_is_shown_and_not_what_it_did_not_see(
    played: tuple[User, Game],
) -> None:
    mona, game = played
    browser = cast.browser_of(mona)
    states = {}
    state = engine.deal(engine.new_game(Terms(RULE_SETS["egyptian_basra_2"], 201)), cast.deal_of(3))
    for row in game.plays.filter(round_number=1).order_by("ply"):
        states[row.ply] = state
        card, captured, _kind = engine.read_play(row.text)
        state, _played = engine.play(state, Seat(row.seat), Play(card, frozenset(captured)))
    for ply in plies_of(game, Seat.A)[:20:4]:
        _status, page = why(browser, game, ply)
        (seen_part,) = re.findall(r'<section class="panel seen">.*?</section>', page, re.DOTALL)
        table = states[ply].round
        assert table is not None
        assert cards_in(seen_part) == {*table.floor, *table.hands.a}


def test_what_the_hard_player_would_have_played_is_judged_by_what_had_been_seen(
    played: tuple[User, Game],
) -> None:
    _mona, game = played
    rows = list(game.plays.order_by("ply"))
    for ply in (1, 2, 8, 9, 10, 30, 47):
        choice = replaying.choice_at(game, str(ply))
        assert (choice.view.seat, choice.play.card) == (
            rows[ply - 1].seat, engine.read_play(rows[ply - 1].text)[0]
        )  # fmt: skip
        assert [one.card for one in choice.past] == [
            engine.read_play(row.text)[0] for row in rows[ply - 1 - (ply - 1) % 8 : ply - 1]
        ]
        assert sum(choice.view.hand_counts) + len(choice.past) == 8


def test_before_the_round_is_over_nothing_is_told_and_nothing_shown(
    played: tuple[User, Game],
) -> None:
    mona, game = played
    browser = cast.browser_of(mona)
    of_this_round = [ply for ply in plies_of(game, Seat.A) if ply > 48]
    assert of_this_round
    nothing = why(browser, game, 9999)
    for ply in of_this_round:
        assert why(browser, game, ply) == nothing
        assert f"?ply={ply}" not in cast.text_of(cast.look(browser, "log", game))
    assert nothing[0] == 404
    assert cards_in(masked(nothing[1])) == set()


def test_a_play_of_ones_own_and_what_is_no_number_is_not_found(played: tuple[User, Game]) -> None:
    mona, game = played
    browser = cast.browser_of(mona)
    odd = ["", "0", "-1", "x", "1e1", "٣", "9" * 50, " 1", "01"]
    for ply in [*plies_of(game, Seat.B)[:3], *odd]:
        assert why(browser, game, ply)[0] == 404, ply


def test_nobody_else_is_told(played: tuple[User, Game]) -> None:
    _mona, game = played
    ply = plies_of(game, Seat.A)[0]
    for browser in (cast.browser_of(cast.person("Salma")), cast.browser_of()):
        status, page = why(browser, game, ply)
        assert status == 404
        assert cards_in(masked(page)) == set()


def test_in_a_game_of_two_people_nobody_is_asked_why() -> None:
    mona = cast.person("Mona")
    game = cast.play_to_the_end(cast.sit_down(mona, cast.person("Karim")))
    browser = cast.browser_of(mona)
    assert {why(browser, game, ply)[0] for ply in range(1, 9)} == {404}
    assert "/why/" not in cast.text_of(cast.look(browser, "log", game))
    assert "/why/" not in cast.text_of(cast.get(browser, f"/games/{game.pk}/replay/?ply=3"))


def test_a_round_that_was_broken_off_is_told_of_too() -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)
    browser = cast.browser_of(mona)
    for _play in range(4):
        cast.post_play(browser, game)
    (ply, *_others) = plies_of(game, Seat.A)
    assert why(browser, game, ply)[0] == 404
    services.resign(game_id=game.pk, player=mona)
    assert why(browser, game, ply)[0] == 200
    assert f"?ply={ply}" in cast.text_of(cast.look(browser, "log", game))


def test_the_replay_of_a_game_that_is_over_leads_its_player_there() -> None:
    mona = cast.person("Mona")
    game = cast.play_to_the_end(cast.sit_down_with_the_computer(mona))
    theirs, mine = plies_of(game, Seat.A)[2], plies_of(game, Seat.B)[2]
    replay = reverse("games:replay", args=[game.pk])

    def links(browser: Client, ply: int) -> list[str]:
        page = cast.text_of(cast.get(browser, replay, {"ply": str(ply)}))
        return re.findall(r"/why/\?ply=(\d+)", page)

    assert links(cast.browser_of(mona), theirs) == [str(theirs)]
    assert links(cast.browser_of(mona), mine) == []
    assert links(cast.browser_of(), theirs) == []


def test_where_the_hard_player_fails_what_was_played_is_told_all_the_same(
    played: tuple[User, Game], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def falls_over(*_args: object) -> Play:
        raise KeyError("whatever")

    monkeypatch.setattr(bots, "choose_play", falls_over)
    mona, game = played
    status, page = why(cast.browser_of(mona), game, plies_of(game, Seat.A)[0])
    assert (status, "would have played" in page) == (200, False)
    assert "the hard player failed to choose a play" in caplog.text


def test_a_play_that_its_log_has_wrong_is_being_repaired(played: tuple[User, Game]) -> None:
    mona, game = played
    ply = plies_of(game, Seat.A)[0]
    row, other = (game.plays.get(ply=number) for number in (ply, ply + 1))
    row.text = other.text  # a card that the seat did not hold
    row.save()
    status, page = why(cast.browser_of(mona), game, ply)
    assert status == 503
    assert "repaired" in page


def test_of_simsim_it_is_said_that_it_counts_nothing() -> None:
    mona = cast.person("Mona")
    for seed, level in enumerate(User.Level):
        sat_down = cast.sit_down_with_the_computer(mona, level=level, seed=seed)
        game = cast.play_to_the_end(sat_down)
        _status, page = why(cast.browser_of(mona), game, plies_of(game, Seat.A)[0])
        assert ("counts nothing" in page) is (level == User.Level.EASY)


def test_of_a_hard_player_nothing_better_is_told() -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona, level=User.Level.HARD)
    browser = cast.browser_of(mona)
    for _play in range(6):
        cast.post_play(browser, game)
    services.resign(game_id=game.pk, player=mona)
    for ply in plies_of(game, Seat.A):
        assert "would have played" not in why(browser, game, ply)[1]


def test_why_takes_few_statements_however_long_the_game(played: tuple[User, Game]) -> None:
    mona, game = played
    browser, ply = warm(mona), plies_of(game, Seat.A)[3]
    for _round in range(2):
        with Counted() as counted:
            assert why(browser, game, ply)[0] == 200
        # The game, the fingerprint of the words, the plays, the finished rounds, what waits.
        assert len(counted) == 5
        cast.play_until_ply(game, 100)
