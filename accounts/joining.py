"""A guest who becomes somebody: what was the guest's is the member's, at once and whole.

A guest is merged once, into one member, and never into another guest. The row stays for a day, so
that what the guest's last requests left behind is moved too; where it holds a seat at a table
against the member's own (they were one person) it stays for good, and nobody can sign in as it.
"""

from __future__ import annotations

import logging
import random
import time
import uuid
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.db import IntegrityError, OperationalError, transaction
from django.db.models import ProtectedError, Q
from django.utils import timezone

from .models import Block, Friendship, Mail, User
from .names import made_up_name, skeleton_of
from .relations import hold
from .signals import guest_joined

if TYPE_CHECKING:
    from django.http import HttpRequest

logger = logging.getLogger(__name__)

KEPT_AFTER_MERGING = timedelta(days=1)
"""How long the row of a guest who has become somebody is looked after."""

REQUESTS_LAST = timedelta(minutes=30)
"""What a guest's last requests leave behind is there by then."""

_ATTEMPTS = 3


def take_over_later(guest: User, member: User) -> None:
    """Let a new account have the guest's settings now, and the games once it is confirmed.

    A guest waits for one account: the latest. ``member`` is saved by the caller.
    """
    User.objects.filter(takes_over=guest).update(takes_over=None)
    member.takes_over = guest
    for setting in User.SETTINGS:
        setattr(member, setting, getattr(guest, setting))


def confirmed(member: User) -> None:
    """Do what waited for an account to be confirmed: the guest's games, and its name."""
    guest = User.objects.filter(taken_over_by=member).first()
    if guest is not None:
        merge(guest, member)
    _settle_name(member, None)


