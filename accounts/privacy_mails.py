"""The mails about one's own data: the account is to be deleted, was long unused, the file is there.

Each asks again, right before it leaves, whether what it says is still so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from . import closing, exporting, retention
from .mails import Letter, letter, link
from .outbox import composer

if TYPE_CHECKING:
    from .models import Mail


@composer("closing")
def compose_closing(mail: Mail) -> Letter | None:
    """Say that the account will be deleted, and how to keep it."""
    user = mail.user
    if user is None or not user.is_active or user.closes_at is None:
        return None
    if user.closes_at.isoformat() != mail.content["closes_at"]:
        return None
    token = closing.keeping_token(user)
    return letter(
        "closing",
        {
            "name": user.name,
            "closes_at": user.closes_at,
            "keep_url": link(reverse("accounts:keep_by_mail", args=[token])),
        },
        language=mail.language,
        subject=_("Your Basra account will be deleted"),
    )


@composer("export_ready")
def compose_export_ready(mail: Mail) -> Letter | None:
    """Say that the file with one's data can be fetched, and nothing of what is in it."""
    user = mail.user
    export = exporting.latest(user) if user is not None and user.is_active else None
    if export is None or export.pk != mail.content["export"] or export.made_at is None:
        return None
    return letter(
        "export_ready",
        {"until": export.made_at + exporting.KEPT_FOR, "url": link(reverse("accounts:export"))},
        language=mail.language,
        subject=_("Your Basra data is ready"),
    )


@composer("idle")
def compose_idle(mail: Mail) -> Letter | None:
    """Say that an account that nobody uses will be deleted, unless its owner comes back."""
    user = mail.user
    if user is None or not user.is_active or user.seen_at.isoformat() != mail.content["seen_at"]:
        return None
    return letter(
        "idle",
        {
            "name": user.name,
            "seen_at": user.seen_at,
            "deleted_at": retention.idle_ends_at(user),
            "url": link(reverse("account_login")),
        },
        language=mail.language,
        subject=_("Your Basra account has not been used for a long time"),
    )
