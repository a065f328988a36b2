"""Hostile requests, before any view: always an answer, never a 500."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.test import Client, override_settings
from django.test.client import FakePayload

from .wire import answer

pytestmark = pytest.mark.django_db

FORM = "application/x-www-form-urlencoded"


COOKIE = settings.SESSION_COOKIE_NAME
HOSTILE: dict[str, tuple[set[int], dict[str, Any]]] = {
    "NUL in the path": ({400}, {"PATH_INFO": "/\0"}),
    "NUL in a static path": ({400}, {"PATH_INFO": "/static/\0"}),
    "NUL in the query": ({400}, {"QUERY_STRING": "a=%00"}),
    "raw NUL in the query": ({400}, {"QUERY_STRING": "a=\0"}),
    "broken UTF-8 in the path": ({404}, {"PATH_INFO": "/\xff\xfe"}),
    "lone surrogate in the path": ({404}, {"PATH_INFO": "/\xed\xa0\x80"}),
    "lone surrogate in the query": ({200}, {"QUERY_STRING": "a=%ED%A0%80"}),
    "broken escapes in the query": ({200}, {"QUERY_STRING": "%=%zz&%&&=&%FF"}),
    "very long path": ({404}, {"PATH_INFO": "/" + "a" * 20_000}),
    "very long static path": ({404}, {"PATH_INFO": "/static/" + "a" * 20_000}),
    "path out of the static folder": ({404}, {"PATH_INFO": "/static/../manage.py"}),
    "thousand fields in the query": ({200, 400}, {"QUERY_STRING": "a=1&" * 1000}),
    "unknown host": ({400}, {"HTTP_HOST": "evil.example"}),
    "host with a path": ({400}, {"HTTP_HOST": "localhost/evil"}),
    "host with a NUL": ({400}, {"HTTP_HOST": "local\0host"}),
    "host with brackets": ({400}, {"HTTP_HOST": "[::1"}),
    "empty host": ({200, 400}, {"HTTP_HOST": ""}),
    "host from a proxy that is none": ({200}, {"HTTP_X_FORWARDED_HOST": "evil.example"}),
    "NUL in the session cookie": ({200}, {"HTTP_COOKIE": f"{COOKIE}=" + "a" * 20 + "\0"}),
    "quoted NUL in the session cookie": ({200}, {"HTTP_COOKIE": f'{COOKIE}="aaaaaaaaa\\000"'}),
    "unknown session": ({200}, {"HTTP_COOKIE": f"{COOKIE}=" + "a" * 32}),
    "very long session cookie": ({200}, {"HTTP_COOKIE": f"{COOKIE}=" + "a" * 9000}),
    "broken cookies": ({200}, {"HTTP_COOKIE": '=;;;a=";\\;=\xff'}),
    "broken CSRF cookie": ({200}, {"HTTP_COOKIE": f"{settings.CSRF_COOKIE_NAME}=\0%"}),
    "broken language cookie": ({200}, {"HTTP_COOKIE": "django_language=" + "x-" * 4000}),
    "long Accept-Language": ({200}, {"HTTP_ACCEPT_LANGUAGE": "x-" * 5_000}),
    "many languages": ({200}, {"HTTP_ACCEPT_LANGUAGE": "ar;q=0.1," * 1_200}),
    "quadratic Accept": ({200}, {"HTTP_ACCEPT": "a/b;" * 5_000}),
    "character set that is none": ({400}, {"CONTENT_TYPE": "text/plain; charset=rot13"}),
    "NUL in the character set": ({400}, {"CONTENT_TYPE": "text/plain; charset*=utf-8''%00"}),
    "another character set": ({400}, {"CONTENT_TYPE": f"{FORM}; charset=utf-16"}),
    "htmx headers of garbage": (
        {200},
        {
            "HTTP_HX_REQUEST": "true",
            "HTTP_HX_CURRENT_URL": "http://[",
            "HTTP_HX_TARGET": "\xff" * 500,
        },
    ),
    "conditional request of garbage": (
        {200},
        {"HTTP_IF_NONE_MATCH": '"' * 999, "HTTP_IF_MODIFIED_SINCE": "yesterday"},
    ),
    "form without a token": ({403}, {"REQUEST_METHOD": "POST", "CONTENT_TYPE": FORM}),
    "form that is too large": (
        {403, 413},
        {"REQUEST_METHOD": "POST", "CONTENT_TYPE": FORM, "body": b"a=" + b"b" * 70_000},
    ),
    "form with too many fields": (
        {400, 403},
        {"REQUEST_METHOD": "POST", "CONTENT_TYPE": FORM, "body": b"a=1&" * 60},
    ),
    "form with a NUL": (
        {403},
        {"REQUEST_METHOD": "POST", "CONTENT_TYPE": FORM, "body": b"a=%00"},
    ),
    "multipart without a boundary": (
        {400, 403},
        {"REQUEST_METHOD": "POST", "CONTENT_TYPE": "multipart/form-data", "body": b"x"},
    ),
    "multipart that breaks off": (
        {400, 403},
        {
            "REQUEST_METHOD": "POST",
            "CONTENT_TYPE": "multipart/form-data; boundary=x",
            "body": b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n',
        },
    ),
    "multipart with a file": (
        {400, 403},
        {
            "REQUEST_METHOD": "POST",
            "CONTENT_TYPE": "multipart/form-data; boundary=x",
            "body": b'--x\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\nc\r\n'
            b"--x--\r\n",
        },
    ),
    "multipart in broken base64": (
        {400, 403},
        {
            "REQUEST_METHOD": "POST",
            "CONTENT_TYPE": "multipart/form-data; boundary=x",
            "body": b'--x\r\nContent-Disposition: form-data; name="a"\r\n'
            b"Content-Transfer-Encoding: base64\r\n\r\n%%%\r\n--x--\r\n",
        },
    ),
    "length that is no number": (
        {403},
        {"REQUEST_METHOD": "POST", "CONTENT_TYPE": FORM, "CONTENT_LENGTH": "many"},
    ),
    "length below nothing": (
        {400, 403},
        {"REQUEST_METHOD": "POST", "CONTENT_TYPE": FORM, "CONTENT_LENGTH": "-5", "body": b"a=1"},
    ),
    "length above what comes": (
        {400, 403},
        {"REQUEST_METHOD": "POST", "CONTENT_TYPE": FORM, "CONTENT_LENGTH": "50", "body": b"a=1"},
    ),
    "method that is none": ({403, 405}, {"REQUEST_METHOD": "BREW"}),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_request_gets_its_answer(name: str) -> None:
    expected, environ = HOSTILE[name]
    environ = dict(environ)
    if "CONTENT_LENGTH" in environ:
        environ = {"body": b"", **environ}
    heard = answer(**environ)
    assert heard.status in expected
    assert "Traceback" not in heard.content
    assert heard.headers.get("Content-Type", "").startswith(
        ("text/html", "text/plain", "application")
    )


def test_a_body_over_the_limit_is_too_large_even_with_a_token(client: Client) -> None:
    big = b"a=" + b"b" * 70_000
    response = client.post("/", data=big, content_type=FORM)
    assert response.status_code in {405, 413}
    whole = client.generic("POST", "/account/", big, content_type=FORM)
    assert whole.status_code in {302, 404, 405, 413}


def test_a_form_without_a_token_is_refused_in_words() -> None:
    response = Client(enforce_csrf_checks=True).post("/account/settings/", {"name": "Mona"})
    assert response.status_code == 403
    assert "This form could not be checked" in response.content.decode()


def test_an_error_for_htmx_is_a_fragment(client: Client) -> None:
    whole = client.get("/there-is-nothing-here")
    part = client.get("/there-is-nothing-here", headers={"HX-Request": "true"})
    assert whole.status_code == part.status_code == 404
    assert "<html" in whole.content.decode()
    assert "<html" not in part.content.decode()


@override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=10)
def test_too_large_a_body_is_answered_with_413() -> None:
    client = Client(enforce_csrf_checks=True)
    token = "a" * 32
    client.cookies[settings.CSRF_COOKIE_NAME] = token
    response = client.generic(
        "POST",
        "/account/settings/",
        f"csrfmiddlewaretoken={token}",
        content_type=FORM,
    )
    assert response.status_code == 413
    assert "too large" in response.content.decode()


def test_a_body_that_ends_early_is_no_error_of_ours() -> None:
    class Broken(FakePayload):
        def read(self, *args: Any) -> bytes:
            raise OSError("the other side went away")

    client = Client(raise_request_exception=False)
    response = client.post("/account/settings/", **{"wsgi.input": Broken(b"a=1")})  # type: ignore[arg-type]  # any WSGI variable may be given
    assert response.status_code < 500
