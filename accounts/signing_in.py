"""What follows when allauth says that somebody has shown who they are."""

from __future__ import annotations

import hashlib
import uuid
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from allauth.account.models import EmailAddress
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from . import joining
from .models import RetiredName, User
from .names import name_digest, skeleton_of
from .signals import address_confirmed

if TYPE_CHECKING:
    from django.http import HttpRequest

PENDING = "pending-"
"""How the technical name of an account begins that waits for its address to be confirmed."""
WAITS_FOR = timedelta(days=7)
"""How long it waits; then it is deleted, and its name is free."""


def member_username() -> str:
    """Return a technical name for an account: people know each other by ``User.name``."""
    return f"member-{uuid.uuid4()}"


def pending_username(address: str) -> str:
    """Return the technical name of the account that waits for this address to be confirmed.

    The database has it once: a form that is sent twice at once makes one account.
    """
    return PENDING + hashlib.sha256(address.lower().encode()).hexdigest()


def account_of(address: str) -> User | None:
    """Return whose address it is: who has confirmed it, or else the account that waits for that.

    An address that a member only wants to change to is nobody's: else whoever asks for a code or
    a new password with it would get into the account of somebody else.
    """
    address = address.lower()
    claims = EmailAddress.objects.filter(email=address).filter(
        Q(verified=True) | Q(user__username=pending_username(address))
    )
    claim = claims.select_related("user").order_by("-verified").first()
    return claim.user if claim else None


def is_waiting(account: User) -> bool:
    """Return whether an account waits for its address to be confirmed."""
    return account.username.startswith(PENDING)


def is_confirmed(address: str) -> bool:
    """Return whether somebody has an account with this address and has confirmed it."""
    return bool(EmailAddress.objects.is_verified(address))


def as_if_waiting(address: str, name: str) -> None:
    """Keep a name for as long as an account would that was not made: its address has one already.

    Else whoever asks whether the name is free could tell.
    """
    until = timezone.now() + WAITS_FOR
    digests = (name_digest(name), _sign_up_digest(address, name))
    kept = [RetiredName(digest=digest, until=until) for digest in digests]
    RetiredName.objects.bulk_create(kept, ignore_conflicts=True)


def is_sent_again(address: str, name: str) -> bool:
    """Return whether somebody has signed up with just this, and waits, or seems to."""
    made = User.objects.filter(username=pending_username(address), skeleton=skeleton_of(name))
    kept = RetiredName.objects.filter(
        digest=_sign_up_digest(address, name), until__gt=timezone.now()
    )
    return made.exists() or kept.exists()


def _sign_up_digest(address: str, name: str) -> str:
    value = f"{address.lower()} {skeleton_of(name)}"
    return salted_hmac("accounts.signing_in", value, algorithm="sha256").hexdigest()


def on_email_confirmed(*, request: HttpRequest, email_address: Any, **_signal: Any) -> None:
    """Receive allauth's ``email_confirmed``: the account is its owner's from here on.

    Whoever signed up with somebody else's address before gets no further: every other session of
    the account ends.
    """
    member: User = email_address.user
    with transaction.atomic():
        if is_waiting(member):
            member.username = member_username()
            if _came_by_a_code(request) or getattr(request, "forgets_password", False):
                # The password may be somebody else's, who signed up with this address.
                member.set_unusable_password()
            member.save(update_fields=["username", "password"])
        joining.confirmed(member)
        address_confirmed.send(sender=User, user=member, address=email_address.email)
        joining.end_other_sessions(request, member)


def _came_by_a_code(request: HttpRequest) -> bool:
    match = request.resolver_match
    return match is not None and match.view_name == "account_confirm_login_code"


def on_password_reset(*, request: HttpRequest, user: User, **_signal: Any) -> None:
    """Receive allauth's ``password_reset``: who has read the mail has the address.

    So somebody whose address another person signed up with gets an account with a password that
    the other does not know.
    """
    from allauth.account.internal.flows.email_verification import verify_email

    if not is_waiting(user):
        return
    address = EmailAddress.objects.filter(user=user, verified=False).first()
    if address is not None:
        address.user = user  # the instance that will be signed in
        verify_email(request, address)
