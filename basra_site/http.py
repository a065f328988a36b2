"""The request as the middleware leaves it."""

from __future__ import annotations

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails


class Request(HttpRequest):
    """A request that says whether, and from where, htmx sent it."""

    htmx: HtmxDetails
