"""What happens to every request before and after the view."""

from __future__ import annotations

import logging
import re
import time
import uuid
from http import HTTPStatus
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import BadRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from basra_site.context import request_id
from basra_site.errors import error_response

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

    type View = Callable[[HttpRequest], HttpResponse]

log = logging.getLogger("basra.request")

SESSION_KEY = re.compile(r"[a-z0-9]{8,64}")
DAY = 24 * 60 * 60
UNREADABLE = "basra.unreadable"  # in the environment of a request whose body is not UTF-8
LAST_SLIDE = "slid"


class RequestIdMiddleware:
    """Gives each request an id of its own, sends it as X-Request-ID, and logs one line.

    The line names the route, not the path: a path can hold a token.
    """

    def __init__(self, get_response: View) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        token = request_id.set(uuid.uuid4().hex)
        started = time.monotonic()
        try:
            response = self.get_response(request)
            response.headers["X-Request-ID"] = request_id.get()
            log.info(
                "request",
                extra={
                    "method": request.method,
                    "route": request.resolver_match.route if request.resolver_match else None,
                    "status": response.status_code,
                    "milliseconds": round((time.monotonic() - started) * 1000, 1),
                },
            )
            return response
        finally:
            request_id.reset(token)


class FrontDoorMiddleware:
    """Refuses what no part of the site can use, before any part reads it.

    PostgreSQL cannot store a NUL and the file system cannot open one. A session cookie that
    this site cannot have set is dropped, as if it had not been sent.
    """

    def __init__(self, get_response: View) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        query = request.META.get("QUERY_STRING", "")
        if "\0" in request.path or "\0" in query or "%00" in query:
            raise BadRequest("A NUL in the address")
        if UNREADABLE in request.META:
            raise BadRequest("A body in another encoding than UTF-8")
        key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
        if key is not None and not SESSION_KEY.fullmatch(key):
            del request.COOKIES[settings.SESSION_COOKIE_NAME]
        response = self.get_response(request)
        if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED and not response.content:
            return _only_a_form(request, response)
        return response


def _only_a_form(request: HttpRequest, refused: HttpResponse) -> HttpResponse:
    """Say in words what Django refuses without any: a form's address typed into a browser."""
    page = error_response(
        request,
        HTTPStatus.METHOD_NOT_ALLOWED,
        _("Nothing to look at here"),
        _("This address only takes what a form sends. Your games are as they were."),
    )
    page.headers["Allow"] = refused.headers["Allow"]
    return page


class SlidingSessionMiddleware:
    """Renews a session that is in use once a day, so that guests keep their games.

    Once a day and not on each request: renewing writes to the database. A page that did not
    look at the session does not renew it either.
    """

    def __init__(self, get_response: View) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        session = request.session
        if session.accessed and not session.is_empty() and response.status_code < 500:
            today = int(timezone.now().timestamp()) // DAY
            if session.get(LAST_SLIDE) != today:
                session[LAST_SLIDE] = today
        return response
