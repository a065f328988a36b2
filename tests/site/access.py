"""Who may do what: the table, by name of the address.

A row is a method, who, with what, and the answer. The first row that fits counts; where none fits
the answer is 404, and 405 where the address has no row for the method at all. HEAD is as GET where
it has none of its own. A POST carries a sound form (`World.form`).
"""

from __future__ import annotations

from .world import (
    A_MAIL,
    ABORTED,
    ACCOUNT_CLOSING,
    ACTORS,
    ADDRESS_GIVEN,
    ADDRESSED,
    BY_LINK,
    CANCEL_OFFERED,
    COMPUTER_THERE,
    DECLINED,
    EXPIRED,
    FACEBOOK_ASKED,
    FINISHED,
    GUEST,
    JUST_DEALT,
    KNOWN_RULES,
    LISTED,
    MAILED,
    MAILED_ADDRESS,
    MAKER,
    MAKER_THERE,
    MAKERS_ADDRESS,
    MAKERS_KEY,
    MAKERS_PASSWORD,
    MAKERS_RECORD,
    MAKERS_TURN,
    NO_SUCH,
    NOT_ABOUT_ANYTHING,
    OPPONENT,
    OPPONENTS_TURN,
    REMATCH,
    SOMEBODY_THERE,
    VISITOR,
    WITH_COMPUTER,
    WITHDRAWN,
    WITHDRAWN_MAIL,
)

type Row = tuple[str, tuple[str, ...], tuple[str, ...], int]

ANYBODY = ACTORS
WITH_AN_ACCOUNT = tuple(actor for actor in ACTORS if actor != VISITOR)
PLAYERS = (MAKER, OPPONENT)
VISITORS = (VISITOR,)
MAKERS = (MAKER,)
OPPONENTS = (OPPONENT,)
WHO_IS_ASKED = (ADDRESSED,)
# Who could sign in, and who has: a guest is nobody yet where one signs in.
NOBODY_YET = (VISITOR, GUEST)
MEMBERS = tuple(actor for actor in ACTORS if actor not in NOBODY_YET)

ANYTHING = NOT_ABOUT_ANYTHING
RUNNING = (JUST_DEALT, MAKERS_TURN, OPPONENTS_TURN, CANCEL_OFFERED)
AGAINST_THE_COMPUTER = (WITH_COMPUTER,)
OVER = (FINISHED, ABORTED)
GAMES = (*RUNNING, *OVER)
FOR_ALL = (BY_LINK, LISTED)
TO_ONE = (REMATCH, WITHDRAWN, DECLINED, MAILED)
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


def _for_members(get: int, post: int) -> list[Row]:
    """A page of one's own account; others are asked to sign in."""
    return [
        ("GET", NOBODY_YET, ANYTHING, 302),
        ("POST", NOBODY_YET, ANYTHING, 302),
        ("GET", MEMBERS, ANYTHING, get),
        ("POST", MEMBERS, ANYTHING, post),
    ]


def _asked_again(get: int, post: int, states: tuple[str, ...] = ANYTHING) -> list[Row]:
    """A page of one's own account for who has just shown again who they are: the maker."""
    every = (*states, NO_SUCH) if states != ANYTHING else ANYTHING
    return [
        ("GET", MAKERS, states, get),
        ("POST", MAKERS, states, post),
        ("GET", MAKERS, every, 404),
        ("POST", MAKERS, every, 404),
        # To sign in, or to show it again.
        ("GET", ANYBODY, every, 302),
        ("POST", ANYBODY, every, 302),
    ]


# An empty form is refused; who is signed in has nothing to do here.
_A_WAY_IN: list[Row] = [
    ("GET", NOBODY_YET, ANYTHING, 200),
    ("POST", NOBODY_YET, ANYTHING, 422),
    ("GET", MEMBERS, ANYTHING, 302),
    ("POST", MEMBERS, ANYTHING, 302),
]
# A step of something that has not been begun.
_A_STEP: list[Row] = [("GET", ANYBODY, ANYTHING, 302), ("POST", ANYBODY, ANYTHING, 302)]
_NOT_OFFERED: list[Row] = [
    ("GET", ANYBODY, ANYTHING, 404),
    ("HEAD", ANYBODY, ANYTHING, 405),
    ("POST", ANYBODY, ANYTHING, 404),
]
# Harmless where there is nothing of the kind; to a visitor nobody is anything.
_BETWEEN_TWO: list[Row] = [
    ("POST", WITH_AN_ACCOUNT, (MAKER_THERE, COMPUTER_THERE, SOMEBODY_THERE), 302)
]

