"""The forms of accounts that are not taken as they come; see ``basra_site.stale_forms``."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from allauth.account.views import LoginView, PasswordResetView, RequestLoginCodeView, SignupView
from django.shortcuts import render

from basra_site.stale_forms import shown_again, told_again

from .middleware import hide_guest

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

_VIEWS: dict[str, Any] = {
    "account_login": LoginView,
    "account_signup": SignupView,
    "account_request_login_code": RequestLoginCodeView,
    "account_reset_password": PasswordResetView,
}
# Never a password.
_TYPED = ("email", "login", "name")

told_again(
    {
        "accounts:settings": ("name",),
        "accounts:friends": ("name",),
        "account_email": ("email",),
    }
)


@shown_again(*_VIEWS)
def again(request: HttpRequest, sentence: str, status: HTTPStatus) -> HttpResponse | None:
    """Show the form with the address and the name that were typed."""
    match = request.resolver_match
    if match is None:
        return None
    hide_guest(request)
    request.is_allauths = True  # type: ignore[attr-defined]  # no cache keeps it
    view = _VIEWS[match.view_name]()
    view.setup(request)
    typed = {name: request.POST[name] for name in _TYPED if name in request.POST}
    form = view.get_form_class()(initial=typed)
    context = {**view.get_context_data(form=form), "stale": sentence}
    context["too_often"] = status == HTTPStatus.TOO_MANY_REQUESTS
    return render(request, view.template_name, context, status=status)
