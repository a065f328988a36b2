"""Whether this process lives, and whether it can serve."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from basra_site.models import Heartbeat

if TYPE_CHECKING:
    from django.http import HttpRequest

# Four heartbeats missed.
LATE_AFTER_SECONDS = 120


@never_cache
@require_safe
def livez(request: HttpRequest) -> JsonResponse:
    """Answer 200 as long as the process answers at all; never touches the database."""
    del request
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Answer 200 when the database can be used and is migrated, else 503.

    The worker's heartbeat is reported ("ok", "late", "never") but does not decide: taking the
    web processes out of service would not bring a worker back.
    """
    del request
    try:
        migrations = "ok" if _newest_migrations() <= _applied_migrations() else "pending"
        worker = _worker()
    except DatabaseError:
        return JsonResponse({"status": "unavailable", "database": "down"}, status=503)
    ready = migrations == "ok"
    return JsonResponse(
        {
            "status": "ok" if ready else "unavailable",
            "database": "ok",
            "migrations": migrations,
            "worker": worker,
        },
        status=200 if ready else 503,
    )


@cache
def _newest_migrations() -> frozenset[tuple[str, str]]:
    # The code of a running process does not change.
    return frozenset(MigrationLoader(None).graph.leaf_nodes())


def _applied_migrations() -> set[tuple[str, str]]:
    return set(MigrationRecorder(connection).applied_migrations())


def _worker() -> str:
    if "basra_site_heartbeat" not in connection.introspection.table_names():
        return "never"
    heartbeat = Heartbeat.objects.first()
    if heartbeat is None:
        return "never"
    age = (timezone.now() - heartbeat.at).total_seconds()
    return "late" if age > LATE_AFTER_SECONDS else "ok"
