"""The error pages.

Each renders `errors/error.html` with `title`, `sentence` and `status`; for htmx only its
`fragment` partial. Where the page itself cannot be rendered (the database is down, the request
is broken), the answer is plain HTML with the same words.
"""

from __future__ import annotations

import logging
import sys
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.csp import CSP
from django.utils.html import format_html
from django.utils.translation import get_language, get_language_bidi
from django.utils.translation import gettext as _

from basra_site import stale_forms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.http import HttpRequest

log = logging.getLogger(__name__)

# What the plain page may load: nothing.
PLAIN_POLICY = {"default-src": [CSP.NONE], "frame-ancestors": [CSP.NONE]}


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400, or 413 for a body that is too large."""
    if isinstance(exception, RequestDataTooBig):
        title, sentence = _("Too much"), _("What your browser sent is too large.")
        return error_response(request, 413, title, sentence)
    return error_response(
        request,
        400,
        _("That did not make sense"),
        _("Your browser sent something that this site cannot read."),
    )


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 403."""
    del exception
    return error_response(request, 403, _("Not allowed"), _("You may not do that."))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer 403 to a form without the token that shows that it came from here.

    What was typed comes back where there is something to type, and who is signed out gets in again.
    """
    del reason
    if (form := stale_forms.again(request)) is not None:
        return form
    return error_response(
        request,
        403,
        _("The form is too old"),
        _(
            "This form could not be checked. Please go back, reload the page and try again. "
            "Cookies of this site have to be allowed."
        ),
        **_to_begin_again(request),
    )


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404, in the same words for what is not there and what is not yours."""
    del exception
    title = _("Not found")
    sentence = _("There is nothing here, or nothing that you may see.")
    ways = _to_begin_again(request)
    if ways["typed"]:
        title, sentence = _("Nothing was saved"), _("Only who is signed in can do that.")
    if ways["sign_in"]:
        sentence += " " + _(
            "If you have played here before, this browser no longer knows you: "
            "its cookie is gone, or your sign-in has ended."
        )
        if _is_of_htmx(request):
            sentence += " " + _("Renew the table to sign in.")
    return error_response(request, 404, title, sentence, **ways)


def _to_begin_again(request: HttpRequest) -> dict[str, Any]:
    """Return what was typed, and the ways to where it can be sent: the page, or signing in."""
    ways: dict[str, Any] = {"back": "", "sign_in": "", "typed": []}
    if not hasattr(request, "user"):
        return ways
    wanted = _page_of(request)
    if not request.user.is_authenticated:
        ways["sign_in"] = reverse("account_login", query={"next": wanted} if wanted else None)
    if request.method == "POST":
        ways["back"] = wanted
        ways["typed"] = stale_forms.typed(request)
    return ways


def _page_of(request: HttpRequest) -> str:
    """Return the path of this page, or of the one whose form was sent, if that is known."""
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    try:
        referer = urlsplit(request.headers.get("Referer", ""))
    except ValueError:
        referer = urlsplit("")
    if referer.netloc == request.get_host() and referer.path:
        return f"{referer.path}?{referer.query}" if referer.query else referer.path
    return request.path if stale_forms.has_page(request) else ""


def too_many(request: HttpRequest) -> HttpResponse:
    """Answer 429: the same was asked too often. What was typed into a form comes back."""
    sentence = _("Please wait a few minutes, then try again. Nothing was changed.")
    status = HTTPStatus.TOO_MANY_REQUESTS
    response = stale_forms.again(request, sentence, status)
    response = response or error_response(request, status, _("That was very often"), sentence)
    response.headers["Retry-After"] = "300"
    return response


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500, or 503 when the database cannot be reached."""
    if isinstance(sys.exception(), OperationalError | InterfaceError):
        return unavailable(request)
    return error_response(
        request,
        500,
        _("Something went wrong"),
        _("That is our fault. It has been noted; please try again."),
    )


def unavailable(request: HttpRequest) -> HttpResponse:
    """Answer 503: try again in a moment."""
    response = error_response(
        request,
        503,
        _("Back in a moment"),
        _("The site cannot reach its games just now. Please try again in a moment."),
    )
    response.headers["Retry-After"] = "5"
    return response


def error_response(
    request: HttpRequest,
    status: int,
    title: str,
    sentence: str,
    onwards: str = "",
    sign_in: str = "",
    back: str = "",
    typed: Sequence[str] = (),
) -> HttpResponse:
    """Answer `status` with an error page of the site's design, or with its fragment for htmx.

    ``onwards`` is where a link "Next" leads, if there is anything to go on to, ``sign_in`` where
    one "Sign in" does, and ``back`` one to the page of a form. ``typed`` is told once more.
    """
    context = {
        "title": title,
        "sentence": sentence,
        "onwards": onwards,
        "sign_in": sign_in,
        "back": back,
        "typed": typed,
        "status": status,
        "LANGUAGE_CODE": get_language(),
        "LANGUAGE_BIDI": get_language_bidi(),
    }
    template = "errors/error.html#fragment" if _is_of_htmx(request) else "errors/error.html"
    # A page that names the player reads the session and the user: not when that may be what
    # failed.
    whose = request if status < 500 and hasattr(request, "user") else None
    try:
        response = HttpResponse(render_to_string(template, context, whose), status=status)
    except Exception:
        log.warning("The error page could not be rendered", exc_info=True)
        response = _plain(context)
    response.headers["Cache-Control"] = "no-store"
    return response


def _is_of_htmx(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"


def _plain(context: dict[str, object]) -> HttpResponse:
    response = HttpResponse(
        format_html(
            '<!doctype html><html lang="{LANGUAGE_CODE}"><meta charset="utf-8">'
            "<title>{title}</title><h1>{title}</h1><p>{sentence}</p></html>",
            **context,
        ),
        status=int(str(context["status"])),
    )
    response._csp_config = PLAIN_POLICY  # type: ignore[attr-defined]  # as @csp_override sets it
    return response
