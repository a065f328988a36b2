"""What the pages with passkeys need."""

from __future__ import annotations

import json
from typing import Any

from django import template
from django.core.serializers.json import DjangoJSONEncoder

register = template.Library()


@register.filter
def as_json(value: Any) -> str:
    """Return a value as JSON, to stand in an attribute."""
    return json.dumps(value, cls=DjangoJSONEncoder)
