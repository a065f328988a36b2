"""Addresses as what they are compared by, and as digests that say nothing of them."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from django.conf import settings
from django.utils.crypto import salted_hmac
from django.utils.encoding import punycode

from .models import SuppressedAddress, User

_SALT = "accounts.addresses.digest"


def normalised(address: str) -> str:
    """Return what two ways of writing one address have in common: no letter case, IDNA."""
    local, _at, domain = address.strip().rpartition("@")
    try:
        domain = punycode(domain)
    except UnicodeError:
        domain = domain.casefold()
    return f"{local.casefold()}@{domain.lower()}"


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


def member_with(address: str) -> User | None:
    """Return the member who has confirmed this address, in whatever letter case."""
    confirmed = EmailAddress.objects.filter(verified=True, email__iexact=address.strip())
    members = User.objects.filter(kind=User.Kind.MEMBER, is_active=True)
    return members.filter(pk__in=confirmed.values("user")).first()


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
