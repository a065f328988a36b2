"""Choosing a computer player: three levels, each with a name, a face and my record against it."""

from __future__ import annotations

import re
import uuid
from html import unescape

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from accounts.models import User
from games import services
from games.models import Challenge, Game
from tests import cast

pytestmark = pytest.mark.django_db

EASY, MEDIUM, HARD = User.Level
NAMES = {EASY: "Simsim", MEDIUM: "Amm Sayed", HARD: "El Usta"}


def form_against(level: str) -> dict[str, str]:
    return {
        "level": level, "rule_set": "standard", "target": "round", "form_key": str(uuid.uuid4())
    }  # fmt: skip


def challenged(browser: Client, form: dict[str, str]) -> Challenge:
    """Post the form of the home page; return the challenge that it leads to."""
    response = cast.posted(browser, reverse("games:play_computer"), form)
    assert response.status_code == 302
    return Challenge.objects.get(pk=response["Location"].split("/")[2])


def home_of(browser: Client) -> str:
    return " ".join(unescape(cast.text_of(cast.look(browser, "home"))).split())


def chosen_on(page: str) -> list[str]:
    radios = re.findall(r'<input type="radio" name="level"[^>]*>', page)
    return [re.findall(r'value="(\w+)"', radio)[0] for radio in radios if "checked" in radio]


def said_beside(level: User.Level, page: str) -> str:
    """Return the text of the label of a level on the home page."""
    found = re.search(rf'<label for="(?:(?!</label>).)*value="{level}".*?</label>', page)
    assert found is not None
    return " ".join(re.sub(r"<[^>]+>", " ", found[0]).split())


def over(player: User, level: User.Level, *, winner: str, reason: str = "score") -> Game:
    """A finished game against a computer player; the person has seat B."""
    seed = Game.objects.count() + 1
    game = cast.sit_down_with_the_computer(player, level=level, seed=seed)
    rows = Game.objects.filter(pk=game.pk)
    rows.update(status=Game.Status.FINISHED, turn="", winner=winner, reason=reason)
    return cast.as_it_is(game)


@pytest.mark.parametrize("level", User.Level)
def test_whom_mona_chooses_sits_at_her_table(level: User.Level) -> None:
    mona = cast.browser_of(cast.person("Mona"))
    challenge = challenged(mona, form_against(level))
    assert (challenge.maker.level, challenge.maker.shown_name) == (level, NAMES[level])
    page = cast.text_of(cast.look(mona, "challenge", challenge))
    assert f"You play against <bdi>{NAMES[level]}</bdi>." in page
    assert f"cards.svg#{level}" in page

    table = mona.post(reverse("games:accept", args=[challenge.pk]), {"words": "mint"}, follow=True)
    board = table.content.decode()
    assert f'<bdi class="name">{NAMES[level]}</bdi>' in board
    assert f"A game against <bdi>{NAMES[level]}</bdi>" in board
    assert f"cards.svg#{level}" in board
    home = home_of(mona)
    assert f"Against <bdi>{NAMES[level]}</bdi>" in home


def test_a_visitor_is_offered_the_beginner() -> None:
    page = home_of(cast.browser_of())
    assert chosen_on(page) == [EASY]
    for level, name in NAMES.items():
        assert said_beside(level, page).startswith(name)
        assert f"cards.svg#{level}" in page


def test_home_offers_whom_mona_played_last_even_if_that_game_goes_on_or_does_not_count() -> None:
    mona = cast.person("Mona")
    browser = cast.browser_of(mona)
    assert chosen_on(home_of(browser)) == [EASY]
    games = ((HARD, ""), (MEDIUM, "aborted"), (EASY, "score"))
    for seed, (level, reason) in enumerate(games, start=1):
        game = cast.sit_down_with_the_computer(mona, level=level, seed=seed)
        if reason:
            Game.objects.filter(pk=game.pk).update(status="finished", turn="", reason=reason)
        assert chosen_on(home_of(browser)) == [level]
    cast.sit_down(mona, cast.person("Karim"), seed=9)
    assert chosen_on(home_of(browser)) == [EASY]


def test_a_form_that_was_refused_keeps_the_opponent_that_was_chosen() -> None:
    browser = cast.browser_of(cast.person("Mona"))
    form = form_against(HARD) | {"target": "7"}
    refused = cast.posted(browser, reverse("games:play_computer"), form)
    assert refused.status_code == 422
    assert chosen_on(cast.text_of(refused)) == [HARD]


