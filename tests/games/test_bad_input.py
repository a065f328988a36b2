"""Whatever is sent to whatever address: an answer with the right status, and nothing changed."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from functools import cached_property
from urllib.parse import quote, urlencode

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from accounts.models import User
from games.models import Game
from tests import cast

pytestmark = pytest.mark.django_db

REFUSED = {400, 403, 404, 405, 409, 413, 415, 422}
ANSWERED = REFUSED | {200, 302}

STRANGE = [
    "", "\0", "7D\0", "\x1b[31m", "\ud800", "\U0010ffff", "\u202e7D", "\u200b", "\ufeff7D",
    "\u3164", "ﷺ" * 60, "١٢", "1٫5", "²", "-1", "1.0", "1e3", "0x10", "1_0", "NaN", "-Infinity",
    "null", "true", "{}", "[" * 2000, str(2**31), str(2**63), "9" * 5000, "x" * 5000,
    "' OR 1=1 --", "%(id)s", "{{ 7 }}", "<script>",
    "../../etc/passwd", "7D+8S", "7D+7D", "AS+" * 20, "7d", "D7", "7♦", "１0Ｄ", "11C",
    "{00000000-0000-0000-0000-000000000000}", "urn:uuid:00000000-0000-0000-0000-000000000000",
]  # fmt: skip

FIELDS = {
    "play": ["card", "version", "move_id", "capture"],
    "accept": ["words", "proposal"],
    "seen": ["round"],
    "after_move": ["after_move"],
    "cancel": ["answer"],
    "play_computer": ["level", "rule_set", "target", "own_words", "form_key"],
    "new_challenge": ["rule_set", "target", "who", "form_key"],
    "records": ["text", "form_key"],
    "name": ["name"],
}


class Table:
    """Mona's game, and what a sound form would be at each address."""

    def __init__(self) -> None:
        self.mona = cast.person("Mona")
        self.game = cast.sit_down_with_the_computer(self.mona)
        self.offered = cast.offer(cast.the_computer(), self.mona, seed=2)
        self.browser = cast.browser_of(self.mona, tells_errors=False)
        self.play = cast.a_play(self.game)

    @cached_property
    def finished(self) -> Game:
        return cast.play_to_the_end(cast.sit_down(self.mona, cast.person("Karim"), seed=3))

    def address(self, action: str) -> str:
        if action == "name":
            return reverse("accounts:settings")
        if action in ("play_computer", "new_challenge", "records"):
            return reverse(f"games:{action}")
        if action == "accept":
            return reverse("games:accept", args=[self.offered.pk])
        game = self.finished if action == "seen" else self.game
        return reverse(f"games:{action}", args=[game.pk])

    def form(self, action: str) -> dict[str, str]:
        return {
            "play": cast.form_of(self.play, self.game.version),
            "accept": {"words": "w", "proposal": "p"},
            "seen": {"round": "1"},
            "after_move": {"after_move": "stay"},
            "cancel": {"answer": "offer"},
            "new_challenge": {
                "rule_set": "standard", "target": "51", "who": "link",
                "form_key": str(uuid.uuid4()),
            },
            "records": {"text": "Basra", "form_key": str(uuid.uuid4())},
            "play_computer": {
                "level": "easy", "rule_set": "standard", "target": "51",
                "form_key": str(uuid.uuid4()),
            },
            "name": {"name": "Mona"},
        }[action]  # fmt: skip


@pytest.fixture
def table() -> Table:
    return Table()


def encoded(form: dict[str, str]) -> bytes:
    """The body as a hostile sender writes it: lone surrogates included."""
    return "&".join(
        f"{quote(name)}={quote(value.encode('utf-8', 'surrogatepass'))}"
        for name, value in form.items()
    ).encode()


FORM = "application/x-www-form-urlencoded"


def sent(browser: Client, address: str, body: bytes, kind: str = FORM, **headers: str) -> int:
    return browser.post(address, body, content_type=kind, headers=headers).status_code


