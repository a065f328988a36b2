"""Taking one's data along: everything that is stored, nothing that is hidden, once."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.db.models import Model, Q
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from accounts import exporting
from accounts.guests import create_guest
from accounts.models import Block, DataExport, Friendship, Mail, User
from accounts.tasks import look_after_data
from games import engine
from games.engine import Seat
from games.models import Challenge, Game, Play, UploadedRecord
from tests import belongings, cast
from tests.belongings import Somebody
from tests.post_office import PostOffice, html_of, text_of

type InThreads = Callable[[list[Callable[[], object]]], list[object]]

pytestmark = pytest.mark.django_db(transaction=True)

EXPORT, FILE = "/account/export/", "/account/export/file/"


def taken_along(browser: Client) -> zipfile.ZipFile:
    """Ask for the file, let the queue make it, and fetch it."""
    assert browser.post(EXPORT).status_code == 302
    response = browser.post(FILE)
    assert isinstance(response, HttpResponse)
    assert response.status_code == 200
    assert response["Content-Type"] == "application/zip"
    assert response["Content-Disposition"] == 'attachment; filename="basra-data.zip"'
    assert "no-store" in response["Cache-Control"]
    return zipfile.ZipFile(io.BytesIO(response.content))


def data_of(somebody: Somebody) -> dict[str, Any]:
    belongings.show_who_one_is(somebody.browser)
    data = json.loads(taken_along(somebody.browser).read("data.json"))
    assert isinstance(data, dict)
    return data


# What is in it


def test_as_much_is_in_the_file_as_in_the_database() -> None:
    somebody = Somebody()
    user = somebody.user
    data = data_of(somebody)
    mine = Q(player_a=user) | Q(player_b=user)
    assert len(data["games"]) == Game.objects.filter(mine).count() == 6
    for game in data["games"]:
        assert len(game["plays"]) == Play.objects.filter(game=game["id"]).count()
    offers = Challenge.objects.filter(Q(maker=user) | Q(opponent=user))
    assert len(data["challenges"]) == offers.count()
    assert len(data["invitations_sent"]) == len(data["invitations_received"]) == 1
    assert len(data["uploaded_records"]) == UploadedRecord.objects.filter(owner=user).count()
    assert len(data["friends"]) == Friendship.objects.filter(Q(asker=user) | Q(asked=user)).count()
    assert len(data["blocks"]) == Block.objects.filter(blocker=user).count() == 1
    mails = Mail.objects.exclude(kind="export_ready")  # that was written after the file
    assert len(data["mails"]) == mails.count() == 3
    assert len(data["sign_ins"]) == UserSession.objects.filter(user=user).count()
    assert len(data["addresses"]) == EmailAddress.objects.filter(user=user).count() == 2
    assert len(data["exports"]) == DataExport.objects.filter(user=user).count()
    assert len(data["links"]) == len(data["second_factors"]) == len(data["facebook"]) == 1


def test_the_file_says_who_one_is_and_how_one_wants_things() -> None:
    somebody = Somebody()
    data = data_of(somebody)
    assert data["format"] == exporting.FORMAT
    assert data["profile"]["name"] == belongings.NAME
    assert data["profile"]["address"] == belongings.ADDRESS
    assert data["profile"]["id"] == str(somebody.public_id)
    assert data["settings"]["time_zone"] == belongings.TIME_ZONE
    assert data["links"][0]["id_there"] == belongings.FACEBOOK_ID
    assert data["sign_ins"][0]["browser"] == belongings.BROWSER
    assert data["rights"]["groups"] == ["Testers"]
    assert {friend["name"] for friend in data["friends"]} == {"Karim", "Salma"}
    assert [block["name"] for block in data["blocks"]] == ["Tarek"]
    times = re.findall(r'_at": "([^"]+)"', json.dumps(data))
    assert times
    for time in times:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", time), time


def test_no_secret_is_in_the_file_nor_who_has_blocked_me() -> None:
    somebody = Somebody()
    belongings.show_who_one_is(somebody.browser)
    packed = taken_along(somebody.browser)
    somebody.user.refresh_from_db()
    for name in packed.namelist():
        text = packed.read(name).decode()
        for secret in (belongings.SECRET, somebody.user.password, "argon2", "Mona"):
            assert secret not in text, f"{secret} in {name}"


def test_no_card_that_is_still_hidden_is_in_the_file() -> None:
    somebody = Somebody()
    by_id = {game["id"]: game for game in data_of(somebody)["games"]}
    for game in (somebody.running, somebody.running_as_b, somebody.of_two_rounds):
        mine = cast.as_it_is(game).seat_of(somebody.user)
        table = cast.state_of(game).round
        assert table is not None
        exported = by_id[str(game.pk)]
        assert exported["hand_now"] == [str(card) for card in sorted(table.hands[mine])]
        shown = json.dumps(exported, ensure_ascii=False)
        rounds = cast.as_it_is(game).finished_rounds.count()
        assert len(exported["hands"]) == rounds
        if not rounds:  # all cards that are named anywhere are played, on the floor, or mine
            hidden = [*table.hands[mine.other], *table.stock]
            named = set(re.findall(r"\b(?:10|[2-9AJQK])[♠♥♦♣SHDC]", shown))
            assert named.isdisjoint({str(card) for card in hidden})
            assert named.isdisjoint({card.code for card in hidden})


def test_the_hands_that_one_held_are_those_that_were_dealt() -> None:
    somebody = Somebody()
    by_id = {game["id"]: game for game in data_of(somebody)["games"]}
    game = cast.as_it_is(somebody.finished)
    exported = by_id[str(game.pk)]
    mine = game.seat_of(somebody.user)
    for held in exported["hands"]:
        cards = [card for hand in held["hands"] for card in hand.split()]
        plays = game.plays.filter(round_number=held["round"], seat=mine).order_by("ply")
        played = [engine.read_play(play.text)[0] for play in plays]
        assert sorted(engine.parse_cards(" ".join(cards))) == sorted(played)
    assert exported["result"] == ("won" if game.winner == mine else "lost")
    assert engine.parse_record(exported["record"])


def test_the_page_in_the_file_has_the_same_and_runs_nothing() -> None:
    somebody = Somebody()
    belongings.show_who_one_is(somebody.browser)
    packed = taken_along(somebody.browser)
    assert packed.namelist() == ["data.json", "data.html"]
    page, data = packed.read("data.html").decode(), json.loads(packed.read("data.json"))
    assert '<html lang="en" dir="ltr">' in page
    assert not re.search(r"<(script|style|link|img|iframe)|\son\w+=|style=", page)
    for text in (belongings.NAME, belongings.ADDRESS, belongings.FACEBOOK_ID, belongings.BROWSER):
        assert text in page
    for game in data["games"]:
        assert game["id"] in page
    assert page.count("<h2>") == len(exporting._PARTS)


def test_the_page_has_a_word_for_everything_in_the_file() -> None:
    data = data_of(Somebody())

    def keys(value: object) -> set[str]:
        if isinstance(value, dict):
            return set(value).union(*map(keys, value.values()))
        return set().union(*map(keys, value)) if isinstance(value, list) else set()

    ours = {key: value for key, value in data.items() if isinstance(value, dict | list)}
    ours["links"] = [{**link, "told_by_the_site": None} for link in ours["links"]]
    for game in [*ours["games"], *ours["challenges"]]:
        game["rules"] = None
    assert keys(list(ours.values())) <= set(exporting.WORDS)


def test_names_of_others_are_shown_as_text() -> None:
    user = cast.person("Mona")
    other = cast.person("Karim")
    User.objects.filter(pk=other.pk).update(name="<b>&\u202e")
    Friendship.objects.create(asker=user, asked=other)
    page = exporting.as_html(exporting.data_of(user))
    assert "<bdi>&lt;b&gt;&amp;\u202e</bdi>" in page


def test_a_damaged_game_does_not_keep_the_rest_back() -> None:
    somebody = Somebody()
    Game.objects.filter(pk=somebody.running.pk).update(hidden=b"damaged")
    damaged = [game for game in data_of(somebody)["games"] if game.get("damaged")]
    assert [game["id"] for game in damaged] == [str(somebody.running.pk)]
    assert damaged[0]["plays"]


# Nothing is forgotten (SECURITY: "every table with a link to the user")


def links_to_players() -> list[tuple[type[Model], str]]:
    """Every field of every table that leads to a player."""
    return [
        (model, field.name)
        for model in apps.get_models(include_auto_created=True)
        for field in model._meta.get_fields()
        if field.is_relation and field.concrete and field.related_model is User
    ]


def test_every_table_with_a_way_to_a_player_is_in_the_file_or_left_out_for_a_reason() -> None:
    assert len(links_to_players()) > 20
    for model, field in links_to_players():
        label = model._meta.label
        if model is not User:
            assert label in exporting.covered() | exporting.LEFT_OUT.keys(), f"{label}.{field}"


def test_every_field_of_a_player_is_in_the_file_or_left_out_for_a_reason() -> None:
    told = {*exporting.PROFILE_FIELDS, *User.SETTINGS}
    left_out = {key.rpartition(".")[2] for key in exporting.LEFT_OUT if "User." in key}
    fields = {field.name for field in User._meta.concrete_fields}
    assert told | left_out == fields
    assert not told & left_out
    assert {field.name for field in User._meta.many_to_many} == {"groups", "user_permissions"}


def test_what_is_said_to_be_covered_is_there() -> None:
    known = {model._meta.label for model in apps.get_models(include_auto_created=True)}
    assert exporting.covered() <= known
    assert all(reason for reason in exporting.LEFT_OUT.values())


# Asking and fetching


def test_asking_and_fetching_need_the_password_again() -> None:
    somebody = Somebody()
    for url in (EXPORT, FILE):
        away = somebody.browser.post(url)
        assert away.status_code == 302
        assert away["Location"].startswith("/account/reauthenticate/")
    back = somebody.browser.post(away["Location"], {"password": belongings.PASSWORD})
    assert back.status_code == 409  # led on to fetching, and there is nothing yet
    assert not DataExport.objects.filter(
        user=somebody.user,
        content__isnull=False,
        fetched_at=None,
        made_at__gt=timezone.now() - timedelta(hours=1),
    ).exists()


def test_a_guest_takes_along_what_a_guest_has_without_a_password() -> None:
    guest = create_guest()
    cast.sit_down_with_the_computer(guest)
    data = json.loads(taken_along(cast.browser_of(guest)).read("data.json"))
    assert data["profile"]["kind"] == "guest"
    assert len(data["games"]) == 1


def test_a_visitor_finds_nothing() -> None:
    assert cast.browser_of().get(EXPORT).status_code == 302  # to sign in first
    assert cast.browser_of().post(EXPORT).status_code == 404
    assert cast.browser_of().post(FILE).status_code == 404
    assert cast.browser_of().get(FILE).status_code == 405


def test_looking_makes_and_fetches_nothing() -> None:
    guest = create_guest()
    browser = cast.browser_of(guest)
    browser.get(EXPORT)
    browser.head(EXPORT)
    assert not DataExport.objects.exists()
    browser.post(EXPORT)
    shown = cast.text_of(cast.get(browser, EXPORT))
    assert f'action="{FILE}"' in shown
    assert DataExport.objects.get().fetched_at is None


def test_a_file_is_gone_once_it_was_fetched_but_for_a_second_press_at_once() -> None:
    browser = cast.browser_of(create_guest())
    browser.post(EXPORT)
    assert browser.post(FILE).status_code == 200
    assert browser.post(FILE).status_code == 200
    later = timezone.now() - timedelta(minutes=3)
    DataExport.objects.update(fetched_at=later)
    response = browser.post(FILE)
    assert response.status_code == 409
    assert "not there any more" in response.content.decode()
    look_after_data()
    assert DataExport.objects.get().content is None


def test_a_file_that_nobody_fetches_is_gone_after_a_day() -> None:
    browser = cast.browser_of(create_guest())
    browser.post(EXPORT)
    DataExport.objects.update(made_at=timezone.now() - timedelta(hours=24, minutes=1))
    assert browser.post(FILE).status_code == 409
    look_after_data()
    assert DataExport.objects.get().content is None


def test_nobody_fetches_the_file_of_another() -> None:
    cast.browser_of(create_guest()).post(EXPORT)
    assert cast.browser_of(create_guest()).post(FILE).status_code == 409


def test_asking_again_while_one_waits_is_harmless() -> None:
    guest = create_guest()
    browser = cast.browser_of(guest)
    with patch("accounts.exporting._ring"):
        for _time in range(3):
            assert browser.post(EXPORT).status_code == 302
    assert "is being made" in cast.text_of(cast.get(browser, EXPORT))
    assert DataExport.objects.count() == 1


def test_many_who_press_at_once_ask_once(in_threads: InThreads) -> None:
    guest = create_guest()
    with patch("accounts.exporting._ring"):
        done = in_threads([lambda: exporting.ask(guest)] * 6)
    assert [error for error in done if isinstance(error, Exception)] == []
    assert DataExport.objects.count() == 1


def test_who_asks_all_day_is_told_to_wait() -> None:
    browser = cast.browser_of(create_guest())
    for _time in range(exporting.MOST_A_DAY):
        assert browser.post(EXPORT).status_code == 302
        browser.post(FILE)
        DataExport.objects.update(fetched_at=timezone.now() - timedelta(minutes=3))
    refused = browser.post(EXPORT)
    assert refused.status_code == 429
    assert "tomorrow" in refused.content.decode()


def test_a_file_whose_making_was_interrupted_is_made_by_the_next_run() -> None:
    guest = create_guest()
    with patch("accounts.exporting._ring"):
        exporting.ask(guest)
    look_after_data()
    assert DataExport.objects.get().made_at is None  # somebody may be at it
    DataExport.objects.update(asked_at=timezone.now() - timedelta(minutes=11))
    with patch("accounts.exporting.file_of", side_effect=RuntimeError("killed")):
        look_after_data()
    assert DataExport.objects.get().made_at is None
    look_after_data()
    assert DataExport.objects.get().made_at is not None


def test_a_file_that_cannot_be_made_is_given_up_after_a_day_and_can_be_asked_for_anew() -> None:
    guest = create_guest()
    browser = cast.browser_of(guest)
    with patch("accounts.exporting._ring"):
        exporting.ask(guest)
    DataExport.objects.update(asked_at=timezone.now() - timedelta(hours=25))
    look_after_data()
    assert DataExport.objects.get().made_at is None
    assert browser.post(EXPORT).status_code == 302
    assert browser.post(FILE).status_code == 200


def test_asking_works_while_the_queue_is_away() -> None:
    browser = cast.browser_of(create_guest())
    with patch("accounts.tasks.make_export.delay", side_effect=OSError("no broker")):
        assert browser.post(EXPORT).status_code == 302
    assert DataExport.objects.get().made_at is None


def test_a_mail_says_that_it_is_ready_and_nothing_else(post_office: PostOffice) -> None:
    somebody = Somebody()
    Mail.objects.all().delete()
    exporting.ask(somebody.user)
    [mail] = post_office.mails_to(belongings.ADDRESS)
    assert mail["Subject"] == "Your Basra data is ready"
    for text in (text_of(mail), html_of(mail)):
        assert "http://localhost:8000/account/export/" in text
        assert "Karim" not in text
    assert not list(mail.iter_attachments())


def test_no_seat_reads_the_other_ones_hand() -> None:
    one, other = cast.person("Mona"), cast.person("Karim")
    game = cast.play_until_ply(cast.sit_down(one, other), 3)
    table = cast.state_of(game).round
    assert table is not None
    for player, seat in ((one, Seat.A), (other, Seat.B)):
        [exported] = exporting.data_of(player)["games"]
        assert exported["hand_now"] == [str(card) for card in sorted(table.hands[seat])]
