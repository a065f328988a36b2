from django.urls import path

from .views import fairness, home, rules, table

app_name = "games"

urlpatterns = [
    path("", home.home, name="home"),
    path("rules/", rules.rules, name="rules"),
    path("rules/<slug:name>/", rules.rules, name="rule_set"),
    path("games/computer/", home.play_computer, name="play_computer"),
    path("games/<uuid:game_id>/", table.table, name="table"),
    path("games/<uuid:game_id>/deal/", table.deal, name="deal"),
    path("games/<uuid:game_id>/play/", table.play, name="play"),
    path("games/<uuid:game_id>/seen/", table.seen, name="seen"),
    path("games/<uuid:game_id>/log/", table.log, name="log"),
    path("games/<uuid:game_id>/fairness.json", fairness.fairness_document, name="fairness"),
]
