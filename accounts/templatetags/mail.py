"""What templates of mails need."""

from __future__ import annotations

from django import template

from accounts.names import isolated_name

register = template.Library()
register.filter("isolated", isolated_name)
