"""The people of the tests, and what they do: sit down, play, look.

The people are Mona, Karim, Salma and Tarek, and the computer players. A game is dealt from
a ``seed``, so that a test meets the same cards in every run.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from unittest.mock import patch
from uuid import UUID

from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from games import dealing, engine, selectors, services
from games.engine import GameState, Play, Seat
from games.models import Challenge, Fingerprint, Game
from games.snapshot import read_state

WORDS = "the moon over the river"
MOST_PLIES = 48 * engine.ROUNDS_SEALED


def person(name: str, *, forced: bool = True, kind: User.Kind = User.Kind.MEMBER) -> User:
    """Return a player called ``name``; ``forced`` cards go by themselves or not."""
    return User.objects.create(
        username=name.lower(), name=name, kind=kind, plays_forced_cards=forced
    )


def computer(name: str, *, level: User.Level = User.Level.MEDIUM) -> User:
    """Return a computer player of the test's own, called ``name``."""
    kind = User.Kind.COMPUTER
    return User.objects.create(username=name.lower(), name=name, kind=kind, level=level)


def the_computer(level: User.Level = User.Level.EASY) -> User:
    """Return the house's computer player of a level."""
    return services.computer_player(level)


def settings_of(name: str) -> dict[str, str]:
    """Return what the page of the settings posts for a player of this name who leaves all as is."""
    return {
        "name": name, "after_move": "stay", "confirms_plays": "on", "plays_forced_cards": "on",
        "deck": "two", "time_zone": "", "may_challenge": "everybody", "may_see": "everybody",
    }  # fmt: skip


def browser_of(player: User | None = None, *, tells_errors: bool = True) -> Client:
    """Return a browser in which ``player`` is signed in, or a visitor's.

    Without ``tells_errors`` an exception in a view comes as the page that a player would see.
    """
    client = Client(raise_request_exception=tells_errors)
    if player is not None:
        client.force_login(player)
    return client


def offer(
    player_a: User,
    player_b: User | None = None,
    *,
    rules: str = engine.DEFAULT_RULE_SET,
    target: int | None = None,
    seed: int = 1,
    listed: bool = False,
) -> Challenge:
    """Return a sealed challenge that waits for the words of ``player_b``, or of anybody."""
    challenge = Challenge.objects.create(
        id=game_id_of(seed),
        maker=player_a,
        opponent=player_b,
        listed=listed,
        rule_set=engine.RULE_SETS[rules].to_json(),
        target=target,
        rules_version=engine.RULES_VERSION,
        shuffle_version=engine.SHUFFLE_VERSION,
        expires_at=timezone.now() + selectors.CHALLENGE_LASTS,
    )
    with patch("games.dealing.secrets.token_bytes", return_value=tip_of(seed)):
        dealing.seal(challenge)
    return challenge


def game_id_of(seed: int) -> UUID:
    """Return the id of the game of this seed: the deal depends on it."""
    return UUID(bytes=hashlib.sha256(f"seed {seed}".encode()).digest()[:16], version=4)


def deal_of(seed: int, number: int = 1, *, rules: str = engine.DEFAULT_RULE_SET) -> engine.Deal:
    """Return what the recipe deals in a round of the game of this seed."""
    return engine.deal_round(
        secret=engine.secret_of_round(tip_of(seed), engine.ROUNDS_SEALED, number),
        game_id=game_id_of(seed),
        round_number=number,
        words_sha256=engine.words_digest(WORDS),
        replaced=engine.RULE_SETS[rules].replaced,
    )


def tip_of(seed: int) -> bytes:
    """Return the tip that a game of this seed is sealed with."""
    return hashlib.sha256(f"tip {seed}".encode()).digest()


def sit_down(
    player_a: User,
    player_b: User,
    *,
    rules: str = engine.DEFAULT_RULE_SET,
    target: int | None = None,
    seed: int = 1,
) -> Game:
    """Return a game that is dealt; the one to lead is to play, computer or not."""
    challenge = offer(player_a, player_b, rules=rules, target=target, seed=seed)
    return services.accept_challenge(
        challenge_id=challenge.pk,
        player=player_b,
        words=WORDS,
        words_by=Fingerprint.By.OPPONENT,
    )


def sit_down_with_the_computer(
    player: User,
    *,
    rules: str = engine.DEFAULT_RULE_SET,
    target: int | None = None,
    seed: int = 1,
    level: User.Level = User.Level.EASY,
) -> Game:
    """Return a game against the computer in which ``player`` is to play."""
    game = sit_down(the_computer(level), player, rules=rules, target=target, seed=seed)
    return services.computer_reply(game)


