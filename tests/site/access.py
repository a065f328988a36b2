"""Who may do what: the table, by name of the address.

A row is a method, who, with what, and the answer. The first row that fits counts; where none fits
the answer is 404, and 405 where the address has no row for the method at all. HEAD is as GET. A
POST carries a sound form (`World.form`).
"""

from __future__ import annotations

from .world import (
    ABORTED,
    ACTORS,
    ADDRESSED,
    BY_LINK,
    CANCEL_OFFERED,
    DECLINED,
    EXPIRED,
    FINISHED,
    JUST_DEALT,
    KNOWN_RULES,
    LISTED,
    MAKER,
    MAKERS_RECORD,
    MAKERS_TURN,
    NO_SUCH,
    NOT_ABOUT_ANYTHING,
    OPPONENT,
    OPPONENTS_TURN,
    REMATCH,
    VISITOR,
    WITH_COMPUTER,
    WITHDRAWN,
)

type Row = tuple[str, tuple[str, ...], tuple[str, ...], int]

ANYBODY = ACTORS
WITH_AN_ACCOUNT = tuple(actor for actor in ACTORS if actor != VISITOR)
PLAYERS = (MAKER, OPPONENT)
VISITORS = (VISITOR,)
MAKERS = (MAKER,)
OPPONENTS = (OPPONENT,)
WHO_IS_ASKED = (ADDRESSED,)

ANYTHING = NOT_ABOUT_ANYTHING
RUNNING = (JUST_DEALT, MAKERS_TURN, OPPONENTS_TURN, CANCEL_OFFERED)
AGAINST_THE_COMPUTER = (WITH_COMPUTER,)
OVER = (FINISHED, ABORTED)
GAMES = (*RUNNING, *OVER)
FOR_ALL = (BY_LINK, LISTED)
TO_ONE = (REMATCH, WITHDRAWN, DECLINED)
OFFERS = (*FOR_ALL, EXPIRED, *TO_ONE)

_A_PAGE_FOR_ALL: list[Row] = [("GET", ANYBODY, ANYTHING, 200)]
_A_PAGE_OF_THE_PLAYERS: list[Row] = [
    ("GET", PLAYERS, GAMES, 200),
    ("GET", OPPONENTS, AGAINST_THE_COMPUTER, 200),
]
_A_FORM_OF_THE_PLAYERS: list[Row] = [
    ("POST", PLAYERS, GAMES, 302),
    ("POST", OPPONENTS, AGAINST_THE_COMPUTER, 302),
]
_FAIRNESS: list[Row] = [*_A_PAGE_OF_THE_PLAYERS, ("GET", ANYBODY, OVER, 200)]

