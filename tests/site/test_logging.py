"""What the logs and the mails to the admins tell, and what they never tell."""

from __future__ import annotations

import io
import json
import logging
from typing import TYPE_CHECKING, Any

import pytest
from celery import shared_task
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory, override_settings
from django.urls import path
from django.views.debug import get_exception_reporter_filter

from basra_site import logging as site_logging
from basra_site.celery import app, send_the_request_id
from basra_site.context import request_id
from basra_site.logging import JsonFormatter, MailToAdmins, told
from basra_site.urls import (  # noqa: F401 - the handlers of the URL conf below
    handler400,
    handler403,
    handler404,
    handler500,
)
from basra_site.urls import urlpatterns as site_urls

if TYPE_CHECKING:
    from collections.abc import Iterator

HIDDEN = "10D-7H-JC-KS"


def fails(request: HttpRequest, token: str) -> HttpResponse:
    hand = HIDDEN + token
    raise KeyError(hand, request.POST.get("card"))


@shared_task
def fails_too(game: str) -> None:
    hand = HIDDEN
    raise ValueError(hand, game)


urlpatterns = [path("fails/<str:token>/", fails), *site_urls]


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """What is logged during the test."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonFormatter())
    root, request_log = logging.getLogger(), logging.getLogger("basra.request")
    root.addHandler(handler)
    request_log.setLevel(logging.INFO)
    yield written
    root.removeHandler(handler)
    request_log.setLevel(logging.NOTSET)


def read(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.mark.django_db
def test_a_request_is_one_line_with_its_id_and_route(client: Client, stream: io.StringIO) -> None:
    response = client.get("/account/", {"token": HIDDEN})
    (line,) = [line for line in read(stream) if line["logger"] == "basra.request"]
    assert line["request_id"] == response.headers["X-Request-ID"]
    assert line["method"] == "GET"
    assert line["status"] == response.status_code
    assert HIDDEN not in stream.getvalue()


@override_settings(ROOT_URLCONF=__name__)
def test_an_error_is_logged_with_its_place_and_without_a_card(stream: io.StringIO) -> None:
    client = Client(raise_request_exception=False)
    response = client.post(f"/fails/{HIDDEN}/", {"card": HIDDEN})
    assert response.status_code == 500
    (line,) = [line for line in read(stream) if line["level"] == "ERROR"]
    assert line["error"][0] == "builtins.KeyError"
    assert line["error"][-1].endswith("in fails")
    assert HIDDEN not in stream.getvalue()
    assert HIDDEN not in response.content.decode()


@override_settings(ROOT_URLCONF=__name__, ADMINS=["operator@basra.example"])
def test_the_admins_get_a_mail_without_a_card(mailoutbox: list[Any]) -> None:
    handler = MailToAdmins()
    logging.getLogger().addHandler(handler)
    # Django would mail by itself: it must not any more.
    try:
        client = Client(raise_request_exception=False)
        for _ in range(3):
            client.post(f"/fails/{HIDDEN}/", {"card": HIDDEN})
    finally:
        logging.getLogger().removeHandler(handler)
    (mail,) = mailoutbox
    assert mail.to == ["operator@basra.example"]
    assert "builtins.KeyError" in mail.body
    assert HIDDEN not in mail.message().as_string()


def test_a_task_that_fails_is_logged_without_a_card(stream: io.StringIO) -> None:
    app.conf.task_eager_propagates = False
    fails_too.apply(args=(HIDDEN,))
    assert any("builtins.ValueError" in line.get("error", []) for line in read(stream))
    assert HIDDEN not in stream.getvalue()


def test_a_task_carries_the_id_of_the_request_that_rang() -> None:
    headers: dict[str, Any] = {}
    token = request_id.set("the request's")
    send_the_request_id(headers=headers)
    request_id.reset(token)
    assert headers["request_id"] == "the request's"


def test_a_harmless_message_is_told_in_full() -> None:
    assert told(OperationalError("connection refused"))[0].endswith(": connection refused")
    assert told(KeyError(HIDDEN)) == ["builtins.KeyError"]


def test_the_cause_is_told_first() -> None:
    error = RuntimeError("outer")
    error.__cause__ = KeyError(HIDDEN)
    assert told(error) == ["builtins.KeyError", "builtins.RuntimeError"]


def test_only_known_fields_are_logged() -> None:
    record = logging.LogRecord("games", logging.ERROR, "", 1, "broken game", None, None)
    record.__dict__.update(game="an id", hand=HIDDEN)
    entry = JsonFormatter().entry(record)
    assert entry["game"] == "an id"
    assert HIDDEN not in str(entry)


def test_reports_hold_no_local_variables_and_no_posted_values() -> None:
    request = RequestFactory().post("/", {"card": HIDDEN})
    reports = get_exception_reporter_filter(request)
    assert isinstance(reports, site_logging.NothingHiddenFilter)
    assert list(reports.get_post_parameters(request)) == ["card"]
    assert HIDDEN not in str(reports.get_post_parameters(request))
    assert list(reports.get_traceback_frame_variables(request, None)) == []
