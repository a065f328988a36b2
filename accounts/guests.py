"""A visitor becomes a guest at the first action: a real user, remembered by the session cookie."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from django.contrib.auth import login
from django.db import IntegrityError, transaction
from django.http import HttpRequest

from .models import User
from .names import made_up_name

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

# Short numbers first; the longest leave room for hundreds of millions of guests.
_DIGITS = (3, 3, 3, 4, 4, 5, 5, 6, 6, 6)


def create_guest() -> User:
    """Create and return a guest with a made-up name that nobody else has."""
    for digits in _DIGITS:
        name = made_up_name(digits)
        guest = User(username=f"guest-{uuid.uuid4()}", name=name, kind=User.Kind.GUEST)
        guest.set_unusable_password()
        try:
            with transaction.atomic():
                guest.save(force_insert=True)
        except IntegrityError:
            continue
        return guest
    raise RuntimeError("no free guest name found")


def keep_signed_in(request: HttpRequest, guest: User) -> None:
    """Bind ``guest`` to the visitor's session (a new session key, so nobody can fix it before)."""
    login(request, guest, backend="django.contrib.auth.backends.ModelBackend")


def player_of(user: User | AnonymousUser) -> User | None:
    """Return the signed-in player or guest, or ``None`` for a visitor who has done nothing yet."""
    return user if isinstance(user, User) and user.is_active else None
