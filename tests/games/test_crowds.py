"""The same race hundreds of times, in threads that stay: on PostgreSQL, where races show.

SQLite has one writer at a time; there a few rounds tell as much.
"""

from __future__ import annotations

import random
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier

import pytest
from django.core.management import call_command
from django.db import connection, connections
from django.utils import timezone

from accounts.models import User
from games import engine, selectors, services
from games.engine import Seat
from games.models import Challenge, Fingerprint, Game, Play
from tests import cast

pytestmark = pytest.mark.django_db(transaction=True)

type Act = Callable[[], object]
type Crowd = Callable[[list[Act]], list[object]]


def leave(start: Barrier) -> None:
    start.wait(30)  # so that each thread comes to this once
    connections.close_all()


@pytest.fixture
def crowd() -> Iterator[Crowd]:
    """Run functions at the same time, again and again, each thread with one connection for good."""
    with ThreadPoolExecutor(64) as pool:
        start = Barrier(1)

        def one(act: Act) -> object:
            start.wait(30)
            try:
                return act()
            except Exception as error:  # noqa: BLE001 - the test looks at it
                return error

        def run(acts: list[Act]) -> list[object]:
            nonlocal start
            start = Barrier(len(acts))
            return list(pool.map(one, acts))

        yield run
        start = Barrier(64)
        list(pool.map(lambda _thread: leave(start), range(64)))


@pytest.fixture(autouse=True)
def _as_many_games_as_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selectors, "MOST_OPEN_GAMES", 10_000)


def times(on_postgresql: int, on_sqlite: int) -> int:
    return on_postgresql if connection.vendor == "postgresql" else on_sqlite


def late(act: Act, milliseconds: float) -> Act:
    """Let somebody come a little later, so that everybody is first now and then."""

    def comes_late() -> object:
        time.sleep(milliseconds / 1000)
        return act()

    return comes_late


def kinds(answers: list[object]) -> Counter[str]:
    return Counter(type(answer).__name__ for answer in answers)


@pytest.mark.parametrize("posts", [2, 4, 16, 64])
def test_however_often_a_move_is_sent_at_once_it_lands_once(crowd: Crowd, posts: int) -> None:
    mona, karim = cast.person("Mona", forced=False), cast.person("Karim", forced=False)
    races = times(200 if posts < 64 else 60, 5)
    game = cast.sit_down(mona, karim, seed=1)
    for race in range(races):
        if not game.turn:
            game = cast.sit_down(mona, karim, seed=race + 2)
        player, play, version, move_id = (
            cast.player_to_play(game), cast.a_play(game), game.version, uuid.uuid4()
        )  # fmt: skip

        def send(
            game: Game = game,
            player: User = player,
            play: engine.Play = play,
            version: int = version,
            move_id: uuid.UUID = move_id,
        ) -> Game:
            return services.play_card(
                game_id=game.pk, player=player, play=play, version=version, move_id=move_id
            )

        answers = crowd([send] * posts)
        assert kinds(answers) == {"Game": posts}
        assert Play.objects.filter(game=game, answered_version=version).count() == 1
        game = cast.as_it_is(game)
        assert game.version == version + 1
    call_command("audit")


