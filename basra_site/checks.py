"""System checks of what the settings alone cannot see."""

from importlib.util import find_spec
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register


@register()
def the_brokers_client_is_installed(**kwargs: Any) -> list[CheckMessage]:
    """Without its client a Redis broker fails at the first task, long after the start."""
    del kwargs
    if settings.CELERY_BROKER_URL.startswith(("redis", "valkey")) and not find_spec("redis"):
        return [
            Error(
                "CELERY_BROKER_URL names a Redis broker, but its client is not installed.",
                hint='Install it: uv pip install "celery[redis]".',
                id="basra.E001",
            )
        ]
    return []
