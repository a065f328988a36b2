"""Friends: asked for, agreed to, forgotten; and blocks, as far as the accounts know them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts import closing, friends, views
from accounts.models import Block, Friendship, User
from accounts.relations import are_friends, asks_of, is_blocked, may_challenge, may_see
from games import services
from tests import cast

type InThreads = Callable[[list[Callable[[], object]]], list[object]]

pytestmark = pytest.mark.django_db

FRIENDS = "/account/friends/"
ACTIONS = ("ask", "accept", "decline", "cancel", "remove", "block", "unblock")


def do(player: User, action: str, other: User, **form: str) -> HttpResponse:
    url = reverse(f"accounts:{action}", args=[other.public_id])
    return cast.posted(cast.browser_of(player), url, form)


def page(player: User) -> str:
    return cast.text_of(cast.get(cast.browser_of(player), FRIENDS))


def under(title: str, text: str) -> list[str]:
    """The names in a list of the page."""
    found = re.search(rf"<h2>{title}</h2>(.*?)</ul>", text, re.DOTALL)
    return re.findall(r"<a href[^>]*><bdi>(.*?)</bdi>", found[1]) if found else []


def test_who_asks_and_is_answered_has_a_friend() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    assert do(mona, "ask", karim).status_code == 302
    assert under("They ask for your friendship", page(karim)) == ["Mona"]
    assert under("You have asked", page(mona)) == ["Karim"]
    assert not are_friends(mona, karim)
    assert do(karim, "accept", mona, back="friends").headers["Location"] == FRIENDS
    for player, other in ((mona, "Karim"), (karim, "Mona")):
        assert under("Your friends", page(player)) == [other]
    assert are_friends(karim, mona)


def test_every_form_can_be_sent_twice() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    for actor, action, other in (
        (mona, "ask", karim),
        (karim, "accept", mona),
        (mona, "remove", karim),
        (mona, "ask", karim),
        (karim, "decline", mona),
        (mona, "ask", karim),
        (mona, "cancel", karim),
        (mona, "block", karim),
        (mona, "unblock", karim),
    ):
        assert do(actor, action, other).status_code == 302
        stored = list(Friendship.objects.values()), list(Block.objects.values())
        assert do(actor, action, other).status_code == 302, action
        assert (list(Friendship.objects.values()), list(Block.objects.values())) == stored, action


def test_who_was_asked_and_asks_agrees() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    do(mona, "ask", karim)
    do(karim, "ask", mona)
    assert are_friends(mona, karim)
    assert Friendship.objects.count() == 1


def test_who_declines_is_not_told_on() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    do(mona, "ask", karim)
    do(karim, "decline", mona)
    for player in (mona, karim):
        assert not Friendship.objects.exists()
        assert "declined" not in page(player)
    do(mona, "ask", karim)  # and may ask again
    assert asks_of(karim).count() == 1


def test_cancelling_after_the_other_has_agreed_ends_no_friendship() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    do(mona, "ask", karim)
    do(karim, "accept", mona)
    do(mona, "cancel", karim)
    do(karim, "decline", mona)
    assert are_friends(mona, karim)


def test_nobody_accepts_what_nobody_has_asked() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    do(karim, "accept", mona)
    do(mona, "ask", karim)
    do(mona, "accept", karim)  # not one's own request
    assert not are_friends(mona, karim)


@pytest.mark.parametrize("name", ["Karim", " karim", "KARIM.", "Ｋarim"])
def test_a_friend_is_asked_by_name(name: str) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    response = cast.browser_of(mona).post(FRIENDS, {"name": name}, follow=True)
    assert "You have asked." in response.content.decode()
    assert [row.asker for row in asks_of(karim)] == [mona]


@pytest.mark.parametrize("name", ["", "Nobody", "<b>", "Simsim", "\u202eKarim", "x" * 3000, "\x00"])
def test_a_name_of_nobody_is_answered_with_words_and_stays(name: str) -> None:
    mona = cast.person("Mona")
    response = cast.posted(cast.browser_of(mona), FRIENDS, {"name": name})
    assert response.status_code == 422
    assert re.search(r'role="alert">.*?<p>[A-Z].*?\.</p>', cast.text_of(response))
    if name == "Nobody":
        assert 'value="Nobody"' in cast.text_of(response)
    assert not Friendship.objects.exists()


def test_guests_have_no_friends_and_are_told_how_to_have_some() -> None:
    guest, mona = cast.person("Guest 1", kind=User.Kind.GUEST), cast.person("Mona")
    computer = cast.the_computer()
    assert "make an account first" in page(guest)
    for asker, asked in ((guest, mona), (mona, guest), (mona, computer), (mona, mona)):
        response = do(asker, "ask", asked)
        assert response.status_code == 409
        assert re.search(r"<p>[A-Z].*?\.</p>", cast.text_of(response))
    assert not Friendship.objects.exists()


def test_whoever_wants_quiet_is_not_asked() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    User.objects.filter(pk=karim.pk).update(quiet=True)
    response = do(mona, "ask", karim)
    assert response.status_code == 409
    assert "takes no requests" in cast.text_of(response)
    assert not Friendship.objects.exists()


def test_one_cannot_ask_everybody() -> None:
    mona = cast.person("Mona")
    others = [cast.person(f"Somebody {number}x") for number in range(friends.MOST_OPEN_ASKS + 1)]
    Friendship.objects.bulk_create(Friendship(asker=mona, asked=other) for other in others[1:])
    assert do(mona, "ask", others[0]).status_code == 409
    do(mona, "cancel", others[1])
    assert do(mona, "ask", others[0]).status_code == 302


def test_who_is_blocked_gets_the_answers_that_everybody_gets() -> None:
    mona, karim, salma = cast.person("Mona"), cast.person("Karim"), cast.person("Salma")
    do(karim, "block", mona)
    seen = []
    for other in (karim, salma):
        browser = cast.browser_of(mona)
        answers = [browser.post(FRIENDS, {"name": other.name}, follow=True)]
        for action in ("ask", "accept", "decline", "cancel", "remove"):
            url = reverse(f"accounts:{action}", args=[other.public_id])
            answers.append(browser.post(url, {"back": "friends"}, follow=True))
        seen.append([(one.status_code, neutral(one.content.decode(), other)) for one in answers])
        Friendship.objects.all().delete()
    assert seen[0] == seen[1]


def neutral(text: str, player: User) -> str:
    """A page without what differs between any two players and any two requests."""
    text = text.replace(str(player.public_id), "ID").replace(player.name, "NAME")
    return re.sub(r'name="csrfmiddlewaretoken" value="[^"]*"', "", text)


def test_who_is_blocked_is_not_heard_until_the_block_is_taken_back() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    do(karim, "block", mona)
    do(mona, "ask", karim)
    assert under("You have asked", page(mona)) == ["Karim"]
    assert under("They ask for your friendship", page(karim)) == []
    home = cast.text_of(cast.look(cast.browser_of(karim), "home"))
    assert "asks for your friendship" not in home
    do(karim, "accept", mona)
    assert not are_friends(mona, karim)
    do(karim, "unblock", mona)
    assert under("They ask for your friendship", page(karim)) == ["Mona"]


def test_a_block_ends_a_friendship_and_what_was_asked() -> None:
    mona, karim, salma = cast.person("Mona"), cast.person("Karim"), cast.person("Salma")
    do(mona, "ask", karim)
    do(karim, "accept", mona)
    do(salma, "ask", karim)
    do(karim, "block", mona)
    do(karim, "block", salma)
    assert not Friendship.objects.exists()
    assert under("You have blocked", page(karim)) == ["Salma", "Mona"]
    for other in (mona, salma):
        assert "Karim" not in page(other)
        assert is_blocked(karim, other)
        assert is_blocked(other, karim)


def test_who_has_blocked_somebody_takes_that_back_before_asking() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    do(mona, "block", karim)
    response = do(mona, "ask", karim)
    assert response.status_code == 409
    assert "You have blocked this player." in cast.text_of(response)


def test_nobody_blocks_themselves_or_a_computer() -> None:
    mona = cast.person("Mona")
    for other in (mona, cast.the_computer()):
        assert do(mona, "block", other).status_code == 409
    assert not Block.objects.exists()


def test_a_guest_can_block_and_be_blocked() -> None:
    guest, mona = cast.person("Guest 1", kind=User.Kind.GUEST), cast.person("Mona")
    assert do(guest, "block", mona).status_code == 302
    assert do(mona, "block", guest).status_code == 302
    assert under("You have blocked", page(guest)) == ["Mona"]


@pytest.mark.parametrize("action", ACTIONS)
def test_a_visitor_and_an_address_of_nobody_get_the_same_words(action: str) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    merged = cast.person("Guest 1", kind=User.Kind.GUEST)
    User.objects.filter(pk=merged.pk).update(merged_into=karim)
    nobody = reverse(f"accounts:{action}", args=["00000000-0000-4000-8000-000000000000"])
    gone = reverse(f"accounts:{action}", args=[merged.public_id])
    stored = cast.everything_stored()
    for browser, url in (
        (cast.browser_of(), reverse(f"accounts:{action}", args=[karim.public_id])),
        (cast.browser_of(), nobody),
        (cast.browser_of(mona), nobody),
        (cast.browser_of(mona), gone),
    ):
        assert browser.post(url).status_code == 404
        assert browser.get(url).status_code == 405
    assert cast.everything_stored() == stored


def test_a_visitor_is_asked_to_sign_in() -> None:
    assert "login" in cast.get(cast.browser_of(), FRIENDS).headers["Location"]
    assert cast.posted(cast.browser_of(), FRIENDS, {"name": "Mona"}).status_code == 404


def test_looking_at_friends_changes_nothing() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    do(mona, "ask", karim)
    browser = cast.browser_of(karim)
    stored = cast.everything_stored()
    browser.get(FRIENDS)
    browser.head(FRIENDS)
    assert cast.everything_stored() == stored


def test_friends_see_when_one_was_here_as_far_as_one_allows() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    do(mona, "ask", karim)
    do(karim, "accept", mona)
    karims = User.objects.filter(pk=karim.pk)
    for changed, shown in (
        ({}, True),
        ({"may_see": "friends"}, True),
        ({"may_see": "nobody"}, False),
        ({"may_see": "everybody", "quiet": True}, False),
    ):
        karims.update(**changed, seen_at=timezone.now() - timedelta(hours=3))
        assert ("here within the last day" in page(mona)) is shown, changed


AUDIENCES = {
    "everybody": (True, True, True),
    "friends": (True, False, False),
    "nobody": (False, False, False),
}


@pytest.mark.parametrize("audience", AUDIENCES)
def test_who_may_challenge_and_see_is_as_the_player_says(audience: str) -> None:
    mona, karim, salma = cast.person("Mona"), cast.person("Karim"), cast.person("Salma")
    do(mona, "ask", karim)
    do(karim, "accept", mona)
    User.objects.filter(pk=karim.pk).update(may_challenge=audience, may_see=audience)
    karim.refresh_from_db()
    for viewer, may in zip((mona, salma, None), AUDIENCES[audience], strict=True):
        assert may_challenge(viewer, karim) is may
        assert may_see(viewer, karim) is may
    karim.quiet = True
    assert not may_challenge(mona, karim)
    do(karim, "block", salma)
    karim.quiet = False
    assert not may_challenge(salma, karim)
    assert may_see(salma, karim) is may_see(None, karim)


def test_home_and_settings_say_who_asks() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    browser = cast.browser_of(karim)
    for address in ("/", "/account/settings/"):
        assert "asks for your friendship" not in browser.get(address).content.decode()
    do(mona, "ask", karim)
    for address in ("/", "/account/settings/"):
        assert "1 player asks for your friendship." in browser.get(address).content.decode()


def test_long_lists_of_people_have_further_pages_and_nobody_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(views, "_PEOPLE_ON_A_PAGE", 2)
    mona = cast.person("Mona")
    titles = ("Your friends", "They ask for your friendship", "You have asked", "You have blocked")
    people = {title: {f"{title[-4:]} {number}" for number in range(5)} for title in titles}
    people["Your friends"] = {f"Pal {number}" for number in range(5)}
    for title, names in people.items():
        for name in sorted(names):
            other = cast.person(name)
            if title == "You have asked":
                friends.ask(mona, other)
            elif title == "You have blocked":
                friends.block(mona, other)
            else:
                friends.ask(other, mona)
            if title == "Your friends":
                friends.accept(mona, other)
    browser, address = cast.browser_of(mona), FRIENDS
    seen: dict[str, list[str]] = {title: [] for title in titles}
    for number in (1, 2, 3):
        text = cast.text_of(cast.get(browser, address))
        for title in titles:
            shown = under(title, text)
            assert len(shown) == (2 if number < 3 else 1)
            seen[title] += shown
        further = re.search(r'href="(\?page=\d)"', text)
        assert bool(further) is (number < 3)
        address = FRIENDS + (further[1] if further else "")
    assert {title: set(names) for title, names in seen.items()} == people
    assert cast.get(browser, f"{FRIENDS}?page=99").status_code == 200
    for wrong in ("0", "-1", "x", "1000", "\u0663"):
        assert cast.get(browser, FRIENDS, {"page": wrong}).status_code == 404


def posted(browser: Client, url: str) -> int:
    return browser.post(url).status_code


@pytest.mark.django_db(transaction=True)
def test_two_who_ask_each_other_at_once_are_friends(in_threads: InThreads) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("a writer at a time")
    for number in range(10):
        mona, karim = cast.person(f"Mona {number}"), cast.person(f"Karim {number}")
        urls = [reverse("accounts:ask", args=[one.public_id]) for one in (karim, mona)]
        browsers = [cast.browser_of(mona), cast.browser_of(karim)]
        answers = in_threads(
            [partial(posted, browser, url) for browser, url in zip(browsers, urls, strict=True)]
        )
        assert answers == [302, 302]
        assert are_friends(mona, karim)


@pytest.mark.django_db(transaction=True)
def test_a_request_and_a_block_at_once_make_no_friends(in_threads: InThreads) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("a writer at a time")
    for number in range(10):
        mona, karim = cast.person(f"Mona {number}"), cast.person(f"Karim {number}")
        friends.ask(mona, karim)
        in_threads([partial(friends.block, mona, karim), partial(friends.accept, karim, mona)])
        assert is_blocked(mona, karim)
        assert not are_friends(mona, karim)


@pytest.mark.django_db(transaction=True)
def test_who_leaves_meanwhile_is_asked_and_blocked_by_nobody(in_threads: InThreads) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("a writer at a time")
    for number in range(10):
        mona, karim, salma = (cast.person(f"{name} {number}") for name in "MKS")
        services.resign(game_id=cast.sit_down(mona, karim, seed=number).pk, player=karim)
        results = in_threads(
            [
                partial(closing.close, mona),
                partial(friends.ask, karim, mona),
                partial(friends.ask, mona, salma),
                partial(friends.block, salma, mona),
            ]
        )
        allowed = (friends.MembersOnly, friends.HasBlocked)
        assert [one for one in results if isinstance(one, Exception)] == [
            one for one in results if isinstance(one, allowed)
        ]
        assert not Friendship.objects.exists()
        assert not Block.objects.exists()


def test_who_has_left_in_another_browser_asks_and_blocks_nobody() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    User.objects.filter(pk=mona.pk).update(is_active=False)
    for act in (friends.ask, friends.block):
        for one, other in ((mona, karim), (karim, mona)):
            with pytest.raises(friends.MembersOnly):
                act(one, other)
    assert not Friendship.objects.exists()
    assert not Block.objects.exists()
