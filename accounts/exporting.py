"""What a player takes along: everything that is stored of them, as a file for people and machines.

Each part of the file comes from an exporter, registered by whoever knows the tables. The tables
and fields that none covers are listed in ``LEFT_OUT`` with the reason; a test walks all models
and fails where one with a way to a player is in neither.
"""

from __future__ import annotations

import io
import json
import logging
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.translation import gettext_lazy as _

from . import addresses, outbox
from .models import Block, DataExport, FacebookRequest, Friendship, Mail, User

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.db.models import QuerySet
    from django.utils.functional import Promise

    type Exported = Callable[[User], Any]

logger = logging.getLogger(__name__)

KEPT_FOR = timedelta(hours=24)
"""From when the file is made until it is deleted, fetched or not."""
FETCHED_AGAIN_FOR = timedelta(minutes=2)
"""After it was fetched, for a second press of the button; then it is deleted."""
MOST_A_DAY = 3
FORMAT = 1
"""Of ``data.json``; counted up when something in it changes its meaning."""
MADE_WITHIN = timedelta(minutes=8)
"""A task that takes longer is ended, and tried again."""


class AskedOften(Exception):
    """The player has had as many files today as one can."""


class NothingToFetch(Exception):
    """There is no file, or it was fetched, or its day is over."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the file: its key, its heading, what makes it, and the tables it covers."""

    key: str
    title: str | Promise
    export: Exported
    covers: frozenset[str]


_PARTS: dict[str, Part] = {}

LEFT_OUT = {
    "accounts.User.id": "a number of the database; public_id stands for it",
    "accounts.User.password": "a secret, of which only a digest is stored",
    "accounts.User.skeleton": "computed from the name",
    "accounts.User.level": "of computer players alone",
    "accounts.User.is_active": "whoever can ask is",
    "accounts.User.merged_into": "whoever can ask has become nobody else",
}
"""Tables and fields with a way to a player that are in no part, and why."""


def exporter(
    key: str, title: str | Promise, *, covers: tuple[str, ...] = ()
) -> Callable[[Exported], Exported]:
    """Register what makes a part of the file, from values that JSON knows, times and UUIDs.

    ``covers`` names the tables whose rows with a way to the player are all in it, as "app.Model".
    """

    def register(export: Exported) -> Exported:
        _PARTS[key] = Part(key, title, export, frozenset(covers))
        return export

    return register


def covered() -> frozenset[str]:
    """Return the tables that the parts cover."""
    return frozenset().union(*(part.covers for part in _PARTS.values()))


# Asking, making, fetching


def ask(user: User) -> DataExport:
    """Let a file be made, and ring for it; while one is waiting it is that one.

    Raises ``AskedOften``.
    """
    with transaction.atomic():
        # Of two that ask at once the second finds the first.
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        earlier = latest(user)
        if earlier is not None and earlier.fetched_at is None:
            return earlier
        asked = DataExport.objects.filter(user=user, asked_at__gt=Now() - timedelta(days=1))
        if asked.count() >= MOST_A_DAY:
            raise AskedOften
        export = DataExport.objects.create(user=user)
        transaction.on_commit(lambda: _ring(export.pk))
    return export


def latest(user: User) -> DataExport | None:
    """Return the player's file that is being made or can be fetched now, without its content."""
    return _there(user).defer("content").order_by("-pk").first()


def _there(user: User) -> QuerySet[DataExport]:
    waits = Q(made_at=None, asked_at__gt=Now() - KEPT_FOR)  # what failed all day has failed
    fresh = waits | Q(made_at__gt=Now() - KEPT_FOR)
    unfetched = Q(fetched_at=None) | Q(fetched_at__gt=Now() - FETCHED_AGAIN_FOR)
    return DataExport.objects.filter(fresh, unfetched, user=user)


def _ring(export_id: int) -> None:
    from .tasks import make_export

    outbox.ring(make_export, export_id)


