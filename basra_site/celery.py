"""The Celery application: `celery -A basra_site.celery worker`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from celery import Celery, Task, signals

from basra_site.context import request_id

if TYPE_CHECKING:
    from contextvars import Token

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "basra_site.settings")

app = Celery("basra")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@signals.setup_logging.connect
def keep_the_sites_logging(**kwargs: Any) -> None:
    """Connected, this stops Celery from setting up logging of its own."""
    del kwargs


@signals.before_task_publish.connect
def send_the_request_id(headers: dict[str, Any], **kwargs: Any) -> None:
    """Let a task carry the id of the request that rang for it."""
    del kwargs
    headers["request_id"] = request_id.get()


_tokens: dict[str, Token[str]] = {}


@signals.task_prerun.connect
def take_the_request_id(task_id: str, task: Task[..., Any], **kwargs: Any) -> None:
    """Log under the request's id, or under the task's own when beat rang."""
    del kwargs
    _tokens[task_id] = request_id.set(getattr(task.request, "request_id", "") or task_id)


@signals.task_postrun.connect
def drop_the_request_id(task_id: str, **kwargs: Any) -> None:
    """The thread goes on to another task."""
    del kwargs
    if token := _tokens.pop(task_id, None):
        request_id.reset(token)
