from django.urls import path

from . import privacy, social_views, two_factors, views

app_name = "accounts"

urlpatterns = [
    path("settings/", views.settings, name="settings"),
    path("friends/", views.friends, name="friends"),
    path("friends/<uuid:player_id>/ask/", views.ask, name="ask"),
    path("friends/<uuid:player_id>/accept/", views.accept, name="accept"),
    path("friends/<uuid:player_id>/decline/", views.decline, name="decline"),
    path("friends/<uuid:player_id>/cancel/", views.cancel, name="cancel"),
    path("friends/<uuid:player_id>/remove/", views.remove, name="remove"),
    path("friends/<uuid:player_id>/block/", views.block, name="block"),
    path("friends/<uuid:player_id>/unblock/", views.unblock, name="unblock"),
    path("address/<str:token>/", social_views.confirm_address, name="confirm_address"),
    path("facebook/deauthorise/", social_views.deauthorise, name="facebook_deauthorise"),
    path("facebook/delete/", social_views.delete, name="facebook_delete"),
    path("facebook/status/<str:code>/", social_views.status, name="facebook_status"),
    path("2fa/totp/picture/", two_factors.totp_picture, name="totp_picture"),
    path("privacy/", privacy.privacy, name="privacy"),
    path("terms/", privacy.terms, name="terms"),
    path("export/", privacy.export, name="export"),
    path("export/file/", privacy.export_file, name="export_file"),
    path("close/", privacy.close, name="close"),
    path("close/keep/", privacy.keep, name="keep"),
    path("close/keep/<str:token>/", privacy.keep_by_mail, name="keep_by_mail"),
]
