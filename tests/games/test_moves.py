"""A card that is played lands once, or nothing happens and the page says why."""

from __future__ import annotations

import re
import uuid

import pytest
from django.test import Client
from django.urls import reverse

from games import engine, services
from games.engine import Play, Seat
from games.models import Game
from tests import cast

pytestmark = pytest.mark.django_db

NOT_PLAYED = "Nothing was played."
GONE_ON = "your card was not played"


def table_of_mona() -> tuple[Game, Client]:
    mona = cast.person("Mona")
    return cast.sit_down_with_the_computer(mona), cast.browser_of(mona)


def table_of_two(*, seed: int = 1, target: int | None = None) -> Game:
    return cast.sit_down(cast.person("Mona"), cast.person("Karim"), seed=seed, target=target)


def browser_to_play(game: Game) -> Client:
    return cast.browser_of(cast.player_to_play(game))


def browser_to_wait(game: Game) -> Client:
    seat = cast.seat_to_play(game).other
    return cast.browser_of(game.player_a if seat is Seat.A else game.player_b)


def test_a_card_that_is_played_lies_on_the_table_and_the_computer_replies() -> None:
    game, browser = table_of_mona()
    before = cast.as_it_is(game)
    play = cast.a_play(game)
    response = cast.post_play(browser, game, play, htmx=True)
    assert response.status_code == 200
    mine, reply = game.plays.order_by("ply")[before.plies :]
    assert (mine.seat, engine.parse_play(mine.text).card, mine.forced) == ("B", play.card, False)
    assert (reply.seat, reply.move_id) == ("A", None)
    after = cast.as_it_is(game)
    assert (after.turn, after.plies, after.version) == ("B", before.plies + 2, before.version + 2)
    assert f'data-version="{after.version}"' in cast.text_of(response)


def test_a_play_stores_its_ply_and_the_version_it_answered() -> None:
    game = table_of_two()
    for ply, version in ((1, 1), (2, 2), (3, 3)):
        cast.play_one(game)
        play = game.plays.get(ply=ply)
        assert (play.answered_version, play.round_number) == (version, 1)


def test_without_script_a_move_is_answered_by_a_redirect_that_back_cannot_repeat() -> None:
    game, browser = table_of_mona()
    response = cast.post_play(browser, game)
    assert response.status_code in (302, 303)
    assert response["Location"] == reverse("games:table", args=[game.pk])
    assert "<html" in cast.text_of(cast.look(browser, "table", game))


def test_the_same_move_sent_again_is_a_success_and_lands_once() -> None:
    game, browser = table_of_mona()
    form = cast.form_of(cast.a_play(game), game.version, uuid.uuid4())
    first = cast.post(browser, "play", game, form, htmx=True)
    stored = cast.everything_stored()
    again = cast.post(browser, "play", game, form, htmx=True)
    assert (first.status_code, again.status_code) == (200, 200)
    assert cast.everything_stored() == stored
    assert f'data-version="{cast.as_it_is(game).version}"' in cast.text_of(again)


def test_the_same_move_is_known_again_even_if_it_names_another_card_by_then() -> None:
    game, browser = table_of_mona()
    move_id = uuid.uuid4()
    first, other = engine.legal_plays(cast.state_of(game))[:2]
    cast.post(browser, "play", game, cast.form_of(first, game.version, move_id))
    stored = cast.everything_stored()
    response = cast.post(browser, "play", game, cast.form_of(other, game.version, move_id))
    assert response.status_code == 302
    assert cast.everything_stored() == stored


def test_a_move_that_landed_does_not_land_again_on_the_next_board() -> None:
    game, browser = table_of_mona()
    move_id = uuid.uuid4()
    cast.post(browser, "play", game, cast.form_of(cast.a_play(game), game.version, move_id))
    stored = cast.everything_stored()
    after = cast.as_it_is(game)
    form = cast.form_of(cast.a_play(game), after.version, move_id)
    response = cast.post(browser, "play", game, form, htmx=True)
    assert response.status_code == 200
    assert cast.everything_stored() == stored


def test_the_same_card_from_two_tabs_is_a_success_in_both() -> None:
    game, browser = table_of_mona()
    play = cast.a_play(game)
    cast.post(browser, "play", game, cast.form_of(play, game.version))
    stored = cast.everything_stored()
    for chosen in (True, False):
        form = cast.form_of(play, game.version, chosen=chosen)
        assert cast.post(browser, "play", game, form, htmx=True).status_code == 200
    assert cast.everything_stored() == stored


