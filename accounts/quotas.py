"""How often something may be done: counted in the database, exactly, whoever asks at once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from .models import Quota

EVER = timedelta(days=400)
"""How long is counted what has no window."""


@dataclass(frozen=True, slots=True)
class Limit:
    """At most ``most`` times within ``window`` of the first of them; ``None``: ``EVER``."""

    key: str
    most: int
    window: timedelta | None

    @property
    def lasts(self) -> timedelta:
        """How long is counted from the first time on."""
        return self.window or EVER


def take(*limits: Limit) -> bool:
    """Count one more against every limit, or against none if one is reached.

    Of any number of calls at once exactly as many get ``True`` as the limits allow. What is taken
    in a transaction that is rolled back is given back.
    """
    with transaction.atomic():
        # In one order everywhere: two that wait for each other's rows would wait for ever.
        taken = all(_take(limit) for limit in sorted(limits, key=lambda limit: limit.key))
        if not taken:
            transaction.set_rollback(True)  # to where this block began
    return taken


def used(limit: Limit) -> int:
    """Return how often it was done in the present window."""
    rows = Quota.objects.filter(key=limit.key, ends_at__gt=Now())
    return rows.values_list("used", flat=True).first() or 0


def give_back(key: str) -> None:
    """Begin to count anew, as if nothing had been done."""
    Quota.objects.filter(key=key).delete()


def _take(limit: Limit) -> bool:
    if limit.most < 1:
        return False
    row = Quota.objects.filter(key=limit.key)
    fresh = Quota(key=limit.key, ends_at=Now() + limit.lasts, used=0)
    Quota.objects.bulk_create([fresh], ignore_conflicts=True)
    over = row.filter(ends_at__lte=Now())
    if over.update(ends_at=Now() + limit.lasts, used=1):
        return True
    if row.filter(used__lt=limit.most).update(used=F("used") + 1):
        return True
    # What is over is deleted too: at this very moment, if there is no row.
    return not row.exists() and _take(limit)