def merge(guest: User, member: User) -> bool:
    """Make all that is ``guest``'s ``member``'s, in one transaction; return whether it was done.

    Merging again is harmless, and so is a guest who has become somebody else: nothing is moved
    then. The guest's sessions are worth nothing from here on.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            with transaction.atomic():
                return _merge(guest, member)
        except OperationalError:  # two requests that waited for each other's rows
            if attempt == _ATTEMPTS:
                raise
            logger.warning("a guest is merged again after a deadlock")
            time.sleep(random.uniform(0.05, 0.2) * attempt)  # noqa: S311 - no secret
    raise AssertionError("not reached")


def _merge(guest: User, member: User) -> bool:
    # In one order everywhere, and without the key: games that name them need not wait.
    rows = User.objects.select_for_update(no_key=True).filter(pk__in=[guest.pk, member.pk])
    found = {row.pk: row for row in rows.order_by("pk")}
    if guest.pk not in found or member.pk not in found:
        return False
    joined = found[member.pk]
    if found[guest.pk].merged_into_id or not (joined.is_member and joined.is_active):
        return False
    mergeable = User.objects.filter(
        pk=guest.pk, kind=User.Kind.GUEST, is_active=True, merged_into=None
    )
    now = timezone.now()
    if not mergeable.update(is_active=False, merged_into=member, seen_at=now, closes_at=None):
        return False
    User.objects.filter(takes_over=guest).update(takes_over=None)
    _move(found[guest.pk], joined)
    _settle_name(member, found[guest.pk])
    member.takes_over = None
    return True


def finish_merges() -> int:
    """Move what merged guests' last requests left behind, and delete those of yesterday.

    Only those merged just now and those of yesterday are looked at. Returns how many were deleted.
    A guest who holds a seat that could not be moved stays.
    """
    deleted, now = 0, timezone.now()
    just_now = Q(seen_at__gte=now - REQUESTS_LAST)
    yesterday = Q(seen_at__lt=now - KEPT_AFTER_MERGING, seen_at__gte=now - 7 * KEPT_AFTER_MERGING)
    merged = User.objects.filter(
        just_now | yesterday, kind=User.Kind.GUEST, merged_into__kind=User.Kind.MEMBER
    )
    for guest in merged.select_related("merged_into").order_by("pk"):
        try:
            deleted += _finish(guest, is_over=guest.seen_at < now - KEPT_AFTER_MERGING)
        except Exception:  # whatever is wrong with one guest, the others are finished
            logger.exception("a merge could not be finished", extra={"guest": guest.pk})
    return deleted


def _finish(guest: User, *, is_over: bool) -> bool:
    """Move what is left of a merged guest; if that ``is_over``, return whether the row went."""
    member = guest.merged_into
    if member is None:
        return False
    with transaction.atomic():
        hold(guest, member)
        # Else it is being deleted, and the guest with it.
        if User.objects.filter(pk=member.pk, kind=User.Kind.MEMBER, is_active=True).exists():
            _move(guest, member)
    if is_over:
        try:
            with transaction.atomic():
                guest.delete()
        except ProtectedError:
            return False  # it sits where the member sits too
    return is_over


def _move(guest: User, member: User) -> None:
    guest_joined.send(sender=User, guest=guest, member=member)
    _move_friendships(guest, member)
    _move_blocks(guest, member)
    Mail.objects.filter(user=guest).update(user=member)
    guest.exports.update(user=member)


def _move_friendships(guest: User, member: User) -> None:
    for row in Friendship.objects.filter(Q(asker=guest) | Q(asked=guest)):
        other = row.asked_id if row.asker_id == guest.pk else row.asker_id
        known = Friendship.objects.filter(
            Q(asker=member, asked=other) | Q(asker=other, asked=member)
        ).first()
        if other == member.pk or known is not None:
            if known is not None and known.accepted_at is None and row.accepted_at is not None:
                Friendship.objects.filter(pk=known.pk).update(accepted_at=row.accepted_at)
            row.delete()
        elif row.asker_id == guest.pk:
            Friendship.objects.filter(pk=row.pk).update(asker=member)
        else:
            Friendship.objects.filter(pk=row.pk).update(asked=member)


def _move_blocks(guest: User, member: User) -> None:
    """Take the walls along, those that others have built too: signing up is no way around them."""
    for mine, other in (("blocker", "blocked"), ("blocked", "blocker")):
        rows: Any = Block.objects.filter(**{mine: guest})
        kept = Block.objects.filter(**{mine: member}).values_list(other, flat=True)
        doubled = Q(**{f"{other}__in": list(kept)}) | Q(**{other: member})
        rows.filter(doubled).delete()
        rows.update(**{mine: member})
    walls = Block.objects.filter(Q(blocker=member) | Q(blocked=member))
    for blocker, blocked in walls.values_list("blocker_id", "blocked_id"):
        Friendship.objects.filter(
            Q(asker=blocker, asked=blocked) | Q(asker=blocked, asked=blocker)
        ).delete()


# Names


def waiting_name() -> str:
    """Return the name of an account that gets its guest's when it is confirmed.

    No name that people can take has a bracket, so that it is nobody's.
    """
    return f"({uuid.uuid4().hex[:20]})"


def settle_name(member: User) -> None:
    """Give an account a name that waited for one of a guest who is somebody else's by now."""
    if member.name.startswith("("):
        _settle_name(member, None)


def _settle_name(member: User, guest: User | None) -> None:
    """Give an account that waited for a name its guest's, or a made-up one where that is gone."""
    member.name = User.objects.values_list("name", flat=True).get(pk=member.pk)
    if not member.name.startswith("("):
        return
    if guest is not None:
        name, guest.name = guest.name, waiting_name()
        guest.save(update_fields=["name"])
        member.name = name
        member.save(update_fields=["name"])
        return
    for digits in (3, 4, 5, 6, 6, 6):
        member.name = made_up_name(digits)
        try:
            with transaction.atomic():
                member.save(update_fields=["name"])
        except IntegrityError:
            continue
        return


def is_own_name(name: str, guest: User | None) -> bool:
    """Return whether ``name`` is the one that the guest goes by already."""
    return guest is not None and skeleton_of(name) == skeleton_of(guest.name)


# Sessions


def forget_the_guest(request: HttpRequest) -> None:
    """Let the session be nobody's, and keep what else is in it: how far the sign-in has come."""
    for key in (SESSION_KEY, BACKEND_SESSION_KEY, HASH_SESSION_KEY):
        request.session.pop(key, None)


def end_other_sessions(request: HttpRequest, member: User) -> None:
    """End every session of an account but the one of this request."""
    from allauth.usersessions.models import UserSession

    current = request.session.session_key if request.user.pk == member.pk else None
    sessions = UserSession.objects.filter(user=member)
    for session in sessions.exclude(session_key=current) if current else sessions:
        session.end()
