"""A guest who makes an account or signs in keeps the games: all of them, and nobody else's."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import permutations
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from allauth.account.models import EmailAddress
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from accounts import joining
from accounts.models import Block, Friendship, User
from games import auditing, engine, selectors, services
from games.engine import Reason
from games.models import Challenge, Event, Fingerprint, Game, Invitation, UploadedRecord
from tests import cast

from . import people

if TYPE_CHECKING:
    from tests.conftest import InThreads

ADDRESS = "mona@basra.example"
WANTED = "/rules/standard/"

pytestmark = pytest.mark.django_db
parallel = pytest.mark.django_db(transaction=True)


def seats_of(player: User) -> set[tuple[uuid.UUID, str]]:
    return {
        (game.pk, str(game.seat_of(player)))
        for game in Game.objects.filter(selectors.games_with(player))
    }


# By signing up


def test_a_guest_who_signs_up_finds_the_running_game_and_plays_on() -> None:
    guest, browser = people.guest("Golden Ibis 417")
    game = cast.sit_down_with_the_computer(guest)
    people.sign_up(browser, address=ADDRESS, name="Mona", wanted=f"/games/{game.pk}/")
    response = people.confirm(browser, ADDRESS)
    assert response.headers["Location"] == f"/games/{game.pk}/"
    mona = User.objects.get(name="Mona")
    assert people.whose(browser) == mona
    assert cast.as_it_is(game).player_b == mona
    assert cast.post_play(browser, game).status_code in (200, 302)
    assert cast.as_it_is(game).plies > game.plies
    assert f"/games/{game.pk}/" in cast.text_of(cast.get(browser, "/"))


def test_until_the_address_is_confirmed_the_guest_plays_on_as_before() -> None:
    guest, browser = people.guest()
    game = cast.sit_down_with_the_computer(guest)
    people.sign_up(browser, address=ADDRESS, name="Mona")
    assert people.whose(browser) == guest
    assert cast.post_play(browser, game).status_code in (200, 302)
    assert cast.as_it_is(game).player_b == guest
    assert guest.name in cast.text_of(cast.get(browser, "/"))


def test_a_confirmation_in_another_browser_brings_the_games_along() -> None:
    guest, browser = people.guest()
    game = cast.sit_down_with_the_computer(guest)
    people.sign_up(browser, address=ADDRESS, name="Mona")
    other = cast.browser_of()
    people.confirm(other, ADDRESS)
    mona = User.objects.get(name="Mona")
    assert cast.as_it_is(game).player_b == mona
    # The guest's own session is worth nothing any more.
    assert cast.get(browser, f"/games/{game.pk}/").status_code == 404
    assert people.whose(other) == mona
    people.sign_in(browser, mona)
    assert cast.get(browser, f"/games/{game.pk}/").status_code == 200


def test_a_guest_may_keep_the_made_up_name() -> None:
    guest, browser = people.guest("Golden Ibis 417")
    page = cast.text_of(cast.get(browser, reverse("account_signup")))
    assert 'value="Golden Ibis 417"' in page
    response = people.sign_up(browser, address=ADDRESS, name="Golden Ibis 417")
    assert response.status_code == 302
    assert User.objects.get(name="Golden Ibis 417") == guest
    people.confirm(browser, ADDRESS)
    account = User.objects.get(name="Golden Ibis 417")
    assert account.is_member
    assert account == people.whose(browser)


def test_a_made_up_name_is_given_where_the_guest_is_gone_by_then() -> None:
    guest, browser = people.guest("Golden Ibis 417")
    people.sign_up(browser, address=ADDRESS, name="Golden Ibis 417")
    guest.delete()
    people.confirm(cast.browser_of(), ADDRESS)
    name = User.objects.get(email=ADDRESS).name
    assert "(" not in name
    assert name


def test_an_account_whose_guest_became_somebody_else_has_a_name_after_signing_in() -> None:
    other = people.account("Other")
    mona = people.account("Mona")
    guest, browser = people.guest("Golden Ibis 417")
    User.objects.filter(pk=mona.pk).update(name=(waits := joining.waiting_name()), skeleton=waits)
    joining.merge(guest, other)
    for this in (browser, cast.browser_of()):
        people.sign_in(this, mona)
        assert people.whose(this) == mona
        mona.refresh_from_db()
        assert "(" not in mona.name
        User.objects.filter(pk=mona.pk).update(name=waits, skeleton=waits)


def test_nobody_else_can_take_a_guests_name() -> None:
    people.guest("Golden Ibis 417")
    _other, browser = people.guest()
    response = people.sign_up(browser, address=ADDRESS, name="golden ibis 417")
    assert response.status_code == 422
    assert not EmailAddress.objects.exists()


def test_a_guests_settings_come_along_to_a_new_account() -> None:
    guest, browser = people.guest()
    User.objects.filter(pk=guest.pk).update(
        plays_forced_cards=False, deck=User.Deck.FOUR_COLOURS, time_zone="Africa/Cairo"
    )
    people.sign_up(browser, address=ADDRESS, name="Mona")
    mona = User.objects.get(name="Mona")
    assert not mona.plays_forced_cards
    assert mona.deck == User.Deck.FOUR_COLOURS
    assert mona.time_zone == "Africa/Cairo"


def test_signing_up_with_an_address_that_has_an_account_changes_nothing_of_the_guest() -> None:
    mona = people.account("Mona")
    guest, browser = people.guest()
    game = cast.sit_down_with_the_computer(guest)
    before = User.objects.filter(pk=guest.pk).values().get()
    response = people.sign_up(browser, address=mona.email, name="Somebody")
    assert response.headers["Location"] == reverse("account_email_verification_sent")
    assert User.objects.filter(pk=guest.pk).values().get() == before
    assert cast.as_it_is(game).player_b == guest
    assert people.whose(browser) == guest
    told = people.latest_to(mona.email)
    assert "tried to make an account" in str(told.body)


def test_a_guest_who_signs_up_with_a_second_address_waits_for_that_one_alone() -> None:
    guest, browser = people.guest()
    game = cast.sit_down_with_the_computer(guest)
    people.sign_up(browser, address="mistyped@basra.example", name="Mona")
    people.sign_up(browser, address=ADDRESS, name="Mona Lisa")
    people.confirm(cast.browser_of(), "mistyped@basra.example")
    assert cast.as_it_is(game).player_b == guest
    people.confirm(browser, ADDRESS)
    assert cast.as_it_is(game).player_b == User.objects.get(name="Mona Lisa")


# By signing in


def by_password(browser: Client, user: User) -> None:
    people.sign_in(browser, user)


def by_code(browser: Client, user: User) -> None:
    cast.posted(browser, reverse("account_request_login_code"), {"email": user.email})
    code = people.code_in(people.latest_to(user.email))
    cast.posted(browser, reverse("account_confirm_login_code"), {"code": code})


@pytest.mark.parametrize("way", [by_password, by_code])
def test_a_guest_who_signs_in_brings_everything_along(way: object) -> None:
    mona, karim = people.account("Mona"), cast.person("Karim")
    guest, browser = people.guest()
    key = browser.session.session_key
    running = cast.sit_down(karim, guest, seed=1)
    over = cast.play_to_the_end(cast.sit_down(guest, karim, seed=2))
    made = cast.offer(guest, seed=3, listed=True)
    received = cast.offer(karim, guest, seed=4)
    invited = cast.offer(karim, seed=5)
    Invitation.objects.create(
        challenge=invited, address_digest="0" * 64, language="en", recipient=guest
    )
    upload = UploadedRecord.objects.create(owner=guest, form_key=uuid.uuid4(), text="…", plays=1)
    seats = seats_of(guest)
    way(browser, mona)  # type: ignore[operator]
    assert people.whose(browser) == mona
    assert browser.session.session_key != key
    assert seats_of(mona) == seats == {(running.pk, "B"), (over.pk, "A")}
    assert Challenge.objects.get(pk=made.pk).maker == mona
    assert Challenge.objects.get(pk=received.pk).opponent == mona
    assert Invitation.objects.get(challenge=invited).recipient == mona
    assert UploadedRecord.objects.get(pk=upload.pk).owner == mona
    assert not Game.objects.filter(selectors.games_with(guest)).exists()
    guest.refresh_from_db()
    assert not guest.is_active
    assert guest.merged_into == mona
    assert cast.get(browser, f"/games/{running.pk}/").status_code == 200


def test_the_guests_session_is_worth_nothing_afterwards() -> None:
    mona = people.account("Mona")
    guest, browser = people.guest()
    game = cast.sit_down_with_the_computer(guest)
    stolen = cast.browser_of()
    stolen.cookies["basra-session"] = browser.cookies["basra-session"].value
    second_tab = cast.browser_of(guest)
    people.sign_in(browser, mona)
    for old in (stolen, second_tab):
        assert cast.get(old, f"/games/{game.pk}/").status_code == 404
        assert guest.name not in cast.text_of(cast.get(old, "/"))


def test_a_second_guest_of_the_same_person_joins_too_and_the_games_of_others_stay() -> None:
    mona = people.account("Mona")
    first, at_home = people.guest()
    second, outside = people.guest()
    stranger, _elsewhere = people.guest()
    hers, again, theirs = (
        cast.sit_down_with_the_computer(one, seed=seed)
        for seed, one in enumerate((first, second, stranger), start=1)
    )
    people.sign_in(at_home, mona)
    people.sign_in(outside, mona)
    assert cast.as_it_is(hers).player_b == cast.as_it_is(again).player_b == mona
    assert cast.as_it_is(theirs).player_b == stranger


def test_a_guest_joins_one_member_and_only_once() -> None:
    mona, karim = people.account("Mona"), people.account("Karim")
    guest, _browser = people.guest()
    game = cast.sit_down_with_the_computer(guest)
    assert joining.merge(guest, mona)
    assert not joining.merge(guest, mona)
    assert not joining.merge(guest, karim)
    assert cast.as_it_is(game).player_b == mona


def test_a_guest_never_joins_a_guest() -> None:
    guest, _browser = people.guest()
    other, _elsewhere = people.guest()
    game = cast.sit_down_with_the_computer(guest)
    assert not joining.merge(guest, other)
    assert cast.as_it_is(game).player_b == guest


def test_a_member_is_never_joined_to_another_member() -> None:
    mona, karim = people.account("Mona"), people.account("Karim")
    game = cast.sit_down_with_the_computer(mona)
    assert not joining.merge(mona, karim)
    assert cast.as_it_is(game).player_b == mona


def test_a_pending_account_gets_nothing_of_a_guest_who_signed_in_elsewhere() -> None:
    karim = people.account("Karim")
    guest, browser = people.guest()
    game = cast.sit_down_with_the_computer(guest)
    people.sign_up(browser, address=ADDRESS, name="Mona")
    people.sign_in(browser, karim)
    people.confirm(cast.browser_of(), ADDRESS)
    assert cast.as_it_is(game).player_b == karim


# Where both were one person


def test_a_running_game_against_oneself_ends_uncounted_and_says_why() -> None:
    mona = people.account("Mona")
    guest, browser = people.guest()
    game = cast.play_until_ply(cast.sit_down(mona, guest), 5)
    people.sign_in(browser, mona)
    game = cast.as_it_is(game)
    assert game.status == Game.Status.FINISHED
    assert (game.winner, game.reason) == ("", Reason.CANCELLED)
    assert {game.player_a, game.player_b} == {mona, guest}
    assert game.finished_rounds.count() == 1
    assert Event.objects.get(game=game).kind == Event.Kind.SAME_PERSON
    page = cast.text_of(cast.get(browser, f"/games/{game.pk}/log/"))
    assert "You were both players" in page
    assert list(auditing.problems_of(game)) == []


def test_finished_games_against_oneself_and_their_rematches_stay_as_they_are() -> None:
    mona = people.account("Mona")
    guest, browser = people.guest()
    game = cast.play_to_the_end(cast.sit_down(mona, guest))
    winner = game.winner
    rematch = services.offer_rematch(game_id=game.pk, player=guest)
    people.sign_in(browser, mona)
    game = cast.as_it_is(game)
    assert (game.player_a, game.player_b, game.winner) == (mona, guest, winner)
    rematch.refresh_from_db()
    assert rematch.state == Challenge.State.WITHDRAWN


@pytest.mark.parametrize("by_the_guest", [True, False])
def test_what_the_two_offered_each_other_is_withdrawn(by_the_guest: bool) -> None:
    mona = people.account("Mona")
    guest, browser = people.guest()
    offered = cast.offer(guest, mona) if by_the_guest else cast.offer(mona, guest)
    people.sign_in(browser, mona)
    offered.refresh_from_db()
    assert offered.state == Challenge.State.WITHDRAWN


# Friends and walls


def test_friendships_and_walls_come_along_without_doubling() -> None:
    mona, karim, salma = people.account("Mona"), cast.person("Karim"), cast.person("Salma")
    guest, browser = people.guest()
    Friendship.objects.create(asker=guest, asked=karim, accepted_at=timezone.now())
    Friendship.objects.create(asker=karim, asked=mona)
    Friendship.objects.create(asker=mona, asked=guest)
    Block.objects.create(blocker=salma, blocked=guest)
    Block.objects.create(blocker=guest, blocked=salma)
    Block.objects.create(blocker=guest, blocked=mona)
    people.sign_in(browser, mona)
    friendship = Friendship.objects.get()
    assert {friendship.asker, friendship.asked} == {mona, karim}
    assert friendship.accepted_at is not None
    walls = set(Block.objects.values_list("blocker", "blocked"))
    assert walls == {(salma.pk, mona.pk), (mona.pk, salma.pk)}


# What is left over


def test_what_the_guests_last_request_left_behind_is_moved_later() -> None:
    mona = people.account("Mona")
    guest, _browser = people.guest()
    joining.merge(guest, mona)
    late = cast.offer(guest, seed=7)
    joining.finish_merges()
    late.refresh_from_db()
    assert late.maker == mona
    assert User.objects.filter(pk=guest.pk).exists()


def test_the_guests_row_goes_after_a_day_unless_it_holds_a_seat_against_its_own_member() -> None:
    mona = people.account("Mona")
    gone, stays = people.guest()[0], people.guest()[0]
    game = cast.sit_down(mona, stays)
    for guest in (gone, stays):
        joining.merge(guest, mona)
    assert joining.finish_merges() == 0
    User.objects.update(seen_at=timezone.now() - joining.KEPT_AFTER_MERGING - timedelta(minutes=1))
    assert joining.finish_merges() == 1
    assert not User.objects.filter(pk=gone.pk).exists()
    assert cast.as_it_is(game).player_b == stays
    assert joining.finish_merges() == 0


def test_a_guest_who_has_joined_is_looked_at_soon_after_and_a_day_later_only() -> None:
    mona, (guest, _browser) = people.account("Mona"), people.guest()
    joining.merge(guest, mona)
    offer = cast.offer(guest)
    guests = User.objects.filter(pk=guest.pk)
    for ago, moved in (
        (joining.REQUESTS_LAST + timedelta(minutes=1), False),
        (joining.KEPT_AFTER_MERGING - timedelta(minutes=1), False),
        (timedelta(minutes=1), True),
    ):
        guests.update(seen_at=timezone.now() - ago)
        with CaptureQueriesContext(connection) as counted:
            joining.finish_merges()
        assert (len(counted) == 1) is not moved
        offer.refresh_from_db()
        assert (offer.maker == mona) is moved


def test_one_merge_that_cannot_be_finished_does_not_keep_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    mona = people.account("Mona")
    first, second = people.guest()[0], people.guest()[0]
    for guest in (first, second):
        joining.merge(guest, mona)
    offer = cast.offer(second)
    move = joining._move

    def fails_for_the_first(guest: User, member: User) -> None:
        if guest == first:
            raise RuntimeError("no")
        move(guest, member)

    with patch("accounts.joining._move", side_effect=fails_for_the_first):
        joining.finish_merges()
    offer.refresh_from_db()
    assert offer.maker == mona
    assert "could not be finished" in caplog.text


def test_nothing_is_moved_to_an_account_that_is_being_deleted() -> None:
    mona, (guest, _browser) = people.account("Mona"), people.guest()
    game = cast.sit_down_with_the_computer(guest)
    User.objects.filter(pk=mona.pk).update(is_active=False)
    assert not joining.merge(guest, mona)
    assert cast.as_it_is(game).player_b == guest


# At once


@parallel
def test_guests_who_have_played_each_other_sign_in_at_once_and_none_waits_for_ever(
    in_threads: InThreads, caplog: pytest.LogCaptureFixture
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer")
    for turn in range(3):
        guests = [people.guest()[0] for _guest in range(4)]
        members = [cast.person(f"Member {turn} {number}") for number in range(4)]
        for number, (one, other) in enumerate(2 * list(permutations(guests, 2)), start=1):
            cast.sit_down(one, other, seed=1000 * turn + number)
            cast.offer(one, other, seed=1000 * turn + 500 + number)
        pairs = zip(guests, members, strict=True)
        assert in_threads([joins(guest, member) for guest, member in pairs]) == [True] * 4
        for guest, member in zip(guests, members, strict=True):
            assert not seats_of(guest)
            assert len(seats_of(member)) == 12
    assert "after a deadlock" not in caplog.text


def joins(guest: User, member: User) -> Callable[[], object]:
    return partial(joining.merge, guest, member)


@parallel
def test_plays_that_land_while_the_guest_signs_in_are_kept(in_threads: InThreads) -> None:
    mona, karim = people.account("Mona"), cast.person("Karim")
    guest, _browser = people.guest()
    games = [cast.sit_down(karim, guest, seed=seed) for seed in range(1, 7)]
    plies = {game.pk: cast.as_it_is(game).plies for game in games}

    def play(game: Game) -> object:
        try:
            return cast.play_one(game).plies
        except (selectors.GameNotFound, services.StaleBoard, engine.NotYourTurn) as error:
            return error

    results = in_threads([*(partial(play, game) for game in games), joins(guest, mona)])
    joining.finish_merges()
    assert results[-1] is True
    for game, result in zip(games, results, strict=False):
        now = cast.as_it_is(game)
        assert now.player_b == mona
        if isinstance(result, int):
            assert now.plies == result
        else:
            assert now.plies == plies[game.pk]


@parallel
def test_a_guest_who_accepts_and_signs_in_at_once_ends_with_every_game(
    in_threads: InThreads,
) -> None:
    mona, karim = people.account("Mona"), cast.person("Karim")
    guest, _browser = people.guest()
    offers = [cast.offer(karim, guest, seed=seed) for seed in range(1, 6)]

    def accept(offer: Challenge) -> object:
        try:
            return services.accept_challenge(
                challenge_id=offer.pk,
                player=guest,
                words=cast.WORDS,
                words_by=Fingerprint.By.OPPONENT,
            )
        except (selectors.ChallengeNotFound, services.ChallengeClosed) as error:
            return error

    results = in_threads([*(partial(accept, offer) for offer in offers), joins(guest, mona)])
    joining.finish_merges()
    for offer, result in zip(offers, results, strict=False):
        assert isinstance(result, Game | selectors.ChallengeNotFound | services.ChallengeClosed)
        offer.refresh_from_db()
        if isinstance(result, Game):
            assert cast.as_it_is(result).player_b == mona
        else:
            assert (offer.opponent, offer.state) == (mona, Challenge.State.WAITING)


@parallel
def test_of_many_merges_at_once_one_is_done(in_threads: InThreads) -> None:
    mona, karim = people.account("Mona"), people.account("Karim")
    guest, _browser = people.guest()
    game = cast.sit_down_with_the_computer(guest)
    results = in_threads([joins(guest, member) for member in (mona, karim, mona, karim)])
    assert sorted(map(str, results)) == ["False", "False", "False", "True"]
    guest.refresh_from_db()
    assert cast.as_it_is(game).player_b == guest.merged_into


@parallel
def test_two_tabs_that_confirm_at_once_make_one_member(in_threads: InThreads) -> None:
    guest, browser = people.guest("Golden Ibis 417")
    game = cast.sit_down_with_the_computer(guest)
    people.sign_up(browser, address=ADDRESS, name="Golden Ibis 417")
    link = people.link_in(people.latest_to(ADDRESS)).partition("?")[0]

    def press() -> object:
        form = {"password": people.PASSWORD}
        return cast.posted(cast.browser_of(), link, form).status_code

    statuses = in_threads([press, press, press])
    assert set(statuses) <= {302, 404}
    account = User.objects.get(name="Golden Ibis 417")
    assert account.is_member
    assert cast.as_it_is(game).player_b == account


@parallel
def test_of_fifty_who_sign_up_with_one_name_and_its_look_alikes_one_has_it(
    in_threads: InThreads, settings: object
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer")
    settings.ACCOUNT_RATE_LIMITS = False  # type: ignore[attr-defined]
    names = ["Mona", "mona", "MONA", "M.o.n.a", "\u041c\u043e\u043d\u0430"]

    def try_it(number: int) -> object:
        address = f"mona{number}@basra.example"
        name = names[number % 4]
        return people.sign_up(cast.browser_of(), address=address, name=name).status_code

    statuses = in_threads([partial(try_it, number) for number in range(50)])
    assert sorted(map(str, statuses)) == ["302"] + ["422"] * 49
    assert User.objects.filter(kind=User.Kind.MEMBER).count() == 1
    assert EmailAddress.objects.count() == 1


@parallel
def test_of_the_same_sign_up_sent_many_times_at_once_one_account_is_made(
    in_threads: InThreads, settings: object
) -> None:
    def send() -> object:
        return people.sign_up(cast.browser_of(), address=ADDRESS, name="Mona").status_code

    statuses = in_threads([send] * 6)
    assert statuses == [302] * 6
    assert User.objects.count() == 1


@parallel
def test_two_tabs_of_a_guest_that_sign_in_at_once_are_both_in_and_bring_the_games_once(
    in_threads: InThreads,
) -> None:
    mona = people.account("Mona")
    guest, browser = people.guest()
    game = cast.sit_down_with_the_computer(guest)

    def tab() -> object:
        other = cast.browser_of()
        other.cookies["basra-session"] = browser.cookies["basra-session"].value
        return people.sign_in(other, mona).status_code

    assert in_threads([tab, tab, tab]) == [302] * 3
    assert cast.as_it_is(game).player_b == mona
    guest.refresh_from_db()
    assert guest.merged_into == mona
