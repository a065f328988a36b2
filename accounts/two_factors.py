"""The second step of signing in: what allauth asks the site about it."""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from allauth.mfa.adapter import DefaultMFAAdapter, get_adapter
from allauth.mfa.totp.internal.auth import SECRET_SESSION_KEY
from allauth.mfa.webauthn.views import RemoveWebAuthnView
from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.http import Http404, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from .guests import player_of
from .ways_in import has_another_way_in

if TYPE_CHECKING:
    from django.http import HttpRequest

    from .models import User


class MFAAdapter(DefaultMFAAdapter):
    """Encrypts what a copy of the database must not show, and calls people by their names."""

    def encrypt(self, text: str) -> str:
        """Return the secret of an app or of recovery codes as it is stored."""
        return _ring().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Return what was encrypted, under this key or an older one."""
        return _ring().decrypt(encrypted_text.encode()).decode()

    def _get_user_identifier(self, user: User) -> str:
        return user.email or user.name

    def _get_site_name(self) -> str:
        return str(settings.MFA_TOTP_ISSUER)


@cache
def _ring() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.CARD_KEYS])


@require_safe
@never_cache
def totp_picture(request: HttpRequest) -> HttpResponse:
    """Show the secret that an app is to read, while it is being set up in this browser."""
    player = player_of(request.user)
    secret = request.session.get(SECRET_SESSION_KEY)
    if player is None or not player.is_member or not secret:
        raise Http404
    adapter = get_adapter()
    picture = adapter.build_totp_svg(adapter.build_totp_url(player, secret))
    return HttpResponse(picture, content_type="image/svg+xml")


class RemovePasskeyView(RemoveWebAuthnView):
    """allauth's page to remove a passkey, which keeps the only way in."""

    def form_valid(self, form: Any) -> HttpResponse:
        """Remove it, or say why not."""
        key = self.get_object()
        if not has_another_way_in(key.user, but=key):
            context = self.get_context_data(is_the_only_way_in=True)
            refused: HttpResponse = self.render_to_response(context, status=HTTPStatus.CONFLICT)
            return refused
        removed: HttpResponse = super().form_valid(form)
        return removed


remove_passkey = RemovePasskeyView.as_view()
