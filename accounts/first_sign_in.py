"""Whoever signs in by another site for the first time: a name, and perhaps an address.

Nobody gets into an account that is there already because of an address, and no address is
attached to an account before it is confirmed by mail: whoever types, or has at another site, the
address of somebody else gains nothing by it and hears nothing about them.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from allauth.account.internal.flows.email_verification import verify_email
from allauth.account.models import EmailAddress
from allauth.account.utils import perform_login
from allauth.socialaccount.forms import SignupForm
from allauth.socialaccount.internal.flows.login import record_authentication
from allauth.socialaccount.models import SocialAccount
from django.contrib import messages
from django.core import signing
from django.core.validators import MaxLengthValidator
from django.db import IntegrityError, transaction
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from . import joining, outbox, quotas, redirects
from .addresses import address_digest, has_confirmed_one
from .forms import SettingsForm
from .mails import Letter, letter, link
from .middleware import guest_of
from .models import Mail, User
from .sign_in_forms import NameInSignup
from .signing_in import member_username

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

PENDING = "socialaccount_sociallogin"
LASTS = timedelta(days=3)
_SALT = "accounts.first_sign_in.address"
_LONGEST_ADDRESS: int = Mail._meta.get_field("address").max_length or 0
_A_DAY = timedelta(days=1)
# Of mails that tell an address that it was given here.
_MAILS_A_DAY = 3


class FirstSignInForm(NameInSignup, SignupForm):
    """The name that others will see, and an address if the player likes."""

    field_order = ("name", "email")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        email = self.fields["email"]
        email.label = _("Email address, if you like")
        email.widget.attrs.pop("placeholder", None)
        email.validators.append(MaxLengthValidator(_LONGEST_ADDRESS))

    @property
    def site(self) -> str:
        """What the other site is called."""
        return str(self.sociallogin.provider.name)

    @property
    def sign_in_to_link(self) -> str:
        """Where to sign in to an account that is there, to link the other site to it."""
        linking = reverse("socialaccount_connections")
        wanted = self.sociallogin.state.get("next") or ""
        return redirects.with_next(reverse("account_login"), redirects.with_next(linking, wanted))

    def validate_unique_email(self, value: str) -> str:
        """Take any address: whose it is shows when it is confirmed, and nothing is told here."""
        return value

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """Make the account, or answer why not: somebody was faster with the name or the form."""
        pending = self.sociallogin.serialize()
        try:
            with transaction.atomic():
                return self.save(request), None
        except IntegrityError:
            return None, self._somebody_was_faster(request, pending)

    def save(self, request: HttpRequest) -> User:
        """Make the account, and write to the address that was given."""
        user: User = self.sociallogin.user
        user.username = member_username()
        guest, name = guest_of(request), self.cleaned_data["name"]
        user.name = joining.waiting_name() if joining.is_own_name(name, guest) else name
        if guest is not None:
            joining.take_over_later(guest, user)
        user.email = ""
        user.set_unusable_password()
        self.sociallogin.email_addresses = []
        self.sociallogin.save(request)
        if address := self.cleaned_data.get("email"):
            _write_to(address, user, self.site, self.sociallogin.state.get("next") or "")
            messages.info(
                request,
                _("We have written to %(address)s: please confirm the address by that mail.")
                % {"address": address},
            )
        return user

    def _somebody_was_faster(self, request: HttpRequest, pending: dict[str, Any]) -> HttpResponse:
        login = self.sociallogin
        account = SocialAccount.objects.filter(
            provider=login.account.provider, uid=login.account.uid
        ).first()
        if account is None:
            request.session[PENDING] = pending
            login.user.pk = None
            self.add_error("name", SettingsForm.name_taken())
            context = {"form": self, "account": login.account}
            return render(request, "socialaccount/signup.html", context, status=422)
        # The same form twice, or in two tabs: the account is there, and it is this person's.
        login.account, login.user = account, account.user
        record_authentication(request, login)
        response: HttpResponse = perform_login(
            request,
            account.user,
            email_verification="optional",
            redirect_url=login.get_redirect_url(request),
            signal_kwargs={"sociallogin": login},
        )
        return response


def _write_to(address: str, user: User, site: str, wanted: str) -> None:
    """Write to an address that was given: how it is confirmed, or that it was given by somebody.

    The page that gave it cannot tell which.
    """
    digest = address_digest(address)
    if not quotas.take(quotas.Limit(f"given address {digest}", _MAILS_A_DAY, _A_DAY)):
        return
    known = EmailAddress.objects.filter(email__iexact=address, verified=True).first()
    outbox.put(
        kind="address_known" if known else "address_given",
        key=f"address given {user.public_id}",
        address=address,
        language=(known.user.language if known else "") or get_language() or "en",
        user=known.user if known else user,
        content={"site": site} if known else {"site": site, "next": wanted},
        lasts=LASTS,
    )


@outbox.composer("address_given")
def _given(mail: Mail) -> Letter | None:
    """How to confirm an address, unless the account has one by now."""
    user = mail.user
    if user is None or not user.is_member or has_confirmed_one(user):
        return None
    token = token_of(user, mail.address, mail.content["next"])
    context = {
        "name": user.name,
        "site": mail.content["site"],
        "confirm_url": link(reverse("accounts:confirm_address", args=[token])),
    }
    subject = gettext_lazy("Please confirm your address")
    return letter("address_given", context, language=mail.language, subject=subject)


@outbox.composer("address_known")
def _known(mail: Mail) -> Letter | None:
    """Tell the owner of an address that somebody else has given it."""
    if mail.user is None:
        return None
    context = {
        "site": mail.content["site"],
        "connections_url": link(reverse("socialaccount_connections")),
    }
    subject = gettext_lazy("Somebody has given your address")
    return letter("address_known", context, language=mail.language, subject=subject)


def token_of(user: User, address: str, wanted: str) -> str:
    """Return what a mailed link carries to confirm ``address``: good for nothing else."""
    return signing.dumps([str(user.public_id), address, wanted], salt=_SALT, compress=True)


def read_token(token: str) -> tuple[User, str, str] | None:
    """Return whose account, which address and which page was wanted; ``None`` if no more."""
    try:
        public_id, address, wanted = signing.loads(token, salt=_SALT, max_age=LASTS)
    except (signing.BadSignature, ValueError):
        return None
    user = User.objects.filter(public_id=public_id, kind=User.Kind.MEMBER, is_active=True).first()
    if user is None:
        return None
    has = EmailAddress.objects.filter(user=user, verified=True)
    if has.exclude(email__iexact=address).exists():
        return None  # it has another address by now
    taken = EmailAddress.objects.filter(email__iexact=address, verified=True).exclude(user=user)
    return None if taken.exists() else (user, address, wanted)


def confirm(request: HttpRequest, user: User, address: str) -> bool:
    """Attach a confirmed address to an account; return whether it is now the account's."""
    try:
        with transaction.atomic():
            row = EmailAddress.objects.filter(user=user, email__iexact=address).first()
            return bool(
                (row is not None and row.verified)
                or verify_email(request, row or EmailAddress(user=user, email=address.lower()))
            )
    except IntegrityError:  # somebody has just confirmed it elsewhere
        return False
