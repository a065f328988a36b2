"""The rules in words."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from basra_site.http import Request

from .. import engine, wording
from ..examples import EXAMPLES


@require_safe
def rules(request: Request, name: str | None = None) -> HttpResponse:
    """The rules in plain words, and what each rule set makes of them."""
    if name is not None and name not in engine.RULE_SETS:
        raise Http404
    context = {
        "rule_sets": wording.rule_set_pages(),
        "selected": name,
        "examples": EXAMPLES,
    }
    return render(request, "games/rules.html", context)
