"""One of everything: who may come, what there is to come to, and what a sound form would be.

Mona offers every game and Karim accepts it; an offer that nobody has accepted is to Salma, or to
whoever comes. The others have no part in any of it, whatever they may do elsewhere.
"""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote_to_bytes
from uuid import UUID

from django.conf import settings
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from accounts.models import User
from basra_site.middleware import DAY, LAST_SLIDE
from games import engine, replaying, selectors, services, uploads
from games.custom_rules import CustomRulesForm
from games.models import Challenge, Fingerprint, Game, UploadedRecord
from tests import cast

from .wire import Answer, answer

if TYPE_CHECKING:
    from collections.abc import Iterator

FORM = "application/x-www-form-urlencoded"
_TOKEN = "a" * 32

VISITOR = "a visitor"
GUEST = "a guest"
MEMBER = "another player"
MAKER = "the maker"
OPPONENT = "the opponent"
ADDRESSED = "who is asked"
ONLOOKER = "an onlooker with the link"
STAFF = "staff"
SUPERUSER = "a superuser"
ACTORS = (VISITOR, GUEST, MEMBER, MAKER, OPPONENT, ADDRESSED, ONLOOKER, STAFF, SUPERUSER)

BY_LINK = "offered by link"
LISTED = "offered in the list"
REMATCH = "a rematch, offered to one"
EXPIRED = "an offer that expired"
WITHDRAWN = "an offer to one, withdrawn"
DECLINED = "an offer to one, declined"
JUST_DEALT = "just dealt, the opponent leads"
MAKERS_TURN = "the maker to play"
OPPONENTS_TURN = "the opponent to play"
CANCEL_OFFERED = "the maker to play, who offers to cancel"
WITH_COMPUTER = "against the computer, the opponent to play"
FINISHED = "finished"
ABORTED = "aborted"
NO_SUCH = "nothing"
GAME_STATES = (
    BY_LINK, LISTED, REMATCH, EXPIRED, WITHDRAWN, DECLINED, JUST_DEALT, MAKERS_TURN,
    OPPONENTS_TURN, CANCEL_OFFERED, WITH_COMPUTER, FINISHED, ABORTED, NO_SUCH,
)  # fmt: skip

MAKERS_RECORD = "a record of the maker"
RECORD_STATES = (MAKERS_RECORD, NO_SUCH)
KNOWN_RULES = "a rule set"
RULES_STATES = (KNOWN_RULES, NO_SUCH)
NOT_ABOUT_ANYTHING = ("",)

_STATES_BY_ARGUMENT = {
    "game_id": GAME_STATES,
    "record_id": RECORD_STATES,
    "name": RULES_STATES,
    None: NOT_ABOUT_ANYTHING,
}


def routes() -> dict[str, str | None]:
    """Return every name in the URLconf, with the name of its argument if it takes one."""
    return dict(_named(get_resolver(), "", ()))


def _named(
    resolver: URLResolver, space: str, before: tuple[str, ...]
) -> Iterator[tuple[str, str | None]]:
    for pattern in resolver.url_patterns:
        arguments = (*before, *pattern.pattern.converters)
        if isinstance(pattern, URLPattern):
            assert pattern.name, f"{pattern.pattern} has no name"
            assert len(arguments) <= 1, f"{pattern.name} has more than one argument"
            yield f"{space}{pattern.name}", next(iter(arguments), None)
        else:
            inner = f"{space}{pattern.namespace}:" if pattern.namespace else space
            yield from _named(pattern, inner, arguments)


def states_of(route: str) -> tuple[str, ...]:
    """Return in which states there can be what an address is about."""
    return _STATES_BY_ARGUMENT[routes()[route]]


def encoded(form: dict[str, str]) -> bytes:
    """Return the body as a hostile sender writes it: lone surrogates included."""
    return "&".join(
        f"{quote(name.encode('utf-8', 'surrogatepass'))}="
        f"{quote(value.encode('utf-8', 'surrogatepass'))}"
        for name, value in form.items()
    ).encode()


