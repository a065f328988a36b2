"""Saying again who one is, by another site: for accounts that have no other way."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from allauth.account import app_settings
from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.internal.flows.reauthentication import get_reauthentication_flows
from django.utils.translation import gettext as _

from .ways_in import linked_accounts

if TYPE_CHECKING:
    from django.http import HttpRequest

    from .models import User


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
