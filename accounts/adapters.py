"""Where allauth asks the site: whose account, what it is called, how its mail is sent."""

from __future__ import annotations

import uuid
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.http import HttpRequest

from .models import User


class AccountAdapter(DefaultAccountAdapter):
    """Accounts by address and password."""

    def populate_username(self, request: HttpRequest, user: User) -> None:
        """Give the account a technical name: people know each other by ``User.name``."""
        del request
        user.username = f"member-{uuid.uuid4()}"


class SocialAccountAdapter(DefaultSocialAccountAdapter):
    """Accounts by another site's sign-in."""

    def populate_user(self, request: HttpRequest, sociallogin: Any, data: dict[str, Any]) -> User:
        """Return the user to be; the other site's name is only a suggestion."""
        user: User = super().populate_user(request, sociallogin, data)
        user.username = f"member-{uuid.uuid4()}"
        return user