def test_the_record_stands_beside_the_level_and_counts_what_was_won_lost_and_drawn() -> None:
    mona = cast.person("Mona")
    browser = cast.browser_of(mona)
    for winner in ("B", "B", "A", ""):
        over(mona, MEDIUM, winner=winner)
    over(mona, HARD, winner="A", reason="resigned")
    page = home_of(browser)
    assert said_beside(MEDIUM, page).endswith("You won 2, lost 1, drew 1.")
    assert said_beside(HARD, page).endswith("You won 0, lost 1.")
    assert "You won" not in said_beside(EASY, page)


def test_what_was_called_off_or_still_goes_on_is_in_no_record() -> None:
    mona = cast.person("Mona")
    over(mona, EASY, winner="", reason="aborted")
    over(mona, EASY, winner="", reason="cancelled")
    cast.sit_down_with_the_computer(mona, seed=7)
    assert "You won" not in home_of(cast.browser_of(mona))


def test_a_record_is_of_my_own_games_against_that_level_only() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    over(karim, EASY, winner="B")
    against_mona = cast.play_to_the_end(cast.sit_down(mona, karim, seed=30))
    assert against_mona.winner
    assert "You won" not in home_of(cast.browser_of(mona))
    assert said_beside(EASY, home_of(cast.browser_of(karim))).endswith("You won 1, lost 0.")


@pytest.mark.parametrize(
    ("earlier", "sentence"),
    [
        ("", "You have won 0 of 1 game against Amm Sayed."),
        ("BA", "You have won 1 of 3 games against Amm Sayed."),
        ("B--", "You have won 1 and drawn 2 of 4 games against Amm Sayed."),
    ],
)
def test_the_end_of_a_game_says_how_mona_stands_against_amm_sayed(
    earlier: str, sentence: str
) -> None:
    mona = cast.person("Mona")
    for winner in earlier:
        over(mona, MEDIUM, winner=winner.strip("-"))
    over(mona, EASY, winner="B")
    game = cast.sit_down_with_the_computer(mona, level=MEDIUM, seed=30)
    services.resign(game_id=game.pk, player=mona)
    page = cast.text_of(cast.look(cast.browser_of(mona), "table", game))
    assert sentence in re.sub("[\u2068\u2069]", "", page)


def test_a_game_that_was_called_off_before_any_other_says_nothing_of_a_record() -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)
    services.abort(game_id=game.pk, player=mona)
    page = cast.text_of(cast.look(cast.browser_of(mona), "table", game))
    assert "called off" in page
    assert "You have won" not in page


@pytest.mark.parametrize("level", User.Level)
def test_play_again_is_against_the_same_level_on_the_same_terms(level: User.Level) -> None:
    mona = cast.person("Mona")
    browser = cast.browser_of(mona)
    game = cast.sit_down_with_the_computer(mona, level=level, rules="standard", target=51)
    services.resign(game_id=game.pk, player=mona)
    page = cast.text_of(cast.look(browser, "table", game))
    (form,) = re.findall(rf"<form[^>]*{reverse('games:play_computer')}.*?</form>", page, re.DOTALL)
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))
    again = challenged(browser, hidden)
    assert (again.maker.level, again.rule_set, again.target) == (level, "standard", 51)


def test_one_form_sent_again_is_one_offer_and_with_another_level_it_is_another() -> None:
    browser = cast.browser_of(cast.person("Mona"))
    form = form_against(EASY)
    first = challenged(browser, form)
    assert challenged(browser, form) == first
    other = challenged(browser, form | {"level": HARD})
    assert other.maker.level == HARD
    assert challenged(browser, form) == first
    assert Challenge.objects.count() == 2


@pytest.mark.parametrize("level", ["", "EASY", "easy ", "hardest", "computer", "0", "\0"])
def test_a_level_that_is_none_is_refused_and_makes_nobody(level: str) -> None:
    browser = cast.browser_of()
    form = form_against(level)
    refused = cast.posted(browser, reverse("games:play_computer"), form)
    assert refused.status_code == 422
    assert "Your opponent" in cast.text_of(refused)
    assert not User.objects.exists()


def test_a_level_is_one_user_however_often_it_is_asked_for() -> None:
    for level in User.Level:
        assert services.computer_player(level) == services.computer_player(level)
    assert User.objects.count() == len(User.Level)
    assert set(User.objects.values_list("kind", flat=True)) == {User.Kind.COMPUTER}


def test_a_person_who_had_the_name_before_does_not_keep_simsim_from_the_tables() -> None:
    cast.person("Simsim")
    assert cast.the_computer(EASY).shown_name == "Simsim"


def test_a_whole_game_against_each_level_is_audited_clean() -> None:
    mona = cast.person("Mona")
    for seed, level in enumerate(User.Level, start=1):
        game = cast.sit_down_with_the_computer(mona, level=level, seed=seed)
        while game.turn:
            game = services.computer_reply(cast.play_one(game))
        assert game.plies == 48
    call_command("audit")
