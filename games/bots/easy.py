"""The easy computer player: a friendly beginner.

It sees at once what lies there in the same rank, and often a sum, but the longer the sum the
oftener it overlooks it. It likes basras, remembers nothing of what has gone, and gives no thought
to what the other can make of the floor. It may spend a jack on little, but it does not throw a
jack or the komi away, and what lies open for a basra it takes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from games.engine import Capture, Card, Play, SeatView

# How likely a beginner is to notice one card of a sum: a sum of two is found five times in eight,
# one of three every other time.
_NOTICES = 0.8
# What a beginner likes, counted in cards, and how much of it is mood.
_BASRA = 6.0
_MOOD = 2.0
# A jack or the komi is kept until it takes so many cards, and the player feels like it.
_FEWEST_FOR_A_SWEEP, _MOST_FOR_A_SWEEP = 2.0, 6.0


def choose_play(view: SeatView, seed: int) -> Play:
    """Return a legal play for the seat that ``view`` belongs to; it must be that seat's turn.

    Equal views and seeds give equal plays; other seeds give other mistakes.
    """
    if view.seat is None or view.turn is not view.seat:
        raise ValueError("a computer player plays for its seat, on its turn")
    chance = random.Random(seed)  # noqa: S311 - the same seed, the same play
    liked = [
        (_liking(view.floor, option, chance), option)
        for options in view.options().values()
        for option in options
    ]
    best = max(liked, key=lambda pair: pair[0])[1]
    return Play(best.card, frozenset(best.cards))


def _liking(floor: Sequence[Card], option: Capture, chance: random.Random) -> float:
    mood = chance.uniform(0.0, _MOOD)
    enough = chance.uniform(_FEWEST_FOR_A_SWEEP, _MOST_FOR_A_SWEEP)
    noticed = _noticed(option, chance)
    liking = mood + (noticed + 1 if noticed else 0)
    if option.points and noticed == len(floor):
        liking += _BASRA
    if option.card.is_jack or option.card.is_komi:
        liking -= enough
    return liking


def _noticed(option: Capture, chance: random.Random) -> int:
    """How many of the cards that it takes the player has noticed."""
    if option.card.is_jack or option.card.is_komi:
        return len(option.cards)
    in_rank = sum(taken.rank == option.card.rank for taken in option.cards)
    in_sums = len(option.cards) - in_rank
    return in_rank + (in_sums if chance.random() < _NOTICES**in_sums else 0)