@pytest.mark.parametrize("action", FIELDS)
def test_a_strange_value_in_any_field_is_answered_and_what_is_refused_changes_nothing(
    action: str, table: Table
) -> None:
    address = table.address(action)
    before = cast.everything_stored()
    for field in FIELDS[action]:
        for value in STRANGE if field != "own_words" else STRANGE[::6]:
            form = table.form(action)
            name = f"capture-{form['card']}" if field == "capture" else field
            if field != "card" and action == "play":
                form["move_id"] = str(uuid.uuid4())
            form[name] = value
            status = sent(table.browser, address, encoded(form))
            assert status in ANSWERED, (field, value[:20], status)
            if field == "card" or (field == "move_id" and value.count("0") < 32):
                assert status == 400, (field, value[:20], status)
            after = cast.everything_stored()
            assert after == before or status not in REFUSED, (field, value[:20])
            before = after


def bodies(form: dict[str, str]) -> Iterator[tuple[str, bytes, str]]:
    """Bodies that are no form of ours, each with its name and its content type."""
    sound = urlencode(form).encode()
    boundary = "multipart/form-data; boundary=x"
    yield "nothing", b"", FORM
    yield "JSON", b'{"card": "7D", "version": 1}', "application/json"
    yield "deep JSON", b"[" * 60_000, "application/json"
    yield "NaN", b"NaN", "application/json"
    yield "plain text", sound, "text/plain"
    yield "an unknown kind", sound, "application/x-nonsense"
    yield "no kind", sound, ""
    yield "a kind that is none", sound, ";;;=,"
    yield "70 KB", b"words=" + b"x" * 70_000, FORM
    yield "51 fields", b"&".join(b"f%d=1" % number for number in range(51)), FORM
    yield "many ampersands", b"&" * 5000, FORM
    yield "not UTF-8", b"card=\xff\xfe&words=\xff&name=\xc3\x28&rule_set=\xed\xa0\x80", FORM
    yield "broken percents", b"card=%&words=%zz&name=%0&round=%u1234", FORM
    yield "a NUL in a name", b"card%00=7D&%00=1", FORM
    yield "multipart without a boundary", sound, "multipart/form-data"
    yield "a boundary that never comes", b"--y\r\nnothing", boundary
    yield "half a part", b'--x\r\nContent-Disposition: form-data; name="card', boundary
    yield "a part without a name", b"--x\r\n\r\n7D\r\n--x--\r\n", boundary
    yield (
        "a part in base64 that is none",
        b"\r\n".join(
            [
                b"--x",
                b'Content-Disposition: form-data; name="card"',
                b"Content-Transfer-Encoding: base64",
                b"",
                b"!!!",
                b"--x--",
            ]
        ),
        boundary,
    )
    yield (
        "a long boundary",
        b"--" + b"x" * 500 + b"\r\n",
        "multipart/form-data; boundary=" + "x" * 500,
    )


@pytest.mark.parametrize("action", FIELDS)
def test_a_body_that_is_no_form_of_ours_is_refused_and_changes_nothing(
    action: str, table: Table
) -> None:
    address = table.address(action)
    stored = cast.everything_stored()
    for name, body, kind in bodies(table.form(action)):
        status = sent(table.browser, address, body, kind)
        if action == "accept" and status == 302:  # words may be left out: then there are none
            stored = cast.everything_stored()
            continue
        assert status in REFUSED, (name, status)
        assert cast.everything_stored() == stored, name


def test_words_that_are_left_out_are_the_only_odd_body_that_deals(table: Table) -> None:
    assert sent(table.browser, table.address("accept"), b"") == 302
    assert Game.objects.get(pk=table.offered.pk).status == Game.Status.RUNNING


@pytest.mark.parametrize("action", FIELDS)
def test_a_file_is_refused(action: str, table: Table) -> None:
    address = table.address(action)
    form = {**table.form(action), "file": SimpleUploadedFile("x.txt", b"x")}
    stored = cast.everything_stored()
    response = table.browser.post(address, form)
    assert response.status_code in REFUSED
    assert cast.everything_stored() == stored


def test_of_a_field_that_is_doubled_the_last_counts_and_only_once(table: Table) -> None:
    form = urlencode(table.form("play"))
    body = f"card=7X&version=999&{form}".encode()
    assert sent(table.browser, table.address("play"), body) == 302
    assert cast.as_it_is(table.game).plies == table.game.plies + 2


