"""The worked examples of the rules page, in the order in which the page shows them.

They hold in every rule set; a test asks the engine.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from .engine import Card, parse_cards


@dataclass(frozen=True, slots=True)
class ExamplePlay:
    """One card played on the floor of an example, with what it takes and what to say of it."""

    card: Card
    takes: tuple[Card, ...]
    sentence: str | Promise


@dataclass(frozen=True, slots=True)
class Example:
    """A floor, and what some cards would do on it; or ``words`` alone, where no card need show."""

    floor: tuple[Card, ...] = ()
    plays: tuple[ExamplePlay, ...] = ()
    words: tuple[str, ...] = ()


def _example(floor: str, *plays: tuple[str, str, str | Promise]) -> Example:
    return Example(
        parse_cards(floor),
        tuple(
            ExamplePlay(Card.parse(card), parse_cards(takes), sentence)
            for card, takes, sentence in plays
        ),
    )


EXAMPLES: dict[str, Example] = {
    "numerals": _example(
        "AH 7S KC 8D",
        ("8C", "8D 7S AH", _("The eight takes the eight, and seven and ace that make eight.")),
        ("9H", "8D AH", _("The nine takes eight and ace; the seven stays.")),
        ("KH", "KC", _("The king takes the king.")),
        ("JS", "AH 7S KC 8D", _("The jack takes the whole floor. That is no basra.")),
    ),
    "choice": _example(
        "2H 3S 5C AH",
        (
            "6D",
            "2H 3S AH",
            _(
                "The six takes two, three and ace, which is proposed because it takes the most "
                "cards …"
            ),
        ),
        ("6D", "5C AH", _("… or five and ace, if you choose so.")),
    ),
    "ten": _example(
        "10H 5S 4C AD",
        (
            "10C",
            "10H 5S 4C AD",
            _("The ten takes the ten, and five, four and ace that make ten: a basra."),
        ),
    ),
    "five": _example(
        "AH 2S 3C 4D",
        ("5H", "AH 2S 3C 4D", _("The five takes ace and four, two and three: a basra.")),
    ),
    "jack": _example("JH", ("JS", "JH", _("A jack basra."))),
    "komi": _example("5S 2H", ("7D", "5S 2H", _("Seven could have taken five and two: a basra."))),
    "sweep": _example(
        "KC 5S 2H",
        ("7D", "KC 5S 2H", _("No ordinary card takes a king and five and two: no basra.")),
    ),
}