def as_it_is(game: Game) -> Game:
    """Return the game as the database has it now."""
    return selectors.game_by_id(game.pk)


def state_of(game: Game) -> GameState:
    """Return the cards of a game as the database has them now."""
    return read_state(as_it_is(game))


def seat_to_play(game: Game) -> Seat:
    """Return whose turn it is."""
    return Seat(as_it_is(game).turn)


def player_to_play(game: Game) -> User:
    """Return who is to play."""
    return game.player(seat_to_play(game))


def a_play(game: Game) -> Play:
    """Return the first legal play of whoever is to play."""
    return engine.legal_plays(state_of(game))[0]


def play_one(game: Game, play: Play | None = None) -> Game:
    """Play a card for whoever is to play, without any reply."""
    return services.play_card(
        game_id=game.pk,
        player=player_to_play(game),
        play=play or a_play(game),
        version=as_it_is(game).version,
        move_id=uuid.uuid4(),
    )


def play_until_ply(game: Game, ply: int) -> Game:
    """Play first legal cards for both until at least ``ply`` cards lie, or the game is over."""
    game = as_it_is(game)
    while game.turn and game.plies < ply:
        game = services.play_card(
            game_id=game.pk,
            player=game.player(Seat(game.turn)),
            play=engine.legal_plays(read_state(game))[0],
            version=game.version,
            move_id=uuid.uuid4(),
        )
    return game


def play_to_the_end(game: Game) -> Game:
    """Play first legal cards for both until the game is over."""
    return play_until_ply(game, MOST_PLIES)


def form_of(
    play: Play, version: int, move_id: UUID | None = None, *, chosen: bool = True
) -> dict[str, str]:
    """Return what the table's form posts for a play; the capture only where it is ``chosen``."""
    form = {
        "card": play.card.code,
        "version": str(version),
        "move_id": str(move_id or uuid.uuid4()),
    }
    if chosen and play.capture is not None:
        form[f"capture-{play.card}"] = "+".join(card.code for card in sorted(play.capture))
    return form


HTMX = {"HX-Request": "true"}


def post(
    client: Client, page: str, game: Game | Challenge, form: dict[str, str], **how: bool
) -> HttpResponse:
    """Post a form of a game, as htmx does if ``htmx`` is true, else as a page without script."""
    return posted(client, reverse(f"games:{page}", args=[game.pk]), form, **how)


def posted(client: Client, url: str, form: dict[str, str], *, htmx: bool = False) -> HttpResponse:
    """Post a form to an address."""
    response = client.post(url, form, headers=HTMX if htmx else {})
    assert isinstance(response, HttpResponse)
    return response


def post_play(
    client: Client, game: Game, play: Play | None = None, *, htmx: bool = False
) -> HttpResponse:
    """Play a card in a browser, on the board as it is."""
    form = form_of(play or a_play(game), as_it_is(game).version)
    return post(client, "play", game, form, htmx=htmx)


def look(
    client: Client, page: str, game: Game | Challenge | None = None, *, htmx: bool = False
) -> HttpResponse:
    """Return a page of a game, or of the site, as a browser gets it."""
    url = reverse(f"games:{page}", args=[game.pk] if game else [])
    response = client.get(url, headers=HTMX if htmx else {})
    assert isinstance(response, HttpResponse)
    return response


def get(client: Client, url: str, query: dict[str, str] | None = None) -> HttpResponse:
    """Return what is at an address."""
    response = client.get(url, query or {})
    assert isinstance(response, HttpResponse)
    return response


def text_of(response: HttpResponse) -> str:
    """Return the body of a response as text."""
    return response.content.decode()


def without_the_way_back(page: str) -> str:
    """Return a page without where its way to sign in leads back to: the address asked for."""
    return re.sub(r'[?]next=[^"]*', "", page)


# What signing in and looking at a page may change.
_OF_SESSIONS = {"django_migrations", "django_session", "basra_site_cache"}
_OF_SIGNING_IN = "last_login"


def everything_stored() -> dict[str, list[str]]:
    """Return each row of each table in text, as a dump would have it; sessions left out."""
    stored = {}
    with connection.cursor() as cursor:
        for table in sorted(set(connection.introspection.table_names(cursor)) - _OF_SESSIONS):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608 - ours
            columns = [column[0] for column in cursor.description]
            stored[table] = sorted(
                " ".join(
                    str(bytes(value) if isinstance(value, memoryview) else value)
                    for column, value in zip(columns, row, strict=True)
                    if column != _OF_SIGNING_IN
                )
                for row in cursor.fetchall()
            )
    return stored
