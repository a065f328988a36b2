"""Where a page may lead after a form: only to this site."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.views import redirect_to_login
from django.http import Http404
from django.utils.http import url_has_allowed_host_and_scheme, urlencode

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


def is_safe(request: HttpRequest, address: str) -> bool:
    """Return whether ``address`` is one of this site, as this browser reaches it.

    Only from the root: what is relative to the present page leads to nothing anybody wants.
    """
    is_path = address.startswith("/") and address.isprintable()
    return is_path and url_has_allowed_host_and_scheme(
        address, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )


def wanted_page(request: HttpRequest) -> str:
    """Return the page of this site that the request asks to come to in the end, or nothing."""
    for query in (request.POST, request.GET):
        address = query.get(REDIRECT_FIELD_NAME, "")
        if address and is_safe(request, address):
            return address
    return ""


def with_next(path: str, wanted: str) -> str:
    """Return ``path`` with the page to come to in the end, if there is one."""
    return f"{path}?{urlencode({REDIRECT_FIELD_NAME: wanted})}" if wanted else path


def sign_in_first(request: HttpRequest) -> HttpResponse:
    """Lead a visitor to signing in, and back to this page.

    Raises 404 for a form: its page says that this browser is not known any more.
    """
    if request.method == "POST":
        raise Http404
    return redirect_to_login(request.get_full_path())
