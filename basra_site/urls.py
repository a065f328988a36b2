"""The addresses of the whole site."""

from django.conf import settings
from django.urls import include, path

from basra_site import errors, health

urlpatterns = [
    path("livez", health.livez, name="livez"),
    path("readyz", health.readyz, name="readyz"),
    path("account/", include("accounts.urls")),
    path("account/", include("accounts.sign_in_urls")),
    path("", include("games.urls")),
]

if settings.DEVELOPMENT:
    urlpatterns.append(path("mail/", include("basra_site.mailbox")))

handler400 = errors.bad_request
handler403 = errors.forbidden
handler404 = errors.not_found
handler429 = errors.too_many  # allauth asks for it
handler500 = errors.server_error
