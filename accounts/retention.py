"""How long what is kept of whom, and the job that keeps to it.

``KEPT`` is the one rule: the privacy page and docs/operations.md show it, and a test fails where
a table of the database is not in it. ``run`` is rung for by beat; each of its steps is bounded,
may run twice, and goes on next time where it had too much to do.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from . import addresses, closing, outbox, signing_in
from .models import DataExport, FacebookRequest, Mail, Quota, RetiredName, User

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.db.models import QuerySet
    from django.utils.functional import Promise

logger = logging.getLogger(__name__)

GUEST_STAYS_FOR = timedelta(days=30)
"""After the last visit; a game with a person that still runs is waited for."""
IDLE_NOTICE_AFTER = timedelta(days=700)  # about 23 months
IDLE_STAYS_FOR = timedelta(days=730)  # 24 months
NOTICE_COMES_BEFORE = timedelta(days=30)
"""An idle account is deleted no earlier than this after its notice."""
FACEBOOK_REQUEST_IS_KEPT = timedelta(days=90)
EXPORT_IS_LISTED = timedelta(days=30)
OFFERS_ARE_GONE_AFTER = timedelta(days=60)
"""Where no game came of them; longer than they are kept."""
_ACCOUNTS_A_RUN = 200
_NOTICES_A_RUN = 200


@dataclass(frozen=True, slots=True)
class Kept:
    """Some data: what, why, how long, who else gets it, and the tables it is in."""

    what: str | Promise
    why: str | Promise
    how_long: str | Promise
    tables: tuple[str, ...]
    who_else: str | Promise = ""


KEPT = (
    Kept(
        _("Account: name, settings, last visit"),
        _("so that you and the people you play with find each other"),
        _(
            "until you delete it; 7 days if its address is never confirmed; 24 months after your "
            "last visit, but not before a month after a notice if there is a confirmed address"
        ),
        ("accounts.User", "accounts.User_groups", "accounts.User_user_permissions"),
    ),
    Kept(
        _("Guest: made-up name, settings, last visit"),
        _("so that this browser finds its games again"),
        _("30 days after the last visit, or as long as a game with a person runs"),
        ("accounts.User",),
    ),
    Kept(
        _("Mail address, and whether it is confirmed"),
        _("to sign in, to get a forgotten password back, for the mails you want"),
        _("until you remove it or delete the account"),
        ("account.EmailAddress", "account.EmailConfirmation"),
        _("the mail provider"),
    ),
    Kept(
        _("Link to an account elsewhere: its id, and the name told with it"),
        _("to sign in with it"),
        _("until you unlink it or delete the account"),
        ("socialaccount.SocialAccount",),
        _("that site learns that you sign in here, and when"),
    ),
    Kept(
        _("Passkeys and second factors"),
        _("so that nobody else signs in as you"),
        _("until you remove them or delete the account"),
        ("mfa.Authenticator",),
    ),
    Kept(
        _("Sign-ins: time, internet address, browser"),
        _("so that you can see and end them"),
        _("until you sign out or were away for 30 days"),
        ("usersessions.UserSession", "sessions.Session"),
    ),
    Kept(
        _("Friends, friend requests, blocks"),
        _("to know who may see and challenge you"),
        _("until one of you takes it back or deletes the account"),
        ("accounts.Friendship", "accounts.Block"),
    ),
    Kept(
        _("Games: every card, and when it was played"),
        _("they are the game, and they are your opponent's too"),
        _(
            "for good; when you delete the account they stay with “former player” in your place, "
            "and games against the computer are deleted"
        ),
        (
            "games.Game",
            "games.Play",
            "games.Event",
            "games.FinishedRound",
            "games.Fingerprint",
            "games.Seal",
            "sealing.SealedTip",
        ),
    ),
    Kept(
        _("Offers to play"),
        _("so that somebody can accept them"),
        _("14 days, and 30 days more if no game came of it"),
        ("games.Challenge",),
    ),
    Kept(
        _("Invitations by mail: the address they go to"),
        _("to send the mail, and to bring who was invited to the right table"),
        _("the address until it is answered, 14 days at most; a digest of it 30 days more"),
        ("games.Invitation",),
        _("the mail provider"),
    ),
    Kept(
        _("Records that you bring"),
        _("to look at them again"),
        _("until you delete them or the account"),
        ("games.UploadedRecord",),
    ),
    Kept(
        _("Mails: kind, address, time, whether it was sent"),
        _("to send each once, and to tell you whether it was"),
        _("what is in it until it has left; the rest 90 days"),
        ("accounts.Mail",),
        _("the mail provider"),
    ),
    Kept(
        _("Addresses that want no invitations, as a digest"),
        _("so that nobody is invited again who said never"),
        _("for good"),
        ("accounts.SuppressedAddress",),
    ),
    Kept(
        _("Names of deleted accounts, as a digest"),
        _("so that nobody passes for you at once"),
        _("90 days"),
        ("accounts.RetiredName",),
    ),
    Kept(
        _("The file with your data, if you asked for it"),
        _("so that you can fetch it"),
        _("24 hours, or until you have fetched it; that you asked, 30 days"),
        ("accounts.DataExport",),
    ),
    Kept(
        _("Facebook’s requests to delete or unlink, with a digest of your id there"),
        _("to show you what became of it"),
        _("90 days"),
        ("accounts.FacebookRequest",),
        _("Facebook gets a code that stands for it"),
    ),
    Kept(
        _("Counts of tries and of invitations"),
        _("so that nobody guesses passwords or floods mailboxes"),
        _("until their time is over, a day mostly, 400 days at most"),
        ("accounts.Quota", "basra_site_cache"),
    ),
    Kept(
        _("Log of requests: time, page, status; no addresses, no names"),
        _("to find faults"),
        _("14 days; what concerns security 90 days"),
        (),
    ),
    Kept(
        _("Backups of all this"),
        _("so that no game is lost"),
        _("35 days: what you delete is gone from them by then"),
        (),
        _("whoever stores them"),
    ),
)

NOBODYS = {
    "basra_site.Heartbeat": "when the queue last worked",
    "auth.Group": "groups of staff",
    "auth.Group_permissions": "what groups of staff may do",
    "auth.Permission": "names of what staff may do",
    "contenttypes.ContentType": "names of tables",
    "socialaccount.SocialApp": "empty: sites to sign in with come from the settings",
    "socialaccount.SocialToken": "empty: no token is stored",
    "django_migrations": "what was done to the tables",
}
"""Tables that hold nothing of anybody."""

stays: list[Callable[[], Q]] = []
"""Conditions on players, each a reason not to delete a guest who is away; others add theirs."""


def run() -> None:
    """Delete what has had its time. A step that fails is logged, and the others are done."""
    for step in (
        forget_guests, forget_unconfirmed, tell_idle, forget_idle, drop_former, drop_old_rows,
        drop_dead_sign_ins,
    ):  # fmt: skip
        try:
            step()
        except Exception:  # whatever is wrong with one step, the others are taken
            logger.exception("a step of keeping to the time limits failed")


def forget_guests() -> int:
    """Delete guests who were away for long and whom nobody waits for."""
    away = User.objects.filter(
        kind=User.Kind.GUEST, merged_into=None, seen_at__lt=_before(GUEST_STAYS_FOR)
    )
    for reason in stays:
        away = away.exclude(reason())
    return closing.close_all(away, _ACCOUNTS_A_RUN)


def forget_unconfirmed() -> int:
    """Delete accounts that nobody has ever got into: their address was never confirmed."""
    old = User.objects.filter(
        kind=User.Kind.MEMBER, last_login=None, date_joined__lt=_before(signing_in.WAITS_FOR)
    )
    pending = old.filter(_has_address(verified=False)).exclude(_has_address(verified=True))
    strangers = pending.exclude(Exists(SocialAccount.objects.filter(user=OuterRef("pk"))))
    return closing.close_all(strangers, _ACCOUNTS_A_RUN, retire_names=False)


def tell_idle() -> int:
    """Mail those who were away for 23 months that their account will be deleted.

    A notice that could not be sent is written again a month later.
    """
    idle = _idle(IDLE_NOTICE_AFTER).filter(_has_address(verified=True), closes_at=None)
    lately = Q(created_at__gt=_before(NOTICE_COMES_BEFORE))
    untold = idle.exclude(_notice(~Q(state=Mail.State.DEAD) | lately))
    told = 0
    for user in untold.order_by("seen_at")[:_NOTICES_A_RUN]:
        for address in addresses.confirmed_addresses(user)[:1]:
            with transaction.atomic():
                told += 1 if _put_notice(user, address) else 0
    return told


def _put_notice(user: User, address: str) -> Mail | None:
    return outbox.put(
        kind="idle",
        key=f"idle {user.pk} {user.seen_at.isoformat()} {timezone.now():%Y-%m-%d}",
        address=address,
        user=user,
        content={"seen_at": user.seen_at.isoformat()},
        lasts=timedelta(days=7),
    )


def forget_idle() -> int:
    """Delete accounts that nobody used for 24 months, a month after their notice.

    Who cannot be written to, having no confirmed address, gets none.
    """
    left = Q(state__in=[Mail.State.SENT, Mail.State.UNKNOWN])
    told = _notice(left & Q(ended_at__lt=_before(NOTICE_COMES_BEFORE)))
    idle = _idle(IDLE_STAYS_FOR).filter(told | ~_has_address(verified=True))
    return closing.close_all(idle, _ACCOUNTS_A_RUN)


def idle_ends_at(user: User) -> datetime:
    """Return when an idle account is deleted if its owner is told now and does not come back."""
    return max(user.seen_at + IDLE_STAYS_FOR, timezone.now() + NOTICE_COMES_BEFORE)


def _idle(for_so_long: timedelta) -> QuerySet[User]:
    return User.objects.filter(
        kind=User.Kind.MEMBER, is_staff=False, seen_at__lt=_before(for_so_long)
    )


def _notice(such: Q) -> Q:
    """The condition that there is such a notice since the last visit."""
    notices = Mail.objects.filter(
        such, user=OuterRef("pk"), kind="idle", created_at__gt=OuterRef("seen_at")
    )
    return Q(Exists(notices))


def _has_address(*, verified: bool) -> Q:
    return Q(Exists(EmailAddress.objects.filter(user=OuterRef("pk"), verified=verified)))


def drop_former() -> int:
    """Delete what is left of former players whom no game and no offer needs any more."""
    # When it became one stands in the place of when it began.
    lately = User.objects.filter(date_joined__gt=_before(OFFERS_ARE_GONE_AFTER))
    return closing.drop_unneeded(lately)


def drop_old_rows() -> None:
    """Delete rows whose time is over."""
    RetiredName.objects.filter(until__lte=Now()).delete()
    FacebookRequest.objects.filter(received_at__lt=_before(FACEBOOK_REQUEST_IS_KEPT)).delete()
    DataExport.objects.filter(asked_at__lt=_before(EXPORT_IS_LISTED)).delete()
    Quota.objects.filter(ends_at__lte=Now()).delete()


def drop_dead_sign_ins() -> None:
    """Delete what is listed of sign-ins whose session is over."""
    alive = Session.objects.filter(pk=OuterRef("session_key"), expire_date__gt=Now())
    UserSession.objects.exclude(Exists(alive)).delete()


def _before(ago: timedelta) -> datetime:
    return timezone.now() - ago
