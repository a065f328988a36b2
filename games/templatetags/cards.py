"""The pictures of cards and of computer players, from one sprite.

A tag and not an included template: a table draws some forty of them.
"""

from __future__ import annotations

from django import template
from django.templatetags.static import static
from django.utils.html import format_html

from games.engine import Card
from games.table import CardFace
from games.wording import card_name

register = template.Library()


@register.simple_tag
def card(face: CardFace | Card, size: str = "", *, quiet: bool = False) -> str:
    """Return a face-up card as an SVG from the sprite.

    ``size`` is a class of the style sheet; ``quiet`` hides the picture from screen readers where
    words beside it name the card.
    """
    return format_html(
        '<svg class="card {}" aria-hidden="true"><use href="{}#{}"/></svg>'
        if quiet
        else '<svg class="card {}" role="img" aria-label="{}"><use href="{}#{}"/></svg>',
        *([size] if quiet else [size, _name(face)]),
        static("img/cards.svg"),
        face.code,
    )


@register.simple_tag
def portrait(level: str, size: str = "") -> str:
    """Return the face of the computer player of a level, whose name stands beside it."""
    return format_html(
        '<svg class="portrait {}" aria-hidden="true"><use href="{}#{}"/></svg>',
        size,
        static("img/cards.svg"),
        level,
    )


def _name(face: CardFace | Card) -> str:
    return card_name(face) if isinstance(face, Card) else face.name
