"""Deleting an account: asked for, waited for, done in one go.

Who asks has seven days to think it over; what is due is deleted by ``close_due``, which beat rings
for. What stays of a person is a seat at other people's tables: a row without a name that no page
and no other row leads back to anybody.

An account is claimed first, in a transaction of its own, by making it inactive: from then on
nobody plays, accepts or signs in as this person, and a run that was interrupted is taken up again
by the next one.
"""

from __future__ import annotations

import logging
import time
import uuid
from datetime import timedelta
from typing import TYPE_CHECKING

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.auth.hashers import make_password
from django.contrib.sessions.models import Session
from django.core import signing
from django.db import transaction
from django.db.models import ProtectedError, Q
from django.db.models.functions import Now
from django.utils import timezone

from . import names, outbox
from .addresses import confirmed_addresses
from .models import Block, DataExport, FacebookRequest, Friendship, Mail, RetiredName, User
from .signals import account_closing

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet

logger = logging.getLogger(__name__)

STAYS_FOR = timedelta(days=7)
"""Between asking and being deleted."""
NAME_RESTS_FOR = timedelta(days=90)
"""Before anybody else can take the name."""
ACCOUNTS_A_RUN = 50

_PEOPLE = (User.Kind.MEMBER, User.Kind.GUEST)
_SALT = "accounts.closing.keep"
_A_RUN_LASTS = 40.0  # seconds


class NotAsked(Exception):
    """There is no account, or none that this link belongs to."""


def ask_to_close(user: User, *, why: str = "") -> datetime:
    """Let the account be deleted when its stay is over, and return when that is.

    Asked again it stays at the first time. A link to keep the account is mailed to its confirmed
    addresses; ``why`` is put into the log ("facebook"). Raises ``NotAsked`` where there is no
    account, or it is being deleted.
    """
    with transaction.atomic():
        open_accounts = User.objects.filter(pk=user.pk, is_active=True, kind__in=_PEOPLE)
        closes_at = timezone.now() + STAYS_FOR
        if open_accounts.filter(closes_at=None).update(closes_at=closes_at):
            _mail_the_way_back(user, closes_at)
            logger.info("an account is to be closed", extra={"account": user.pk, "why": why})
        stored = open_accounts.values_list("closes_at", flat=True).first()
    if stored is None:
        raise NotAsked
    user.closes_at = stored
    return stored


def _mail_the_way_back(user: User, closes_at: datetime) -> None:
    for number, address in enumerate(confirmed_addresses(user)):
        outbox.put(
            kind="closing",
            key=f"closing {user.pk} {closes_at.isoformat()} {number}",
            address=address,
            user=user,
            content={"closes_at": closes_at.isoformat()},
            lasts=STAYS_FOR,
        )


def keep(user: User) -> bool:
    """Take back that the account be deleted; return whether it stays. Again is harmless."""
    kept = User.objects.filter(pk=user.pk, is_active=True).update(closes_at=None)
    user.refresh_from_db(fields=["closes_at"])
    return bool(kept)


def keeping_token(user: User) -> str:
    """Return what a mailed link carries to keep this account, this time: good for nothing else."""
    asked = user.closes_at.isoformat() if user.closes_at else ""
    return signing.dumps([str(user.public_id), asked], salt=_SALT)


def account_to_keep(token: str) -> User:
    """Return whose account a link keeps, whether or not it is still to be closed.

    Raises ``NotAsked`` for a link that is forged, older than the stay, of an earlier time than the
    one now asked for, or whose account is gone.
    """
    try:
        public_id, asked = signing.loads(token, salt=_SALT, max_age=STAYS_FOR)
        user = User.objects.filter(public_id=public_id, is_active=True).first()
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise NotAsked from error
    if user is None or (user.closes_at and user.closes_at.isoformat() != asked):
        raise NotAsked
    return user


def close_due(limit: int = ACCOUNTS_A_RUN) -> int:
    """Delete the accounts whose stay is over; return how many. What fails is tried again."""
    return close_all(User.objects.filter(closes_at__lte=Now()), limit)


