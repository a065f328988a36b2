"""A block works on every path between two players, and nothing tells who has blocked whom."""

from __future__ import annotations

import re
import uuid

import pytest
from django.http import HttpResponse
from django.urls import reverse

from accounts import friends
from accounts.models import User
from games import selectors, services
from games.models import Challenge, Game
from tests import cast

pytestmark = pytest.mark.django_db

# Who has blocked whom, of the one who does something and the one it is done to.
BOTH_WAYS = pytest.mark.parametrize("who_blocks", ["the other", "the one"])


def parted(who_blocks: str) -> tuple[User, User]:
    """Mona, who does something, and Karim; one of them has blocked the other."""
    mona, karim = cast.person("Mona"), cast.person("Karim")
    part(mona, karim, who_blocks)
    return mona, karim


def part(mona: User, karim: User, who_blocks: str) -> None:
    if who_blocks == "the one":
        friends.block(mona, karim)
    else:
        friends.block(karim, mona)


def body(response: HttpResponse) -> str:
    """A page without what differs from one request to the next."""
    text = cast.text_of(response)
    text = re.sub(r'name="csrfmiddlewaretoken" value="[^"]*"', "", text)
    return re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "ID", text)


def challenge_form(opponent: User) -> dict[str, str]:
    return {
        "rule_set": "standard", "target": "51", "who": "player",
        "opponent": str(opponent.public_id), "form_key": str(uuid.uuid4()),
    }  # fmt: skip


@BOTH_WAYS
def test_neither_sees_the_others_offers_on_the_open_table(who_blocks: str) -> None:
    mona, karim = parted(who_blocks)
    salma = cast.person("Salma")
    for seed, player in enumerate((mona, karim, salma), start=1):
        cast.offer(player, listed=True, seed=seed)
    for player, sees in ((mona, {"Salma"}), (karim, {"Salma"}), (salma, {"Mona", "Karim"})):
        text = cast.text_of(cast.look(cast.browser_of(player), "open_table"))
        assert set(re.findall(r"<bdi>(\w+)</bdi> offers", text)) == sees


@BOTH_WAYS
@pytest.mark.parametrize("listed", [False, True])
def test_a_challenge_by_link_is_no_longer_available(who_blocks: str, listed: bool) -> None:
    mona, karim = parted(who_blocks)
    offered = cast.offer(karim, listed=listed)
    browser = cast.browser_of(mona)
    shown = cast.look(browser, "challenge", offered)
    answer = cast.post(browser, "accept", offered, {"words": cast.WORDS})
    assert (shown.status_code, answer.status_code) == (200, 409)
    for response in (shown, answer):
        assert "This challenge is no longer available." in cast.text_of(response)
        assert "block" not in cast.text_of(response).lower()
    assert not Game.objects.exists()
    # It looks like one that was taken back, and others can still accept it.
    taken_back = cast.offer(karim, listed=listed, seed=2)
    services.withdraw_challenge(challenge_id=taken_back.pk, player=karim)
    assert body(cast.look(browser, "challenge", taken_back)) == body(shown)
    salma = cast.browser_of(cast.person("Salma"))
    assert cast.post(salma, "accept", offered, {"words": cast.WORDS}).status_code == 302


@BOTH_WAYS
def test_a_challenge_to_one_is_refused_as_where_nobody_may_challenge(who_blocks: str) -> None:
    mona, karim = parted(who_blocks)
    browser = cast.browser_of(mona)
    new = reverse("games:new_challenge")
    refused = cast.posted(browser, new, challenge_form(karim))
    assert refused.status_code == 409
    assert "This player does not take challenges from you." in cast.text_of(refused)
    friends.unblock(mona, karim)
    friends.unblock(karim, mona)
    for setting in ({"may_challenge": "nobody"}, {"may_challenge": "friends"}, {"quiet": True}):
        User.objects.filter(pk=karim.pk).update(may_challenge="everybody", quiet=False)
        User.objects.filter(pk=karim.pk).update(**setting)
        other_reason = cast.posted(browser, new, challenge_form(karim))
        assert body(other_reason) == body(refused)
    assert not Challenge.objects.exists()


@BOTH_WAYS
def test_a_rematch_is_refused_as_where_nobody_may_challenge(who_blocks: str) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.sit_down(mona, karim)
    services.resign(game_id=game.pk, player=karim)
    part(mona, karim, who_blocks)
    browser = cast.browser_of(mona)
    refused = cast.post(browser, "rematch", game, {})
    assert refused.status_code == 409
    assert "This player takes no rematch now." in cast.text_of(refused)
    friends.unblock(mona, karim)
    friends.unblock(karim, mona)
    User.objects.filter(pk=karim.pk).update(quiet=True)
    assert body(cast.post(browser, "rematch", game, {})) == body(refused)
    User.objects.filter(pk=karim.pk).update(quiet=False)
    assert cast.post(browser, "rematch", game, {}).status_code == 302


