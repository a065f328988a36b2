"""The mails that signing in needs: allauth says which and when, the outbox sends them.

They are written at once, since only the request knows the code or the link, and in the language
of whoever reads them.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from . import outbox, quotas, signing_in
from .addresses import address_digest
from .mails import Letter, letter, link
from .names import isolated_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from .models import Mail, User

KIND = "account"
_A_CODE_LASTS = timedelta(seconds=settings.ACCOUNT_LOGIN_BY_CODE_TIMEOUT)
_A_LINK_LASTS = timedelta(days=3)
_A_DAY = timedelta(days=1)
# Of mails to one address that a visitor can cause: more are not sent.
_MAILS_A_DAY = 20


@dataclass(frozen=True, slots=True)
class Words:
    """What a mail says: paragraphs, and a code or a link to press."""

    subject: str
    before: list[str]
    code: str = ""
    button: str = ""
    address: str = ""
    after: tuple[str, ...] = ()
    lasts: timedelta = _A_LINK_LASTS


def post(template_prefix: str, address: str, context: dict[str, Any]) -> None:
    """Store the mail that allauth calls ``template_prefix`` for an address. Raises ``KeyError``.

    What anybody can have written to an address is not, without a word, once it is too much a day.
    """
    write = _WORDS[template_prefix]
    limit = quotas.Limit(f"account mails to {address_digest(address)}", _MAILS_A_DAY, _A_DAY)
    if template_prefix in _ASKED_FOR and not quotas.take(limit):
        return
    reader = signing_in.account_of(address)
    language = (reader.language if reader else "") or translation.get_language() or "en"
    with translation.override(language):
        words, facts = write({**context, "email": address}), _facts(context)
    shown = {"words": words, "facts": facts}
    written = letter("account", shown, language=language, subject=words.subject)
    outbox.put(
        kind=KIND,
        key=f"account {uuid.uuid4()}",
        address=address,
        language=language,
        user=reader,
        content={"subject": written.subject, "text": written.text, "html": written.html},
        lasts=words.lasts,
    )


def shown_name(user: User) -> str:
    """Return what allauth's pages call somebody."""
    return user.shown_name


@outbox.composer(KIND)
def compose(mail: Mail) -> Letter | None:
    """Return the letter as it was written when it was stored."""
    return Letter(mail.content["subject"], mail.content["text"], mail.content["html"])


def _facts(context: dict[str, Any]) -> list[str]:
    """Return from where something was changed, for whoever did not do it."""
    if "ip" not in context:
        return []
    when = date_format(timezone.localtime(context["timestamp"]), "DATETIME_FORMAT")
    return [
        _("When: %(when)s (%(zone)s)")
        % {"when": when, "zone": timezone.get_current_timezone_name()},
        _("From: %(address)s") % {"address": context["ip"]},
        _("Browser: %(browser)s") % {"browser": isolated_name(context["user_agent"])},
    ]


def _ours(address: str) -> str:
    """Return a link with the site's own name, whatever name it was asked for by."""
    parts = urlsplit(str(address))
    return link(parts.path + (f"?{parts.query}" if parts.query else ""))


def _ignore() -> tuple[str, ...]:
    return (_("If that was not you, do nothing: nothing happens then."),)


def _confirm(context: dict[str, Any]) -> Words:
    return Words(
        _("Please confirm your address"),
        [
            _("Somebody, probably you, has given this address to Basra."),
            _("Press the button, then “Confirm” on the page that opens."),
        ],
        button=_("Confirm this address"),
        address=_ours(context["activate_url"]),
        after=_ignore(),
    )


def _code(context: dict[str, Any]) -> Words:
    return Words(
        _("Your code for Basra"),
        [_("Type this code in the browser window that asks for it. It is good for a short time.")],
        code=context["code"],
        after=(
            _("Give it to nobody: whoever has it can sign in as you."),
            *_ignore(),
        ),
        lasts=_A_CODE_LASTS,
    )


