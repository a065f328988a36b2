"""The medium computer player: it counts what has gone, and looks one reply ahead.

How it judges a play is in :mod:`.counting`.
"""

from __future__ import annotations

import random

from games.engine import PACK, Play, SeatView
from games.engine.rounds import HAND_SIZE

from .core import Choice, choices_of, core_of
from .counting import Counting, Standing, unseen_by, without


def choose_play(view: SeatView, seed: int) -> Play:
    """Return a legal play for the seat that ``view`` belongs to; it must be that seat's turn.

    Equal views and seeds give equal plays. The seed decides between plays that are equally good.
    """
    if view.seat is None or view.turn is not view.seat:
        raise ValueError("a computer player plays for its seat, on its turn")
    core = core_of(view.terms.rules)
    choices = choices_of(view)
    ours, theirs = view.piles[view.seat], view.piles[view.seat.other]
    now = Standing(
        lead=len(ours) - len(theirs),
        open=len(PACK) - len(ours) - len(theirs),
        plays_left=view.stock_count + sum(view.hand_counts),
        on_floor=len(view.floor),
        # While nobody has captured, the dealer is the one to get what is left over.
        last=1 if (view.last_capturer or view.dealer) is view.seat else -1,
    )
    # When they have none left, new ones are dealt before their turn.
    held = view.hand_counts[view.seat.other] or min(HAND_SIZE, view.stock_count)
    unseen = core.count(unseen_by(view))
    hand = tuple(core.kind(card) for card in view.hand)
    counting = Counting(core, view.carried)

    def worth(choice: Choice) -> float:
        kind, outcome = choice
        # Rounded, so that equally good is not a matter of the last digit.
        return round(counting.judge(outcome, without(hand, kind), now, held, unseen), 6)

    judged = {choice: worth(choice) for choice in choices}
    most = max(judged.values())
    best = [option for choice in choices if judged[choice] == most for option in choices[choice]]
    chosen = random.Random(seed).choice(best)  # noqa: S311 - the same seed, the same play
    return Play(chosen.card, frozenset(chosen.cards))
