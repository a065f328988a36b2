"""What a hostile sender sends: values for the fields that the site reads, bodies, and headers."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from .world import FORM, encoded

NOBODY = "00000000-0000-0000-0000-000000000000"

VALUES = {
    "nothing": "",
    "a blank": " ",
    "a NUL": "\0",
    "a NUL at the end": "7D\0",
    "an escape": "\x1b[31m",
    "line ends": "a\r\nSet-Cookie: b=c",
    "a lone surrogate": "\ud800",
    "the last letter there is": "\U0010ffff",
    "right to left": "\u202e7D",
    "a zero width": "\u200b",
    "a byte order mark": "\ufeff7D",
    "an invisible letter": "\u3164",
    "what grows": "ﷺ" * 60,
    "marks without end": "a" + "\u0301" * 2000,
    "Arabic digits": "١٢",
    "an Arabic fraction": "1٫5",
    "a raised digit": "²",
    "wide digits": "１0Ｄ",
    "below nothing": "-1",
    "zero": "0",
    "one": "1",
    "a fraction": "1.0",
    "an exponent": "1e3",
    "hexadecimal": "0x10",
    "a grouped number": "1_0",
    "no number": "NaN",
    "without end": "-Infinity",
    "null": "null",
    "true": "true",
    "an object": "{}",
    "2³¹ - 1": str(2**31 - 1),
    "2³¹": str(2**31),
    "2⁶³": str(2**63),
    "5,000 digits": "9" * 5000,
    "long": "x" * 5000,
    "very long": "x" * 61_000,
    "deep": "[" * 2000,
    "SQL": "' OR 1=1 --",
    "a placeholder": "%(id)s",
    "a template": "{{ 7 }}{% debug %}",
    "markup": '"><script>alert(1)</script>',
    "a path": "../../etc/passwd",
    "two cards": "7D+8S",
    "a card twice": "7D+7D",
    "many cards": "AS+" * 20,
    "a card in small letters": "7d",
    "a card turned round": "D7",
    "a card in symbols": "7♦",
    "no such card": "11C",
    "nobody's id": NOBODY,
    "an id in braces": f"{{{NOBODY}}}",
    "an id as a name": f"urn:uuid:{NOBODY}",
    "the last": "last",
    "own": "own",
    "custom": "custom",
    "agree": "agree",
    "decline": "decline",
    "a record": "Basra record 1\nrules: standard\n",
    "a mark": "a:b:c",
}

FIELDS = {
    "accounts:settings": (
        "name", "plays_forced_cards", "after_move", "confirms_plays", "deck", "language",
        "time_zone", "may_challenge", "may_see", "quiet",
    ),
    "accounts:friends": ("name",),
    "accounts:facebook_deauthorise": ("signed_request",),
    "accounts:facebook_delete": ("signed_request",),
    "account_login": ("login", "password", "remember", "next"),
    "account_signup": ("email", "name", "password1", "next"),
    "account_request_login_code": ("email", "next"),
    "account_confirm_login_code": ("code", "action"),
    "account_email": ("email", "action_add", "action_remove", "action_primary", "action_send"),
    "account_change_password": ("oldpassword", "password1", "password2"),
    "account_reauthenticate": ("password", "next"),
    "account_request_reauthentication_code": ("recipient", "next"),
    "account_confirm_reauthentication_code": ("code",),
    "account_reset_password": ("email",),
    "account_reset_password_from_key": ("password1", "password2"),
    "account_confirm_email": ("password", "next", "action"),
    "facebook_login": ("process", "next", "scope", "auth_params"),
    "facebook_callback": ("code", "state", "error"),
    "socialaccount_signup": ("name", "email"),
    "socialaccount_connections": ("account",),
    "mfa_authenticate": ("code", "credential"),
    "mfa_reauthenticate_webauthn": ("credential",),
    "mfa_login_webauthn": ("credential",),
    "mfa_edit_webauthn": ("name",),
    "games:accept_invitation": ("words", "proposal", "form_key", "agreed"),
    "games:never": ("List-Unsubscribe",),
    "games:home": ("page",),
    "games:next": ("after",),
    "games:open_table": ("page",),
    "games:new_challenge": (
        "rule_set", "target", "who", "form_key", "open", "custom-base", "custom-majority",
        "opponent", "friend", "address", "language", "mail",
        "custom-komi_basra", "custom-replaced", "custom-last_card_basra", "custom-nothing",
    ),
    "games:challenge": ("pressed", "words"),
    "games:accept": ("words", "proposal", "pressed"),
    "games:play_computer": ("level", "rule_set", "target", "own_words", "form_key"),
    "games:play": ("card", "version", "move_id", "capture-"),
    "games:seen": ("round",),
    "games:after_move": ("after_move",),
    "games:cancel": ("answer",),
    "games:replay": ("ply",),
    "games:uploaded": ("ply",),
    "games:records": ("text", "form_key"),
}  # fmt: skip
EVERYWHERE = ("id", "game_id", "player", "csrfmiddlewaretoken", "_method", "next", "\0")


@dataclass(frozen=True)
class Payload:
    """What is wrong with a request: a value, or its whole body, or its environment."""

    name: str
    value: tuple[str, str] | None = None
    body: bytes | None = None
    environ: dict[str, Any] = field(default_factory=dict)

    def of(self, form: dict[str, str]) -> dict[str, Any]:
        """Return the request's environment where ``form`` would have been sound."""
        if self.value is None:
            body = encoded(form) if self.body is None else self.body
            return {"CONTENT_TYPE": FORM, "body": body, **self.environ}
        name, value = self.value
        if name == "capture-":
            name += form.get("card", "7D")
        return {
            "CONTENT_TYPE": FORM,
            "body": encoded({**form, name: value}),
            "QUERY_STRING": encoded({name: value}).decode(),
        }