def test_another_card_on_a_board_that_is_gone_is_refused_and_the_new_board_shown() -> None:
    game, browser = table_of_mona()
    first, other = engine.legal_plays(cast.state_of(game))[:2]
    cast.post(browser, "play", game, cast.form_of(first, game.version))
    stored = cast.everything_stored()
    response = cast.post(browser, "play", game, cast.form_of(other, game.version), htmx=True)
    page = cast.text_of(response)
    assert response.status_code == 409
    assert GONE_ON in page
    assert f'data-version="{cast.as_it_is(game).version}"' in page
    assert cast.everything_stored() == stored


def test_a_version_that_is_not_there_yet_is_refused() -> None:
    game, browser = table_of_mona()
    form = cast.form_of(cast.a_play(game), game.version + 1)
    stored = cast.everything_stored()
    assert cast.post(browser, "play", game, form).status_code == 409
    assert cast.everything_stored() == stored


def test_a_refused_move_keeps_its_notice_until_it_is_dismissed() -> None:
    game, browser = table_of_mona()
    response = cast.post_play(browser, game)
    form = cast.form_of(cast.a_play(game), 0)
    for htmx in (True, False):
        page = cast.text_of(cast.post(browser, "play", game, form, htmx=htmx))
        assert re.search(r'class="notice" role="alert">.*data-dismiss', page, re.DOTALL)
    assert response.status_code == 302


def test_whoever_is_not_to_play_is_told_so() -> None:
    game = table_of_two()
    state = cast.state_of(game)
    waiting = cast.seat_to_play(game).other
    assert state.round is not None
    play = Play(state.round.hands[waiting][0])
    stored = cast.everything_stored()
    response = cast.post(
        browser_to_wait(game), "play", game, cast.form_of(play, game.version), htmx=True
    )
    assert response.status_code == 409
    assert "It is not your turn." in cast.text_of(response)
    assert cast.everything_stored() == stored


def test_a_game_that_is_over_takes_no_card() -> None:
    game = cast.play_to_the_end(table_of_two())
    stored = cast.everything_stored()
    for version in (game.version, game.version - 1, 1):
        form = cast.form_of(Play(engine.KOMI), version)
        response = cast.post(cast.browser_of(game.player_a), "play", game, form, htmx=True)
        assert response.status_code == 409
        assert "This game is over." in cast.text_of(response) or GONE_ON in cast.text_of(response)
    assert cast.everything_stored() == stored


def test_the_last_card_of_a_game_sent_again_is_a_success() -> None:
    game = cast.play_until_ply(table_of_two(), 47)
    mover = cast.browser_of(cast.player_to_play(game)) if game.turn else None
    if mover is None:  # the last cards went by themselves
        last = game.plays.filter(forced=False).order_by("-ply")[0]
        mover = cast.browser_of(game.player_a if last.seat == "A" else game.player_b)
        form = cast.form_of(engine.parse_play(last.text), last.answered_version)
    else:
        form = cast.form_of(cast.a_play(game), game.version)
        assert cast.post(mover, "play", game, form, htmx=True).status_code == 200
    assert cast.as_it_is(game).status == Game.Status.FINISHED
    stored = cast.everything_stored()
    assert cast.post(mover, "play", game, form, htmx=True).status_code == 200
    assert cast.everything_stored() == stored


def test_a_challenge_is_no_table_yet_and_takes_no_card() -> None:
    karim = cast.person("Karim")
    challenge = cast.offer(cast.person("Mona"), karim)
    stored = cast.everything_stored()
    browser = cast.browser_of(karim)
    form = cast.form_of(Play(engine.KOMI), 0)
    assert cast.post(browser, "play", challenge, form).status_code == 404
    assert cast.look(browser, "table", challenge).status_code == 404
    assert cast.everything_stored() == stored


def test_a_card_of_the_other_hand_is_refused_like_one_from_the_stock() -> None:
    game = table_of_two()
    table = cast.state_of(game).round
    assert table is not None
    browser = browser_to_play(game)
    stored = cast.everything_stored()
    pages = set()
    for card in (*table.hands[table.turn.other], *table.stock[::5], *table.floor):
        form = cast.form_of(Play(card), game.version)
        response = cast.post(browser, "play", game, form, htmx=True)
        assert response.status_code == 422
        assert NOT_PLAYED in cast.text_of(response)
        pages.add(re.sub(r'value="[\w-]{30,}"', "", cast.text_of(response)))
    assert len(pages) == 1
    assert cast.everything_stored() == stored


