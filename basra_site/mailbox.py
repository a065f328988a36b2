"""In development: what the site has mailed, as a mail program would show it."""

from __future__ import annotations

import email
import email.policy
import re
from email.message import EmailMessage
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csp import csp_override
from django.views.decorators.http import require_safe

from .http import Request

_NAME = re.compile(r"[0-9A-Za-z.-]{1,80}", re.ASCII)
# As a mail program has it: nothing is fetched and nothing runs; only styles on elements count.
_POLICY = {
    "default-src": ["'none'"],
    "style-src": ["'unsafe-inline'"],
    "base-uri": ["'none'"],
    "form-action": ["'none'"],
    "frame-ancestors": ["'none'"],
    "sandbox": ["allow-popups", "allow-top-navigation-by-user-activation"],
}
_DIRECTION = re.compile(r'(<(?:html|table)\b[^>]*?\bdir=")(?:ltr|rtl)(")')


@never_cache
@require_safe
def mails(request: Request) -> HttpResponse:
    """The mails, the latest first."""
    listed = [(file.name, _parsed(file)) for file in sorted(_folder(), reverse=True)[:100]]
    return render(request, "mailbox/mails.html", {"mails": listed})


@never_cache
@require_safe
def mail(request: Request, name: str) -> HttpResponse:
    """One mail: its headers, its text, and the way to its HTML."""
    message = _message(name)
    context = {"name": name, "headers": message.items(), "text": _part(message, "plain")}
    return render(request, "mailbox/mail.html", context)


@never_cache
@require_safe
@csp_override(_POLICY)
def html(request: Request, name: str) -> HttpResponse:
    """The HTML of a mail as it was sent; with `?dir=rtl` in the other direction of writing."""
    content = _part(_message(name), "html")
    if (direction := request.GET.get("dir")) in ("ltr", "rtl"):
        content = _DIRECTION.sub(rf"\g<1>{direction}\g<2>", content)
    return HttpResponse(content or _("This mail has no HTML."))


def _folder() -> list[Path]:
    return [file for file in (settings.VAR / "mail").glob("*") if file.suffix in (".eml", ".log")]


def _message(name: str) -> EmailMessage:
    file = settings.VAR / "mail" / name
    if not _NAME.fullmatch(name) or file not in _folder():
        raise Http404
    return _parsed(file)


def _parsed(file: Path) -> EmailMessage:
    return email.message_from_bytes(file.read_bytes(), EmailMessage, policy=email.policy.default)


def _part(message: EmailMessage, kind: str) -> str:
    body = message.get_body((kind,))
    return str(body.get_content()) if body is not None else ""


urlpatterns = [
    path("", mails, name="mails"),
    path("<str:name>/", mail, name="mail"),
    path("<str:name>/html/", html, name="mail_html"),
]