def close_all(accounts: QuerySet[User], limit: int, *, retire_names: bool = True) -> int:
    """Delete these accounts, each in a transaction of its own; return how many went.

    Stops after 40 s: the next run goes on. Each is claimed only if it still is among ``accounts``
    then: somebody may have come back. One that cannot be deleted is logged, and stays claimed until
    the next run.
    """
    until = time.monotonic() + _A_RUN_LASTS
    gone = 0
    people = accounts.filter(kind__in=_PEOPLE)
    for key in list(people.order_by("pk").values_list("pk", flat=True)[:limit]):
        if time.monotonic() > until:
            break
        try:
            if people.filter(pk=key).update(is_active=False):
                gone += _close(key, retire_name=retire_names)
        except Exception:  # whatever is wrong with one account, the others go
            logger.exception("an account could not be closed", extra={"account": key})
    return gone


def close(user: User, *, retire_name: bool = True) -> bool:
    """Delete an account now; return whether this call did it. Done again it is harmless.

    In one transaction everything of the person goes: what others need keeps a seat without a
    name. A member's name is kept from others for ``NAME_RESTS_FOR``, as a digest.
    """
    User.objects.filter(pk=user.pk, kind__in=_PEOPLE).update(is_active=False)
    return _close(user.pk, retire_name=retire_name) > 0


def _close(key: int, *, retire_name: bool) -> int:
    """Delete an inactive account, and the guests who have become this person; return how many."""
    gone = 1
    with transaction.atomic():
        user = User.objects.filter(pk=key, kind__in=_PEOPLE, is_active=False).first()
        if user is None:
            return 0
        account_closing.send(sender=User, user=user)
        # Of two runs at once the second waits here, and finds it done.
        still = User.objects.select_for_update().filter(pk=key, kind__in=_PEOPLE)
        if not still.exists():
            return 0
        # Only now: until it was locked another guest could become this person.
        for guest in list(User.objects.filter(merged_into=key).values_list("pk", flat=True)):
            gone += _close(guest, retire_name=False)
        if retire_name and user.is_member:
            _retire(user.name)
        _forget_everything_of(user)
        _make_former(user)
    logger.info("an account was closed", extra={"account": key})
    return gone


def _retire(name: str) -> None:
    RetiredName.objects.update_or_create(
        digest=names.name_digest(name), defaults={"until": timezone.now() + NAME_RESTS_FOR}
    )


def _forget_everything_of(user: User) -> None:
    mine = Q(user=user)
    for address in confirmed_addresses(user):  # any other may be a stranger's
        mine |= Q(address__iexact=address)
    Mail.objects.filter(mine).delete()
    EmailAddress.objects.filter(user=user).delete()
    SocialAccount.objects.filter(user=user).delete()
    Authenticator.objects.filter(user=user).delete()
    _end_sessions_of(user)
    Friendship.objects.filter(Q(asker=user) | Q(asked=user)).delete()
    Block.objects.filter(Q(blocker=user) | Q(blocked=user)).delete()
    DataExport.objects.filter(user=user).delete()
    requests = FacebookRequest.objects.filter(user=user)
    requests.filter(done_at=None).update(done_at=timezone.now())
    requests.update(user=None)
    User.objects.filter(takes_over=user).update(takes_over=None)
    user.groups.clear()
    user.user_permissions.clear()


def _end_sessions_of(user: User) -> None:
    """Delete the sessions of an account. A guest's is of nobody now, and gone within 30 days.

    Each sign-in to an account is listed. Any other session is worthless, since an inactive account
    is nobody's; whose it is would show only when all of them were opened.
    """
    sign_ins = UserSession.objects.filter(user=user)
    Session.objects.filter(pk__in=list(sign_ins.values_list("session_key", flat=True))).delete()
    sign_ins.delete()


def _make_former(user: User) -> None:
    """Leave a row that says nothing but that somebody sat here; none where nothing needs it."""
    now, username, fresh = timezone.now(), f"former-{uuid.uuid4()}", User()
    rows = User.objects.filter(pk=user.pk)
    rows.update(
        kind=User.Kind.FORMER,
        username=username,
        public_id=uuid.uuid4(),
        name="",
        skeleton=username,
        email="",
        password=make_password(None),
        last_login=None,
        date_joined=now,
        seen_at=now,
        is_active=False,
        is_staff=False,
        is_superuser=False,
        closes_at=None,
        takes_over=None,
        merged_into=None,
        **{field: getattr(fresh, field) for field in User.SETTINGS},
    )
    drop_unneeded(rows)


def drop_unneeded(former: QuerySet[User]) -> int:
    """Delete the rows of former players that no game and no offer needs; return how many."""
    dropped = 0
    for user in former.filter(kind=User.Kind.FORMER):
        try:
            with transaction.atomic():
                user.delete()
        except ProtectedError:
            continue
        dropped += 1
    return dropped
