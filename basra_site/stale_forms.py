"""Forms that are not taken as they come: shown again with what was typed.

Cookies that were cleared, or a sign-in in another tab, make the token of a form worthless; or the
same was sent too often. Where somebody has typed something, the form comes back with it, to be sent
once more by its owner's own hand; nothing is done. Where the form is of a page that only who is
signed in sees, the page of the error tells what was typed.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from django.core.exceptions import SuspiciousOperation
from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from django.http import HttpRequest, HttpResponse

    type Again = Callable[[HttpRequest, str, HTTPStatus], HttpResponse | None]

_SHOWN_AGAIN: dict[str, Again] = {}
_TOLD: dict[str, tuple[str, ...]] = {}
_LONGEST = 254


def shown_again(*view_names: str) -> Callable[[Again], Again]:
    """Register what answers a form of these views with a sentence, a status and what was typed."""

    def register(again: Again) -> Again:
        for name in view_names:
            _SHOWN_AGAIN[name] = again
        return again

    return register


def told_again(fields: Mapping[str, tuple[str, ...]]) -> None:
    """Register the short fields, by view, that the page of an error tells: never a password.

    A view that is named here has a page of its own to come back to.
    """
    _TOLD.update(fields)


def again(
    request: HttpRequest, sentence: str = "", status: HTTPStatus = HTTPStatus.FORBIDDEN
) -> HttpResponse | None:
    """Return the form of this request once more, or ``None`` if it is none that is registered."""
    show = _SHOWN_AGAIN.get(_view_name(request))
    if show is None or request.method != "POST":
        return None
    sentence = sentence or _("The page was too old, so nothing was sent.")
    return show(request, f"{sentence} {_('What you typed is still here.')}", status)


def typed(request: HttpRequest) -> list[str]:
    """Return what was typed into the short fields of a form that is told again."""
    if request.method != "POST" or not has_page(request):
        return []
    try:
        values = [request.POST.get(field, "") for field in _TOLD[_view_name(request)]]
    except (OSError, SuspiciousOperation):  # it cannot be read
        return []
    return [value[:_LONGEST] for value in values if value]


def has_page(request: HttpRequest) -> bool:
    """Return whether the address of a form that is told again is that of its page too."""
    return _view_name(request) in _TOLD


def _view_name(request: HttpRequest) -> str:
    return request.resolver_match.view_name if request.resolver_match else ""
