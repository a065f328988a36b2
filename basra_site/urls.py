"""The addresses of the whole site."""

from django.urls import include, path

from basra_site import errors, health

urlpatterns = [
    path("livez", health.livez, name="livez"),
    path("readyz", health.readyz, name="readyz"),
    path("account/", include("accounts.urls")),
    path("account/", include("allauth.urls")),
    path("", include("games.urls")),
]

handler400 = errors.bad_request
handler403 = errors.forbidden
handler404 = errors.not_found
handler500 = errors.server_error
