from django.urls import path

from . import views

app_name = "games"

urlpatterns = [
    path("", views.home, name="home"),
    path("rules/", views.rules, name="rules"),
    path("rules/<slug:name>/", views.rules, name="rule_set"),
    path("games/computer/", views.play_computer, name="play_computer"),
    path("games/<uuid:game_id>/", views.table, name="table"),
    path("games/<uuid:game_id>/deal/", views.deal, name="deal"),
    path("games/<uuid:game_id>/play/", views.play, name="play"),
    path("games/<uuid:game_id>/seen/", views.seen, name="seen"),
    path("games/<uuid:game_id>/log/", views.log, name="log"),
    path("games/<uuid:game_id>/fairness.json", views.fairness_document, name="fairness"),
]
