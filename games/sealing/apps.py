from django.apps import AppConfig


class SealingConfig(AppConfig):
    name = "games.sealing"
