"""The site's own Django app: the worker's heartbeat, the checks and the `serve` command."""

from importlib import import_module

from django.apps import AppConfig


class SiteConfig(AppConfig):
    """Loads what has to be there before the first request or task."""

    name = "basra_site"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make the Celery application current, and register the checks."""
        import_module("basra_site.celery")
        import_module("basra_site.checks")