def values_for(name: str) -> list[Payload]:
    """Return every value for a field."""
    return [Payload(f"{name} is {what}", (name, value)) for what, value in VALUES.items()]


_MULTIPART = "multipart/form-data; boundary=x"


def _part(disposition: str, content: bytes, *more: str) -> bytes:
    head = "\r\n".join(["--x", f"Content-Disposition: form-data; {disposition}", *more])
    return head.encode() + b"\r\n\r\n" + content + b"\r\n--x--\r\n"


def _body(name: str, body: bytes, kind: str = FORM, **environ: str) -> Payload:
    return Payload(name, body=body, environ={"CONTENT_TYPE": kind, **environ})


BODIES = [
    _body("no body", b""),
    _body("JSON", b'{"card": "7D", "version": 1}', "application/json"),
    _body("JSON with a key twice", b'{"card": "7D", "card": "8D"}', "application/json"),
    _body("JSON 60,000 deep", b"[" * 60_000, "application/json"),
    _body("JSON 100,000 deep", b"[" * 100_000, "application/json"),
    _body("JSON 60,000 deep as a form", b"[" * 60_000),
    _body("NaN", b"NaN", "application/json"),
    _body("plain text", b"card=7D", "text/plain"),
    _body("an unknown kind", b"card=7D", "application/x-nonsense"),
    _body("no kind", b"card=7D", ""),
    _body("a kind that is none", b"card=7D", ";;;=,"),
    _body("a long kind", b"card=7D", "a/" + "b" * 10_000),
    _body("XML", b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "text/xml"),
    _body("70 KB", b"words=" + b"x" * 70_000),
    _body("70 KB of another kind", b"x" * 70_000, "application/octet-stream"),
    _body("51 fields", b"&".join(b"f%d=1" % number for number in range(51))),
    _body("50 fields", b"&".join(b"f%d=1" % number for number in range(50))),
    _body("one field 51 times", b"card=7D&" * 51),
    _body("ampersands", b"&" * 5000),
    _body("not UTF-8", b"card=\xff\xfe&words=\xff&name=\xc3\x28&rule_set=\xed\xa0\x80"),
    _body("broken percents", b"card=%&words=%zz&name=%0&round=%u1234"),
    _body("a NUL in a name", b"card%00=7D&%00=1"),
    _body("a raw NUL", b"card=\0&\0=1"),
    _body("another character set", b"card=7D", f"{FORM}; charset=utf-16"),
    _body("no character set", b"card=7D", f"{FORM}; charset=rot13"),
    _body("a gzip body", gzip.compress(b"card=7D"), FORM, HTTP_CONTENT_ENCODING="gzip"),
    _body("a gzip bomb", gzip.compress(b"0" * 10**7), FORM, HTTP_CONTENT_ENCODING="gzip"),
    _body("a length that is none", b"card=7D", CONTENT_LENGTH="many"),
    _body("a length below nothing", b"card=7D", CONTENT_LENGTH="-5"),
    _body("a length above what comes", b"card=7D", CONTENT_LENGTH="5000"),
    _body("a length of 2⁶³", b"card=7D", CONTENT_LENGTH=str(2**63)),
    _body("chunks", b"7\r\ncard=7D\r\n0\r\n\r\n", HTTP_TRANSFER_ENCODING="chunked"),
    _body("multipart without a boundary", b"card=7D", "multipart/form-data"),
    _body("a boundary that never comes", b"--y\r\nnothing", _MULTIPART),
    _body("half a part", b'--x\r\nContent-Disposition: form-data; name="card', _MULTIPART),
    _body("a part without a name", b"--x\r\n\r\n7D\r\n--x--\r\n", _MULTIPART),
    _body("a part", _part('name="card"', b"7D"), _MULTIPART),
    _body("a part that is broken off", _part('name="card"', b"7D")[:-9], _MULTIPART),
    _body("a NUL in the name of a part", _part('name="\0"', b"7D"), _MULTIPART),
    _body("a file", _part('name="card"; filename="a.txt"', b"7D"), _MULTIPART),
    _body("a file out of its folder", _part('name="text"; filename="../../a"', b"7"), _MULTIPART),
    _body(
        "a part in base64",
        _part('name="card"', b"N0Q=", "Content-Transfer-Encoding: base64"),
        _MULTIPART,
    ),
    _body(
        "a part in base64 that is none",
        _part('name="card"', b"!!!", "Content-Transfer-Encoding: base64"),
        _MULTIPART,
    ),
    _body("a long header of a part", _part('name="card"', b"7D", "X: " + "x" * 20_000), _MULTIPART),
    _body("many parts", b"".join(_part(f'name="{n}"', b"7")[:-7] for n in range(60)), _MULTIPART),
    _body(
        "a long boundary",
        b"--" + b"x" * 500 + b"\r\n",
        "multipart/form-data; boundary=" + "x" * 500,
    ),
]

