"""A visitor becomes a guest at the first action: a real user, remembered by the session cookie."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.contrib.auth import SESSION_KEY, login
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils import timezone

from .models import User
from .names import made_up_name

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser
    from django.db.models import QuerySet

# Short numbers first; the longest leave room for hundreds of millions of guests.
_DIGITS = (3, 3, 3, 4, 4, 5, 5, 6, 6, 6)
_FORMS = uuid.UUID("4a4dc9f6-27a1-4d3c-8f2b-3d0f5f1f6c11")
_SENT_AGAIN = timedelta(hours=1)


def create_guest(form_key: UUID | None = None) -> User:
    """Return a new guest with a made-up name that nobody else has.

    ``form_key`` is the one-time key of the form that made a guest of a visitor. Sent twice, or
    again because the answer was lost, that form makes one guest. Only the key's digest is stored,
    and only for a while does it lead to the guest.
    """
    username = f"guest-{uuid.uuid5(_FORMS, str(form_key)) if form_key else uuid.uuid4()}"
    for digits in _DIGITS:
        guest = User(username=username, name=made_up_name(digits), kind=User.Kind.GUEST)
        guest.set_unusable_password()
        try:
            with transaction.atomic():
                guest.save(force_insert=True)
        except IntegrityError:
            made = User.objects.filter(username=username).first()
            if made is None:
                continue  # the name was taken
            if made.kind == User.Kind.GUEST and timezone.now() - made.date_joined < _SENT_AGAIN:
                return made
            username = f"guest-{uuid.uuid4()}"
            continue
        return guest
    raise RuntimeError("no free guest name found")


def keep_signed_in(request: HttpRequest, guest: User) -> None:
    """Bind ``guest`` to the visitor's session (a new session key, so nobody can fix it before).

    The forms in the visitor's other tabs stay good: it is the same browser, and a guest may do
    nothing that its visitor could not have done.
    """
    kept = request.META.get("CSRF_COOKIE")
    login(request, guest, backend="django.contrib.auth.backends.ModelBackend")
    if kept is not None:
        request.META["CSRF_COOKIE"] = kept


def player_of(user: User | AnonymousUser) -> User | None:
    """Return the signed-in player or guest, or ``None`` for a visitor who has done nothing yet."""
    return user if isinstance(user, User) and user.is_active else None


def guest_of_session(request: HttpRequest) -> User | None:
    """Return the guest whom the browser's session remembers, if it does and nobody took it over."""
    return _guests_of_session(request).filter(is_active=True, merged_into=None).first()


def became(request: HttpRequest) -> User | None:
    """Return the member whom the guest that this browser knows has become elsewhere, if it has."""
    merged = _guests_of_session(request).filter(
        merged_into__kind=User.Kind.MEMBER, merged_into__is_active=True
    )
    guest = merged.select_related("merged_into").first()
    return guest.merged_into if guest else None


def _guests_of_session(request: HttpRequest) -> QuerySet[User]:
    key = str(request.session.get(SESSION_KEY, ""))
    if not key.isdecimal():
        return User.objects.none()
    return User.objects.filter(pk=int(key), kind=User.Kind.GUEST)
