"""The page behind the link of a mail that confirms an address.

The link shows that the mail was read, and not who has given the address. So it is enough only
where that is known: in the browser that signed up, or is signed in. Elsewhere the password is asked
for that was chosen at sign-up; whoever does not know it has perhaps not chosen it, so that it is
worth nothing from then on.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from allauth.account.adapter import get_adapter
from allauth.account.internal import flows
from allauth.account.models import Login
from allauth.account.stages import EmailVerificationStage, LoginStageController
from allauth.account.views import ConfirmEmailView
from django.core.exceptions import ValidationError
from django.shortcuts import redirect
from django.urls import reverse

from . import redirects, signing_in
from .sign_in_forms import PasswordOfSignUpForm

if TYPE_CHECKING:
    from allauth.account.models import EmailAddress
    from django.http import HttpRequest, HttpResponse


class ConfirmAddressView(ConfirmEmailView):
    """Confirms an address, once it is known whose."""

    def post(self, *args: Any, **kwargs: Any) -> HttpResponse:
        """Confirm by one button, by the password, or without it."""
        self.object = self.get_object()
        address: EmailAddress = self.object.email_address
        response: HttpResponse
        if _has_given(self.request, address) or not address.can_set_verified():
            response = super().post(*args, **kwargs)
            return response
        if not signing_in.is_waiting(address.user):
            return redirect(self._sign_in_first())
        if "without_password" in self.request.POST:
            self.request.forgets_password = True
            by_code = redirects.with_next(
                reverse("account_request_login_code"), self.get_next_url() or ""
            )
            return self._confirmed() or redirect(by_code)
        form = PasswordOfSignUpForm(self.request.POST)
        status = self._check(form, address)
        if status is not None:
            response = self.render_to_response(self.get_context_data(form=form), status=status)
            return response
        login = Login(address.user, email=address.email, redirect_url=self.get_next_url())
        response = self._confirmed() or flows.login.perform_password_login(
            self.request, {"email": address.email}, login
        )
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Say what the page asks for: a button, a password, or to sign in first."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        if self.object is None or _has_given(self.request, self.object.email_address):
            return context
        if signing_in.is_waiting(self.object.email_address.user):
            context.setdefault("form", PasswordOfSignUpForm())
        else:
            context["sign_in_first"] = self._sign_in_first()
        return context

    def _check(self, form: PasswordOfSignUpForm, address: EmailAddress) -> HTTPStatus | None:
        """Return ``None`` if the password is right, else what is to be answered."""
        if not form.is_valid():
            return HTTPStatus.UNPROCESSABLE_ENTITY
        adapter = get_adapter()
        try:
            adapter.pre_authenticate(self.request, email=address.email)
        except ValidationError as error:
            form.add_error(None, error)
            return HTTPStatus.TOO_MANY_REQUESTS
        if address.user.check_password(form.cleaned_data["password"]):
            adapter._rollback_login_failed_rl_usage()
            return None
        form.add_error("password", adapter.validation_error("incorrect_password"))
        return HTTPStatus.UNPROCESSABLE_ENTITY

    def _confirmed(self) -> HttpResponse | None:
        """Confirm the address; return what to answer if it is another account's by now."""
        if not self.object.confirm(self.request):
            taken: HttpResponse = self.render_to_response(
                self.get_context_data(), status=HTTPStatus.CONFLICT
            )
            return taken
        self.logout_other_user(self.object)
        return None

    def _sign_in_first(self) -> str:
        here = redirects.with_next(self.request.path, self.get_next_url() or "")
        first = "account_logout" if self.request.user.is_authenticated else "account_login"
        return redirects.with_next(reverse(first), here)


def _has_given(request: HttpRequest, address: EmailAddress) -> bool:
    """Return whether this browser is where the address was given."""
    if request.user.is_authenticated:
        return bool(request.user.pk == address.user_id)
    stage = LoginStageController.enter(request, EmailVerificationStage.key)
    login = stage.login if stage else None
    return bool(login and login.signup and login.user and login.user.pk == address.user_id)


confirm_email = ConfirmAddressView.as_view()
