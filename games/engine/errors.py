"""Everything the engine refuses, under one base class.

There are three kinds of wrong: what is not a card, a play or a rule set at all
(:class:`InvalidInput`), what is a play but not a legal one here (:class:`IllegalPlay`), and what
comes from a player who may not play now (:class:`NotYourTurn`, :class:`GameOver`).
"""

import reprlib


def shown(value: object) -> str:
    """A foreign value as an error's sentence quotes it: short, whatever its size or depth."""
    return reprlib.repr(value)


class BasraError(Exception):
    """Base of all errors of the engine.

    ``code`` is a stable word for programs; the text is a sentence in English for people who
    read logs.
    """

    code = "error"

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class InvalidInput(BasraError):
    """Not a card, a play, a rule set or a number of this game; ``code`` as in docs/door.md."""

    code = "json"


class NotACard(InvalidInput):
    """A text or value that names none of the 52 cards."""

    code = "card"


class RecordError(InvalidInput):
    """A game record that cannot be read or does not follow the rules.

    ``round`` and ``ply`` (both counted from 1) name the first thing that is wrong; they are
    ``None`` where the fault lies outside a round, or in a round but not in a play.
    """

    code = "record"

    def __init__(
        self, message: str, round_number: int | None = None, ply: int | None = None
    ) -> None:
        super().__init__(message)
        self.round = round_number
        self.ply = ply


class UnsoundState(InvalidInput):
    """A stored state that no game can have reached."""

    code = "state"


class IllegalPlay(BasraError):
    """A play, but not one that the rules allow in this position."""

    code = "illegal"


class NotYourTurn(BasraError):
    """The other seat is to play, or the next round has not been dealt."""

    code = "turn"


class GameOver(NotYourTurn):
    """The game has an outcome; nobody plays any more."""

    code = "over"
