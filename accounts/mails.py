"""How mails look: a template becomes text and HTML that stands by itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import css_inline
from django.conf import settings
from django.template import Context
from django.template.loader import get_template, render_to_string
from django.utils import translation

if TYPE_CHECKING:
    from django.utils.functional import Promise


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail as it will leave, but for who it is from and to."""

    subject: str
    text: str
    html: str
    headers: dict[str, str] = field(default_factory=dict)


def letter(
    template: str,
    context: dict[str, Any],
    *,
    language: str,
    subject: str | Promise,
    headers: dict[str, str] | None = None,
) -> Letter:
    """Return the letter of ``templates/mail/<template>.txt`` and ``.html`` in ``language``.

    The subject is a constant, marked for translation: never with a name that people have typed.
    In the templates names of people stand in ``<bdi>``, and in text as ``{{ name|isolated }}``.
    """
    with translation.override(language):
        context = {"subject": subject, "site_url": link("/"), **context}
        html = render_to_string(f"mail/{template}.html", context)
        return Letter(
            subject=str(subject),
            text=_as_text(f"mail/{template}.txt", context),
            html=_inliner().inline(html),
            headers=headers or {},
        )


def _as_text(template: str, context: dict[str, Any]) -> str:
    """Render what is not HTML, and so is not to be escaped."""
    found: Any = get_template(template)
    text: str = found.template.render(Context(context, autoescape=False))
    return text.strip() + "\n"


def link(path: str) -> str:
    """Return the address of a page of the site from outside."""
    return f"{settings.SITE_URL}{path}"


@cache
def _inliner() -> css_inline.CSSInliner:
    style = (settings.BASE_DIR / "templates" / "mail" / "mail.css").read_text(encoding="utf-8")
    return css_inline.CSSInliner(extra_css=style, load_remote_stylesheets=False)
