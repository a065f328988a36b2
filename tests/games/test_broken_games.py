"""A game whose rows are damaged stops, and says so; everything else goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from cryptography.fernet import Fernet
from django.urls import reverse
from pytest_django import Settings

from accounts.models import User
from games import services
from games.models import Challenge, FinishedRound, Game, Play, Seal
from games.sealing.models import SealedTip
from games.snapshot import write_state
from tests import cast

pytestmark = pytest.mark.django_db

SAYS_SO = "This game is being repaired"


def bitten(token: bytes | memoryview) -> bytes:
    """The same token with one bit turned."""
    token = bytes(token)
    return token[:40] + bytes([token[40] ^ 1]) + token[41:]


def hidden_part_damaged(game: Game, _other: Game) -> None:
    Game.objects.filter(pk=game.pk).update(hidden=bitten(game.hidden))


def hidden_part_gone(game: Game, _other: Game) -> None:
    Game.objects.filter(pk=game.pk).update(hidden=b"")


def hidden_part_of_another_game(game: Game, other: Game) -> None:
    Game.objects.filter(pk=game.pk).update(hidden=bytes(cast.as_it_is(other).hidden))


def hidden_part_of_an_earlier_version(game: Game, _other: Game) -> None:
    earlier = bytes(game.hidden)
    cast.play_one(game)
    cast.play_one(game)
    Game.objects.filter(pk=game.pk).update(hidden=earlier)


def floor_emptied(game: Game, _other: Game) -> None:
    row = cast.as_it_is(game)
    public = {**row.public, "round": {**row.public["round"], "floor": ""}}
    Game.objects.filter(pk=game.pk).update(public=public)


def public_part_gone(game: Game, _other: Game) -> None:
    Game.objects.filter(pk=game.pk).update(public={})


def public_part_nonsense(game: Game, _other: Game) -> None:
    Game.objects.filter(pk=game.pk).update(public={"totals": "x", "round_number": [], "round": 7})


def rule_set_unknown(game: Game, _other: Game) -> None:
    Game.objects.filter(pk=game.pk).update(rule_set="poker")


def turn_turned(game: Game, _other: Game) -> None:
    turn = {"A": "B", "B": "A"}[cast.as_it_is(game).turn]
    Game.objects.filter(pk=game.pk).update(turn=turn)


DAMAGES = [
    hidden_part_damaged,
    hidden_part_gone,
    hidden_part_of_another_game,
    hidden_part_of_an_earlier_version,
    floor_emptied,
    public_part_gone,
    public_part_nonsense,
    rule_set_unknown,
    turn_turned,
]


def two_games() -> tuple[User, Game, Game]:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    return mona, cast.sit_down(mona, karim, seed=1), cast.sit_down(mona, karim, seed=2)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_game_stops_and_the_others_go_on(
    damage: Callable[[Game, Game], None], caplog: pytest.LogCaptureFixture
) -> None:
    mona, game, sound = two_games()
    mover = cast.browser_of(cast.player_to_play(game))
    play = cast.a_play(game)
    damage(game, sound)
    stored = cast.everything_stored()
    form = cast.form_of(play, cast.as_it_is(game).version)
    for response in (
        cast.look(mover, "table", game),
        cast.look(mover, "table", game, htmx=True),
        cast.post(mover, "play", game, form),
        cast.post(mover, "play", game, form, htmx=True),
    ):
        assert response.status_code == 503
        assert SAYS_SO in cast.text_of(response)
        assert "Your other games go on." in cast.text_of(response)
    assert cast.everything_stored() == stored
    told = [record for record in caplog.records if record.message == "broken game"]
    assert len(told) == 4
    assert {getattr(record, "game", None) for record in told} == {str(game.pk)}
    assert all(getattr(record, "why", "") for record in told)

    browser = cast.browser_of(mona)
    assert cast.look(browser, "table", sound).status_code == 200
    home = cast.look(browser, "home")
    assert home.status_code == 200
    for one in (game, sound):
        assert reverse("games:table", args=[one.pk]) in cast.text_of(home)
    cast.play_to_the_end(sound)


@pytest.mark.parametrize("damage", [public_part_gone, public_part_nonsense, rule_set_unknown])
def test_the_list_marks_a_game_whose_row_it_cannot_read(
    damage: Callable[[Game, Game], None],
) -> None:
    mona, game, sound = two_games()
    damage(game, sound)
    page = cast.text_of(cast.look(cast.browser_of(mona), "home"))
    assert page.count("This game is being repaired.") == 1


def log_damaged(game: Game) -> None:
    Play.objects.filter(game=game).update(text="zz")


def seal_gone(game: Game) -> None:
    Seal.objects.filter(pk=game.pk).delete()


def result_damaged(game: Game) -> None:
    FinishedRound.objects.filter(game=game).update(result={})


def reason_unknown(game: Game) -> None:
    Game.objects.filter(pk=game.pk).update(reason="boredom")


@pytest.mark.parametrize("damage", [log_damaged, seal_gone, result_damaged, reason_unknown])
def test_whatever_is_damaged_of_a_game_that_is_over_home_still_lists_it(
    damage: Callable[[Game], None],
) -> None:
    mona, game, sound = two_games()
    cast.play_to_the_end(game)
    damage(game)
    browser = cast.browser_of(mona)
    table = cast.look(browser, "table", game)
    assert (table.status_code, SAYS_SO in cast.text_of(table)) == (503, True)
    home = cast.look(browser, "home")
    assert home.status_code == 200
    for one in (game, sound):
        assert reverse("games:table", args=[one.pk]) in cast.text_of(home)
    assert cast.look(browser, "table", sound).status_code == 200


def tip_damaged(game: Game | Challenge, _other: Game | Challenge) -> None:
    tip = SealedTip.objects.get(pk=game.pk)
    SealedTip.objects.filter(pk=game.pk).update(tip=bitten(tip.tip))


def tip_gone(game: Game | Challenge, _other: Game | Challenge) -> None:
    SealedTip.objects.filter(pk=game.pk).delete()


def tip_of_another_game(game: Game | Challenge, other: Game | Challenge) -> None:
    tip = SealedTip.objects.get(pk=other.pk).tip
    SealedTip.objects.filter(pk=game.pk).update(tip=bytes(tip))


def stock_exchanged(game: Game, _other: Game) -> None:
    # What somebody could do who had the key: the position is sound, but it is not the sealed one.
    row, state = cast.as_it_is(game), cast.state_of(game)
    assert state.round is not None
    stock = state.round.stock[::-1]
    public, hidden = write_state(replace(state, round=replace(state.round, stock=stock)), row)
    Game.objects.filter(pk=game.pk).update(public=public, hidden=hidden)


@pytest.mark.parametrize("damage", [tip_damaged, tip_gone, tip_of_another_game, stock_exchanged])
def test_cards_are_never_dealt_from_anything_but_the_seal(
    damage: Callable[[Game, Game], None],
) -> None:
    mona = cast.person("Mona", forced=False)
    karim = cast.person("Karim", forced=False)
    game, other = cast.sit_down(mona, karim, seed=1), cast.sit_down(mona, karim, seed=2)
    game = cast.play_until_ply(game, 7)
    damage(game, other)
    stored = cast.everything_stored()
    mover = cast.browser_of(cast.player_to_play(game))
    response = cast.post_play(mover, game, htmx=True)
    assert response.status_code == 503
    assert SAYS_SO in cast.text_of(response)
    assert cast.everything_stored() == stored
    assert cast.look(mover, "table", other).status_code == 200


@pytest.mark.parametrize("damage", [tip_damaged, tip_gone, tip_of_another_game])
def test_a_challenge_whose_seal_is_damaged_is_not_dealt(
    damage: Callable[[Challenge, Challenge], None],
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    challenge, other = cast.offer(mona, karim, seed=1), cast.offer(mona, karim, seed=2)
    damage(challenge, other)
    stored = cast.everything_stored()
    browser = cast.browser_of(karim)
    response = cast.post(browser, "accept", challenge, {"words": "mine"})
    assert response.status_code == 503
    assert SAYS_SO in cast.text_of(response)
    assert cast.everything_stored() == stored
    assert cast.look(browser, "home").status_code == 200
    assert cast.look(browser, "challenge", other).status_code == 200


@pytest.mark.parametrize("damaged", [{"rule_set": "poker"}, {"rule_set": {}}, {"target": 52}])
def test_a_challenge_whose_terms_are_damaged_is_listed_and_not_dealt(
    damaged: dict[str, object],
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    challenge = cast.offer(mona, karim)
    Challenge.objects.filter(pk=challenge.pk).update(**damaged)
    stored = cast.everything_stored()
    browser = cast.browser_of(karim)
    assert reverse("games:challenge", args=[challenge.pk]) in cast.text_of(
        cast.look(browser, "home")
    )
    assert cast.look(browser, "challenge", challenge).status_code == 503
    assert cast.post(browser, "accept", challenge, {"words": "mine"}).status_code == 503
    assert cast.everything_stored() == stored


@pytest.mark.parametrize("listed", [True, False])
def test_a_challenge_whose_seal_is_gone_is_answered_with_a_page_that_says_so(
    listed: bool,
) -> None:
    mona = cast.person("Mona")
    challenge = cast.offer(cast.person("Karim"), None if listed else mona, listed=listed)
    Seal.objects.filter(pk=challenge.pk).delete()
    browser = cast.browser_of(mona, tells_errors=False)
    for response in (
        cast.look(browser, "challenge", challenge),
        cast.post(browser, "accept", challenge, {"words": "mine"}),
    ):
        assert response.status_code == 503
        assert SAYS_SO in cast.text_of(response)
    assert cast.look(browser, "home").status_code == 200
    assert cast.look(browser, "open_table").status_code == 200


def test_the_reply_of_the_computer_is_missing_but_the_card_is_kept_when_the_game_breaks() -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)
    play = cast.a_play(game)
    cast.play_one(game, play)
    row = cast.as_it_is(game)
    Game.objects.filter(pk=game.pk).update(hidden=b"")
    form = cast.form_of(play, game.version)
    assert cast.post(cast.browser_of(mona), "play", game, form).status_code == 503
    assert cast.as_it_is(game).plies == row.plies == game.plies + 1


def test_without_the_key_games_stop_and_with_it_they_go_on(
    settings: Settings,
) -> None:
    mona, game, _other = two_games()
    browser = cast.browser_of(mona)
    keys = settings.CARD_KEYS
    settings.CARD_KEYS = [Fernet.generate_key().decode()]
    assert cast.look(browser, "table", game).status_code == 503
    assert cast.look(browser, "home").status_code == 200
    settings.CARD_KEYS = keys
    assert cast.look(browser, "table", game).status_code == 200


def test_a_changed_key_leaves_running_games_running(settings: Settings) -> None:
    _mona, game, other = two_games()
    old, new = settings.CARD_KEYS[0], Fernet.generate_key().decode()
    settings.CARD_KEYS = [new, old]
    cast.play_to_the_end(game)
    cast.play_one(other)
    # What has been written since opens with the new key alone.
    settings.CARD_KEYS = [new]
    assert cast.look(cast.browser_of(other.player_a), "table", other).status_code == 200


def test_the_computers_other_games_go_on_beside_a_broken_one() -> None:
    mona = cast.person("Mona")
    broken = cast.sit_down_with_the_computer(mona, seed=1)
    sound = cast.sit_down_with_the_computer(mona, seed=2)
    hidden_part_gone(broken, sound)
    assert cast.post_play(cast.browser_of(mona), sound, htmx=True).status_code == 200
    assert services.computer_reply(cast.as_it_is(sound)).turn == "B"
