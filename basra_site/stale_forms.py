"""Forms that come from a page that was open too long: shown again with what was typed.

Cookies that were cleared, or a sign-in in another tab, make the token of a form worthless. Where
somebody has typed something, the form comes back with it, to be sent once more by its owner's own
hand; nothing is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

    type Again = Callable[[HttpRequest], HttpResponse | None]

_SHOWN_AGAIN: dict[str, Again] = {}


def shown_again(*view_names: str) -> Callable[[Again], Again]:
    """Register what answers a stale form of these views, with status 403 and what was typed."""

    def register(again: Again) -> Again:
        for name in view_names:
            _SHOWN_AGAIN[name] = again
        return again

    return register


def again(request: HttpRequest) -> HttpResponse | None:
    """Return the form of this request once more, or ``None`` if it is none that is registered."""
    match = request.resolver_match
    show = _SHOWN_AGAIN.get(match.view_name) if match else None
    return show(request) if show is not None and request.method == "POST" else None