def test_a_card_cannot_be_played_twice() -> None:
    game = table_of_two()
    play = cast.a_play(game)
    cast.play_one(game, play)
    cast.play_one(game)
    stored = cast.everything_stored()
    response = cast.post_play(browser_to_play(game), game, Play(play.card))
    assert response.status_code == 422
    assert cast.everything_stored() == stored


def test_a_capture_of_my_own_making_is_refused() -> None:
    game = table_of_two()
    table = cast.state_of(game).round
    assert table is not None
    browser = browser_to_play(game)
    stored = cast.everything_stored()
    legal = engine.legal_plays(cast.state_of(game))
    card = legal[0].card
    tried = 0
    for taken in ((), table.floor, table.floor[:1], table.floor[1:], table.hands[table.turn][1:2]):
        made_up = Play(card, frozenset(taken))
        if made_up not in legal:
            tried += 1
            assert cast.post_play(browser, game, made_up).status_code == 422
    assert tried >= 4
    assert cast.everything_stored() == stored


def test_a_capture_is_taken_as_it_was_chosen() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    for seed in range(1, 200):
        game = cast.sit_down(mona, karim, seed=seed)
        legal = engine.legal_plays(cast.state_of(game))
        choices = [one for one in legal if sum(two.card == one.card for two in legal) > 1]
        if choices:
            break
    last = choices[-1]
    cast.post_play(browser_to_play(game), game, last)
    assert engine.parse_play(game.plays.get().text) == last


def test_without_a_capture_named_the_default_is_taken() -> None:
    game = table_of_two()
    play = cast.a_play(game)
    form = cast.form_of(play, game.version, chosen=False)
    cast.post(browser_to_play(game), "play", game, form)
    assert engine.parse_play(game.plays.get().text).capture in (play.capture, None)


@pytest.mark.parametrize(
    "spoilt",
    [
        {"card": "7X"},
        {"card": ""},
        {"card": "7d"},
        {"card": "10DD"},
        {"card": "\0"},
        {"card": "7D", "capture-7D": "7D+"},
        {"card": "7D", "capture-7D": "8X"},
        {"version": ""},
        {"version": "one"},
        {"version": "-1"},
        {"version": "1.5"},
        {"version": "9" * 5000},
        {"version": str(2**63)},
        {"move_id": ""},
        {"move_id": "7"},
    ],
)
def test_a_malformed_play_is_told_from_an_illegal_one(spoilt: dict[str, str]) -> None:
    game, browser = table_of_mona()
    stored = cast.everything_stored()
    form = cast.form_of(cast.a_play(game), game.version) | spoilt
    response = cast.post(browser, "play", game, form, htmx=True)
    assert response.status_code == 400
    assert "The table could not read that play." in cast.text_of(response)
    assert 'id="table"' in cast.text_of(response)
    assert cast.everything_stored() == stored


GAME_PAGES = ("table", "log", "game_rules", "fairness", "fairness_document", "record")
GAME_ACTIONS = ("play", "seen", "after_move", "cancel", "rematch")
ASKED_FIRST = ("resign", "abort")
CHALLENGE_ACTIONS = ("accept", "decline", "withdraw")


def test_what_is_not_mine_looks_like_what_is_not_there() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    offered = cast.offer(mona, karim, seed=2)
    running = cast.sit_down(mona, karim)
    finished = cast.play_to_the_end(cast.sit_down(mona, karim, seed=3))
    ids = [
        str(running.pk), str(offered.pk), str(finished.pk), str(uuid.uuid4()),
        str(uuid.UUID(int=0)), "1", "-", "0" * 36, str(running.pk)[:-1], "%F0%9F",
    ]  # fmt: skip
    form = cast.form_of(cast.a_play(running), 1) | {
        "words": "", "round": "1", "answer": "offer", "after_move": "list"
    }  # fmt: skip
    stranger, visitor = cast.browser_of(cast.person("Salma")), cast.browser_of()
    stored = cast.everything_stored()
    # Anybody may look at a game that is over.
    of_all = {
        ("fairness", finished.pk),
        ("fairness_document", finished.pk),
        ("record", finished.pk),
    }
    for browser in (stranger, visitor):
        bodies = set()
        for page in (*GAME_PAGES, *ASKED_FIRST, "challenge", *GAME_ACTIONS, *CHALLENGE_ACTIONS):
            here = reverse(f"games:{page}", args=[running.pk])
            for one in ids:
                address = here.replace(str(running.pk), one)
                if (page, one) in {(of, str(pk)) for of, pk in of_all}:
                    continue
                reads = page in (*GAME_PAGES, *ASKED_FIRST, "challenge")
                response = browser.get(address) if reads else browser.post(address, form)
                assert response.status_code == 404, address
                bodies.add(cast.without_the_way_back(response.content.decode()))
                if page in ASKED_FIRST:
                    assert browser.post(address, form).status_code == 404, address
        assert len(bodies) == 1
    assert cast.everything_stored() == stored


