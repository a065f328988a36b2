"""Which request, or which task, is being worked on: for the logs."""

from contextvars import ContextVar

# The id is made here; one that comes from outside is never believed.
request_id: ContextVar[str] = ContextVar("request_id", default="")