@BOTH_WAYS
def test_what_waits_between_them_is_closed(who_blocks: str) -> None:
    mona, karim, salma = cast.person("Mona"), cast.person("Karim"), cast.person("Salma")
    to_karim, to_mona = cast.offer(mona, karim, seed=1), cast.offer(karim, mona, seed=2)
    others = [cast.offer(salma, mona, seed=3), cast.offer(mona, salma, seed=4)]
    others.append(cast.offer(mona, seed=5))
    part(mona, karim, who_blocks)
    state = Challenge.State
    ends = {
        "the one": {to_karim.pk: state.WITHDRAWN, to_mona.pk: state.DECLINED},
        "the other": {to_karim.pk: state.DECLINED, to_mona.pk: state.WITHDRAWN},
    }[who_blocks]
    for key, end in ends.items():
        assert Challenge.objects.get(pk=key).state == end
    assert all(Challenge.objects.get(pk=one.pk).state == state.WAITING for one in others)
    for player, count in ((mona, 1), (karim, 0)):
        assert selectors.waiting_counts(player)[0] == count
    accepted = cast.post(cast.browser_of(karim), "accept", to_karim, {"words": cast.WORDS})
    assert accepted.status_code == 409


@BOTH_WAYS
def test_an_offer_that_crossed_a_block_cannot_be_accepted(who_blocks: str) -> None:
    mona, karim = parted(who_blocks)
    offered = cast.offer(karim, mona)  # as if it had been on its way
    browser = cast.browser_of(mona)
    assert cast.post(browser, "accept", offered, {"words": cast.WORDS}).status_code == 409
    assert "no longer available" in cast.text_of(cast.look(browser, "challenge", offered))
    assert not Game.objects.exists()


@BOTH_WAYS
def test_a_game_that_runs_goes_on_to_its_end(who_blocks: str) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.sit_down(mona, karim)
    part(mona, karim, who_blocks)
    for _play in range(2):
        player = cast.player_to_play(game)
        assert cast.post_play(cast.browser_of(player), game).status_code == 302
    for player in (mona, karim):
        assert cast.look(cast.browser_of(player), "table", game).status_code == 200
    assert cast.post(cast.browser_of(mona), "resign", game, {}).status_code == 302
    assert cast.as_it_is(game).status == Game.Status.FINISHED


def test_a_guest_cannot_be_reached_by_whom_the_guest_has_blocked() -> None:
    guest, mona = cast.person("Guest 1", kind=User.Kind.GUEST), cast.person("Mona")
    friends.block(guest, mona)
    offered = cast.offer(guest)
    browser = cast.browser_of(mona)
    assert cast.post(browser, "accept", offered, {"words": cast.WORDS}).status_code == 409


@pytest.mark.parametrize("may_see", ["everybody", "friends", "nobody"])
def test_the_page_of_who_has_blocked_me_is_that_of_somebody_who_takes_no_challenges(
    may_see: str,
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    seen = []
    for how in ("blocked", "no challenges"):
        friends.unblock(karim, mona)
        User.objects.filter(pk=karim.pk).update(may_see=may_see, may_challenge="everybody")
        if how == "blocked":
            friends.block(karim, mona)
        else:
            User.objects.filter(pk=karim.pk).update(may_challenge="nobody")
        url = reverse("games:player", args=[karim.public_id])
        seen.append(body(cast.get(cast.browser_of(mona), url)))
    assert seen[0] == seen[1]


@BOTH_WAYS
@pytest.mark.parametrize("may_see", ["everybody", "friends", "nobody"])
def test_signing_out_shows_no_more_of_who_has_blocked_me(who_blocks: str, may_see: str) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    services.resign(game_id=cast.sit_down(karim, cast.person("Salma")).pk, player=karim)
    User.objects.filter(pk=karim.pk).update(may_see=may_see)
    part(mona, karim, who_blocks)
    url = reverse("games:player", args=[karim.public_id])
    shown = [cast.text_of(cast.get(cast.browser_of(viewer), url)) for viewer in (mona, None)]
    for text in shown:
        assert ("here now" in text) is (may_see == "everybody")
        assert ("Against <bdi>Salma</bdi>" in text) is (may_see == "everybody")
    games = [text.partition("<h2>Games</h2>")[2].partition("</main>")[0] for text in shown]
    assert games[0] == games[1]
