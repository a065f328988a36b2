"""The site's own periodic tasks."""

from celery import shared_task
from django.core.management import call_command
from django.utils import timezone

from basra_site.models import Heartbeat


@shared_task
def beat_heart() -> None:
    """Note that beat and worker are alive, for /readyz."""
    Heartbeat.objects.update_or_create(pk=1, defaults={"at": timezone.now()})


@shared_task
def clear_expired_sessions() -> None:
    """Delete sessions whose time is over; nobody can use them any more."""
    call_command("clearsessions")