def test_an_action_is_a_post_and_nothing_else() -> None:
    game, browser = table_of_mona()
    stored = cast.everything_stored()
    for page in (*GAME_ACTIONS, *CHALLENGE_ACTIONS):
        for method in ("get", "head", "put", "patch", "delete", "options"):
            response = getattr(browser, method)(reverse(f"games:{page}", args=[game.pk]))
            assert response.status_code == 405
            assert response["Allow"] == "POST"
    assert cast.everything_stored() == stored


def test_a_page_that_is_read_takes_no_post() -> None:
    game, browser = table_of_mona()
    of_the_site = ("home", "rules", "next", "open_table")
    for page in (*of_the_site, *GAME_PAGES, "challenge", "replay"):
        args = [] if page in of_the_site else [game.pk]
        assert browser.post(reverse(f"games:{page}", args=args)).status_code == 405


def test_htmx_gets_the_board_and_everybody_else_a_whole_page() -> None:
    game, browser = table_of_mona()
    url = reverse("games:table", args=[game.pk])
    fragment = browser.get(url, headers={"HX-Request": "true"}).content.decode()
    restored = browser.get(
        url, headers={"HX-Request": "true", "HX-History-Restore-Request": "true"}
    ).content.decode()
    page = browser.get(url).content.decode()
    assert "<html" not in fragment
    assert fragment.lstrip().startswith('<section id="table"')
    assert "<!doctype html>" in restored
    assert "<!doctype html>" in page


def test_no_cache_keeps_a_board_or_mixes_it_with_a_page() -> None:
    game, browser = table_of_mona()
    answers = [
        cast.look(browser, "table", game),
        cast.look(browser, "table", game, htmx=True),
        cast.post_play(browser, game, htmx=True),
        cast.post(browser, "play", game, {}, htmx=True),
    ]
    for response in answers:
        assert "HX-Request" in response["Vary"]
        assert "no-store" in response["Cache-Control"]
        assert "private" in response["Cache-Control"]
    for page in ("log", "fairness", "fairness_document"):
        assert "no-store" in cast.look(browser, page, game)["Cache-Control"]


def test_a_form_without_its_token_plays_nothing_and_says_so_in_place() -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(mona)
    stored = cast.everything_stored()
    response = cast.post_play(browser, game, htmx=True)
    assert response.status_code == 403
    assert "<html" not in cast.text_of(response)
    assert "data-sentence" in cast.text_of(response)
    assert cast.everything_stored() == stored


def test_a_move_that_was_stored_but_answered_with_an_error_is_a_success_when_repeated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)
    browser = cast.browser_of(mona, tells_errors=False)
    form = cast.form_of(cast.a_play(game), game.version)

    def falls_over(_game: Game) -> Game:
        raise ConnectionError

    with monkeypatch.context() as patched:
        patched.setattr(services, "computer_reply", falls_over)
        assert cast.post(browser, "play", game, form, htmx=True).status_code == 500
    assert cast.as_it_is(game).plies == game.plies + 1
    response = cast.post(browser, "play", game, form, htmx=True)
    assert response.status_code == 200
    after = cast.as_it_is(game)
    assert (after.plies, after.turn) == (game.plies + 2, "B")


def test_the_page_offers_exactly_my_cards_with_what_each_can_take() -> None:
    game, browser = table_of_mona()
    view = engine.seat_view(cast.state_of(game), Seat.B)
    page = cast.text_of(cast.look(browser, "table", game))
    offered = re.findall(r'name="card" required id="card-\d" value="(\w+)"', page)
    assert offered == [card.code for card in view.hand]
    for card, options in view.options().items():
        choices = re.findall(rf'name="capture-{card}" value="([\w+]*)"', page)
        expected = ["+".join(map(str, option.cards)) for option in options]
        assert choices == (expected if len(expected) > 1 else [])


def test_each_rendering_of_the_form_is_a_move_of_its_own() -> None:
    game, browser = table_of_mona()
    ids = {
        re.findall(
            r'name="move_id" value="([\w-]+)"', cast.text_of(cast.look(browser, "table", game))
        )[0]
        for _ in range(3)
    }
    assert len(ids) == 3
