"""Requests at the same time, each in a thread with a connection of its own."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable

import pytest
from django.core.management import call_command
from django.http import HttpResponse
from django.urls import reverse

from accounts.models import User
from games import engine, services
from games.models import Challenge, Fingerprint, FinishedRound, Game, Play
from games.tasks import finish_computer_replies
from tests import cast

pytestmark = pytest.mark.django_db(transaction=True)

type InThreads = Callable[[list[Callable[[], object]]], list[object]]

SIXTEEN = 16


def sent(player: User, page: str, game: Game, form: dict[str, str]) -> Callable[[], object]:
    """Return a function that posts the form from a browser of the player's own."""
    browser = cast.browser_of(player, tells_errors=False)
    url = reverse(f"games:{page}", args=[game.pk])
    return lambda: browser.post(url, form, headers=cast.HTMX)


def accepted(player: User | None, challenge: Challenge, words: str) -> Callable[[], object]:
    """Return a function that accepts from a browser of its own, ``player``'s or a visitor's."""
    browser = cast.browser_of(player, tells_errors=False)
    return lambda: cast.post(browser, "accept", challenge, {"words": words})


def statuses(answers: list[object]) -> Counter[int]:
    responses = [answer for answer in answers if isinstance(answer, HttpResponse)]
    assert len(responses) == len(answers), answers
    return Counter(response.status_code for response in responses)


def versions_shown(answers: list[object], game: Game) -> set[bool]:
    """Whether each board that was shown has the state of the game now or one that led to it."""
    now = cast.as_it_is(game).version
    boards = [cast.text_of(answer) for answer in answers if isinstance(answer, HttpResponse)]
    return {
        any(f'data-version="{version}"' in board for version in (now - 1, now)) for board in boards
    }


def test_sixteen_identical_posts_of_a_move_land_it_once(in_threads: InThreads) -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)
    form = cast.form_of(cast.a_play(game), game.version, uuid.uuid4())
    answers = in_threads([sent(mona, "play", game, form) for _ in range(SIXTEEN)])
    assert statuses(answers) == {200: SIXTEEN}
    assert versions_shown(answers, game) == {True}
    mine = Play.objects.filter(game=game, answered_version=game.version)
    assert mine.count() == 1
    after = cast.as_it_is(game)
    assert (after.plies, after.turn) == (game.plies + 2, "B")
    call_command("audit")


def test_sixteen_posts_of_one_card_from_as_many_tabs_land_it_once(in_threads: InThreads) -> None:
    mona = cast.person("Mona")
    game = cast.sit_down(mona, cast.person("Karim"))
    player, play = cast.player_to_play(game), cast.a_play(game)
    answers = in_threads(
        [sent(player, "play", game, cast.form_of(play, game.version)) for _ in range(SIXTEEN)]
    )
    assert statuses(answers) == {200: SIXTEEN}
    assert Play.objects.filter(game=game).count() == 1
    assert cast.as_it_is(game).version == game.version + 1
    call_command("audit")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_of_four_different_cards_at_once_one_lands(in_threads: InThreads, seed: int) -> None:
    mona = cast.person("Mona")
    game = cast.sit_down(mona, cast.person("Karim"), seed=seed)
    player = cast.player_to_play(game)
    cards = {play.card: play for play in engine.legal_plays(cast.state_of(game))}
    assert len(cards) == 4
    answers = in_threads(
        [sent(player, "play", game, cast.form_of(one, game.version)) for one in cards.values()]
    )
    assert statuses(answers) == {200: 1, 409: 3}
    assert Play.objects.filter(game=game).count() == 1
    assert len(engine.seat_view(cast.state_of(game), cast.seat_to_play(game).other).hand) == 3
    call_command("audit")


def test_the_last_move_of_a_game_sent_at_once_ends_it_once(in_threads: InThreads) -> None:
    mona, karim = cast.person("Mona", forced=False), cast.person("Karim", forced=False)
    game = cast.play_until_ply(cast.sit_down(mona, karim), 47)
    player = cast.player_to_play(game)
    form = cast.form_of(cast.a_play(game), game.version, uuid.uuid4())
    answers = in_threads([sent(player, "play", game, form) for _ in range(8)])
    assert statuses(answers) == {200: 8}
    assert cast.as_it_is(game).status == Game.Status.FINISHED
    assert FinishedRound.objects.filter(game=game).count() == 1
    call_command("audit")


def test_a_challenge_accepted_at_once_with_many_words_is_dealt_with_one_of_them(
    in_threads: InThreads,
) -> None:
    mona = cast.person("Mona")
    challenge = cast.offer(cast.the_computer(), mona)
    words = [f"words {number}" for number in range(8)]
    answers = in_threads([accepted(mona, challenge, one) for one in words])
    assert statuses(answers) == {302: 1, 409: 7}
    (dealt,) = (
        one
        for one, answer in zip(words, answers, strict=True)
        if isinstance(answer, HttpResponse) and answer.status_code == 302
    )
    digest = engine.words_digest(dealt).hex()
    assert Fingerprint.objects.get().words_sha256 == digest
    assert Game.objects.get().status == Game.Status.RUNNING
    call_command("audit")