def _reset(context: dict[str, Any]) -> Words:
    return Words(
        _("A new password for Basra"),
        [_("Somebody, probably you, has asked to set a new password for your account.")],
        button=_("Set a new password"),
        address=_ours(context["password_reset_url"]),
        after=_ignore(),
    )


def _exists(context: dict[str, Any]) -> Words:
    return Words(
        _("You have an account at Basra"),
        [
            _("Somebody, probably you, has tried to make an account with this address."),
            _(
                "There is one already, so no other was made. You can sign in with your password "
                "or a mailed code, or set a new password:"
            ),
        ],
        button=_("Set a new password"),
        address=_ours(context["password_reset_url"]),
        after=_ignore(),
    )


def _unknown(context: dict[str, Any]) -> Words:
    return Words(
        _("No account with this address"),
        [
            _("Somebody, probably you, has tried to sign in to Basra with this address."),
            _("There is no account with it. Perhaps you have used another address?"),
        ],
        button=_("Make an account"),
        address=_ours(context["signup_url"]),
        after=_ignore(),
    )


def _changed(what: Callable[[dict[str, Any]], str]) -> Callable[[dict[str, Any]], Words]:
    def write(context: dict[str, Any]) -> Words:
        return Words(
            _("Something in your account was changed"),
            [
                what(context),
                _(
                    "If that was not you, set a new password at once: that ends every other "
                    "sign-in of your account."
                ),
            ],
            button=_("Set a new password"),
            address=link(reverse("account_reset_password")),
        )

    return write


# The others tell of what somebody has done who was signed in.
_ASKED_FOR = {
    "account/email/email_confirmation",
    "account/email/email_confirmation_signup",
    "account/email/login_code",
    "account/email/password_reset_key",
    "account/email/account_already_exists",
    "account/email/unknown_account",
}
_WORDS: dict[str, Callable[[dict[str, Any]], Words]] = {
    "account/email/email_confirmation": _confirm,
    "account/email/email_confirmation_signup": _confirm,
    "account/email/login_code": _code,
    "account/email/password_reset_key": _reset,
    "account/email/account_already_exists": _exists,
    "account/email/unknown_account": _unknown,
    "account/email/email_changed": _changed(
        lambda context: (
            _("The address of your account is now %(address)s; it was this one.")
            % {"address": isolated_name(context["to_email"])}
        )
    ),
    "account/email/email_deleted": _changed(
        lambda context: (
            _("The address %(address)s was removed from your account.")
            % {"address": isolated_name(context["deleted_email"])}
        )
    ),
    "account/email/email_confirm": _changed(lambda _c: _("Your address was confirmed.")),
    "account/email/password_changed": _changed(lambda _c: _("Your password was changed.")),
    "account/email/password_reset": _changed(lambda _c: _("A new password was set.")),
    "account/email/password_set": _changed(lambda _c: _("A password was set.")),
    "mfa/email/totp_activated": _changed(
        lambda _c: _("Signing in asks for a code of an app from now on.")
    ),
    "mfa/email/totp_deactivated": _changed(
        lambda _c: _("Signing in does not ask for a code of an app any more.")
    ),
    "mfa/email/recovery_codes_generated": _changed(
        lambda _c: _("New recovery codes were made; the old ones are worth nothing now.")
    ),
    "mfa/email/webauthn_added": _changed(lambda _c: _("A passkey was added.")),
    "mfa/email/webauthn_removed": _changed(lambda _c: _("A passkey was removed.")),
    "socialaccount/email/account_connected": _changed(
        lambda context: (
            _("You can sign in with %(provider)s from now on.")
            % {"provider": isolated_name(str(context["provider"]))}
        )
    ),
    "socialaccount/email/account_disconnected": _changed(
        lambda context: (
            _("You cannot sign in with %(provider)s any more.")
            % {"provider": isolated_name(str(context["provider"]))}
        )
    ),
}
