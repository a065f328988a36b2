"""The page of a player: what it shows to whom, and a game offered to one player by name."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts import friends
from accounts.models import User
from games import engine, selectors, services
from games.models import Challenge, Game, Play
from games.profiles import profile_of
from tests import cast

pytestmark = pytest.mark.django_db


def page(viewer: User | None, player: User) -> str:
    response = cast.get(cast.browser_of(viewer), address(player))
    assert response.status_code == 200
    return cast.text_of(response)


def address(player: User) -> str:
    return reverse("games:player", args=[player.public_id])


def figures(text: str) -> dict[str, str]:
    return dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", text))


def befriend(one: User, other: User) -> None:
    friends.ask(one, other)
    friends.accept(other, one)


def test_a_player_shows_what_was_played_with_people() -> None:
    mona, karim, salma = cast.person("Mona"), cast.person("Karim"), cast.person("Salma")
    for seed, (other, loser) in enumerate(((karim, karim), (salma, salma), (salma, mona)), start=1):
        game = cast.sit_down(mona, other, seed=seed)
        services.resign(game_id=game.pk, player=loser)
    services.abort(game_id=cast.sit_down(mona, karim, seed=4).pk, player=mona)
    with_computer = cast.sit_down_with_the_computer(mona, seed=5)
    services.resign(game_id=with_computer.pk, player=mona)
    cast.sit_down(mona, karim, seed=6)  # goes on
    text = page(salma, mona)
    shown = figures(text)
    assert shown["Finished with people"] == "3"
    assert (shown["Won"], shown["Lost"], shown["Drawn"]) == ("2", "1", "0")
    assert (shown["Ended uncounted"], shown["Called off by this player"]) == ("1", "1")
    assert "not rated yet" in shown["Rating"]
    assert text.count('<article class="row">') == 4
    assert "You have won 1 of 2 games against \u2068Mona\u2069." in text
    assert f'href="{reverse("games:replay", args=[cast.game_id_of(1)])}"' in text
    assert str(with_computer.pk) not in text
    assert str(cast.game_id_of(6)) not in text


def test_a_guest_and_a_computer_are_called_what_they_are() -> None:
    guest = cast.person("Guest 1", kind=User.Kind.GUEST)
    assert "<span>guest</span>" in page(None, guest)
    text = page(None, cast.the_computer())
    assert "<bdi>Simsim</bdi>" in text
    assert "computer player" in text
    assert "Block" not in text
    assert "Simsim (computer)" not in text


def test_a_former_player_shows_nothing() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.play_to_the_end(cast.sit_down(mona, karim))
    User.objects.filter(pk=karim.pk).update(kind=User.Kind.FORMER)
    text = page(mona, karim)
    assert "former player" in text
    assert "Karim" not in text
    assert "Games" not in re.sub(r"<header.*?</header>", "", text, flags=re.DOTALL).split("<h2>")[0]
    for name in ("table", "log", "replay"):
        other = cast.text_of(cast.look(cast.browser_of(mona), name, game))
        assert "former player" in other
        assert "Karim" not in other


AUDIENCES = {
    "everybody": ("Karim", "Salma", None),
    "friends": ("Karim",),
    "nobody": (),
}


@pytest.mark.parametrize("audience", AUDIENCES)
def test_games_and_presence_are_shown_to_whom_the_player_says(audience: str) -> None:
    mona, karim, salma = cast.person("Mona"), cast.person("Karim"), cast.person("Salma")
    befriend(mona, karim)
    services.resign(game_id=cast.sit_down(mona, salma).pk, player=salma)
    monas = User.objects.filter(pk=mona.pk)
    monas.update(may_see=audience, seen_at=timezone.now() - timedelta(hours=3))
    for viewer in (karim, salma, None):
        text = page(viewer, mona)
        shown = (viewer.name if viewer else None) in AUDIENCES[audience]
        assert ("here within the last day" in text) is shown
        assert bool(figures(text)) is shown
        assert ("games are not shown to you" in text) is not shown
        assert "<bdi>Mona</bdi>" in text
        assert "here since" in text
    # My games against somebody are mine to know, and my own page is.
    assert "You have lost" in page(salma, mona) or "You have won 0 of 1 game" in page(salma, mona)
    assert figures(page(mona, mona))


def test_in_quiet_mode_nobody_sees_when_one_was_here() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    befriend(mona, karim)
    User.objects.filter(pk=mona.pk).update(quiet=True)
    for viewer in (karim, None):
        text = page(viewer, mona)
        assert not re.search(r"<span>(not )?here (now|within|for more)", text)
        assert "does not take challenges from you" in text
        assert "?friend=" not in text


def test_the_buttons_are_those_that_do_something() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    guest = cast.person("Guest 1", kind=User.Kind.GUEST)

    def actions(viewer: User | None) -> set[str]:
        found = re.findall(r'action="/account/friends/[^/"]*/(\w+)/"', page(viewer, mona))
        return set(found)

    assert actions(None) == set()
    assert actions(mona) == set()
    assert actions(guest) == {"block"}
    assert actions(karim) == {"ask", "block"}
    friends.ask(karim, mona)
    assert actions(karim) == {"cancel", "block"}
    friends.decline(mona, karim)
    friends.ask(mona, karim)
    assert actions(karim) == {"accept", "decline", "block"}
    friends.accept(karim, mona)
    assert actions(karim) == {"remove", "block"}
    friends.block(karim, mona)
    assert actions(karim) == {"unblock"}


def test_a_page_of_nobody_is_not_there() -> None:
    mona = cast.person("Mona")
    guest = cast.person("Guest 1", kind=User.Kind.GUEST)
    User.objects.filter(pk=guest.pk).update(merged_into=mona)
    answers = set()
    for player_id in (uuid.uuid4(), guest.public_id):
        response = cast.get(cast.browser_of(mona), reverse("games:player", args=[player_id]))
        answers.add((response.status_code, re.sub(r"[0-9a-f-]{36}", "", cast.text_of(response))))
    assert len(answers) == 1
    assert answers.pop()[0] == 404
    assert cast.browser_of().get("/players/1/").status_code == 404


def test_no_search_engine_keeps_the_page_of_a_player() -> None:
    response = cast.get(cast.browser_of(), address(cast.person("Mona")))
    assert response.headers["X-Robots-Tag"] == "noindex"
    assert '<meta name="robots" content="noindex">' in cast.text_of(response)


def test_the_page_says_nothing_that_signs_in_or_reaches_the_player() -> None:
    mona = cast.person("Mona")
    User.objects.filter(pk=mona.pk).update(email="secret@example.org", username="monas-key")
    text = page(cast.person("Karim"), mona)
    assert "secret@example.org" not in text
    assert "monas-key" not in text


@pytest.mark.parametrize("name", ["منى", "O'Brien", "x" * 24, "مُحَمَّد 99"])
def test_a_name_stands_by_itself_in_its_own_direction(name: str) -> None:
    player = cast.person(name)
    shown = name.replace("'", "&#x27;")
    assert f"<h1><bdi>{shown}</bdi></h1>" in page(None, player)


def test_how_fast_one_answers_is_told_in_coarse_words() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.play_until_ply(cast.sit_down(mona, karim), 40)
    began = timezone.now() - timedelta(days=20)
    at = began
    for play in Play.objects.filter(game=game).order_by("ply"):
        # Mona takes three hours for a card, Karim five minutes.
        at += timedelta(hours=3) if play.seat == "A" else timedelta(minutes=5)
        Play.objects.filter(pk=play.pk).update(at=at)
    assert "Usually answers within a few hours." in page(None, mona)
    assert "Usually answers within minutes." in page(None, karim)
    assert "Usually" not in page(None, cast.person("Salma"))
    User.objects.filter(pk=mona.pk).update(may_see="nobody")
    assert "Usually" not in page(None, mona)


def test_the_page_takes_few_statements_however_many_the_games() -> None:
    from tests.games.test_statements import Counted

    mona, karim = cast.person("Mona"), cast.person("Karim")
    browser = cast.browser_of(karim)
    counts = set()
    for seed in range(1, 6):
        services.resign(game_id=cast.sit_down(mona, karim, seed=seed).pk, player=karim)
        browser.get(address(mona))
        with Counted() as counted:
            browser.get(address(mona))
        counts.add(len(counted))
    assert len(counts) == 1
    assert counts.pop() <= 13


def test_a_damaged_game_is_left_out() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.sit_down(mona, karim)
    services.resign(game_id=game.pk, player=karim)
    Game.objects.filter(pk=game.pk).update(public={})
    assert not profile_of(mona, karim).games
    assert figures(page(karim, mona))["Won"] == "1"


@pytest.mark.parametrize("audience", AUDIENCES)
def test_a_page_names_opponents_to_whom_they_show_their_games(audience: str) -> None:
    mona, karim, salma = cast.person("Mona"), cast.person("Karim"), cast.person("Salma")
    befriend(mona, karim)
    tarek = cast.person("Tarek")
    services.resign(game_id=cast.sit_down(tarek, mona, seed=1).pk, player=tarek)
    services.resign(game_id=cast.sit_down(mona, tarek, seed=2).pk, player=mona)
    User.objects.filter(pk=mona.pk).update(may_see=audience)
    for viewer in (karim, salma, None, mona, tarek):
        text = page(viewer, tarek)
        name = (viewer.name if viewer else None) in (*AUDIENCES[audience], "Mona", "Tarek")
        shown = "Mona" if name else "a player"
        assert text.count(f"Against <bdi>{shown}</bdi>") == 2
        assert f"\u2068{shown}\u2069 wins: \u2068Tarek\u2069 resigned." in text
        games = text.partition("<h2>Games</h2>")[2].partition("</main>")[0]
        assert ("Mona" in games) is name
    # Whose account is deleted has no name to hide.
    User.objects.filter(pk=mona.pk).update(kind=User.Kind.FORMER)
    assert "Against <bdi>former player</bdi>" in page(salma, tarek)


# A game offered to one player by name


def form_of(opponent: User | str, **changed: str) -> dict[str, str]:
    key = opponent if isinstance(opponent, str) else str(opponent.public_id)
    return {
        "rule_set": "standard", "target": "51", "who": "player", "opponent": key,
        "form_key": str(uuid.uuid4()),
    } | changed  # fmt: skip


def offer(browser: Client, opponent: User | str, **changed: str) -> HttpResponse:
    return cast.posted(browser, reverse("games:new_challenge"), form_of(opponent, **changed))


def test_a_friend_is_offered_a_game_that_nobody_else_sees() -> None:
    mona, karim, salma = cast.person("Mona"), cast.person("Karim"), cast.person("Salma")
    befriend(mona, karim)
    browser = cast.browser_of(mona)
    new = cast.text_of(cast.look(browser, "new_challenge"))
    assert "a friend who plays here" in new
    assert "\u2068Karim\u2069" in new
    assert "Salma" not in new
    key = str(uuid.uuid4())
    for _twice in range(2):
        assert offer(browser, karim, form_key=key).status_code == 302
    challenge = Challenge.objects.get()
    assert (challenge.opponent, challenge.listed) == (karim, False)
    assert challenge.expires_at - challenge.created_at == selectors.CHALLENGE_LASTS
    assert "Your challenge to <bdi>Karim</bdi>" in cast.text_of(cast.look(browser, "home"))
    assert "<bdi>Mona</bdi> offers a game" in cast.text_of(
        cast.look(cast.browser_of(karim), "home")
    )
    other = cast.browser_of(salma)
    assert cast.look(other, "challenge", challenge).status_code == 404
    assert cast.post(other, "accept", challenge, {"words": "x"}).status_code == 404
    assert "Mona" not in cast.text_of(cast.look(other, "open_table"))
    answer = cast.post(cast.browser_of(karim), "accept", challenge, {"words": "x"})
    assert answer.status_code == 302


def test_the_page_of_a_player_leads_to_a_form_with_the_player_chosen() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    (link,) = re.findall(r'href="([^"]*\?friend=[^"]*)"', page(mona, karim))
    browser = cast.browser_of(mona)
    text = browser.get(link).content.decode()
    assert re.search(r'<input type="radio" name="who" value="player"[^>]* checked', text)
    assert f'<option value="{karim.public_id}" selected>' in text
    assert offer(browser, karim).status_code == 302


def test_a_visitor_becomes_a_guest_by_offering_somebody_a_game() -> None:
    karim = cast.person("Karim")
    browser = cast.browser_of()
    assert offer(browser, karim).status_code == 302
    assert Challenge.objects.get().maker.is_guest


@pytest.mark.parametrize("setting", [{"may_challenge": "nobody"}, {"quiet": True}])
def test_who_takes_no_challenges_is_known_before_one_is_sent(setting: dict[str, object]) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    befriend(mona, karim)
    User.objects.filter(pk=karim.pk).update(**setting)
    sentence = "This player does not take challenges from you."
    assert sentence in page(mona, karim)
    for viewer in (mona, None):
        browser = cast.browser_of(viewer)
        new = reverse("games:new_challenge", query={"friend": str(karim.public_id)})
        assert sentence in browser.get(new).content.decode()
        response = offer(browser, karim)
        assert response.status_code == 409
        assert sentence in cast.text_of(response)
    assert not Challenge.objects.exists()
    assert User.objects.filter(kind=User.Kind.GUEST).count() == 0
    assert "Karim" not in cast.text_of(cast.look(cast.browser_of(mona), "new_challenge"))


@pytest.mark.parametrize(
    "named", ["", "x", "<b>", str(uuid.UUID(int=0)), "me", "the computer", "\x00", "a" * 4000]
)
def test_a_game_with_nobody_is_refused_with_words(named: str) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    befriend(mona, karim)
    keys = {"me": mona, "the computer": cast.the_computer()}
    key = str(keys[named].public_id) if named in keys else named
    browser = cast.browser_of(mona)
    response = offer(browser, key)
    assert response.status_code == 422
    assert re.search(r'role="alert">.*?<p>.*?[A-Z].*?\.</p>', cast.text_of(response), re.DOTALL)
    new = reverse("games:new_challenge", query={"friend": key})
    assert browser.get(new).status_code == (400 if "\x00" in key else 200)
    assert not Challenge.objects.exists()


def test_rules_of_ones_own_can_be_looked_at_with_the_friend_still_chosen() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    befriend(mona, karim)
    browser = cast.browser_of(mona)
    response = offer(browser, karim, preview="", rule_set=engine.CUSTOM)
    text = browser.get(response.headers["Location"]).content.decode()
    assert f'<option value="{karim.public_id}" selected>' in text
    assert re.search(r'<input type="radio" name="who" value="player"[^>]* checked', text)
