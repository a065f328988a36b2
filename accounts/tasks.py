"""What Celery runs for accounts: thin callers, safe to run twice, late or not at all."""

from __future__ import annotations

from celery import shared_task

from . import closing, exporting, joining, outbox, retention

# Less than the time after which a broker rings again for what has not ended.
_A_SWEEP_LASTS = 5 * 60  # seconds


@shared_task
def deliver_mail(mail_id: int) -> None:
    """Send one mail of the outbox."""
    outbox.deliver(mail_id)


@shared_task
def deliver_waiting_mails() -> None:
    """Send what nobody has rung for. Beat rings every 60 s."""
    outbox.sweep()


@shared_task(time_limit=int(exporting.MADE_WITHIN.total_seconds()))
def make_export(export_id: int) -> None:
    """Make the file with a player's data."""
    exporting.make(export_id)


@shared_task(time_limit=_A_SWEEP_LASTS)
def look_after_data() -> None:
    """Ring for files that nobody was rung for, and delete what is due. Beat rings every 10 min."""
    exporting.ring_for_waiting()
    exporting.drop_old()
    closing.close_due()
    joining.finish_merges()


@shared_task(time_limit=_A_SWEEP_LASTS)
def keep_time_limits() -> None:
    """Delete what has had its time. Beat rings every hour."""
    retention.run()
