"""Twin games: the same history for one player, other cards hidden from her. She cannot tell.

Whatever differs between the pages of twins would be something that a hidden card did to a page:
a card, its place, an order, a size, a class, a header.
"""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.http import HttpResponse

from accounts.models import User
from games import bots, engine, services
from games.dealing import seal
from games.engine import Card, GameState, Seat
from games.models import Challenge, Event, Fingerprint, FinishedRound, Game, Play
from games.snapshot import write_state
from tests import cast
from tests.games.leaks import masked, sent_by

pytestmark = pytest.mark.django_db


def with_other_hidden_cards(state: GameState, seat: Seat, seed: int) -> GameState:
    """The same state for ``seat``: all that it cannot see is shuffled."""
    table = state.round
    assert table is not None
    theirs = table.hands[seat.other]
    unseen = [*theirs, *table.stock]
    random.Random(seed).shuffle(unseen)
    hand, stock = tuple(unseen[: len(theirs)]), tuple(unseen[len(theirs) :])
    return replace(
        state, round=replace(table, hands=table.hands.replace(seat.other, hand), stock=stock)
    )


def twin_of(game: Game, seat: Seat, seed: int) -> Game:
    """A game with the rows of ``game``, an id and a seal of its own, and other hidden cards."""
    game = cast.as_it_is(game)
    other = with_other_hidden_cards(cast.state_of(game), seat, seed)
    assert other != cast.state_of(game)
    assert engine.seat_view(other, seat) == engine.seat_view(cast.state_of(game), seat)
    challenge = Challenge.objects.get(pk=game.pk)
    challenge.pk = uuid.uuid4()
    challenge.save(force_insert=True)
    seal(challenge)
    twin = Game.objects.get(pk=game.pk)
    twin.pk = challenge.pk
    twin.public, twin.hidden = write_state(other, twin)
    twin.save(force_insert=True)
    print_of = Fingerprint.objects.get(game=game)
    Fingerprint.objects.create(
        game=twin, words_sha256=print_of.words_sha256, words_by=print_of.words_by
    )
    for model in (Play, FinishedRound, Event):
        for row in model._default_manager.filter(game=game):
            row.pk, row.game = None, twin
            row.save(force_insert=True)
    return twin


# A full second is written without a fraction, and so is shorter.
_MOMENT = re.compile(r"\d\d:\d\d:\d\d(?:\.\d+)?")


def as_seen(response: HttpResponse) -> str:
    """All that was sent, the length of the body included, with ids, tokens and moments masked."""
    text = re.sub(r"Content-Length: \d+", "", sent_by(response))
    body = _MOMENT.sub("…", response.content.decode())
    return f"{len(body)}\n{masked(_MOMENT.sub('…', text))}"


def moments(player: User, other: User, seat: Seat) -> Iterator[tuple[Game, int]]:
    """Games between the two at different moments, some in the second round."""
    players = (player, other) if seat is Seat.A else (other, player)
    for number, rules in enumerate(engine.RULE_SETS):
        game = cast.sit_down(*players, rules=rules, target=201, seed=100 + number)
        for ply in (number, 13, 35) if number else (3, 20, 57):
            yield cast.play_until_ply(game, ply), 10 * number + ply


@pytest.mark.parametrize("seat", list(Seat))
def test_the_pages_of_twins_are_equal_to_the_byte(seat: Seat) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    browser = cast.browser_of(mona)
    cast.look(browser, "home")  # the first visit of a day renews the session's cookie
    pairs = 0
    for game, number in moments(mona, karim, seat):
        twin = twin_of(game, seat, number)
        for page in ("table", "log", "game_rules", "resign", "abort"):
            one, two = (as_seen(cast.look(browser, page, which)) for which in (game, twin))
            assert one == two
        one, two = (
            without_times(as_seen(cast.look(browser, "fairness", which))) for which in (game, twin)
        )
        assert one == two
        one, two = (
            as_seen(cast.look(browser, "table", which, htmx=True)) for which in (game, twin)
        )
        assert one == two
        one, two = (
            re.sub(
                '"(secret|deck)": ".*?"',
                "",
                as_seen(cast.look(browser, "fairness_document", which)),
            )
            for which in (game, twin)
        )
        assert one == two
        rows = re.findall(r"<article.*?</article>", as_seen(cast.look(browser, "home")), re.DOTALL)
        # Both are the latest of their kind of row, one beside the other.
        assert any(rows.count(row) >= 2 for row in rows)
        pairs += 1
    assert pairs == 12


