"""JSON lines on standard output, and mail to the admins, without a hidden card in either.

Nothing is taken from a record but what is listed here. Of an exception only its kind and where
it happened are told: its message could hold a card (`KeyError: Card(…)`), a row or a token. The
kinds in `HARMLESS` have messages of the libraries' own and are told in full.
"""

from __future__ import annotations

import json
import logging
import logging.config
import time
import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured
from django.core.mail import mail_admins
from django.db import InterfaceError, OperationalError
from django.template import TemplateDoesNotExist, TemplateSyntaxError
from django.views.debug import SafeExceptionReporterFilter

from basra_site.context import request_id

if TYPE_CHECKING:
    from collections.abc import ItemsView
    from types import TracebackType

    from django.http import HttpRequest

HARMLESS = (
    ImportError,
    ImproperlyConfigured,
    InterfaceError,
    NameError,
    OperationalError,
    OSError,
    TemplateDoesNotExist,
    TemplateSyntaxError,
)

# What our own modules may add to a record (`extra=`); anything else is left out.
FIELDS = ("method", "route", "status", "milliseconds", "game", "why")

# Libraries whose messages quote paths, tasks' arguments or an exception's message.
QUOTING = {
    "django.request": "The request was answered with an error",
    "django.security": "A suspicious request was refused",
    "celery.app.trace": "The task did not end well",
    "django.template": "A variable is missing in a template",
}

QUOTING_NAMES = tuple(QUOTING)

SECONDS_BETWEEN_MAILS = 60


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message, request id, and an error's place."""

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(self.entry(record), ensure_ascii=False)

    def entry(self, record: logging.LogRecord) -> dict[str, object]:
        """Return what may be told of `record`."""
        entry: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": _message(record),
            "request_id": request_id.get(),
        }
        for field in FIELDS:
            if hasattr(record, field) and not record.name.startswith(QUOTING_NAMES):
                entry[field] = getattr(record, field)
        if record.exc_info and record.exc_info[1]:
            entry["error"] = told(record.exc_info[1])
        return entry


def told(error: BaseException) -> list[str]:
    """Return what may be told of `error`, the first cause first: its kind and its place."""
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    earlier = told(cause) if cause else []
    kind = type(error)
    name = f"{kind.__module__}.{kind.__qualname__}"
    message = f": {error}" if isinstance(error, HARMLESS) else ""
    return [*earlier, f"{name}{message}", *_places(error.__traceback__)]


def _places(where: TracebackType | None) -> list[str]:
    return [
        f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in traceback.extract_tb(where)
    ]


def _message(record: logging.LogRecord) -> str:
    for name, message in QUOTING.items():
        if record.name.startswith(name):
            return message
    return record.getMessage()


class MailToAdmins(logging.Handler):
    """Mails the admins an error as the log tells it; at most one mail a minute and process."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._last = -float(SECONDS_BETWEEN_MAILS)

    def emit(self, record: logging.LogRecord) -> None:
        now = time.monotonic()
        if now - self._last < SECONDS_BETWEEN_MAILS:
            return
        self._last = now
        try:
            entry = JsonFormatter().entry(record)
            mail_admins(
                f"{record.levelname}: {record.name}",
                json.dumps(entry, ensure_ascii=False, indent=2),
            )
        except Exception:  # noqa: BLE001 - a mail that fails must not fail the request
            self.handleError(record)


class NothingHiddenFilter(SafeExceptionReporterFilter):
    """Keeps local variables and posted values out of every error report."""

    def get_traceback_frame_variables(self, request: Any, tb_frame: Any) -> ItemsView[str, Any]:
        """Tell no local variables: they hold cards."""
        del request, tb_frame
        return {}.items()

    def get_post_parameters(self, request: HttpRequest | None) -> dict[str, str]:
        """Tell the names of the posted fields only."""
        return dict.fromkeys(request.POST, self.cleansed_substitute) if request else {}


def configure(wanted: dict[str, Any]) -> None:
    """Set up logging: `level` for the root, and `mail` to tell the admins of errors."""
    handlers = ["console", "mail"] if wanted["mail"] else ["console"]
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"json": {"()": JsonFormatter}},
            "handlers": {
                "console": {
                    "class": "logging.StreamHandler",
                    "stream": "ext://sys.stdout",
                    "formatter": "json",
                },
                "mail": {"()": MailToAdmins},
            },
            "root": {"level": wanted["level"], "handlers": handlers},
            "loggers": {
                # Django has put handlers here that print and mail whole requests.
                "django": {"handlers": []},
                "django.server": {"handlers": []},
                # Hostile or careless requests: logged, but nobody is woken for them.
                "django.security": {"handlers": ["console"], "propagate": False},
                # It says each 4xx once more; our own line has it already.
                "django.request": {"level": "ERROR"},
                # Says at each start that the broker in the file system has no host.
                "kombu.connection": {"level": "ERROR"},
                # It tells of each task that ended well, too.
                "celery.app.trace": {"level": "WARNING"},
                # Addresses of other sites, with tokens in them.
                "urllib3": {"level": "INFO"},
                # SQL with its parameters.
                "django.db.backends": {"level": "INFO"},
            },
        }
    )