def ring_for_waiting() -> None:
    """Ring for the files that nobody was rung for, or whose making was interrupted."""
    late = Q(asked_at__lt=Now() - MADE_WITHIN, asked_at__gt=Now() - KEPT_FOR)
    waiting = DataExport.objects.filter(late, made_at=None).order_by("pk")
    for key in list(waiting.values_list("pk", flat=True)):
        _ring(key)


def make(export_id: int) -> None:
    """Make a file that waits, and mail its owner that it is there; again is harmless."""
    waiting = DataExport.objects.filter(pk=export_id, made_at=None, user__is_active=True)
    export = waiting.select_related("user").first()
    if export is None:
        return
    user = export.user
    with translation.override(user.language or settings.LANGUAGE_CODE):
        content = file_of(user)
    with transaction.atomic():
        if not waiting.update(content=content, made_at=timezone.now()):
            return  # somebody was faster
        for address in addresses.confirmed_addresses(user)[:1]:
            outbox.put(
                kind="export_ready",
                key=f"export {export.pk}",
                address=address,
                user=user,
                content={"export": export.pk},
                lasts=KEPT_FOR,
            )


def fetch(user: User) -> bytes:
    """Hand the file out and let it go. Raises ``NothingToFetch``."""
    with transaction.atomic():
        made = _there(user).filter(made_at__isnull=False, content__isnull=False)
        export = made.order_by("-pk").first()
        if export is None or export.content is None:
            raise NothingToFetch
        DataExport.objects.filter(pk=export.pk, fetched_at=None).update(fetched_at=timezone.now())
        return bytes(export.content)


def drop_old() -> int:
    """Delete what files hold when they were fetched or a day is over; return of how many."""
    fetched = Q(fetched_at__lte=Now() - FETCHED_AGAIN_FOR)
    over = Q(made_at__lte=Now() - KEPT_FOR)
    return DataExport.objects.filter(fetched | over, content__isnull=False).update(content=None)


# The file

WORDS: dict[str | int, str | Promise] = {
    "added_at": _("added"),
    "address": _("mail address"),
    "administrator": _("administrator"),
    "after_move": _("after my move"),
    "answered_at": _("answered"),
    "asked_at": _("asked"),
    "asked_by_me": _("asked by me"),
    "asked_for_at": _("asked for"),
    "at": _("at"),
    "began_at": _("began"),
    "browser": _("browser"),
    "brought_at": _("brought"),
    "by_me": _("by me"),
    "changed_at": _("last change"),
    "code": _("code"),
    "confirmed": _("confirmed"),
    "confirms_plays": _("asks before a card is played"),
    "damaged": _("cards cannot be read at the moment"),
    "deck": _("cards"),
    "done_at": _("done"),
    "ended_at": _("ended"),
    "ends_at": _("ends"),
    "events": _("what else happened"),
    "fetched_at": _("fetched"),
    "forced": _("forced"),
    "friends_since": _("friends since"),
    "from": _("from"),
    "groups": _("groups"),
    "guest_to_be_taken_over": _("guest whose games this account gets"),
    "guests_taken_over": _("guests whose games this account got"),
    "hand_now": _("my hand now"),
    "hands": _("my hands"),
    "id": _("number"),
    "id_there": _("number there"),
    "internet_address": _("internet address"),
    "issued_at": _("issued"),
    "kind": _("kind"),
    "language": _("language"),
    "last_seen_at": _("last seen"),
    "last_sign_in": _("last sign-in"),
    "last_used_at": _("last used"),
    "last_visit": _("last visit"),
    "linked_at": _("linked"),
    "made_at": _("made"),
    "made_by_me": _("made by me"),
    "may_challenge": _("who may challenge me"),
    "may_see": _("who may see my games on my page, and when I was here"),
    "member_since": _("member since"),
    "more": _("more"),
    "my_turn": _("my turn"),
    "name": _("name"),
    "offer": _("offer to play"),
    "on_the_open_table": _("on the open table"),
    "opponent": _("opponent"),
    "permissions": _("permissions"),
    "play": _("play"),
    "plays": _("plays"),
    "plays_forced_cards": _("forced cards go by themselves"),
    "primary": _("mail goes there"),
    "quiet": _("quiet mode"),
    "reason": _("how it ended"),
    "received_at": _("received"),
    "record": _("record"),
    "rematch_of": _("rematch of game"),
    "result": _("result"),
    "round": _("round"),
    "rules": _("rules"),
    "seat": _("seat"),
    "site": _("site"),
    "staff": _("staff"),
    "state": _("state"),
    "status": _("status"),
    "summaries_put_away": _("summaries put away"),
    "target": _("target"),
    "technical_name": _("technical name"),
    "text": _("text"),
    "time_zone": _("time zone"),
    "to": _("to"),
    "to_be_deleted_at": _("to be deleted"),
    "told_by_the_site": _("told by the site"),
    "what": _("what"),
}
"""What the keys of ``data.json`` are called on the page for people."""


