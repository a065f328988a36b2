"""How often something may be done is counted exactly, whoever asks at once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now

from accounts import quotas
from accounts.models import Quota
from accounts.quotas import Limit

type InThreads = Callable[[list[Callable[[], object]]], list[object]]

pytestmark = pytest.mark.django_db(transaction=True)

HOUR = timedelta(hours=1)
THREE_AN_HOUR = Limit("test mona", 3, HOUR)


def test_a_limit_lets_through_as_many_as_it_says() -> None:
    assert [quotas.take(THREE_AN_HOUR) for _ in range(5)] == [True, True, True, False, False]
    assert quotas.used(THREE_AN_HOUR) == 3
    assert quotas.take(Limit("test karim", 3, HOUR))


def test_when_its_time_is_over_it_begins_anew() -> None:
    for _ in range(4):
        quotas.take(THREE_AN_HOUR)
    Quota.objects.update(ends_at=Now())
    assert quotas.used(THREE_AN_HOUR) == 0
    assert quotas.take(THREE_AN_HOUR)
    assert quotas.used(THREE_AN_HOUR) == 1


def test_a_limit_without_time_stays_until_it_is_given_back() -> None:
    ever = Limit("test ever", 1, None)
    assert [quotas.take(ever), quotas.take(ever)] == [True, False]
    quotas.give_back(ever.key)
    assert quotas.take(ever)


def test_nothing_is_counted_where_one_of_several_limits_is_reached() -> None:
    closed = Limit("test closed", 0, HOUR)
    assert not quotas.take(THREE_AN_HOUR, closed)
    assert not quotas.take(closed, THREE_AN_HOUR)
    assert quotas.used(THREE_AN_HOUR) == 0


def test_what_is_taken_back_with_its_transaction_was_not_used() -> None:
    with transaction.atomic():
        quotas.take(THREE_AN_HOUR)
        transaction.set_rollback(True)
    assert quotas.used(THREE_AN_HOUR) == 0


def test_a_refusal_leaves_the_callers_transaction_as_it_was() -> None:
    with transaction.atomic():
        quotas.take(THREE_AN_HOUR)
        assert not quotas.take(THREE_AN_HOUR, Limit("test closed", 0, HOUR))
    assert quotas.used(THREE_AN_HOUR) == 1


def test_a_count_that_is_deleted_just_when_one_more_is_counted_lets_it_through(
    in_threads: InThreads,
) -> None:
    from accounts.retention import drop_old_rows

    for _round in range(20):
        Quota.objects.update_or_create(
            key=THREE_AN_HOUR.key, defaults={"ends_at": Now() - HOUR, "used": 3}
        )
        results = in_threads([lambda: quotas.take(THREE_AN_HOUR), drop_old_rows] * 2)
        assert [results[0], results[2]] == [True, True]
        assert quotas.used(THREE_AN_HOUR) == 2


def test_of_many_at_once_as_many_get_through_as_may(in_threads: InThreads) -> None:
    ten, seven = Limit("test b", 10, HOUR), Limit("test a", 7, None)
    threads = 32 if connection.vendor == "postgresql" else 8
    taken: list[object] = []
    for _ in range(3):
        taken += in_threads(
            [lambda: quotas.take(ten, seven), lambda: quotas.take(seven, ten)] * (threads // 2)
        )
    assert not [result for result in taken if isinstance(result, Exception)]
    assert taken.count(True) == 7
    assert quotas.used(ten) == 7
