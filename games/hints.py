"""Why a play is good: a hint to the player, and the account of a computer player's own play.

Everything said here follows from the facts of a play (`games.bots.facts`), and so from what one
seat sees. A sentence about the play calls it "it".
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto
from functools import lru_cache
from itertools import islice
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from accounts.names import isolated_name

from . import bots, wording
from .bots import SeenPlay
from .bots.facts import MAJORITY_CARDS, Facts, facts
from .engine import KOMI, PACK, Kind, Play, Seat, SeatView
from .table import CardFace, capture_value, card_face, faces

logger = logging.getLogger(__name__)

MOST_REASONS: Final = 4
_NEAR_THE_MAJORITY: Final = 6
_A_FULL_FLOOR: Final = 3
# That all of them are unseen is nothing to be told.
_OTHERS_OF_A_RANK: Final = 3
_JACKS: Final = 4


@dataclass(frozen=True, slots=True)
class Hint:
    """A play that is suggested, with why; ``capture`` is what the form posts for what it takes."""

    card: CardFace
    takes: tuple[CardFace, ...]
    capture: str
    sentence: str
    spoken: str
    reasons: tuple[str, ...]

    @property
    def announcement(self) -> str:
        """All of it as a screen reader says it."""
        return " ".join([self.spoken, *self.reasons])


@dataclass(frozen=True, slots=True)
class Explanation:
    """A play that was made, with what its player saw, and what there was to say of it.

    ``instead`` says what the hard player would have played, where that is another play.
    """

    card: CardFace
    takes: tuple[CardFace, ...]
    floor: tuple[CardFace, ...]
    hand: tuple[CardFace, ...]
    sentence: str
    reasons: tuple[str, ...]
    instead: str


def hint(view: SeatView, seed: int, past: Sequence[SeenPlay] = ()) -> Hint:
    """Return what the hard player would play for the seat of ``view``, whose turn it is.

    ``past`` are the plays since the last deal. Equal arguments give equal hints.
    """
    found = facts(view, _best(view, seed, tuple(past)))
    return Hint(
        card=card_face(found.card),
        takes=faces(found.taken),
        capture=capture_value(found.taken),
        sentence=wording.suggestion_sentence(found.card, found.taken),
        spoken=wording.suggestion_sentence(found.card, found.taken, spoken=True),
        reasons=hint_reasons(found, view.own_seat),
    )


def explanation(
    view: SeatView, play: Play, past: Sequence[SeenPlay], *, level: str, seed: int, name: str
) -> Explanation:
    """Return why a computer player called ``name`` made ``play`` at the seat of ``view``.

    ``past`` are the plays since the last deal. ``seed`` is that of its dice, and the hard player's
    are thrown by it too.
    """
    found = facts(view, play)
    said = (name, found.card, found.taken, found.kind, found.points)
    return Explanation(
        card=card_face(found.card),
        takes=faces(found.taken),
        floor=faces(view.floor),
        hand=faces(view.hand),
        sentence=wording.play_sentence(*said),
        reasons=told_reasons(found, view.own_seat, name=name),
        instead="" if level == User.Level.HARD else _instead(view, found, seed, past),
    )


def hint_reasons(found: Facts, seat: Seat) -> tuple[str, ...]:
    """Return in at most four sentences what there is to say of a play of the reader, at ``seat``.

    The most important comes first.
    """
    matters = islice(_matters(found, seat), MOST_REASONS)
    return tuple(_hint_phrase(matter, found) % _values(found) for matter in matters)


def told_reasons(found: Facts, seat: Seat, *, name: str) -> tuple[str, ...]:
    """Return the same of a play that the other player, called ``name``, made at ``seat``."""
    values = {**_values(found), "name": isolated_name(name)}
    matters = islice(_matters(found, seat), MOST_REASONS)
    return tuple(_told_phrase(matter, found) % values for matter in matters)


# Whoever asks again on the same board is not thought for again.
@lru_cache(maxsize=256)
def _best(view: SeatView, seed: int, past: tuple[SeenPlay, ...]) -> Play:
    return bots.choose_play(User.Level.HARD, view, seed, past)


def _instead(view: SeatView, found: Facts, seed: int, past: Sequence[SeenPlay]) -> str:
    try:
        best = facts(view, _best(view, seed, tuple(past)))
    except Exception:  # whatever goes wrong in a computer player, what was played can be told
        logger.exception("the hard player failed to choose a play")
        return ""
    if (best.card, best.taken) == (found.card, found.taken):
        return ""
    name = str(User.Level.HARD.label)
    return wording.alternative_sentence(name, best.card, best.taken)


# What matters about a play


class _Matter(StrEnum):
    ONLY_PLAY = auto()
    BASRA = auto()
    SWEEP = auto()
    TAKES = auto()
    STAYS = auto()
    SINGLES = auto()
    MAJORITY = auto()
    LAST_CARD = auto()
    OPENS_BASRA = auto()
    NO_BASRA = auto()
    NO_CLEARING = auto()
    EMPTY_FLOOR = auto()
    LAST_DEAL = auto()
    KEEPS = auto()
    NEAR_MAJORITY = auto()
    EQUALS_SEEN = auto()
    EQUALS_UNSEEN = auto()
    SWEEPERS_SEEN = auto()
    JACKS_UNSEEN = auto()


def _matters(found: Facts, seat: Seat) -> Iterator[_Matter]:
    """What there is to say of a play, the most important first."""
    if found.only_play:
        yield _Matter.ONLY_PLAY
    yield _effect(found)
    if found.single_points:
        yield _Matter.SINGLES
    if found.majority and found.has_majority and found.own_cards - found.cards_won < MAJORITY_CARDS:
        yield _Matter.MAJORITY
    if found.only_play:
        return  # what speaks for a play does not matter where there is no other
    yield from _what_can_follow(found, seat)
    if found.last_deal and not found.last_play and found.taken and found.left_over_to is seat:
        yield _Matter.LAST_DEAL
    if found.kind is Kind.NONE and _is_plain(found) and (found.jacks_kept or found.komi_kept):
        yield _Matter.KEEPS
    if found.taken and found.majority and _is_near_the_majority(found):
        yield _Matter.NEAR_MAJORITY
    yield from _unseen_cards(found)


def _effect(found: Facts) -> _Matter:
    if found.kind is not Kind.NONE:
        return _Matter.BASRA
    if found.sweeps:
        return _Matter.SWEEP
    return _Matter.TAKES if found.taken else _Matter.STAYS


def _what_can_follow(found: Facts, seat: Seat) -> Iterator[_Matter]:
    if found.last_play:
        if found.floor and found.left_over_to is seat:
            yield _Matter.LAST_CARD
    elif not found.floor:
        yield _Matter.EMPTY_FLOOR
    elif found.can_make_basra:
        yield _Matter.OPENS_BASRA
    else:
        yield _Matter.NO_BASRA if found.can_clear else _Matter.NO_CLEARING


def _unseen_cards(found: Facts) -> Iterator[_Matter]:
    if found.last_play or not found.floor:
        return
    # A card that lies alone has been spoken of: what takes it clears the floor.
    if not found.taken and len(found.floor) > 1 and _is_plain(found):
        if not found.same_rank_unseen:
            yield _Matter.EQUALS_SEEN
        elif found.same_rank_unseen < _OTHERS_OF_A_RANK:
            yield _Matter.EQUALS_UNSEEN
    if len(found.floor) < _A_FULL_FLOOR:
        return
    if not found.jacks_unseen and not found.komi_unseen:
        yield _Matter.SWEEPERS_SEEN
    elif 0 < found.jacks_unseen < _JACKS:
        yield _Matter.JACKS_UNSEEN


def _is_near_the_majority(found: Facts) -> bool:
    in_reach = found.their_cards + MAJORITY_CARDS <= len(PACK)
    return in_reach and 0 < found.lacks_for_majority <= _NEAR_THE_MAJORITY


def _is_plain(found: Facts) -> bool:
    return not found.card.is_jack and found.card != KOMI


def _values(found: Facts) -> dict[str, object]:
    basras = (one.card for one in found.clearings if one.makes_basra)
    return {
        "points": found.points,
        "singles": found.single_points,
        "taken": len(found.taken),
        "left": len(found.floor),
        "basras": found.can_make_basra,
        # By rank: which card of it is unseen is nobody's business.
        "ranks": wording.rank_names(basras),
        "own": found.own_cards,
        "more": found.lacks_for_majority,
        "jacks": found.jacks_kept,
        "equals": found.same_rank_unseen,
        "unseen": found.jacks_unseen,
    }


# Of a play that is suggested


def _hint_phrase(matter: _Matter, found: Facts) -> str:
    match matter:
        case _Matter.ONLY_PLAY:
            return _("It is your only play.")
        case _Matter.BASRA:
            return _hinted_basra(found)
        case _Matter.SWEEP:
            return ngettext(
                "It clears the floor: %(taken)d card, and no basra.",
                "It clears the floor: %(taken)d cards, and no basra.",
                len(found.taken),
            )
        case _Matter.TAKES:
            return ngettext(
                "It takes %(taken)d card.", "It takes %(taken)d cards.", len(found.taken)
            )
        case _Matter.STAYS:
            return _("It takes nothing and stays on the floor.")
        case _Matter.SINGLES:
            return ngettext(
                "The cards that you win with it count %(singles)d point by themselves.",
                "The cards that you win with it count %(singles)d points by themselves.",
                found.single_points,
            )
        case _Matter.MAJORITY:
            return _("It gives you the majority: %(own)d cards.")
        case _Matter.LAST_CARD:
            return ngettext(
                "It is the last card of the round: the card left on the floor goes to you.",
                "It is the last card of the round: the %(left)d cards left on the floor go to you.",
                len(found.floor),
            )
        case _Matter.OPENS_BASRA:
            return ngettext(
                "%(basras)d unseen card could make a basra after it (%(ranks)s).",
                "%(basras)d unseen cards could make a basra after it (%(ranks)s).",
                found.can_make_basra,
            )
        case _Matter.NO_BASRA:
            return _("No unseen card could make a basra after it.")
        case _Matter.NO_CLEARING:
            return _("No unseen card could clear the floor after it.")
        case _Matter.EMPTY_FLOOR:
            return _("It leaves the floor empty: the next card can take nothing.")
        case _Matter.LAST_DEAL:
            return _(
                "It is the last deal: if nobody takes any more, "
                "what lies on the floor at the end goes to you."
            )
        case _Matter.KEEPS:
            return _hinted_keeping(found)
        case _Matter.NEAR_MAJORITY:
            return _("It brings you to %(own)d cards: the majority needs %(more)d more.")
        case _Matter.EQUALS_SEEN:
            return _("You have seen all other cards of its rank.")
        case _Matter.EQUALS_UNSEEN:
            return ngettext(
                "%(equals)d other card of its rank is unseen.",
                "%(equals)d other cards of its rank are unseen.",
                found.same_rank_unseen,
            )
        case _Matter.SWEEPERS_SEEN:
            return _("You have seen all jacks and the komi.")
        case _Matter.JACKS_UNSEEN:
            return ngettext(
                "%(unseen)d jack is still unseen.",
                "%(unseen)d jacks are still unseen.",
                found.jacks_unseen,
            )


def _hinted_basra(found: Facts) -> str:
    phrases = {
        Kind.BASRA: ngettext(
            "It is a basra: %(points)d point.", "It is a basra: %(points)d points.", found.points
        ),
        Kind.JACK: ngettext(
            "It is a jack basra: %(points)d point.",
            "It is a jack basra: %(points)d points.",
            found.points,
        ),
        Kind.KOMI: ngettext(
            "It is a komi basra: %(points)d point.",
            "It is a komi basra: %(points)d points.",
            found.points,
        ),
    }
    return phrases[found.kind]


def _hinted_keeping(found: Facts) -> str:
    if not found.jacks_kept:
        return _("It keeps the komi for later.")
    if found.komi_kept:
        return ngettext(
            "It keeps your jack and the komi for later.",
            "It keeps your %(jacks)d jacks and the komi for later.",
            found.jacks_kept,
        )
    return ngettext(
        "It keeps your jack for later.",
        "It keeps your %(jacks)d jacks for later.",
        found.jacks_kept,
    )


# Of a play that was made


def _told_phrase(matter: _Matter, found: Facts) -> str:
    match matter:
        case _Matter.ONLY_PLAY:
            return _("There was no other play.")
        case _Matter.BASRA:
            return _told_basra(found)
        case _Matter.SWEEP:
            return ngettext(
                "It cleared the floor: %(taken)d card, and no basra.",
                "It cleared the floor: %(taken)d cards, and no basra.",
                len(found.taken),
            )
        case _Matter.TAKES:
            return ngettext("It took %(taken)d card.", "It took %(taken)d cards.", len(found.taken))
        case _Matter.STAYS:
            return _("It took nothing and stayed on the floor.")
        case _Matter.SINGLES:
            return ngettext(
                "The cards won with it counted %(singles)d point by themselves.",
                "The cards won with it counted %(singles)d points by themselves.",
                found.single_points,
            )
        case _Matter.MAJORITY:
            return _("It gave %(name)s the majority: %(own)d cards.")
        case _Matter.LAST_CARD:
            return ngettext(
                "It was the last card of the round: the card left on the floor went to %(name)s.",
                "It was the last card of the round: "
                "the %(left)d cards left on the floor went to %(name)s.",
                len(found.floor),
            )
        case _Matter.OPENS_BASRA:
            return ngettext(
                "%(basras)d card that %(name)s had not seen could make a basra after it "
                "(%(ranks)s).",
                "%(basras)d cards that %(name)s had not seen could make a basra after it "
                "(%(ranks)s).",
                found.can_make_basra,
            )
        case _Matter.NO_BASRA:
            return _("No card that %(name)s had not seen could make a basra after it.")
        case _Matter.NO_CLEARING:
            return _("No card that %(name)s had not seen could clear the floor after it.")
        case _Matter.EMPTY_FLOOR:
            return _("It left the floor empty: the next card could take nothing.")
        case _Matter.LAST_DEAL:
            return _(
                "It was the last deal: if nobody took any more, "
                "what lay on the floor at the end would go to %(name)s."
            )
        case _Matter.KEEPS:
            return _told_keeping(found)
        case _Matter.NEAR_MAJORITY:
            return _("It brought %(name)s to %(own)d cards: the majority needed %(more)d more.")
        case _Matter.EQUALS_SEEN:
            return _("%(name)s had seen all other cards of its rank.")
        case _Matter.EQUALS_UNSEEN:
            return ngettext(
                "%(equals)d other card of its rank was still unseen for %(name)s.",
                "%(equals)d other cards of its rank were still unseen for %(name)s.",
                found.same_rank_unseen,
            )
        case _Matter.SWEEPERS_SEEN:
            return _("%(name)s had seen all jacks and the komi.")
        case _Matter.JACKS_UNSEEN:
            return ngettext(
                "%(unseen)d jack was still unseen for %(name)s.",
                "%(unseen)d jacks were still unseen for %(name)s.",
                found.jacks_unseen,
            )


def _told_basra(found: Facts) -> str:
    phrases = {
        Kind.BASRA: ngettext(
            "It was a basra: %(points)d point.", "It was a basra: %(points)d points.", found.points
        ),
        Kind.JACK: ngettext(
            "It was a jack basra: %(points)d point.",
            "It was a jack basra: %(points)d points.",
            found.points,
        ),
        Kind.KOMI: ngettext(
            "It was a komi basra: %(points)d point.",
            "It was a komi basra: %(points)d points.",
            found.points,
        ),
    }
    return phrases[found.kind]


def _told_keeping(found: Facts) -> str:
    if not found.jacks_kept:
        return _("It kept the komi for later.")
    if found.komi_kept:
        return ngettext(
            "It kept a jack and the komi for later.",
            "It kept %(jacks)d jacks and the komi for later.",
            found.jacks_kept,
        )
    return ngettext(
        "It kept a jack for later.",
        "It kept %(jacks)d jacks for later.",
        found.jacks_kept,
    )
