"""How often something may be done: counted in the database, exactly, whoever asks at once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from .models import Quota


@dataclass(frozen=True, slots=True)
class Limit:
    """At most ``most`` times within ``window`` of the first of them; without a window, ever."""

    key: str
    most: int
    window: timedelta | None


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
    rows = Quota.objects.filter(key=limit.key)
    if limit.window is not None:
        rows = rows.filter(window_began__gt=Now() - limit.window)
    return rows.values_list("used", flat=True).first() or 0


def give_back(key: str) -> None:
    """Begin to count anew, as if nothing had been done."""
    Quota.objects.filter(key=key).delete()


def _take(limit: Limit) -> bool:
    if limit.most < 1:
        return False
    row = Quota.objects.filter(key=limit.key)
    fresh = Quota(key=limit.key, window_began=Now(), used=0)
    Quota.objects.bulk_create([fresh], ignore_conflicts=True)
    if limit.window is not None:
        over = row.filter(window_began__lte=Now() - limit.window)
        if over.update(window_began=Now(), used=1):
            return True
    return bool(row.filter(used__lt=limit.most).update(used=F("used") + 1))
