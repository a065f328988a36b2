"""By what an account can be got into: by mail, by another site, by a passkey."""

from __future__ import annotations

from typing import TYPE_CHECKING

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings

from .addresses import has_confirmed_one

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from .models import User


def linked_accounts(user: User) -> QuerySet[SocialAccount]:
    """Return the accounts on sites that are offered now by which ``user`` can sign in."""
    linked: QuerySet[SocialAccount] = SocialAccount.objects.filter(
        user=user, provider__in=settings.SOCIALACCOUNT_PROVIDERS
    )
    return linked


def has_another_way_in(user: User, but: SocialAccount | Authenticator) -> bool:
    """Return whether ``user`` gets in without ``but``, one of their links or passkeys."""
    links = linked_accounts(user)
    keys = Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN)
    if isinstance(but, SocialAccount):
        links = links.exclude(pk=but.pk)
    else:
        keys = keys.exclude(pk=but.pk)
    return (
        has_confirmed_one(user) or links.exists() or any(key.wrap().is_passwordless for key in keys)
    )
