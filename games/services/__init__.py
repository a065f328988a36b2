"""What can happen: one function each, which checks, writes and commits."""

from .advancing import StaleBoard
from .challenges import (
    ChallengeClosed,
    OwnChallenge,
    TooManyGames,
    TooManyListed,
    accept_challenge,
    challenge_by_the_computer,
    close_challenges,
    computer_player,
    decline_challenge,
    make_challenge,
    offer_rematch,
    withdraw_challenge,
)
from .ending import (
    MOST_ABORTED_GAMES_A_DAY,
    PLIES_BETWEEN_OFFERS,
    NotPossible,
    Why,
    abort,
    agree_to_cancel,
    decline_to_cancel,
    may_be_aborted,
    offer_to_cancel,
    resign,
)
from .playing import computer_reply, dismiss_summary, play_card

__all__ = [
    "MOST_ABORTED_GAMES_A_DAY",
    "PLIES_BETWEEN_OFFERS",
    "ChallengeClosed",
    "NotPossible",
    "OwnChallenge",
    "StaleBoard",
    "TooManyGames",
    "TooManyListed",
    "Why",
    "abort",
    "accept_challenge",
    "agree_to_cancel",
    "challenge_by_the_computer",
    "close_challenges",
    "computer_player",
    "computer_reply",
    "decline_challenge",
    "decline_to_cancel",
    "dismiss_summary",
    "make_challenge",
    "may_be_aborted",
    "offer_rematch",
    "offer_to_cancel",
    "play_card",
    "resign",
    "withdraw_challenge",
]
