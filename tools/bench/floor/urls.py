"""The site's addresses, so that its templates find them, and those of the floor."""

from django.urls import include, path

from tools.bench.floor import views

urlpatterns = [
    path("floor/<slug:rendering>/<uuid:sample>/<str:seat>/<uuid:game_id>/", views.move),
    path("", include("basra_site.urls")),
]