def test_a_card_played_in_twins_is_answered_equally() -> None:
    seat = Seat.B
    mona, karim = cast.person("Mona", forced=False), cast.person("Karim", forced=False)
    browser = cast.browser_of(mona)
    cast.look(browser, "home")  # the first visit of a day renews the session's cookie
    pairs = 0
    for game, number in moments(mona, karim, seat):
        while cast.seat_to_play(game) is not seat or last_of_a_deal(cast.state_of(game)):
            cast.play_one(game)
        twin = twin_of(game, seat, number)
        play, version = cast.a_play(game), cast.as_it_is(game).version
        # Cards of the other hand in one game and of the stock in the other are refused alike.
        for card in hidden_cards(game, seat)[:2]:
            form = cast.form_of(engine.Play(card), version)
            one, two = (
                as_seen(cast.post(browser, "play", which, form, htmx=True))
                for which in (game, twin)
            )
            assert one.split("\n")[1] == "422"
            assert one == two
        one, two = (
            as_seen(cast.post(browser, "play", which, cast.form_of(play, version), htmx=True))
            for which in (game, twin)
        )
        assert one.split("\n")[1] == "200"
        assert without_times(without_what_waits(one)) == without_times(without_what_waits(two))
        pairs += 1
    assert pairs == 12


def last_of_a_deal(state: GameState) -> bool:
    """Whether new cards come next: they are the sealed ones, so a twin would not have them."""
    return state.round is not None and sum(len(hand) for hand in state.round.hands) == 1


def hidden_cards(game: Game, seat: Seat) -> list[Card]:
    table = cast.state_of(game).round
    assert table is not None
    return [*table.hands[seat.other], *table.stock]


def without_what_waits(page: str) -> str:
    """Leave out how many games wait for the player: the move in the first twin made it one less."""
    _length, _line, page = page.partition("\n")
    page = re.sub(r'(data-waiting|hx-ptag)=".*?"', "", page)
    return re.sub(r"data-next( hidden)?|<b data-count>\d+</b>", "", page)


def without_times(page: str) -> str:
    return re.sub(r"<time.*?</time>", "", page)


def test_a_page_that_tells_the_other_hand_would_be_noticed() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.play_until_ply(cast.sit_down(mona, karim), 9)
    twin = twin_of(game, Seat.A, 1)
    browser = cast.browser_of(karim)  # whose own hand differs
    cast.look(browser, "home")
    one, two = (as_seen(cast.look(browser, "table", which)) for which in (game, twin))
    assert one != two


@pytest.mark.parametrize("level", User.Level)
def test_the_computer_plays_the_same_card_in_twins(level: User.Level) -> None:
    mona = cast.person("Mona")
    pairs = 0
    for seed in range(1, 9):
        game = cast.sit_down_with_the_computer(
            mona, rules=list(engine.RULE_SETS)[seed % 4], seed=seed, level=level
        )
        for _play in range(3):
            game = cast.play_one(game)
            if game.turn != Seat.A or game.version > 40:
                break
            state = cast.state_of(game)
            other = with_other_hidden_cards(state, Seat.A, seed)
            views = engine.seat_view(state, Seat.A), engine.seat_view(other, Seat.A)
            first, second = (bots.choose_play(level, view, seed) for view in views)
            assert first == second
            pairs += 1
            game = services.computer_reply(game)
    assert pairs >= 20