def test_of_two_who_accept_one_who_withdraws_and_the_clock_exactly_one_is_first(
    crowd: Crowd,
) -> None:
    mona, karim, salma = (cast.person(name) for name in ("Mona", "Karim", "Salma"))
    ends: Counter[str] = Counter()
    chance = random.Random(4)
    for seed in range(times(500, 10)):
        challenge = cast.offer(mona, seed=seed)

        def accept(player: User, challenge: Challenge = challenge) -> Game:
            return services.accept_challenge(
                challenge_id=challenge.pk,
                player=player,
                words=player.name,
                words_by=Fingerprint.By.OPPONENT,
            )

        def withdraw(challenge: Challenge = challenge) -> Challenge:
            return services.withdraw_challenge(challenge_id=challenge.pk, player=mona)

        def expire(challenge: Challenge = challenge) -> int:
            still = Challenge.objects.filter(pk=challenge.pk, state=Challenge.State.WAITING)
            still.update(expires_at=timezone.now())
            return services.close_challenges()

        acts: list[Act] = [lambda: accept(karim), lambda: accept(salma), withdraw, expire]
        # Accepting looks at more before it decides; the others give it a start.
        starts = (4, 4, 20, 20)
        answers = crowd(
            [late(act, chance.random() * most) for act, most in zip(acts, starts, strict=True)]
        )
        challenge.refresh_from_db()
        ends[challenge.state] += 1
        games = list(Game.objects.filter(pk=challenge.pk))
        winners = [answer for answer in answers[:2] if isinstance(answer, Game)]
        assert len(games) == len(winners) == (challenge.state == Challenge.State.ACCEPTED)
        assert [game.player_b for game in winners] == [game.player_b for game in games]
        assert isinstance(answers[2], Challenge) == (
            challenge.state == Challenge.State.WITHDRAWN
        ), answers
        assert answers[3] == (challenge.state == Challenge.State.EXPIRED), answers
        losers: list[object] = [one for one in answers[:3] if isinstance(one, Exception)]
        assert set(kinds(losers)) <= {"ChallengeClosed"}
        assert challenge.state != Challenge.State.WAITING
    assert sum(ends.values()) == times(500, 10)
    if connection.vendor == "postgresql":
        assert len(ends) == 3, ends  # a race that never ends some way is none
    call_command("audit")


def test_when_both_press_rematch_there_is_one_game(crowd: Crowd) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    for seed in range(times(200, 10)):
        old = cast.sit_down(mona, karim, seed=seed)
        services.resign(game_id=old.pk, player=mona)

        def press(player: User, old: Game = old) -> object:
            """What the button does, and the page after it: whoever finds an offer accepts it."""
            offered = services.offer_rematch(game_id=old.pk, player=player)
            if offered.maker_id == player.pk:
                return offered
            return services.accept_challenge(
                challenge_id=offered.pk,
                player=player,
                words="again",
                words_by=Fingerprint.By.OPPONENT,
            )

        answers = crowd([lambda: press(mona), lambda: press(karim)])
        assert kinds(answers) == {"Challenge": 1, "Game": 1}, answers
        (challenge,) = Challenge.objects.filter(rematch_of=old)
        assert challenge.state == Challenge.State.ACCEPTED
        assert Game.objects.filter(pk=challenge.pk).count() == 1
    call_command("audit")


def test_a_player_who_calls_games_off_at_once_calls_off_three(crowd: Crowd) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    games = [cast.sit_down(mona, karim, seed=seed) for seed in range(8)]
    acts: list[Act] = [partial(services.abort, game_id=game.pk, player=mona) for game in games]
    answers = crowd(acts)
    assert kinds(answers) == {"Game": 3, "NotPossible": 5}, answers
    call_command("audit")


def test_a_card_and_a_resignation_at_once_both_count_or_the_resignation_alone(
    crowd: Crowd,
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    for seed in range(times(100, 10)):
        game = cast.play_until_ply(cast.sit_down(mona, karim, seed=seed), 3)
        player, play = cast.player_to_play(game), cast.a_play(game)
        gives_up = game.player(cast.seat_to_play(game).other if seed % 2 else Seat(game.turn))

        def plays(game: Game = game, player: User = player, play: engine.Play = play) -> Game:
            return services.play_card(
                game_id=game.pk,
                player=player,
                play=play,
                version=game.version,
                move_id=uuid.uuid4(),
            )

        def resigns(game: Game = game, gives_up: User = gives_up) -> Game:
            return services.resign(game_id=game.pk, player=gives_up)

        answers = crowd([plays, resigns])
        assert isinstance(answers[1], Game), answers
        assert kinds([answers[0]]).keys() <= {"Game", "GameOver"}
        over = cast.as_it_is(game)
        assert over.reason == "resigned"
        assert over.plies - game.plies == isinstance(answers[0], Game)
    call_command("audit")


def test_two_offers_to_cancel_at_once_are_an_agreement(crowd: Crowd) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    for seed in range(times(100, 10)):
        game = cast.sit_down(mona, karim, seed=seed)
        answers = crowd(
            [
                partial(services.offer_to_cancel, game_id=game.pk, player=mona),
                partial(services.offer_to_cancel, game_id=game.pk, player=karim),
            ]
        )
        assert kinds(answers) == {"Game": 2}, answers
        assert cast.as_it_is(game).reason == "cancelled"
    call_command("audit")
