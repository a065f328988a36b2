"""The addresses of allauth's pages: those that this site offers, and no other way in."""

from __future__ import annotations

from allauth.urls import build_provider_urlpatterns
from django.urls import URLPattern, URLResolver, include, path

from . import confirming, social_views, two_factors


def _other_sites() -> list[URLPattern]:
    """Return where signing in by another site begins and ends.

    By a redirect only: signing in by a token is for sites that load the other site's script.
    """
    patterns = [
        path(f"{site.pattern}{page.pattern}", page.callback, name=page.name)
        for site in build_provider_urlpatterns()
        if isinstance(site, URLResolver)
        for page in site.url_patterns
        if isinstance(page, URLPattern) and page.callback is not None
    ]
    for pattern in patterns:
        pattern.callback = social_views.begins_as_we_say(pattern.callback)
    # The first that fits is taken.
    return [
        path("facebook/login/", social_views.start, name="facebook_login"),
        path("facebook/login/callback/", social_views.callback, name="facebook_callback"),
        *(pattern for pattern in patterns if not str(pattern.pattern).startswith("facebook/")),
    ]


# Of those at one address the first is taken.
urlpatterns = [
    path("confirm-email/<str:key>/", confirming.confirm_email, name="account_confirm_email"),
    path("", include("allauth.account.urls")),
    path(
        "2fa/webauthn/keys/<int:pk>/remove/", two_factors.remove_passkey, name="mfa_remove_webauthn"
    ),
    path("2fa/", include("allauth.mfa.urls")),
    path("sessions/", include("allauth.usersessions.urls")),
    path("3rdparty/", include("allauth.socialaccount.urls")),
    *_other_sites(),
]
