"""A guest is signed in for the games, and nobody yet for the pages where one signs in."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import AnonymousUser
from django.http import Http404, HttpResponseNotAllowed
from django.utils.cache import add_never_cache_headers

from basra_site import stale_forms

from . import redirects
from .guests import player_of
from .models import User

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse
    from django.template.response import TemplateResponse

_METHODS = ("GET", "HEAD", "POST")
# What a page of allauth's says with a link that is not good (any more).
_OF_A_BAD_LINK: dict[str, Callable[[dict[str, Any]], Any]] = {
    "account/email_confirm.html": lambda context: not context.get("confirmation"),
    "account/password_reset_from_key.html": lambda context: context.get("token_fail"),
}


class GuestsSignInMiddleware:
    """Shows allauth's views a guest as a visitor, and remembers the guest in ``request.guest``.

    Its session stays the guest's until somebody signs in: see ``accounts.joining``. What allauth's
    pages answer is made as the site's own: nothing is kept in caches, a form that is refused is
    422, and a link that is not good is 404.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if _is_allauths(request):
            add_never_cache_headers(response)
        return response

    def process_view(self, request: HttpRequest, view: Any, *args: Any) -> HttpResponse | None:
        """Hide the guest where the view is one of allauth's, and refuse what no form sends."""
        del args
        if _is_of_allauth(view):
            if request.method not in _METHODS:
                return HttpResponseNotAllowed(_METHODS)
            # What is on the request of a page of allauth's stands there for ``guest_of`` and below.
            request.is_allauths = True  # type: ignore[attr-defined]
            hide_guest(request)
            if not request.user.is_authenticated and stale_forms.typed(request):
                raise Http404  # it tells what was typed; to sign in would be to forget it
        return None

    def process_template_response(
        self, request: HttpRequest, response: TemplateResponse
    ) -> TemplateResponse:
        """Give a page of allauth's the status that says what it says."""
        if _is_allauths(request) and response.status_code == HTTPStatus.OK:
            context = response.context_data or {}
            is_bad_link = _OF_A_BAD_LINK.get(str(_first_template(response)))
            if is_bad_link is not None and is_bad_link(context):
                response.status_code = HTTPStatus.NOT_FOUND
            elif request.method == "POST" and _is_refused(context):
                response.status_code = HTTPStatus.UNPROCESSABLE_ENTITY
            wanted = context.get("redirect_field_value")
            if wanted and not redirects.is_safe(request, wanted):  # it would not be gone to
                context |= {"redirect_field_value": "", "redirect_field": ""}
        return response


def _is_of_allauth(view: Any) -> bool:
    """Return whether a view is allauth's, or one of this site's made from one of these."""
    made_from = getattr(getattr(view, "view_class", None), "__mro__", ())
    return any(one.__module__.startswith("allauth.") for one in (view, *made_from))


def hide_guest(request: HttpRequest) -> None:
    """Make the request a visitor's if it is a guest's; ``guest_of`` still knows."""
    player = player_of(request.user)
    if player is not None and player.is_guest:
        request.guest = player  # type: ignore[attr-defined]
        request.user = AnonymousUser()


def guest_of(request: HttpRequest | None) -> User | None:
    """Return the guest of whom a page of allauth knows nothing, if there is one."""
    return getattr(request, "guest", None)


def _is_allauths(request: HttpRequest) -> bool:
    return getattr(request, "is_allauths", False)


def _first_template(response: TemplateResponse) -> object:
    named = response.template_name
    return named[0] if isinstance(named, (list, tuple)) and named else named


def _is_refused(context: dict[str, Any]) -> bool:
    names = ("form", "verify_form", "change_form", "webauthn_form")
    return any(getattr(context.get(name), "errors", None) for name in names)