TABLE: dict[str, list[Row]] = {
    "livez": _A_PAGE_FOR_ALL,
    "readyz": _A_PAGE_FOR_ALL,
    "accounts:name": [
        # A visitor has no name yet and is sent home.
        ("GET", VISITORS, ANYTHING, 302),
        ("GET", WITH_AN_ACCOUNT, ANYTHING, 200),
        ("POST", WITH_AN_ACCOUNT, ANYTHING, 302),
        # Or this browser is not known any more.
        ("POST", VISITORS, ANYTHING, 404),
    ],
    "games:home": _A_PAGE_FOR_ALL,
    "games:next": [("GET", ANYBODY, ANYTHING, 302)],
    "games:rules": _A_PAGE_FOR_ALL,
    "games:rule_set": [("GET", ANYBODY, (KNOWN_RULES,), 200)],
    "games:open_table": _A_PAGE_FOR_ALL,
    "games:new_challenge": [*_A_PAGE_FOR_ALL, ("POST", ANYBODY, ANYTHING, 302)],
    "games:challenge": [
        ("GET", ANYBODY, (*FOR_ALL, EXPIRED), 200),
        ("GET", (*MAKERS, *WHO_IS_ASKED), TO_ONE, 200),
        # The players go on to the table; others read that the seat is taken.
        ("GET", PLAYERS, GAMES, 302),
        ("GET", OPPONENTS, AGAINST_THE_COMPUTER, 302),
        ("GET", ANYBODY, GAMES, 200),
    ],
    "games:accept": [
        ("POST", MAKERS, OFFERS, 409),
        ("POST", ANYBODY, FOR_ALL, 302),
        ("POST", ANYBODY, (EXPIRED,), 409),
        ("POST", WHO_IS_ASKED, (REMATCH,), 302),
        ("POST", WHO_IS_ASKED, (WITHDRAWN, DECLINED), 409),
        ("POST", PLAYERS, GAMES, 302),
        ("POST", OPPONENTS, AGAINST_THE_COMPUTER, 302),
        ("POST", ANYBODY, GAMES, 409),
    ],
    "games:decline": [
        ("POST", WHO_IS_ASKED, (REMATCH, DECLINED), 302),
        ("POST", WHO_IS_ASKED, (WITHDRAWN,), 409),
        # It has become a game: who was asked goes to the table.
        ("POST", OPPONENTS, AGAINST_THE_COMPUTER, 302),
    ],
    "games:withdraw": [
        ("POST", MAKERS, (*FOR_ALL, REMATCH, WITHDRAWN), 302),
        ("POST", MAKERS, (EXPIRED, DECLINED), 409),
        # It has become a game: its maker goes to the table, and nothing is taken back.
        ("POST", MAKERS, GAMES, 302),
    ],
    "games:play_computer": [("POST", ANYBODY, ANYTHING, 302)],
    "games:table": _A_PAGE_OF_THE_PLAYERS,
    "games:play": [
        ("POST", MAKERS, (MAKERS_TURN, CANCEL_OFFERED), 302),
        ("POST", OPPONENTS, (OPPONENTS_TURN, JUST_DEALT, WITH_COMPUTER), 302),
        ("POST", PLAYERS, GAMES, 409),
    ],
    "games:hint": [("POST", OPPONENTS, AGAINST_THE_COMPUTER, 200)],
    # A card that the computer played in a round that is over.
    "games:why": [("GET", OPPONENTS, AGAINST_THE_COMPUTER, 200)],
    "games:more": [
        ("GET", PLAYERS, RUNNING, 200),
        ("GET", PLAYERS, OVER, 302),
        ("GET", OPPONENTS, AGAINST_THE_COMPUTER, 200),
    ],
    "games:seen": _A_FORM_OF_THE_PLAYERS,
    "games:after_move": _A_FORM_OF_THE_PLAYERS,
    "games:log": _A_PAGE_OF_THE_PLAYERS,
    "games:game_rules": _A_PAGE_OF_THE_PLAYERS,
    "games:resign": [
        ("GET", PLAYERS, RUNNING, 200),
        ("GET", PLAYERS, OVER, 302),
        ("POST", PLAYERS, RUNNING, 302),
        ("POST", PLAYERS, OVER, 409),
        ("GET", OPPONENTS, AGAINST_THE_COMPUTER, 200),
        ("POST", OPPONENTS, AGAINST_THE_COMPUTER, 302),
    ],
    "games:abort": [
        ("GET", PLAYERS, RUNNING, 200),
        ("GET", PLAYERS, OVER, 302),
        # Both have played.
        ("GET", OPPONENTS, AGAINST_THE_COMPUTER, 200),
        ("POST", OPPONENTS, AGAINST_THE_COMPUTER, 409),
        ("POST", PLAYERS, (JUST_DEALT,), 302),
        # It was the maker's pressing that ended the game: sent again it is answered as once.
        ("POST", MAKERS, (ABORTED,), 302),
        ("POST", PLAYERS, GAMES, 409),
    ],
    "games:cancel": [
        # Where the maker has offered it the form agrees, elsewhere it offers.
        ("POST", MAKERS, (CANCEL_OFFERED,), 409),
        ("POST", OPPONENTS, AGAINST_THE_COMPUTER, 409),
        ("POST", PLAYERS, RUNNING, 302),
        ("POST", PLAYERS, OVER, 409),
    ],
    "games:rematch": [("POST", PLAYERS, OVER, 302)],
    "games:fairness": _FAIRNESS,
    "games:fairness_document": _FAIRNESS,
    "games:verify_shuffle": _A_PAGE_FOR_ALL,
    "games:replay": [("GET", ANYBODY, (*GAMES, WITH_COMPUTER), 200)],
    "games:record": [("GET", ANYBODY, OVER, 200)],
    "games:records": [*_A_PAGE_FOR_ALL, ("POST", ANYBODY, ANYTHING, 302)],
    "games:uploaded": [("GET", MAKERS, (MAKERS_RECORD,), 200)],
    # To whom it does not belong it is not there, and deleting what is not there is harmless.
    "games:delete_uploaded": [("POST", WITH_AN_ACCOUNT, (MAKERS_RECORD, NO_SUCH), 302)],
}


def expected(route: str, method: str, actor: str, state: str) -> int:
    """Return what the table has for one cell."""
    rows = [row for row in TABLE[route] if row[0] == ("GET" if method == "HEAD" else method)]
    if not rows:
        return 405
    return next((status for _, who, what, status in rows if actor in who and state in what), 404)
