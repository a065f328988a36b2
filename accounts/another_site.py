"""Other sites that people sign in by: saying again who one is, unlinking, and what they refuse."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from allauth.account import app_settings
from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.internal.flows.reauthentication import get_reauthentication_flows
from allauth.socialaccount.forms import DisconnectForm
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from .ways_in import has_another_way_in, linked_accounts

if TYPE_CHECKING:
    from django.http import HttpRequest

    from .models import User

# How sites say that a code was used, is too old or is not theirs: Facebook, the standard, GitHub.
_OF_A_BAD_CODE = (100, "invalid_grant", "bad_verification_code")


class UnlinkForm(DisconnectForm):
    """Unlinks another site, unless nothing else leads into the account."""

    def clean(self) -> dict[str, Any]:
        """Refuse the only way in; allauth would ask for a password even beside a passkey."""
        cleaned: dict[str, Any] = self.cleaned_data
        account = cleaned.get("account")
        if account and not has_another_way_in(account.user, but=account):
            raise ValidationError(
                _("This is your only way in. Confirm an address or add a passkey first.")
            )
        return cleaned


def has_refused_the_code(request: HttpRequest) -> bool:
    """Return whether the other site's last answer was that the code is not good (any more)."""
    try:
        said = request.another_site_said  # type: ignore[attr-defined]  # left there by ``Patient``
        error = said.json()["error"]
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return False
    return (error.get("code") if isinstance(error, dict) else error) in _OF_A_BAD_CODE


def is_enough(request: HttpRequest) -> bool:
    """Return whether the player has just signed in by another site, and cannot say more."""
    if not request.user.is_authenticated or get_reauthentication_flows(request.user):
        return False
    records = get_authentication_records(request, request.user)
    last = max((r["at"] for r in records if r.get("method") == "socialaccount"), default=0)
    return bool(time.time() - float(last) < app_settings.REAUTHENTICATION_TIMEOUT)


def ways(request: HttpRequest, user: User) -> list[dict[str, Any]]:
    """Return the sites by which the player can say again who they are, as allauth lists ways."""
    from allauth.socialaccount.adapter import get_adapter

    sites = [
        get_adapter().get_provider(request, account.provider) for account in linked_accounts(user)
    ]
    return [
        {
            "id": f"socialaccount:{site.id}",
            "description": _("Use %(site)s") % {"site": site.name},
            "url": site.get_login_url(request),
        }
        for site in sites
    ]
