"""The rules of Basra, and nothing else.

Standard library only: no Django, no clock, no randomness, no input or output (but for the door,
``__main__``, see docs/door.md). All values are immutable; every function returns a new one or
raises a :class:`BasraError`. The rules are docs/rules.md, the shuffle is docs/fair-shuffle.md.

======================  ==========================================================================
``cards``               the pack; how a card is written
``seats``               the two seats, and a pair of values for them
``rulesets``            named and custom rule sets
``captures``            what a card takes from the floor
``shuffle``             sealed tip, words and round number in, a deal out
``rounds``, ``scoring`` one pack played out, and counted
``game``                rounds until there is an outcome; what is wrong with a state
``seatview``            what one seat may see
``notation``            plays, states and game records as text
``errors``              the kinds of wrong
======================  ==========================================================================

A game in a few lines::

    state = new_game(Terms(RULE_SETS["standard"], target=121))
    state = deal(state, deal_round(secret=…, game_id=…, round_number=1, …))
    while state.turn is not None:
        state, played = play(state, state.turn, legal_plays(state)[0])
        if played.finished and state.outcome is None:
            state = deal(state, …)
"""

from .captures import Capture, Kind, captures, maximal_captures, points_of
from .cards import KOMI, PACK, Card, format_cards, parse_cards
from .errors import (
    BasraError,
    GameOver,
    IllegalPlay,
    InvalidInput,
    NotACard,
    NotYourTurn,
    RecordError,
    UnsoundState,
)
from .game import (
    GameState,
    Played,
    RoundResult,
    Terms,
    deal,
    end,
    forced_play,
    legal_plays,
    new_game,
    play,
    problems,
    resign,
)
from .notation import (
    Fairness,
    Record,
    RecordedPlay,
    RecordedRound,
    RecordedScore,
    dump_state,
    format_play,
    format_record,
    load_state,
    parse_play,
    parse_record,
    read_play,
    replay,
)
from .rounds import Basras, Play, RoundState
from .rulesets import CUSTOM, DEFAULT_RULE_SET, RULE_SETS, RULES_VERSION, TARGETS, RuleSet
from .scoring import Outcome, Reason, RoundScore, single_cards
from .seats import Pair, Seat
from .seatview import SeatView, seat_view
from .shuffle import (
    ROUNDS_SEALED,
    SHUFFLE_VERSION,
    Deal,
    anchor_of,
    clean_words,
    deal_round,
    secret_of_round,
    words_digest,
)

__all__ = [
    "CUSTOM",
    "DEFAULT_RULE_SET",
    "KOMI",
    "PACK",
    "ROUNDS_SEALED",
    "RULES_VERSION",
    "RULE_SETS",
    "SHUFFLE_VERSION",
    "TARGETS",
    "BasraError",
    "Basras",
    "Capture",
    "Card",
    "Deal",
    "Fairness",
    "GameOver",
    "GameState",
    "IllegalPlay",
    "InvalidInput",
    "Kind",
    "NotACard",
    "NotYourTurn",
    "Outcome",
    "Pair",
    "Play",
    "Played",
    "Reason",
    "Record",
    "RecordError",
    "RecordedPlay",
    "RecordedRound",
    "RecordedScore",
    "RoundResult",
    "RoundScore",
    "RoundState",
    "RuleSet",
    "Seat",
    "SeatView",
    "Terms",
    "UnsoundState",
    "anchor_of",
    "captures",
    "clean_words",
    "deal",
    "deal_round",
    "dump_state",
    "end",
    "forced_play",
    "format_cards",
    "format_play",
    "format_record",
    "legal_plays",
    "load_state",
    "maximal_captures",
    "new_game",
    "parse_cards",
    "parse_play",
    "parse_record",
    "play",
    "points_of",
    "problems",
    "read_play",
    "replay",
    "resign",
    "seat_view",
    "secret_of_round",
    "single_cards",
    "words_digest",
]