def test_the_same_words_sent_at_once_are_a_success_each_time(in_threads: InThreads) -> None:
    mona = cast.person("Mona")
    challenge = cast.offer(cast.the_computer(), mona)
    answers = in_threads([accepted(mona, challenge, "the same") for _ in range(8)])
    assert statuses(answers) == {302: 8}
    assert Game.objects.get().player_b == mona
    call_command("audit")


def test_of_many_who_take_a_seat_on_the_open_table_one_gets_it(in_threads: InThreads) -> None:
    challenge = cast.offer(cast.person("Mona"), listed=True)
    people: list[User | None] = [cast.person("Karim"), cast.person("Salma"), None, None]
    answers = in_threads([accepted(one, challenge, "the same") for one in people])
    assert statuses(answers) == {302: 1, 409: 3}
    game = Game.objects.get()
    seated = next(
        answer
        for answer in answers
        if isinstance(answer, HttpResponse) and answer.status_code == 302
    )
    assert seated["Location"] == reverse("games:table", args=[game.pk])
    # Nobody became a guest for a seat that was taken.
    guest_sits = game.player_b.kind == User.Kind.GUEST
    assert User.objects.filter(kind=User.Kind.GUEST).count() == int(guest_sits)
    call_command("audit")


@pytest.mark.parametrize("ends", ["withdraw", "decline"])
def test_a_challenge_that_is_accepted_and_ended_at_once_has_one_end(
    in_threads: InThreads, ends: str
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    challenge = cast.offer(mona, karim)
    who = mona if ends == "withdraw" else karim
    browser = cast.browser_of(who, tells_errors=False)
    accepts = [accepted(karim, challenge, "the same")] * 3
    answers = in_threads([*accepts, lambda: cast.post(browser, ends, challenge, {})])
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    state = Challenge.objects.get().state
    assert Game.objects.count() == (1 if state == Challenge.State.ACCEPTED else 0)
    ended = Challenge.State.WITHDRAWN if ends == "withdraw" else Challenge.State.DECLINED
    assert state in (Challenge.State.ACCEPTED, ended)
    call_command("audit")


def test_one_form_for_a_new_game_posted_at_once_makes_one_challenge(
    in_threads: InThreads,
) -> None:
    mona = cast.person("Mona")
    cast.the_computer()
    form = {
        "level": "easy",
        "rule_set": "standard",
        "target": "round",
        "form_key": str(uuid.uuid4()),
    }
    url = reverse("games:play_computer")

    def click() -> object:
        return cast.browser_of(mona, tells_errors=False).post(url, form)

    answers = in_threads([click] * 8)
    assert statuses(answers) == {302: 8}
    assert Challenge.objects.count() == 1


def test_the_first_visitors_ever_meet_one_computer(in_threads: InThreads) -> None:
    url = reverse("games:play_computer")

    def visit() -> object:
        form = {
            "level": "easy",
            "rule_set": "standard",
            "target": "51",
            "form_key": str(uuid.uuid4()),
        }
        return cast.browser_of(tells_errors=False).post(url, form)

    assert statuses(in_threads([visit] * 8)) == {302: 8}
    assert User.objects.filter(kind=User.Kind.COMPUTER).count() == 1
    assert User.objects.filter(kind=User.Kind.GUEST).count() == Challenge.objects.count() == 8


def game_in_which_the_computer_is_to_play() -> Game:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)
    return cast.play_one(game)


def test_two_processes_that_reply_for_the_computer_reply_once(in_threads: InThreads) -> None:
    game = game_in_which_the_computer_is_to_play()
    in_both = [lambda: services.computer_reply(cast.as_it_is(game))] * 2
    answers = in_threads([*in_both, *in_both])
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    after = cast.as_it_is(game)
    assert (after.plies, after.turn) == (game.plies + 1, "B")
    call_command("audit")


def test_sweeps_at_once_finish_an_interrupted_reply_once(
    in_threads: InThreads, monkeypatch: pytest.MonkeyPatch
) -> None:
    from games import tasks

    game = game_in_which_the_computer_is_to_play()
    monkeypatch.setattr(tasks, "_INTERRUPTED_FOR", tasks._INTERRUPTED_FOR * 0)
    answers = in_threads([lambda: finish_computer_replies()] * 4)
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    assert cast.as_it_is(game).plies == game.plies + 1
    call_command("audit")


def test_a_summary_put_away_at_once_is_put_away(in_threads: InThreads) -> None:
    mona = cast.person("Mona")
    game = cast.play_to_the_end(cast.sit_down(mona, cast.person("Karim")))
    answers = in_threads([sent(mona, "seen", game, {"round": "1"}) for _ in range(4)])
    assert statuses(answers) == {200: 4}
    assert cast.as_it_is(game).seen_a == 1