_HTMX = {"HTTP_HX_REQUEST": "true"}


def _headers(name: str, **environ: str) -> Payload:
    return Payload(name, environ=environ)


HEADERS = [
    _headers("htmx asks", **_HTMX),
    _headers("htmx says yes", HTTP_HX_REQUEST="yes"),
    _headers("htmx for a target of garbage", **_HTMX, HTTP_HX_TARGET="\xff" * 500),
    _headers("htmx for the board", **_HTMX, HTTP_HX_TARGET="section#board"),
    _headers("htmx from no address", **_HTMX, HTTP_HX_CURRENT_URL="http://["),
    _headers("htmx from elsewhere", **_HTMX, HTTP_HX_CURRENT_URL="https://evil.example/"),
    _headers(
        "htmx from a quoted address",
        **_HTMX,
        HTTP_HX_CURRENT_URL="%ff%00",
        HTTP_HX_CURRENT_URL_URI_AUTOENCODED="true",
    ),
    _headers("htmx with a trigger", **_HTMX, HTTP_HX_TRIGGER="x" * 5000, HTTP_HX_PROMPT="%00"),
    _headers("htmx with a broken event", **_HTMX, HTTP_TRIGGERING_EVENT="{" * 999),
    _headers("htmx restores its history", **_HTMX, HTTP_HX_HISTORY_RESTORE_REQUEST="true"),
    _headers("htmx is boosted", **_HTMX, HTTP_HX_BOOSTED="maybe", HTTP_HX_SOURCE="form"),
    _headers("a poll of nothing", **_HTMX, HTTP_HX_PTAG=""),
    _headers("a poll of garbage", **_HTMX, HTTP_HX_PTAG="\xff\x00" * 100),
    _headers("a poll of a version", **_HTMX, HTTP_HX_PTAG="0:0"),
    _headers("a poll of a challenge", **_HTMX, HTTP_HX_PTAG="waiting"),
    _headers("a poll without htmx", HTTP_HX_PTAG="1...0:1"),
    _headers("a poll for the last position", **_HTMX, HTTP_HX_PTAG="3", QUERY_STRING="ply=last"),
    Payload("300 headers", environ={f"HTTP_X_{number}": "x" * 50 for number in range(300)}),
    _headers("a header with an underscore", HTTP_X_FORWARDED_FOR="1.2.3.4, ::1, \t"),
    _headers("another host behind a proxy", HTTP_X_FORWARDED_HOST="evil.example"),
    _headers("another host", HTTP_HOST="evil.example"),
    _headers("another scheme", HTTP_X_FORWARDED_PROTO="https", HTTP_X_FORWARDED_PORT="x"),
    _headers("another method", HTTP_X_HTTP_METHOD_OVERRIDE="DELETE"),
    _headers("another user", HTTP_REMOTE_USER="mona", REMOTE_USER="mona", HTTP_X_USER="1"),
    _headers("another origin", HTTP_ORIGIN="https://evil.example"),
    _headers("no origin", HTTP_ORIGIN="null"),
    _headers("an origin of garbage", HTTP_ORIGIN="http://["),
    _headers("a page of another site", HTTP_REFERER="https://evil.example/"),
    _headers("a token that is none", HTTP_X_CSRFTOKEN="\xff" * 32),
    _headers("a long token", HTTP_X_CSRFTOKEN="a" * 64),
    _headers("10 KB of languages", HTTP_ACCEPT_LANGUAGE="x-" * 5000),
    _headers("many languages", HTTP_ACCEPT_LANGUAGE="ar;q=0.1," * 1200),
    _headers("a language of garbage", HTTP_ACCEPT_LANGUAGE="ar;q=1,*;q=NaN,\xff"),
    _headers("a quadratic Accept", HTTP_ACCEPT="a/b;" * 5000),
    _headers("slashes to accept", HTTP_ACCEPT="/" * 5000),
    _headers("an encoding of garbage", HTTP_ACCEPT_ENCODING="gzip;q=x, \xff"),
    _headers("gzip", HTTP_ACCEPT_ENCODING="gzip"),
    _headers("conditions", HTTP_IF_NONE_MATCH='"' * 500, HTTP_IF_MODIFIED_SINCE="never"),
    _headers("any version", HTTP_IF_MATCH="*", HTTP_IF_UNMODIFIED_SINCE="\xff"),
    _headers("a range", HTTP_RANGE="bytes=5-1"),
    _headers("a long session", HTTP_COOKIE="basra-session=" + "x" * 5000 + "; basra-csrf=\x01"),
    _headers("a session of nobody", HTTP_COOKIE="basra-session=" + "a" * 32),
    _headers("broken cookies", HTTP_COOKIE=';;==;a=";\\;=\xff'),
    _headers("a broken language cookie", HTTP_COOKIE="django_language=" + "x-" * 4000),
    _headers("credentials", HTTP_AUTHORIZATION="Basic \xff", HTTP_COOKIE2="$Version=1"),
    _headers("an old protocol", SERVER_PROTOCOL="HTTP/0.9"),
    _headers("an upgrade", HTTP_UPGRADE="websocket", HTTP_CONNECTION="Upgrade"),
    _headers("an expectation", HTTP_EXPECT="200-ok"),
]

