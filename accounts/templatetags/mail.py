"""What templates of mails need."""

from __future__ import annotations

from django import template

from accounts.mails import isolated as _isolated

register = template.Library()


@register.filter
def isolated(name: str) -> str:
    """Keep a name together in a line of text, in either direction of writing."""
    return _isolated(name)