def file_of(user: User) -> bytes:
    """Return the ZIP file: ``data.json`` and ``data.html`` with the same in it."""
    data = data_of(user)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.json", as_json(data))
        archive.writestr("data.html", as_html(data))
    return packed.getvalue()


def data_of(user: User) -> dict[str, Any]:
    """Return everything that is stored of a player, by part. Times are UTC in ISO 8601."""
    parts = {part.key: _plain(part.export(user)) for part in _PARTS.values()}
    return {"format": FORMAT, "site": settings.SITE_URL, "made_at": _plain(timezone.now()), **parts}


def as_json(data: dict[str, Any]) -> str:
    """Return the data for machines."""
    return json.dumps(data, ensure_ascii=False, indent=1)


def as_html(data: dict[str, Any]) -> str:
    """Return the data for people: one page that needs nothing else."""
    parts = [
        (part.title, list(_lines(data[part.key]))) for part in _PARTS.values() if part.key in data
    ]
    return render_to_string("accounts/export_file.html", {"data": data, "parts": parts})


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the readable page: a heading of a thing in a list, or a label with a value."""

    depth: int
    label: str
    value: str

    @property
    def steps(self) -> range:
        """How far in the line stands."""
        return range(self.depth)


def _lines(value: Any, depth: int = 0) -> Iterator[Line]:
    """Lay nested data out as lines."""
    items = value.items() if isinstance(value, dict) else enumerate(value, 1)
    for key, inner in items:
        label = str(WORDS.get(key, key))
        if isinstance(inner, dict | list) and inner and not _is_flat(inner):
            yield Line(depth, label, "")
            yield from _lines(inner, depth + 1)
        else:
            yield Line(depth, label, _text(inner))


def _is_flat(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(one, dict | list) for one in value)


def _text(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return "–"
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, bool):
        return str(_("yes") if value else _("no"))
    return str(value)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, UUID):
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)


# What accounts stores


@exporter("profile", _("Profile"), covers=("accounts.User",))
def _profile(user: User) -> Any:
    guest = user.takes_over
    return {
        "name": user.name,
        "kind": user.kind,
        "id": user.public_id,
        "technical_name": user.username,
        "address": user.email,
        "member_since": user.date_joined,
        "last_visit": user.seen_at,
        "last_sign_in": user.last_login,
        "to_be_deleted_at": user.closes_at,
        "staff": user.is_staff,
        "administrator": user.is_superuser,
        "guest_to_be_taken_over": guest.name if guest else None,
        "guests_taken_over": [one.name for one in user.merged_guests.order_by("pk")],
    }


PROFILE_FIELDS = frozenset(
    {
        "name", "kind", "public_id", "username", "email", "date_joined", "seen_at", "last_login",
        "closes_at", "is_staff", "is_superuser", "takes_over",
    }
)  # fmt: skip
"""The fields of ``accounts.User`` that the profile has; the settings have ``User.SETTINGS``."""


@exporter("settings", _("Settings"))
def _settings(user: User) -> Any:
    return {field: getattr(user, field) for field in User.SETTINGS}


@exporter("rights", _("Rights"), covers=("accounts.User_groups", "accounts.User_user_permissions"))
def _rights(user: User) -> Any:
    return {
        "groups": [group.name for group in user.groups.order_by("pk")],
        "permissions": [one.codename for one in user.user_permissions.order_by("pk")],
    }


@exporter("addresses", _("Mail addresses"), covers=("account.EmailAddress",))
def _addresses(user: User) -> Any:
    return [
        {"address": row.email, "confirmed": row.verified, "primary": row.primary}
        for row in EmailAddress.objects.filter(user=user).order_by("pk")
    ]


@exporter("links", _("Accounts on other sites"), covers=("socialaccount.SocialAccount",))
def _links(user: User) -> Any:
    return [
        {
            "site": row.provider,
            "id_there": row.uid,
            "linked_at": row.date_joined,
            "last_sign_in": row.last_login,
            "told_by_the_site": row.extra_data,
        }
        for row in SocialAccount.objects.filter(user=user).order_by("pk")
    ]


@exporter("sign_ins", _("Sign-ins"), covers=("usersessions.UserSession",))
def _sign_ins(user: User) -> Any:
    return [
        {
            "began_at": row.created_at,
            "last_seen_at": row.last_seen_at,
            "internet_address": row.ip,
            "browser": row.user_agent,
            "more": row.data,
        }
        for row in UserSession.objects.filter(user=user).order_by("pk")
    ]


@exporter("second_factors", _("Passkeys and second factors"), covers=("mfa.Authenticator",))
def _second_factors(user: User) -> Any:
    # What is secret in them stays here.
    return [
        {
            "kind": row.type,
            "name": str(row),
            "added_at": row.created_at,
            "last_used_at": row.last_used_at,
        }
        for row in Authenticator.objects.filter(user=user).order_by("pk")
    ]


@exporter("friends", _("Friends"), covers=("accounts.Friendship",))
def _friends(user: User) -> Any:
    rows = Friendship.objects.filter(Q(asker=user) | Q(asked=user)).order_by("pk")
    return [
        {
            "name": (row.asked if row.asker_id == user.pk else row.asker).shown_name,
            "asked_by_me": row.asker_id == user.pk,
            "asked_at": row.asked_at,
            "friends_since": row.accepted_at,
        }
        for row in rows.select_related("asker", "asked")
    ]


@exporter("blocks", _("Players whom I have blocked"), covers=("accounts.Block",))
def _blocks(user: User) -> Any:
    # Who has blocked this player is the others' own business.
    return [
        {"name": row.blocked.shown_name, "at": row.at}
        for row in Block.objects.filter(blocker=user).select_related("blocked").order_by("pk")
    ]


@exporter("mails", _("Mails to me"), covers=("accounts.Mail",))
def _mails(user: User) -> Any:
    mine = Q(user=user)
    for address in addresses.confirmed_addresses(user):  # what strangers had sent to it, too
        mine |= Q(address__iexact=address)
    return [
        {
            "kind": row.kind,
            "address": row.address,
            "language": row.language,
            "state": row.state,
            "asked_for_at": row.created_at,
            "ended_at": row.ended_at,
        }
        for row in Mail.objects.filter(mine).order_by("pk")
    ]


@exporter("exports", _("Files like this one"), covers=("accounts.DataExport",))
def _exports(user: User) -> Any:
    return [
        {"asked_at": row.asked_at, "made_at": row.made_at, "fetched_at": row.fetched_at}
        for row in DataExport.objects.filter(user=user).defer("content").order_by("pk")
    ]


@exporter("facebook", _("What Facebook asked of us"), covers=("accounts.FacebookRequest",))
def _facebook(user: User) -> Any:
    return [
        {
            "kind": row.kind,
            "code": row.confirmation_code,
            "issued_at": row.issued_at,
            "received_at": row.received_at,
            "done_at": row.done_at,
        }
        for row in FacebookRequest.objects.filter(user=user).order_by("pk")
    ]
