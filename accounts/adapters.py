"""Where allauth asks the site: whose account, what it is called, how its mail is sent."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any, ClassVar

import requests
from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, _build_apps_from_settings
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers import registry
from allauth.socialaccount.providers.base.constants import AuthError, AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext_lazy

from . import account_mails, another_site, joining, redirects, signing_in
from .guests import guest_of_session
from .middleware import guest_of
from .models import User
from .names import suggest
from .patient import Patient

logger = logging.getLogger(__name__)

_LONGEST_NAME = 200


# What would only be shown on some later page of allauth's, out of its time.
_NOT_SAID = {"account/messages/logged_in.txt", "account/messages/logged_out.txt"}
# The pages behind the links of mails, which programs that scan mails look at.
_OF_MAILED_LINKS = {"account_confirm_email", "account_reset_password_from_key"}


class AccountAdapter(DefaultAccountAdapter):
    """Accounts by address and password, and what all ways of signing in have in common."""

    error_messages: ClassVar[dict[str, Any]] = {
        **DefaultAccountAdapter.error_messages,
        "email_password_mismatch": gettext_lazy(
            "The address and the password do not belong together, or the address is not confirmed "
            "yet: look into your mail, or sign in by a code."
        ),
    }

    def save_user(
        self, request: HttpRequest, user: User, form: Any, commit: bool = True
    ) -> AbstractBaseUser:
        """Make the account of a sign-up form; a guest's settings come along at once.

        The games follow when the account is confirmed, and so does the guest's own name.
        """
        guest = guest_of(request)
        if name := form.cleaned_data.get("name"):
            own = joining.is_own_name(name, guest)
            user.name = joining.waiting_name() if own else name
        if guest is not None:
            joining.take_over_later(guest, user)
        hashed = getattr(form, "hashed_password", "")
        if hashed:
            self.username = signing_in.pending_username(form.cleaned_data["email"])
        saved: AbstractBaseUser = super().save_user(request, user, form, commit=False)
        saved.password = hashed or saved.password
        if commit:
            saved.save()
        return saved

    def populate_username(self, request: HttpRequest, user: User) -> None:
        """Give the account a technical name: people know each other by ``User.name``."""
        del request
        user.username = getattr(self, "username", "") or signing_in.member_username()

    def pre_login(self, request: HttpRequest, user: User, **how: Any) -> HttpResponse | None:
        """Note the page that is wanted in the end, for the link in the mail to confirm by."""
        # On the request, for ``get_email_confirmation_url``: allauth hands nothing else on.
        request.wanted = how.get("redirect_url") or ""  # type: ignore[attr-defined]
        response: HttpResponse | None = super().pre_login(request, user, **how)
        return response

    def login(self, request: HttpRequest, user: User) -> None:
        """Sign somebody in who has passed every stage. The browser's guest becomes them.

        The key of the session is a new one.
        """
        guest = guest_of(request) or guest_of_session(request)
        if guest is None or not joining.merge(guest, user):
            joining.settle_name(user)
        if not request.user.is_authenticated:
            joining.forget_the_guest(request)
        super().login(request, user)

    def logout(self, request: HttpRequest) -> None:
        """Sign out; not for a page of a mailed link that is only looked at."""
        page = request.resolver_match
        is_looked_at = request.method in ("GET", "HEAD")
        if not (is_looked_at and page is not None and page.view_name in _OF_MAILED_LINKS):
            super().logout(request)

    def authenticate(self, request: HttpRequest, **credentials: Any) -> AbstractBaseUser | None:
        """Return whose password it is; of an address that nobody has confirmed, nobody's.

        Else whoever has signed up with an address could tell whether it had an account before.
        """
        # Whoever shows once more who they are is named as well.
        is_sign_in = "username" not in credentials
        if is_sign_in and not signing_in.is_confirmed(credentials.get("email", "")):
            self.pre_authenticate(request, **credentials)
            make_password(credentials.get("password"))  # takes the time that checking one takes
            self.authentication_failed(request, **credentials)
            return None
        known: AbstractBaseUser | None = super().authenticate(request, **credentials)
        return known

    def confirm_email(self, request: HttpRequest, email_address: Any) -> bool:
        """Confirm an address and all that follows from it, or nothing."""
        try:
            with transaction.atomic():
                return bool(super().confirm_email(request, email_address))
        except IntegrityError:  # somebody else confirmed it at the same moment
            email_address.verified = False
            return False

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """Return how somebody can say again who they are; by another site if by nothing else."""
        own: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        return own or (another_site.ways(self.request, user) if user.is_authenticated else [])

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Return whether a page needs that: a sign-in by another site may be all there is."""
        if another_site.is_enough(self.request):
            return False
        return bool(super().is_reauthentication_required(app=app, **kwargs))

    def is_safe_url(self, url: str) -> bool:
        """Return whether a form may lead to this address: only to this site."""
        return redirects.is_safe(self.request, url)

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: Any) -> str:
        """Return the link of the mail, with the page that was wanted when it was asked for."""
        address: str = super().get_email_confirmation_url(request, emailconfirmation)
        wanted = redirects.wanted_page(request) or getattr(request, "wanted", "")
        return redirects.with_next(address, wanted)

    def get_reset_password_from_key_url(self, key: str) -> str:
        """Return the link of the mail, with the page that was wanted when it was asked for."""
        address: str = super().get_reset_password_from_key_url(key)
        return redirects.with_next(address, redirects.wanted_page(self.request))

    def get_email_verification_redirect_url(self, email_address: Any) -> str:
        """Return where a confirmed address leads in a browser that was not signing up."""
        del email_address
        signed_in = self.request.user.is_authenticated
        return reverse("account_email" if signed_in else "account_login")

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Store a mail to be sent: no page waits for a mail server, or fails with it."""
        account_mails.post(template_prefix, email, context)

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Say something on the next page, where that is one that shows what is said."""
        if message_template not in _NOT_SAID:
            super().add_message(request, level, message_template, *args, **kwargs)


