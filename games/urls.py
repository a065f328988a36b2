from django.urls import path, re_path, register_converter
from django.urls.converters import StringConverter

from .views import (
    challenges,
    ending,
    fairness,
    hints,
    home,
    invitations,
    players,
    replay,
    rules,
    table,
)

app_name = "games"


class TokenConverter(StringConverter):
    """256 bits in letters that an address can hold."""

    regex = "[A-Za-z0-9_-]{43}"


register_converter(TokenConverter, "token")

_NEVER = r"^invitations/never/(?P<signed>[0-9a-f]{64}\.[A-Za-z0-9_-]{43})/?$"

urlpatterns = [
    path("", home.home, name="home"),
    path("next/", home.next_game, name="next"),
    path("rules/", rules.rules, name="rules"),
    path("rules/<slug:name>/", rules.rules, name="rule_set"),
    path("challenges/", challenges.open_table, name="open_table"),
    path("challenges/new/", challenges.new_challenge, name="new_challenge"),
    path("challenges/<uuid:game_id>/", challenges.challenge, name="challenge"),
    path("challenges/<uuid:game_id>/accept/", challenges.accept, name="accept"),
    path("challenges/<uuid:game_id>/decline/", challenges.decline, name="decline"),
    path("challenges/<uuid:game_id>/withdraw/", challenges.withdraw, name="withdraw"),
    path("invitations/", invitations.invitations, name="invitations"),
    # With a slash or without, and never a redirect: RFC 8058.
    re_path(_NEVER, invitations.never, name="never"),
    path("invitations/<token:token>/", invitations.invitation, name="invitation"),
    path(
        "invitations/<token:token>/accept/",
        invitations.accept_invitation,
        name="accept_invitation",
    ),
    path(
        "invitations/<token:token>/decline/",
        invitations.decline_invitation,
        name="decline_invitation",
    ),
    path("games/computer/", home.play_computer, name="play_computer"),
    path("games/<uuid:game_id>/", table.table, name="table"),
    path("games/<uuid:game_id>/play/", table.play, name="play"),
    path("games/<uuid:game_id>/seen/", table.seen, name="seen"),
    path("games/<uuid:game_id>/more/", table.more, name="more"),
    path("games/<uuid:game_id>/after-move/", table.after_move, name="after_move"),
    path("games/<uuid:game_id>/hint/", hints.hint, name="hint"),
    path("games/<uuid:game_id>/why/", hints.why, name="why"),
    path("games/<uuid:game_id>/log/", table.log, name="log"),
    path("games/<uuid:game_id>/rules/", rules.game_rules, name="game_rules"),
    path("games/<uuid:game_id>/resign/", ending.resign, name="resign"),
    path("games/<uuid:game_id>/abort/", ending.abort, name="abort"),
    path("games/<uuid:game_id>/cancel/", ending.cancel, name="cancel"),
    path("games/<uuid:game_id>/rematch/", challenges.rematch, name="rematch"),
    path("games/<uuid:game_id>/fairness/", fairness.fairness, name="fairness"),
    path(
        "games/<uuid:game_id>/fairness.json", fairness.fairness_document, name="fairness_document"
    ),
    path("players/<uuid:player_id>/", players.player, name="player"),
    path("fairness/verify_shuffle.py", fairness.verify_shuffle, name="verify_shuffle"),
    path("games/<uuid:game_id>/replay/", replay.replay, name="replay"),
    path("games/<uuid:game_id>/record.txt", replay.record, name="record"),
    path("records/", replay.records, name="records"),
    path("records/<uuid:record_id>/", replay.uploaded, name="uploaded"),
    path("records/<uuid:record_id>/delete/", replay.delete_uploaded, name="delete_uploaded"),
]