_ADDRESSES = {
    "a NUL": "%00",
    "a raw NUL": "a=\0",
    "a lone surrogate": "%ED%A0%80=%ED%A0%80",
    "broken percents": "%=%zz&%&&=&%FF",
    "brackets": "a[]=1&a[b]=2",
    "ampersands": "&" * 2000,
    "1,000 fields": "a=1&" * 1000,
    "a long value": "x=" + "9" * 60_000,
    "a semicolon": "ply=1;page=2",
    "a page twice": "page=1&page=2&ply=1&ply=2",
    "own words": "words=own&words=%FF",
    "another site": "next=//evil.example&after=//evil.example",
}
QUERIES = [
    Payload(f"in the query {name}", environ={"QUERY_STRING": query})
    for name, query in _ADDRESSES.items()
]

# Where else one might be led: in a field, in the query, by a header.
ELSEWHERE = [
    "//evil.example", "///evil.example", "////evil.example", "https://evil.example",
    "http://evil.example/", "https:evil.example", "https:/evil.example", "https:///evil.example",
    "HTTPS://EVIL.EXAMPLE", "http:\\\\evil.example", "/\\evil.example", "\\\\evil.example",
    "\\/evil.example", "/\\/evil.example", "//localhost@evil.example", "//evil.example@localhost",
    "https://localhost@evil.example", "https://localhost.evil.example",
    "https://evil.example/localhost", "https://evil.example?localhost",
    "https://evil.example#localhost", "https://evil.example\\@localhost", "//evil。example",
    "//evil．example", "／／evil.example", "/／evil.example", "∕∕evil.example",
    "/\t/evil.example", "\t//evil.example", " //evil.example", "\x01//evil.example",
    "/\r\n/evil.example", "/\r\nLocation: https://evil.example", "/%0d%0aSet-Cookie:%20a=b",
    "%2f%2fevil.example", "/%2fevil.example", "/%5cevil.example", "/..//evil.example",
    "javascript:alert(1)", "java\nscript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x",
    "vbscript:x", "//[::1]", "//evil.example:80", "https://[evil.example", "//0x7f000001",
    "/" * 3000 + "evil.example",
]  # fmt: skip


def every_payload() -> list[Payload]:
    """Return all of them; for counting."""
    fields = {*EVERYWHERE, *(name for names in FIELDS.values() for name in names)}
    return [
        *(payload for name in sorted(fields) for payload in values_for(name)),
        *BODIES, *HEADERS, *QUERIES,
    ]  # fmt: skip


def led_elsewhere(target: str) -> dict[str, Any]:
    """Return the environment of a request that asks in every way to be led to ``target``."""
    names = ("next", "after", "pressed", "words", "url", "to", "return_to", "redirect", "continue")
    return {
        "QUERY_STRING": "&".join(f"{name}={quote(target)}" for name in names),
        "HTTP_REFERER": target.encode().decode("latin-1"),
        "HTTP_HX_CURRENT_URL": target.encode().decode("latin-1"),
        "HTTP_X_FORWARDED_HOST": "evil.example",
        "HTTP_X_FORWARDED_PREFIX": "//evil.example",
        "HTTP_X_ORIGINAL_URL": "//evil.example/",
    }