def _session_of(player: User) -> str:
    """Return the key of a session that was renewed today: asking for a page does not change it."""
    browser = cast.browser_of(player)
    session = browser.session
    session[LAST_SLIDE] = int(timezone.now().timestamp()) // DAY
    session.save()
    return browser.cookies[settings.SESSION_COOKIE_NAME].value


class World:
    """The people, the offers, the games and the records, each in the state it is named by."""

    def __init__(self) -> None:
        self.people: dict[str, User | None] = {
            VISITOR: None,
            GUEST: cast.person("Clever Fox 7", forced=False, kind=User.Kind.GUEST),
            MEMBER: cast.person("Tarek", forced=False),
            MAKER: cast.person("Mona", forced=False),
            OPPONENT: cast.person("Karim", forced=False),
            ADDRESSED: cast.person("Salma", forced=False),
            ONLOOKER: cast.person("Nadia"),
            STAFF: cast.person("Hoda"),
            SUPERUSER: cast.person("Omar"),
        }
        User.objects.filter(name__in=["Hoda", "Omar"]).update(is_staff=True)
        User.objects.filter(name="Omar").update(is_superuser=True)
        self.sessions = {
            actor: _session_of(player) for actor, player in self.people.items() if player
        }
        self.ids: dict[str, UUID] = {
            **self._offers(),
            **self._games(),
            NO_SUCH: cast.game_id_of(999),
        }
        self.record = self._record_of(self.ids[FINISHED])
        self.ids[MAKERS_RECORD] = self.record.pk
        # The other player has a table elsewhere.
        cast.sit_down(self.person(MEMBER), self.person(GUEST), seed=30)
        # However long a test takes, no visit is noted in it: what is stored can be compared.
        User.objects.update(seen_at=timezone.now() + timedelta(hours=1))

    def person(self, actor: str) -> User:
        """Return who that is; not for the visitor, who is nobody yet."""
        player = self.people[actor]
        assert player is not None
        return player

    def ask(
        self,
        actor: str,
        method: str,
        address: str,
        form: dict[str, str] | None = None,
        **environ: Any,
    ) -> Answer:
        """Ask for an address as the actor, with the token that a form of this site carries."""
        path, _, query = address.partition("?")
        given = {"body": encoded(form), "CONTENT_TYPE": FORM} if form is not None else {}
        return answer(
            **{
                "REQUEST_METHOD": method,
                # As a server hands a path on: unquoted, each byte a letter.
                "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
                "QUERY_STRING": query,
                "HTTP_COOKIE": self.cookies(actor),
                "HTTP_X_CSRFTOKEN": _TOKEN,
                **given,
                **environ,
            }
        )

    def cookies(self, actor: str) -> str:
        """Return what the actor sends; nothing else is kept from one request to the next."""
        token = f"{settings.CSRF_COOKIE_NAME}={_TOKEN}"
        if actor not in self.sessions:
            return token
        return f"{settings.SESSION_COOKIE_NAME}={self.sessions[actor]}; {token}"

    def address(self, route: str, state: str) -> str:
        """Return where a route leads for what is in that state."""
        match routes()[route]:
            case None:
                return reverse(route)
            case "name":
                return reverse(route, args=["standard" if state == KNOWN_RULES else "poker"])
            case _ if route == "games:why":
                return reverse(route, args=[self.ids[state]], query={"ply": self.explained})
            case _:
                return reverse(route, args=[self.ids[state]])

    def form(self, route: str, state: str) -> dict[str, str]:
        """Return a form that is sound there, as far as any is."""
        key = str(uuid.uuid4())
        match route:
            case "games:play":
                return self._play(state)
            case "games:hint":
                return {"version": self._play(state)["version"]}
            case "games:accept":
                return {"words": cast.WORDS}
            case "games:seen":
                return {"round": "1"}
            case "games:after_move":
                return {"after_move": User.AfterMove.STAY}
            case "games:cancel":
                return {"answer": "agree" if state == CANCEL_OFFERED else "offer"}
            case "games:play_computer":
                return {"level": "easy", "rule_set": "standard", "target": "51", "form_key": key}
            case "games:new_challenge":
                custom = CustomRulesForm.of(engine.RULE_SETS["standard"]).initial
                return {
                    "rule_set": engine.CUSTOM,
                    "target": "101",
                    "who": "list",
                    "form_key": key,
                    **{
                        f"custom-{name}": str(value)
                        for name, value in custom.items()
                        if value is not None
                    },
                }
            case "games:records":
                return {"text": self.record.text, "form_key": key}
            case "accounts:name":
                return {"name": f"Player {key[:6]}", "after_move": User.AfterMove.NEXT}
            case _:
                return {}

    def _play(self, state: str) -> dict[str, str]:
        game = Game.objects.filter(pk=self.ids[state]).first()
        if game is None or game.status == Game.Status.FINISHED:
            return {"card": "7D", "version": "9", "move_id": str(uuid.uuid4())}
        return cast.form_of(cast.a_play(game), game.version)

    def _offers(self) -> dict[str, UUID]:
        mona, salma = self.person(MAKER), self.person(ADDRESSED)
        earlier = cast.sit_down(mona, salma, seed=1)
        services.resign(game_id=earlier.pk, player=mona)
        offers = {
            BY_LINK: cast.offer(mona, seed=2),
            LISTED: cast.offer(mona, seed=3, listed=True),
            REMATCH: services.offer_rematch(game_id=earlier.pk, player=mona),
            EXPIRED: cast.offer(mona, seed=4),
            WITHDRAWN: cast.offer(mona, salma, seed=5),
            DECLINED: cast.offer(mona, salma, seed=6),
        }
        Challenge.objects.filter(pk=offers[EXPIRED].pk).update(
            expires_at=timezone.now() - timedelta(seconds=1)
        )
        services.close_challenges()
        services.withdraw_challenge(challenge_id=offers[WITHDRAWN].pk, player=mona)
        services.decline_challenge(challenge_id=offers[DECLINED].pk, player=salma)
        return {state: offer.pk for state, offer in offers.items()}

    def _games(self) -> dict[str, UUID]:
        mona, karim = self.person(MAKER), self.person(OPPONENT)
        games = {
            JUST_DEALT: self._game(11),
            MAKERS_TURN: self._game_with_turn(12, mona),
            OPPONENTS_TURN: self._game_with_turn(13, karim),
            CANCEL_OFFERED: self._game_with_turn(14, mona),
            FINISHED: cast.play_to_the_end(self._game(15)),
            WITH_COMPUTER: self._second_round_with_the_computer(17),
            ABORTED: self._game(16),
        }
        assert cast.player_to_play(games[JUST_DEALT]) == karim
        services.offer_to_cancel(game_id=games[CANCEL_OFFERED].pk, player=mona)
        services.abort(game_id=games[ABORTED].pk, player=mona)
        return {state: game.pk for state, game in games.items()}

    def _game(self, seed: int) -> Game:
        offered = cast.offer(self.person(MAKER), seed=seed)
        return services.accept_challenge(
            challenge_id=offered.pk,
            player=self.person(OPPONENT),
            words=cast.WORDS,
            words_by=Fingerprint.By.OPPONENT,
        )

    def _game_with_turn(self, seed: int, player: User) -> Game:
        game = cast.play_until_ply(self._game(seed), 6)
        return game if cast.player_to_play(game) == player else cast.play_one(game)

    def _second_round_with_the_computer(self, seed: int) -> Game:
        karim = self.person(OPPONENT)
        game = cast.sit_down_with_the_computer(karim, target=201, seed=seed)
        game = cast.play_until_ply(game, 49)
        services.dismiss_summary(game=game, player=karim, round_number=1)
        first = game.plays.filter(seat=engine.Seat.A, forced=False).earliest("ply")
        self.explained = first.ply
        return services.computer_reply(game)

    def _record_of(self, game_id: UUID) -> UploadedRecord:
        return uploads.keep_record(
            player=self.person(MAKER),
            record=replaying.record_of(selectors.game_by_id(game_id)),
            form_key=uuid.uuid4(),
        )
