"""What somebody leaves at the tables of others when their account is deleted."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from django.db import transaction
from django.utils import timezone

from accounts import closing, joining
from accounts.guests import create_guest
from accounts.models import User
from games import engine, selectors, services
from games.auditing import problems_of
from games.engine import Reason, Seat
from games.models import Challenge, Event, Fingerprint, Game, Invitation, UploadedRecord
from games.services import leaving
from games.tasks import close_challenges
from tests import cast
from tests.belongings import Somebody

type InThreads = Callable[[list[Callable[[], object]]], list[object]]

pytestmark = pytest.mark.django_db(transaction=True)

TRIES = 12


@pytest.fixture
def leaver() -> Somebody:
    return Somebody()


def test_running_games_are_given_up_and_the_others_win(leaver: Somebody) -> None:
    closing.close(leaver.user)
    for game, winner in (
        (leaver.running, Seat.B),
        (leaver.of_two_rounds, Seat.B),
        (leaver.running_as_b, Seat.A),
    ):
        ended = cast.as_it_is(game)
        assert (ended.status, ended.winner) == (Game.Status.FINISHED, winner)
        assert ended.reason == Reason.RESIGNED
        assert ended.cancel_offer == ""
        last = Event.objects.filter(game=game).order_by("pk").last()
        assert last is not None
        assert (last.kind, last.seat) == (Event.Kind.RESIGNED, winner.other)


def test_what_the_others_keep_is_sound(leaver: Somebody) -> None:
    closing.close(leaver.user)
    kept = [leaver.finished, leaver.running, leaver.running_as_b, leaver.of_two_rounds]
    for game in kept:
        assert problems_of(cast.as_it_is(game)) == []
    rounds = cast.as_it_is(leaver.running).finished_rounds
    assert rounds.count() == 1  # the round that was broken off is revealed


def test_the_others_see_their_games_with_a_former_player(leaver: Somebody) -> None:
    before = cast.text_of(cast.look(cast.browser_of(leaver.friend), "home"))
    assert leaver.user.name in before
    closing.close(leaver.user)
    browser = cast.browser_of(leaver.friend)
    for page, game in (
        ("home", None),
        ("table", leaver.running),
        ("table", leaver.finished),
        ("log", leaver.running),
        ("replay", leaver.finished),
        ("fairness", leaver.finished),
        ("record", leaver.finished),
    ):
        response = cast.look(browser, page, game)
        assert response.status_code == 200, page
        shown = cast.text_of(response)
        assert leaver.user.name not in shown, page
        assert ">Rematch</button>" not in shown, page
        if page != "fairness":
            assert "former player" in shown, page


def test_a_finished_game_keeps_its_result(leaver: Somebody) -> None:
    before = cast.as_it_is(leaver.finished)
    closing.close(leaver.user)
    after = cast.as_it_is(leaver.finished)
    assert (after.winner, after.reason, after.finished_at, after.version) == (
        before.winner, before.reason, before.finished_at, before.version,
    )  # fmt: skip


def test_games_against_the_computer_go_with_their_cards(leaver: Somebody) -> None:
    closing.close(leaver.user)
    keys = [leaver.with_the_computer.pk, leaver.over_with_the_computer.pk]
    assert not Game.objects.filter(pk__in=keys).exists()
    assert not Challenge.objects.filter(pk__in=keys).exists()


def test_offers_are_taken_back_and_refused(leaver: Somebody) -> None:
    closing.close(leaver.user)
    for challenge, state in (
        (leaver.listed, "withdrawn"),
        (leaver.to_friend, "withdrawn"),
        (leaver.rematch, "withdrawn"),
        (leaver.by_mail, "withdrawn"),
        (leaver.from_other, "declined"),
        (leaver.invited, "declined"),
    ):
        challenge.refresh_from_db()
        assert challenge.state == state
    assert selectors.open_list(leaver.other, 1)[0] == []
    assert selectors.waiting_challenges(leaver.friend) == []
    assert selectors.next_waiting(leaver.friend, None) is None


def test_addresses_of_invitations_are_forgotten(leaver: Somebody) -> None:
    closing.close(leaver.user)
    for invitation in Invitation.objects.all():
        assert (invitation.address, invitation.recipient) == ("", None)


def test_the_link_of_an_offer_says_that_it_is_over(leaver: Somebody) -> None:
    closing.close(leaver.user)
    response = cast.look(cast.browser_of(leaver.other), "challenge", leaver.listed)
    assert response.status_code == 200
    assert leaver.user.name not in cast.text_of(response)
    assert 'value="Deal' not in cast.text_of(response)


def test_records_that_were_brought_go(leaver: Somebody) -> None:
    closing.close(leaver.user)
    assert not UploadedRecord.objects.exists()


def test_leaving_twice_is_harmless(leaver: Somebody) -> None:
    stored = []
    for _time in range(2):
        with transaction.atomic():
            leaving.leave(leaver.user)
        stored.append(cast.everything_stored())
    assert stored[0] == stored[1]


def test_a_damaged_game_does_not_keep_anybody_from_leaving(
    leaver: Somebody, caplog: pytest.LogCaptureFixture
) -> None:
    Game.objects.filter(pk=leaver.running.pk).update(hidden=b"damaged")
    assert closing.close(leaver.user)
    assert "broken game" in caplog.text
    assert cast.as_it_is(leaver.running_as_b).status == Game.Status.FINISHED


def test_where_nobody_needs_it_no_row_stays() -> None:
    player = cast.person("Mona")
    cast.sit_down_with_the_computer(player)
    closing.close(player)
    assert not User.objects.filter(pk=player.pk).exists()


def test_what_is_left_of_offers_goes_with_the_row_once_they_are_deleted() -> None:
    from accounts import retention

    player = cast.person("Mona")
    challenge = cast.offer(player, listed=True)
    closing.close(player)
    assert User.objects.filter(pk=player.pk).exists()
    retention.run()
    assert User.objects.filter(pk=player.pk).exists()
    long_ago = timezone.now() - timedelta(days=31)
    Challenge.objects.filter(pk=challenge.pk).update(answered_at=long_ago)
    services.close_challenges()
    retention.run()
    assert not User.objects.filter(pk=player.pk).exists()


def test_of_an_invitation_that_became_a_game_nothing_is_kept_but_the_game() -> None:
    maker, other = cast.person("Mona"), cast.person("Karim")
    game = cast.sit_down(maker, other)
    Invitation.objects.create(
        challenge_id=game.pk, address_digest="a" * 64, language="en", recipient=other
    )
    services.close_challenges()
    assert Invitation.objects.exists()
    Challenge.objects.update(answered_at=timezone.now() - timedelta(days=31))
    services.close_challenges()
    assert not Invitation.objects.exists()
    assert problems_of(cast.as_it_is(game)) == []


def test_nobody_can_challenge_a_former_player_to_a_rematch(leaver: Somebody) -> None:
    closing.close(leaver.user)
    browser = cast.browser_of(leaver.friend)
    response = cast.post(browser, "rematch", leaver.finished, {})
    assert response.status_code < 500
    assert not Challenge.objects.filter(state="waiting", opponent=leaver.user).exists()


# Races


def no_errors(results: list[object], *allowed: type[Exception]) -> None:
    errors = [one for one in results if isinstance(one, Exception) and not isinstance(one, allowed)]
    assert errors == []


def sound(game: Game) -> Game:
    after = cast.as_it_is(game)
    assert problems_of(after) == []
    return after


REFUSALS = (engine.GameOver, services.StaleBoard, engine.NotYourTurn, selectors.GameNotFound)


@pytest.mark.parametrize("seed", range(1, TRIES))
def test_a_move_on_its_way_lands_before_or_finds_the_game_over(
    in_threads: InThreads, seed: int
) -> None:
    leaver, other = cast.person("Mona", forced=False), cast.person("Karim", forced=False)
    game = cast.play_until_ply(cast.sit_down(leaver, other, seed=seed), 5 + seed % 2)
    player, play, version = (
        cast.player_to_play(game), cast.a_play(game), cast.as_it_is(game).version,
    )  # fmt: skip

    def move() -> object:
        return services.play_card(
            game_id=game.pk, player=player, play=play, version=version, move_id=uuid.uuid4()
        )

    results = in_threads([lambda: closing.close(leaver), move])
    no_errors(results, *REFUSALS)
    after = sound(game)
    assert after.status == Game.Status.FINISHED
    assert after.reason == Reason.RESIGNED
    landed = not isinstance(results[1], Exception)
    assert after.plies == game.plies + landed


@pytest.mark.parametrize("seed", range(1, TRIES))
def test_an_offer_that_is_accepted_meanwhile_is_a_game_given_up_or_no_game(
    in_threads: InThreads, seed: int
) -> None:
    leaver, other = cast.person("Mona"), cast.person("Karim")
    challenge = cast.offer(leaver, listed=True, seed=seed)

    def accept() -> object:
        return services.accept_challenge(
            challenge_id=challenge.pk,
            player=other,
            words=cast.WORDS,
            words_by=Fingerprint.By.OPPONENT,
        )

    results = in_threads([lambda: closing.close(leaver), accept])
    no_errors(results, services.ChallengeClosed)
    challenge.refresh_from_db()
    if isinstance(results[1], Exception):
        assert challenge.state == Challenge.State.WITHDRAWN
        assert not Game.objects.exists()
    else:
        after = sound(Game.objects.get())
        assert (after.status, after.winner) == (Game.Status.FINISHED, Seat.B)


def test_two_opponents_who_leave_at_the_same_time_both_leave(in_threads: InThreads) -> None:
    for seed in range(1, TRIES):
        one, other = cast.person(f"Mona {seed}"), cast.person(f"Karim {seed}")
        games = [cast.sit_down(one, other, seed=100 * seed + number) for number in range(3)]
        games += [cast.sit_down(other, one, seed=100 * seed + number) for number in range(3, 6)]
        cast.offer(one, other, seed=100 * seed + 7)
        cast.offer(other, one, seed=100 * seed + 8)
        no_errors(in_threads([partial(closing.close, one), partial(closing.close, other)]))
        for game in games:
            assert sound(game).status == Game.Status.FINISHED


def test_a_guest_who_becomes_the_leaver_meanwhile_leaves_too_or_stays_a_guest(
    in_threads: InThreads,
) -> None:
    for seed in range(1, TRIES):
        leaver, guest = cast.person(f"Mona {seed}"), create_guest()
        other = cast.person(f"Karim {seed}")
        game = cast.sit_down(guest, other, seed=seed)
        cast.play_to_the_end(cast.sit_down(leaver, other, seed=100 + seed))
        results = in_threads(
            [partial(closing.close, leaver), partial(joining.merge, guest, leaver)]
        )
        no_errors(results)
        guests = User.objects.filter(pk=guest.pk, kind=User.Kind.GUEST)
        after = sound(game)
        if results[1]:
            assert not guests.exists()
            assert after.player_a.kind == User.Kind.FORMER
            assert after.status == Game.Status.FINISHED
        else:
            assert guests.filter(is_active=True, merged_into=None).exists()
            assert (after.player_a_id, after.status) == (guest.pk, Game.Status.RUNNING)


def test_an_offer_made_while_the_account_goes_does_not_stay_open(in_threads: InThreads) -> None:
    rules = engine.RULE_SETS[engine.DEFAULT_RULE_SET]
    for number in range(1, TRIES):
        leaver = cast.person(f"Mona {number}")

        def offer(player: User = leaver) -> object:
            return services.make_challenge(player=player, rules=rules, target=None, listed=True)

        results = in_threads([partial(closing.close, leaver), offer])
        no_errors(results, services.TakesNoChallenge)
        assert not Challenge.objects.filter(maker=leaver, state="waiting").exists()


def test_nobody_plays_on_who_leaves_meanwhile_whatever_comes_at_once(in_threads: InThreads) -> None:
    rules = engine.RULE_SETS[engine.DEFAULT_RULE_SET]
    accept = partial(services.accept_challenge, words=cast.WORDS, words_by=Fingerprint.By.OPPONENT)
    offer = partial(services.make_challenge, rules=rules, target=None)
    for number in range(1, TRIES):
        leaver, maker, other = (cast.person(f"{name} {number}") for name in "MKS")
        to_accept, accepted = cast.offer(maker, seed=number), cast.offer(leaver, seed=100 + number)
        results = in_threads(
            [
                partial(closing.close, leaver),
                partial(accept, challenge_id=to_accept.pk, player=leaver),
                partial(accept, challenge_id=accepted.pk, player=other),
                partial(offer, player=maker, opponent=leaver),
            ]
        )
        no_errors(
            results,
            services.ChallengeClosed, selectors.ChallengeNotFound, services.TakesNoChallenge,
        )  # fmt: skip
        assert not Game.objects.filter(
            selectors.games_with(leaver), status=Game.Status.RUNNING
        ).exists()
        assert not Challenge.objects.filter(state="waiting", opponent=leaver).exists()


# What is noticed late


def test_a_browser_that_has_not_heard_of_it_neither_accepts_nor_offers() -> None:
    leaver, other = cast.person("Mona"), cast.person("Karim")
    offered = cast.offer(other)
    services.resign(game_id=cast.sit_down(leaver, other, seed=2).pk, player=other)
    closing.close(User.objects.get(pk=leaver.pk))
    with pytest.raises(services.ChallengeClosed):
        services.accept_challenge(
            challenge_id=offered.pk,
            player=leaver,
            words=cast.WORDS,
            words_by=Fingerprint.By.OPPONENT,
        )
    rules = engine.RULE_SETS[engine.DEFAULT_RULE_SET]
    with pytest.raises(services.TakesNoChallenge):
        services.make_challenge(player=leaver, rules=rules, target=None)
    with pytest.raises(services.TakesNoChallenge):
        services.challenge_by_the_computer(
            player=leaver, level=User.Level.EASY, rules=rules, target=None
        )
    offered.refresh_from_db()
    assert offered.state == Challenge.State.WAITING
    assert not Game.objects.filter(status=Game.Status.RUNNING).exists()


def test_what_a_former_player_has_left_behind_is_ended_by_the_next_sweep() -> None:
    leaver, other = cast.person("Mona"), cast.person("Karim")
    games = [cast.sit_down(leaver, other, seed=1), cast.sit_down(other, leaver, seed=2)]
    goes_on = cast.sit_down(cast.person("Salma"), other, seed=3)
    offers = [cast.offer(leaver, seed=4), cast.offer(other, leaver, seed=5)]
    User.objects.filter(pk=leaver.pk).update(kind=User.Kind.FORMER, is_active=False)
    close_challenges()
    for game in games:
        after = sound(game)
        assert (after.status, after.reason) == (Game.Status.FINISHED, Reason.RESIGNED)
        assert after.player(Seat(after.winner)) == other
    assert cast.as_it_is(goes_on).status == Game.Status.RUNNING
    for offer in offers:
        offer.refresh_from_db()
        assert offer.state == Challenge.State.WITHDRAWN