@pytest.mark.parametrize(
    "page", ["table", "log", "fairness", "fairness_document", "home", "rules", "name"]
)
def test_strange_headers_and_queries_are_answered_as_if_they_were_not_there(
    page: str, table: Table
) -> None:
    address = table.address("name") if page == "name" else {
        "home": reverse("games:home"), "rules": reverse("games:rules")
    }.get(page) or reverse(f"games:{page}", args=[table.game.pk])  # fmt: skip
    stored = cast.everything_stored()
    for headers in (
        {"HX-Request": "yes"},
        {"HX-Request": "true", "HX-Target": "\ud83d".encode("utf-8", "replace").decode()},
        {
            "HX-Request": "true",
            "HX-Current-URL": "http://[",
            "HX-Current-URL-URI-AutoEncoded": "true",
        },
        {"HX-Request": "true", "HX-Trigger": "x" * 5000, "HX-Prompt": "%00"},
        {"HX-Request": "true", "HX-Source": "section#board", "HX-Boosted": "maybe"},
        {"HX-History-Restore-Request": "true"},
        {"Accept-Language": "x-" * 5000},
        {"Accept-Language": "ar;q=1,*;q=NaN"},
        {"Accept": "/" * 5000},
        {"Accept-Encoding": "gzip;q=x"},
        {"If-None-Match": '"' * 500, "If-Modified-Since": "never"},
        {"Range": "bytes=5-1"},
        {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https", "X-Forwarded-For": "\t"},
        {"X-HTTP-Method-Override": "DELETE"},
        {"Cookie": "basra-session=" + "x" * 5000 + "; basra-csrf=\x01"},
        {"Cookie": ";;==;"},
    ):
        response = table.browser.get(address, headers=headers)
        assert response.status_code in (200, 302, 404), headers
        assert "evil.example" not in response.content.decode(errors="replace")
    for query in (
        "words=own&words=%FF",
        "next=//evil.example",
        "%ED%A0%80",
        "a[]=1",
        "&" * 2000,
        "x=" + "9" * 5000,
    ):
        response = table.browser.get(f"{address}?{query}")
        assert response.status_code in (200, 302, 400), query
        assert "evil.example" not in response.get("Location", "")
    assert cast.everything_stored() == stored


def test_a_nul_in_an_address_is_refused(table: Table) -> None:
    for address in ("/games/%00/", "/rules/%00/", f"/games/{table.game.pk}/?x=%00", "/%00"):
        assert table.browser.get(address).status_code in (400, 404)


STRANGE_IDS = [
    "0", "-1", "x" * 3000, "%2e%2e", "1" * 36, "00000000-0000-0000-0000-00000000000g",
    "00000000000000000000000000000000", "%ED%A0%80", "%F0%9F%82%A1", "١", "null", "%E2%80%AE",
    "a%0d%0ab",
]  # fmt: skip


def test_a_strange_id_is_not_found_like_any_other(table: Table) -> None:
    stored = cast.everything_stored()
    for strange in STRANGE_IDS:
        for tail in ("", "log/", "fairness/", "fairness.json", "play/", "seen/"):
            address = f"/games/{strange}/{tail}"
            assert table.browser.get(address).status_code == 404, address
            assert table.browser.post(address, table.form("play")).status_code in (404, 403), (
                address
            )
    for strange in (*STRANGE_IDS, "poker", "standard'", "STANDARD"):
        assert table.browser.get(f"/rules/{strange}/").status_code == 404, strange
    assert cast.everything_stored() == stored


def test_a_refused_play_still_shows_the_board(table: Table) -> None:
    for form in ({}, {"card": "7D"}, table.form("play") | {"version": "0"}, {"version": "x" * 900}):
        response = cast.post(table.browser, "play", table.game, form)
        assert response.status_code in (400, 409)
        page = cast.text_of(response)
        assert 'role="alert"' in page
        assert 'data-phase="play"' in page


def test_a_signed_out_player_and_one_who_is_gone_find_nothing(table: Table) -> None:
    User.objects.filter(pk=table.mona.pk).update(is_active=False)
    assert cast.look(table.browser, "table", table.game).status_code == 404
    table.browser.cookies["basra-session"] = "a" * 32
    assert cast.look(table.browser, "table", table.game).status_code == 404
    assert cast.look(table.browser, "home").status_code == 200
