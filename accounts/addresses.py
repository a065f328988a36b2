"""Addresses as what they are compared by, and as digests that say nothing of them."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from django.conf import settings
from django.db.models import Value
from django.db.models.functions import Replace
from django.utils.crypto import salted_hmac
from django.utils.encoding import punycode

from .models import SuppressedAddress, User

_SALT = "accounts.addresses.digest"
_OF_GMAIL = ("gmail.com", "googlemail.com")


def normalised(address: str) -> str:
    """Return what the ways of writing one mailbox have in common; nothing is mailed there.

    No letter case, the domain in ASCII, nothing from a plus sign on; for Gmail no dots, and one
    domain.
    """
    local, _at, domain = address.strip().rpartition("@")
    try:
        domain = punycode(domain)
    except UnicodeError:
        domain = domain.casefold()
    local, domain = local.casefold(), domain.lower()
    local = local.partition("+")[0] or local
    if domain in _OF_GMAIL:
        local, domain = local.replace(".", ""), _OF_GMAIL[0]
    return f"{local}@{domain}"


def domain_of(address: str) -> str:
    """Return the domain of an address, in ASCII and small letters."""
    return normalised(address).rpartition("@")[2]


def address_digest(address: str) -> str:
    """Return the digest that is stored in place of an address; 64 hexadecimal digits."""
    return _digest(address, settings.SECRET_KEY)


def address_digests(address: str) -> list[str]:
    """Return every digest an address may be stored under: under this key, and older ones."""
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return [_digest(address, key) for key in keys]


def members_with(address: str) -> list[User]:
    """Return who has confirmed this address, in whatever way it is written; this way first.

    Looks at every confirmed address: nothing for a request that somebody waits for.
    """
    address = address.strip()
    mailbox = normalised(address)
    begins = mailbox.rpartition("@")[0].replace(".", "")
    confirmed = EmailAddress.objects.filter(
        verified=True, user__kind=User.Kind.MEMBER, user__is_active=True
    )
    alike = confirmed.annotate(bare=Replace("email", Value("."), Value("")))
    rows = alike.filter(bare__istartswith=begins).select_related("user").order_by("pk")
    found = [row for row in rows if normalised(row.email) == mailbox]
    found.sort(key=lambda row: row.email.casefold() != address.casefold())
    return list(dict.fromkeys(row.user for row in found))


def confirmed_addresses(user: User) -> list[str]:
    """Return the confirmed addresses of an account, the one that mail goes to first."""
    rows = EmailAddress.objects.filter(user=user, verified=True)
    return list(rows.order_by("-primary", "pk").values_list("email", flat=True))


def has_confirmed_one(user: User) -> bool:
    """Return whether somebody has an account with a confirmed address."""
    return user.is_member and EmailAddress.objects.filter(user=user, verified=True).exists()


def is_confirmed_by(user: User, digest: str) -> bool:
    """Return whether ``digest`` is of an address that ``user`` has confirmed."""
    return any(digest in address_digests(address) for address in confirmed_addresses(user))


def is_suppressed(address: str) -> bool:
    """Return whether this address never wants an invitation again."""
    return SuppressedAddress.objects.filter(digest__in=address_digests(address)).exists()


def suppress(digest: str) -> None:
    """Never write an invitation to the address of this digest again; again is harmless."""
    SuppressedAddress.objects.bulk_create([SuppressedAddress(digest=digest)], ignore_conflicts=True)


def _digest(address: str, key: str | bytes) -> str:
    secret: Any = key
    return salted_hmac(_SALT, normalised(address), secret=secret, algorithm="sha256").hexdigest()
