"""The rules in words."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from basra_site.http import Request

from .. import engine, wording
from ..examples import EXAMPLES
from ..snapshot import terms_of
from .access import game_or_404, player_or_404, says_when_broken


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


@never_cache
@require_safe
@says_when_broken
def game_rules(request: Request, game_id: UUID) -> HttpResponse:
    """Every value of the rules that one of my games is played by."""
    game = game_or_404(player_or_404(request), game_id)
    terms = terms_of(game)
    context = {
        "game_id": game.pk,
        "terms": wording.terms_label(terms),
        "rule_values": wording.rule_values(terms.rules),
    }
    return render(request, "games/game_rules.html", context)