TABLE: dict[str, list[Row]] = {
    "livez": _A_PAGE_FOR_ALL,
    "readyz": _A_PAGE_FOR_ALL,
    "accounts:settings": [
        # To sign in first, and back.
        ("GET", VISITORS, ANYTHING, 302),
        ("GET", WITH_AN_ACCOUNT, ANYTHING, 200),
        ("POST", WITH_AN_ACCOUNT, ANYTHING, 302),
        # Or this browser is not known any more.
        ("POST", VISITORS, ANYTHING, 404),
    ],
    "accounts:friends": [
        ("GET", VISITORS, ANYTHING, 302),
        ("GET", WITH_AN_ACCOUNT, ANYTHING, 200),
        ("POST", (GUEST,), ANYTHING, 409),
        ("POST", MEMBERS, ANYTHING, 302),
        ("POST", VISITORS, ANYTHING, 404),
    ],
    "accounts:ask": [
        ("POST", MAKERS, (MAKER_THERE,), 409),
        ("POST", (GUEST,), (MAKER_THERE, COMPUTER_THERE, SOMEBODY_THERE), 409),
        ("POST", MEMBERS, (COMPUTER_THERE,), 409),
        # The onlooker is blocked, and not told.
        ("POST", MEMBERS, (MAKER_THERE, SOMEBODY_THERE), 302),
    ],
    "accounts:accept": _BETWEEN_TWO,
    "accounts:decline": _BETWEEN_TWO,
    "accounts:cancel": _BETWEEN_TWO,
    "accounts:remove": _BETWEEN_TWO,
    "accounts:block": [
        ("POST", MAKERS, (MAKER_THERE,), 409),
        ("POST", WITH_AN_ACCOUNT, (COMPUTER_THERE,), 409),
        *_BETWEEN_TWO,
    ],
    "accounts:unblock": _BETWEEN_TWO,
    # One page of the two, for whoever knows where.
    "games:player": [("GET", ANYBODY, (MAKER_THERE, COMPUTER_THERE, SOMEBODY_THERE), 200)],
    "accounts:privacy": _A_PAGE_FOR_ALL,
    "accounts:terms": _A_PAGE_FOR_ALL,
    "accounts:export": [
        ("GET", VISITORS, ANYTHING, 302),
        ("GET", WITH_AN_ACCOUNT, ANYTHING, 200),
        ("POST", WITH_AN_ACCOUNT, ANYTHING, 302),
        ("POST", VISITORS, ANYTHING, 404),
    ],
    "accounts:export_file": [
        # There is none, which only those learn who have shown again who they are.
        ("POST", (GUEST, *MAKERS), ANYTHING, 409),
        ("POST", MEMBERS, ANYTHING, 302),
    ],
    "accounts:close": [
        ("GET", VISITORS, ANYTHING, 302),
        ("GET", WITH_AN_ACCOUNT, ANYTHING, 200),
        ("POST", WITH_AN_ACCOUNT, ANYTHING, 302),
    ],
    "accounts:keep": [("POST", WITH_AN_ACCOUNT, ANYTHING, 302)],
    "accounts:keep_by_mail": [
        ("GET", ANYBODY, (ACCOUNT_CLOSING,), 200),
        ("POST", ANYBODY, (ACCOUNT_CLOSING,), 302),
    ],
    "accounts:confirm_address": [
        ("GET", ANYBODY, (ADDRESS_GIVEN,), 200),
        ("POST", ANYBODY, (ADDRESS_GIVEN,), 302),
    ],
    "accounts:facebook_deauthorise": [("POST", ANYBODY, ANYTHING, 400)],
    "accounts:facebook_delete": [("POST", ANYBODY, ANYTHING, 400)],
    "accounts:facebook_status": [("GET", ANYBODY, (FACEBOOK_ASKED,), 200)],
    "accounts:totp_picture": [("GET", ANYBODY, ANYTHING, 404)],
    "account_login": _A_WAY_IN,
    "account_signup": _A_WAY_IN,
    "account_request_login_code": _A_WAY_IN,
    "account_confirm_login_code": _A_STEP,
    "account_logout": [
        ("GET", NOBODY_YET, ANYTHING, 302),
        ("GET", MEMBERS, ANYTHING, 200),
        ("POST", ANYBODY, ANYTHING, 302),
    ],
    "account_inactive": _A_PAGE_FOR_ALL,
    "account_reauthenticate": _for_members(200, 422),
    "account_request_reauthentication_code": _for_members(200, 422),
    "account_confirm_reauthentication_code": _A_STEP,
    "account_email": _for_members(200, 302),
    "account_email_verification_sent": _A_PAGE_FOR_ALL,
    "account_confirm_email": [
        ("GET", ANYBODY, (MAKERS_ADDRESS,), 200),
        ("POST", ANYBODY, (MAKERS_ADDRESS,), 302),
    ],
    "account_change_password": _for_members(200, 422),
    "account_set_password": _A_STEP,
    "account_reset_password": [
        ("GET", ANYBODY, ANYTHING, 200),
        ("POST", ANYBODY, ANYTHING, 422),
    ],
    "account_reset_password_done": _A_PAGE_FOR_ALL,
    "account_reset_password_from_key": [
        # On to the same page with the key in the session.
        ("GET", ANYBODY, (MAKERS_PASSWORD,), 302),
        ("POST", ANYBODY, (MAKERS_PASSWORD,), 302),
    ],
    "account_reset_password_from_key_done": _A_PAGE_FOR_ALL,
    "mfa_index": _for_members(200, 405),
    "mfa_authenticate": _A_STEP,
    # Not with an address that waits to be confirmed, as the maker's does.
    "mfa_activate_totp": _A_STEP,
    "mfa_deactivate_totp": _for_members(404, 404),
    "mfa_download_recovery_codes": _for_members(404, 404),
    "mfa_view_recovery_codes": _for_members(404, 405),
    "mfa_generate_recovery_codes": _asked_again(200, 302),
    "mfa_list_webauthn": _for_members(200, 405),
    "mfa_add_webauthn": _A_STEP,
    "mfa_edit_webauthn": _asked_again(200, 422, (MAKERS_KEY,)),
    "mfa_remove_webauthn": _asked_again(200, 302, (MAKERS_KEY,)),
    "mfa_login_webauthn": _A_STEP,
    "mfa_reauthenticate": _A_STEP,
    "mfa_reauthenticate_webauthn": _asked_again(200, 302),
    "usersessions_list": _for_members(200, 302),
    "socialaccount_connections": _for_members(200, 422),
    "socialaccount_signup": _A_STEP,
    "socialaccount_login_cancelled": _A_PAGE_FOR_ALL,
    "socialaccount_login_error": [("GET", ANYBODY, ANYTHING, 401)],
    # A sign-in begins by a form; nobody came back from Facebook who was not sent there.
    "facebook_login": [
        ("GET", ANYBODY, ANYTHING, 200),
        ("HEAD", ANYBODY, ANYTHING, 405),
        ("POST", ANYBODY, ANYTHING, 302),
    ],
    "facebook_callback": [("GET", ANYBODY, ANYTHING, 400), ("HEAD", ANYBODY, ANYTHING, 405)],
    # There is no key for it in the tests' settings.
    "google_login": _NOT_OFFERED,
    "google_callback": _NOT_OFFERED,
    "mails": _A_PAGE_FOR_ALL,
    "mail": [("GET", ANYBODY, (A_MAIL,), 200)],
    "mail_html": [("GET", ANYBODY, (A_MAIL,), 200)],
    "games:invitations": _A_PAGE_FOR_ALL,
    "games:invitation": [
        ("GET", ANYBODY, (MAILED,), 200),
        ("GET", ANYBODY, (WITHDRAWN_MAIL,), 410),
    ],
    "games:accept_invitation": [
        ("POST", MAKERS, (MAILED,), 409),
        ("POST", MAKERS, (WITHDRAWN_MAIL,), 410),
        ("POST", ANYBODY, (MAILED,), 302),
        ("POST", ANYBODY, (WITHDRAWN_MAIL,), 409),
    ],
    "games:decline_invitation": [
        ("POST", MAKERS, (MAILED, WITHDRAWN_MAIL), 404),
        ("POST", ANYBODY, (MAILED,), 200),
        ("POST", ANYBODY, (WITHDRAWN_MAIL,), 409),
    ],
    # As mail programs ask: who has the address may.
    "games:never": [
        ("GET", ANYBODY, (MAILED_ADDRESS,), 200),
        ("POST", ANYBODY, (MAILED_ADDRESS,), 200),
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
        ("POST", WHO_IS_ASKED, (REMATCH, MAILED), 302),
        ("POST", WHO_IS_ASKED, (WITHDRAWN, DECLINED), 409),
        ("POST", PLAYERS, GAMES, 302),
        ("POST", OPPONENTS, AGAINST_THE_COMPUTER, 302),
        ("POST", ANYBODY, GAMES, 409),
    ],
    "games:decline": [
        ("POST", WHO_IS_ASKED, (REMATCH, DECLINED, MAILED), 302),
        ("POST", WHO_IS_ASKED, (WITHDRAWN,), 409),
        # It has become a game: who was asked goes to the table.
        ("POST", OPPONENTS, AGAINST_THE_COMPUTER, 302),
    ],
    "games:withdraw": [
        ("POST", MAKERS, (*FOR_ALL, REMATCH, WITHDRAWN, MAILED), 302),
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
    rows = [row for row in TABLE[route] if row[0] == method]
    if method == "HEAD" and not rows:
        rows = [row for row in TABLE[route] if row[0] == "GET"]
    if not rows:
        return 405
    return next((status for _, who, what, status in rows if actor in who and state in what), 404)