class SocialAccountAdapter(DefaultSocialAccountAdapter):
    """Accounts by another site's sign-in."""

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        """Return the apps of the settings; none is kept in the database."""
        del request
        apps = _build_apps_from_settings(provider=provider, client_id=client_id)
        return [app for those in apps.values() for app in those]

    def list_providers(self, request: HttpRequest) -> list[Any]:
        """Return the sites that are offered, each under the name that its app has."""
        return [_named(provider) for provider in super().list_providers(request)]

    def get_provider(
        self, request: HttpRequest, provider: str, client_id: str | None = None
    ) -> Any:
        """Return a site that is offered. Raises 404 for another where one would go there.

        Elsewhere an account may still be linked to a site that is no longer offered.
        """
        try:
            return _named(super().get_provider(request, provider, client_id))
        except SocialApp.DoesNotExist:
            page = getattr(request, "resolver_match", None)
            if page is None or str(page.url_name).endswith(("_login", "_callback")):
                raise Http404 from None
            known = registry.get_class(provider)
            if known is None:
                raise Http404 from None
            return known(request, app=SocialApp(provider=provider, name=known.name))

    def get_requests_session(self) -> requests.Session:
        """Return what asks another site, no longer than a page can wait."""
        return Patient()

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Take what is wanted while the token is in hand, and keep no token."""
        from .facebook import about_to_sign_in

        about_to_sign_in(request, sociallogin)

    def populate_user(self, request: HttpRequest, sociallogin: Any, data: dict[str, Any]) -> User:
        """Return the user to be; the other site's name is only a suggestion."""
        user: User = super().populate_user(request, sociallogin, data)
        user.name = str(data.get("name") or "")[:_LONGEST_NAME]
        return user

    def serialize_instance(self, instance: Any) -> Any:
        """Return what the session keeps: of a user no more than who it is or is to be called."""
        if isinstance(instance, User):
            return {"pk": instance.pk, "name": instance.name}
        return super().serialize_instance(instance)

    def deserialize_instance(self, model: Any, data: Any) -> Any:
        """Return what the session kept. Raises ``ValueError`` if it is of no use any more."""
        if model is not User:
            return super().deserialize_instance(model, data)
        if not isinstance(data, dict):
            raise ValueError("not a user")  # noqa: TRY004 - what allauth takes for "no more"
        if data.get("pk") is None:
            user = User(name=str(data.get("name") or ""))
            user.set_unusable_password()
            return user
        known = User.objects.filter(pk=data["pk"]).first()
        if known is None:
            raise ValueError("no such user")
        return known

    def get_signup_form_initial_data(self, sociallogin: Any) -> dict[str, str]:
        """Return what the first sign-in's form says at first; all of it can be changed."""
        addresses = sociallogin.email_addresses
        return {
            "name": suggest(sociallogin.user.name),
            "email": addresses[0].email if addresses else "",
        }

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: str | None = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        """Answer with a page that says what can be done now; the wanted page is kept.

        What the other site has said is not told: it may quote the secret or a token.
        """
        state = (extra_context or {}).get("state") or {}
        wanted = state.get("next") or ""
        is_link = state.get("process") == AuthProcess.CONNECT
        if error == AuthError.CANCELLED:
            query = {"next": wanted, "process": "connect" if is_link else ""}
            query = {name: value for name, value in query.items() if value}
            raise ImmediateHttpResponse(
                HttpResponseRedirect(reverse("socialaccount_login_cancelled", query=query))
            )
        if exception is None:
            # A visitor's own, as a dialog left open or a link tried out; or the dialog was broken.
            is_away = bool(state and request.GET.get("error"))
        else:
            is_refused = isinstance(exception, OAuth2Error)
            is_away = not (is_refused and another_site.has_refused_the_code(request))
        logger.log(
            logging.WARNING if exception or is_away else logging.INFO,
            "signing in by another site did not work",
            extra={"why": type(exception).__name__ if exception else str(error)},
        )
        context = {
            "site": provider.name,
            "is_away": is_away,
            "is_link": is_link,
            "wanted": wanted,
        }
        status = HTTPStatus.BAD_GATEWAY if is_away else HTTPStatus.BAD_REQUEST
        raise ImmediateHttpResponse(
            render(request, "socialaccount/authentication_error.html", context, status=status)
        )


def _named(provider: Any) -> Any:
    if provider.app is not None and provider.app.name:
        provider.name = provider.app.name
    return provider
