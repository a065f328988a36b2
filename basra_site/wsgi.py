"""The WSGI application, for the web server."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from django.core.wsgi import get_wsgi_application
from django.utils.http import parse_header_parameters

from basra_site.middleware import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "basra_site.settings")

_django = get_wsgi_application()


def application(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
    """Answer one request.

    Django looks up the character set of the body before any middleware runs, and raises for
    some that only sound like one (`rot13`, one with a NUL in it). This site reads UTF-8 alone;
    the front door refuses the others.
    """
    if not _is_readable(environ.get("CONTENT_TYPE", "")):
        environ["CONTENT_TYPE"] = ""
        environ[UNREADABLE] = True
    return _django(environ, start_response)


def _is_readable(content_type: str) -> bool:
    try:
        _kind, parameters = parse_header_parameters(content_type)
    except ValueError:
        return False
    return parameters.get("charset", "utf-8").lower() in {"utf-8", "utf8"}
