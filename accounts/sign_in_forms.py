"""Those forms of allauth's that this site words or does otherwise."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from allauth.account.fields import PasswordField
from allauth.account.forms import LoginForm as AllauthLoginForm
from allauth.account.forms import RequestLoginCodeForm as AllauthRequestLoginCodeForm
from allauth.account.forms import ResetPasswordForm as AllauthResetPasswordForm
from allauth.account.forms import SignupForm as AllauthSignupForm
from allauth.account.internal.templatekit import get_entrance_context_data
from allauth.account.models import EmailAddress
from allauth.core import context
from allauth.mfa.adapter import get_adapter as get_mfa_adapter
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from django import forms
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy

from . import redirects, signing_in
from .forms import SettingsForm
from .joining import is_own_name
from .middleware import guest_of
from .models import User
from .names import clean_name, is_taken

if TYPE_CHECKING:
    from django.http import HttpRequest

logger = logging.getLogger(__name__)


class NameInSignup(forms.Form):
    """The name that others will see, asked for with a new account; a guest may keep theirs."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("What others see. You can change it later."),
        widget=forms.TextInput(attrs={"autocomplete": "nickname"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        guest = guest_of(context.request)
        if guest is not None and "name" not in self.initial:
            self.fields["name"].initial = guest.name

    def clean_name(self) -> str:
        """Return a clean name that is free, or the guest's own."""
        name = clean_name(self.cleaned_data["name"])
        if is_taken(name) and not is_own_name(name, guest_of(context.request)):
            raise forms.ValidationError(SettingsForm.name_taken(), code="taken")
        return name


class SignupForm(NameInSignup, AllauthSignupForm):
    """Address, name and password. The answer is the same whether the address is known or not."""

    account_already_exists: bool
    hashed_password = ""
    field_order = ("email", "name", "password1")

    def validate_unique_email(self, value: str) -> str:
        """Take any address; whether there is an account with it shows in the mail alone."""
        self.account_already_exists = signing_in.account_of(value) is not None
        return value

    def clean(self) -> dict[str, Any]:
        """Take the form that has just made an account, sent again, for what it is."""
        cleaned: dict[str, Any] = super().clean() or {}
        address, name = cleaned.get("email"), self.data.get("name", "")
        if address and self.has_error("name", "taken") and signing_in.is_sent_again(address, name):
            del self.errors["name"]
            cleaned["name"] = clean_name(name)
        return cleaned

    def try_save(self, request: HttpRequest) -> tuple[User | None, Any]:
        """Return the new account, or a page where there is none to be made.

        Of any number of forms at once one gets the name, and one the address.
        """
        # Here, and not while others wait to write; it takes as long where no account is made.
        self.hashed_password = make_password(self.cleaned_data.pop("password1"))
        if self.account_already_exists:
            if not is_own_name(self.cleaned_data["name"], guest_of(request)):
                signing_in.as_if_waiting(self.cleaned_data["email"], self.cleaned_data["name"])
            return self._as_if_made(request)
        username = signing_in.pending_username(self.cleaned_data["email"])
        for _attempt in range(2):
            try:
                with transaction.atomic():
                    return self._as_if_made(request)
            except IntegrityError:
                if User.objects.filter(username=username).exists():
                    self.account_already_exists = True
                    return self._as_if_made(request)
                if is_taken(self.cleaned_data["name"]):
                    break
        self.add_error("name", SettingsForm.name_taken())
        return None, self._again(request)

    def save(self, request: HttpRequest) -> User:
        """Make the account, with its address though somebody else may want to change to that."""
        user: User = super().save(request)
        address, _made = EmailAddress.objects.get_or_create(
            user=user, email=user.email, defaults={"primary": True}
        )
        EmailAddress.objects.fill_cache_for_user(user, [address])
        return user

    def _as_if_made(self, request: HttpRequest) -> tuple[User | None, Any]:
        made: tuple[User | None, Any] = super().try_save(request)
        return made

    def _again(self, request: HttpRequest) -> TemplateResponse:
        wanted = redirects.wanted_page(request)
        values = {
            **get_entrance_context_data(request),
            "form": self,
            "redirect_field_name": REDIRECT_FIELD_NAME,
            "redirect_field_value": wanted,
        }
        return TemplateResponse(request, "account/signup.html", values, status=422)


class LoginForm(AllauthLoginForm):
    """Address and password; the way to a new password stands beside the button."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].help_text = ""


class RequestLoginCodeForm(AllauthRequestLoginCodeForm):
    """The address that a code is mailed to."""

    def clean_email(self) -> str:
        """Find the account whose address it is, and none that only wants it."""
        address: str = super().clean_email()
        account = signing_in.account_of(address)
        self._user = account if account is not None and account.is_active else None
        return address


class ResetPasswordForm(AllauthResetPasswordForm):
    """The address that a link to a new password is mailed to."""

    def clean_email(self) -> str:
        """Find the account whose address it is, and none that only wants it."""
        address: str = super().clean_email()
        account = signing_in.account_of(address)
        self.users = [account] if account is not None and account.is_active else []
        return address


class PasswordOfSignUpForm(forms.Form):
    """The password that was chosen at sign-up, asked for where its mail is opened elsewhere."""

    password = PasswordField(
        label=gettext_lazy("The password that you chose"), autocomplete="current-password"
    )


class _FromAnyBrowser(forms.Form):
    """A form with a passkey's answer, which may be anything that somebody has made up."""

    def full_clean(self) -> None:
        """Refuse what the parser of passkeys stumbles over as it refuses a wrong one."""
        try:
            super().full_clean()
        except Exception as error:  # noqa: BLE001 - the parser names no exceptions of its own
            logger.warning("a passkey that cannot be read", extra={"why": type(error).__name__})
            self.add_error("credential", get_mfa_adapter().validation_error("incorrect_code"))


class LoginPasskeyForm(_FromAnyBrowser, LoginWebAuthnForm):
    """A passkey in place of a password."""


class AuthenticatePasskeyForm(_FromAnyBrowser, AuthenticateWebAuthnForm):
    """A passkey as the second step."""


class ReauthenticatePasskeyForm(_FromAnyBrowser, ReauthenticateWebAuthnForm):
    """A passkey to show once more who one is."""


class AddPasskeyForm(_FromAnyBrowser, AddWebAuthnForm):
    """A passkey signs in without a password unless its owner wants a second step only."""

    passwordless = forms.BooleanField(
        label=gettext_lazy("Let it sign me in without a password"),
        help_text=gettext_lazy("If not, it is a second step beside the password."),
        required=False,
        initial=True,
    )
