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

from allauth.account.forms import default_token_generator
from allauth.account.internal.flows.login import record_authentication
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from cryptography.hazmat.primitives.asymmetric import ec
from django.conf import settings
from django.http import HttpRequest
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone
from fido2.cose import ES256
from fido2.utils import websafe_encode
from fido2.webauthn import (
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)

from accounts import closing, first_sign_in
from accounts.addresses import address_digest
from accounts.models import Block, FacebookRequest, Friendship, User
from basra_site.middleware import DAY, LAST_SLIDE
from games import engine, replaying, selectors, services, uploads
from games.custom_rules import CustomRulesForm
from games.models import Challenge, Fingerprint, Game, Invitation, UploadedRecord
from games.services import invitations
from tests import cast

from .wire import Answer, answer

if TYPE_CHECKING:
    from collections.abc import Iterator

FORM = "application/x-www-form-urlencoded"
_TOKEN = "a" * 32
_MAILED_TOKEN, _WITHDRAWN_TOKEN = "m" * 43, "w" * 43

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
MAILED = "an offer that was mailed to one"
JUST_DEALT = "just dealt, the opponent leads"
MAKERS_TURN = "the maker to play"
OPPONENTS_TURN = "the opponent to play"
CANCEL_OFFERED = "the maker to play, who offers to cancel"
WITH_COMPUTER = "against the computer, the opponent to play"
FINISHED = "finished"
ABORTED = "aborted"
NO_SUCH = "nothing"
GAME_STATES = (
    BY_LINK, LISTED, REMATCH, EXPIRED, WITHDRAWN, DECLINED, MAILED, JUST_DEALT, MAKERS_TURN,
    OPPONENTS_TURN, CANCEL_OFFERED, WITH_COMPUTER, FINISHED, ABORTED, NO_SUCH,
)  # fmt: skip

MAKERS_ADDRESS = "a new address of the maker, to be confirmed"
MAKERS_PASSWORD = "a new password for the maker"
MAKERS_KEY = "a key of the maker"
WITHDRAWN_MAIL = "an offer that was mailed, withdrawn"
LINK_STATES = (MAILED, WITHDRAWN_MAIL, NO_SUCH)
MAILED_ADDRESS = "an address that was mailed to"
ACCOUNT_CLOSING = "an account that will be deleted"
ADDRESS_GIVEN = "an address given with another site's sign-in"
FACEBOOK_ASKED = "a request from Facebook"
MAKER_THERE = "the maker"
COMPUTER_THERE = "a computer player"
# A friend of the opponent, has asked who is asked, was asked by another player, and has blocked
# the onlooker.
SOMEBODY_THERE = "somebody"
PLAYER_STATES = (MAKER_THERE, COMPUTER_THERE, SOMEBODY_THERE, NO_SUCH)
A_MAIL = "a mail"
MAKERS_RECORD = "a record of the maker"
RECORD_STATES = (MAKERS_RECORD, NO_SUCH)
KNOWN_RULES = "a rule set"
RULES_STATES = (KNOWN_RULES, NO_SUCH)
NOT_ABOUT_ANYTHING = ("",)

_STATES_BY_ARGUMENT = {
    "game_id": GAME_STATES,
    "player_id": PLAYER_STATES,
    "record_id": RECORD_STATES,
    "name": RULES_STATES,
    "key": (MAKERS_ADDRESS, NO_SUCH),
    "uidb36 key": (MAKERS_PASSWORD, NO_SUCH),
    "pk": (MAKERS_KEY, NO_SUCH),
    "signed": (MAILED_ADDRESS, NO_SUCH),
    "code": (FACEBOOK_ASKED, NO_SUCH),
    None: NOT_ABOUT_ANYTHING,
}
_STATES_BY_ROUTE = {
    "mail": (A_MAIL, NO_SUCH),
    "mail_html": (A_MAIL, NO_SUCH),
    "accounts:confirm_address": (ADDRESS_GIVEN, NO_SUCH),
    "accounts:keep_by_mail": (ACCOUNT_CLOSING, NO_SUCH),
    "games:invitation": LINK_STATES,
    "games:accept_invitation": LINK_STATES,
    "games:decline_invitation": LINK_STATES,
}


def routes() -> dict[str, str | None]:
    """Return every name in the URLconf, with the names of its arguments if it takes any."""
    return dict(_named(get_resolver(), "", ()))


def _named(
    resolver: URLResolver, space: str, before: tuple[str, ...]
) -> Iterator[tuple[str, str | None]]:
    for pattern in resolver.url_patterns:
        named = pattern.pattern.converters or pattern.pattern.regex.groupindex
        arguments = (*before, *named)
        if isinstance(pattern, URLPattern):
            assert pattern.name, f"{pattern.pattern} has no name"
            yield f"{space}{pattern.name}", " ".join(arguments) or None
        else:
            inner = f"{space}{pattern.namespace}:" if pattern.namespace else space
            yield from _named(pattern, inner, arguments)


def states_of(route: str) -> tuple[str, ...]:
    """Return in which states there can be what an address is about."""
    return _STATES_BY_ROUTE.get(route) or _STATES_BY_ARGUMENT[routes()[route]]


def encoded(form: dict[str, str]) -> bytes:
    """Return the body as a hostile sender writes it: lone surrogates included."""
    return "&".join(
        f"{quote(name.encode('utf-8', 'surrogatepass'))}="
        f"{quote(value.encode('utf-8', 'surrogatepass'))}"
        for name, value in form.items()
    ).encode()


def _session_of(player: User) -> str:
    """Return the key of a session that was renewed today: asking for a page does not change it.

    The maker has just said again who she is; the others would be asked to.
    """
    browser = cast.browser_of(player)
    session = browser.session
    session[LAST_SLIDE] = int(timezone.now().timestamp()) // DAY
    if player.name == "Mona":
        asked = HttpRequest()
        asked.session = session
        record_authentication(asked, player, "password", reauthenticated=True)
    session.save()
    return browser.cookies[settings.SESSION_COOKIE_NAME].value


def address_of(actor: str) -> str:
    """Return the confirmed address of somebody who has an account."""
    return f"{actor.replace(' ', '-')}@example.org"


def _credential() -> dict[str, Any]:
    """Return what the browser would have sent when a passkey was made."""
    private = ec.generate_private_key(ec.SECP256R1())
    key = ES256.from_cryptography_key(private.public_key())  # type: ignore[no-untyped-call]
    made = AttestedCredentialData.create(b"\0" * 16, b"a passkey", key)
    seen = AuthenticatorData.create(b"\0" * 32, AuthenticatorData.FLAG.AT, 0, made)
    client = CollectedClientData.create("webauthn.create", b"challenge", "http://testserver")
    return {
        "id": websafe_encode(b"a passkey"),
        "rawId": websafe_encode(b"a passkey"),
        "type": "public-key",
        "response": {
            "clientDataJSON": websafe_encode(client),
            "attestationObject": websafe_encode(AttestationObject.create("none", seen, {})),
        },
    }


def _written_mail() -> str:
    folder = settings.VAR / "mail"
    folder.mkdir(exist_ok=True)
    (folder / "world.eml").write_text("Subject: Hello\nContent-Type: text/html\n\n<p>Hello</p>\n")
    return "world.eml"


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
        for actor, player in self.people.items():
            if player and player.is_member:
                address = address_of(actor)
                EmailAddress.objects.create(user=player, email=address, verified=True, primary=True)
                User.objects.filter(pk=player.pk).update(email=address)
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
        self.ids |= self._people_there()
        self.keys = self._keys(self.person(MAKER))
        self.tokens = self._tokens()
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
            case "name" if not route.startswith("mail"):
                return reverse(route, args=["standard" if state == KNOWN_RULES else "poker"])
            case "key" | "uidb36 key" | "pk" | "signed" | "code" | "name":
                return reverse(route, args=self.keys[routes()[route], state])
            case "token":
                return reverse(route, args=[self.tokens.get(state, self._no_token(route))])
            case _ if route == "games:why":
                return reverse(route, args=[self.ids[state]], query={"ply": self.explained})
            case _:
                return reverse(route, args=[self.ids[state]])

    def nothings(self, route: str) -> list[str]:
        """Return what stands in the address of what is not there."""
        argument = routes()[route]
        by_key = self.keys.get((argument, NO_SUCH), [])
        return [str(self.ids[NO_SUCH]), "poker", self._no_token(route), *by_key[-1:]]

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
            case "games:accept_invitation":
                return {"words": cast.WORDS, "form_key": key, "agreed": "on"}
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
            case "accounts:settings":
                return cast.settings_of(f"Player {key[:6]}")
            case "accounts:friends":
                return {"name": "Laila"}
            case "accounts:facebook_deauthorise" | "accounts:facebook_delete":
                return {"signed_request": "x.y"}
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
        offers[MAILED] = self._mailed(_MAILED_TOKEN, seed=7, recipient=salma)
        withdrawn = self._mailed(_WITHDRAWN_TOKEN, seed=8)
        services.withdraw_challenge(challenge_id=withdrawn.pk, player=mona)
        return {state: offer.pk for state, offer in offers.items()}

    def _mailed(self, token: str, *, seed: int, recipient: User | None = None) -> Challenge:
        mailed = cast.offer(self.person(MAKER), seed=seed)
        address = recipient.email if recipient else "stranger@example.org"
        Invitation.objects.create(
            challenge=mailed,
            address=address,
            address_digest=address_digest(address),
            language="en",
            recipient=recipient,
            token_sha256=invitations.digest_of(token),
        )
        return mailed

    def _people_there(self) -> dict[str, UUID]:
        """Return by what the addresses of people are known, and relate them to each other."""
        somebody = cast.person("Zeinab")
        Friendship.objects.create(
            asker=self.person(OPPONENT), asked=somebody, accepted_at=timezone.now()
        )
        Friendship.objects.create(asker=somebody, asked=self.person(ADDRESSED))
        Friendship.objects.create(asker=self.person(MEMBER), asked=somebody)
        Block.objects.create(blocker=somebody, blocked=self.person(ONLOOKER))
        return {
            MAKER_THERE: self.person(MAKER).public_id,
            COMPUTER_THERE: cast.the_computer().public_id,
            SOMEBODY_THERE: somebody.public_id,
        }

    def _tokens(self) -> dict[str, str]:
        """Return what stands in mailed links."""
        leaving = cast.person("Laila")
        closing.ask_to_close(leaving)
        leaving.refresh_from_db()
        return {
            MAILED: _MAILED_TOKEN,
            WITHDRAWN_MAIL: _WITHDRAWN_TOKEN,
            ACCOUNT_CLOSING: closing.keeping_token(leaving),
            ADDRESS_GIVEN: first_sign_in.token_of(leaving, "laila@example.org", "/rules/"),
        }

    @staticmethod
    def _no_token(route: str) -> str:
        return "x" * 43 if route.startswith("games:") else "x:y:z"

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

    def _keys(self, maker: User) -> dict[tuple[str | None, str], list[str]]:
        """Return what stands in the addresses that are about somebody's way to sign in."""
        changed = EmailAddress.objects.create(user=maker, email="mona@example.net")
        passkey = Authenticator.objects.create(
            user=maker,
            type=Authenticator.Type.WEBAUTHN,
            data={"name": "phone", "credential": _credential()},
        )
        asked = FacebookRequest.objects.create(
            kind=FacebookRequest.Kind.DELETE,
            confirmation_code="c0de",
            person="d" * 64,
            issued_at=timezone.now(),
        )
        maker.refresh_from_db()
        uid = user_pk_to_url_str(maker)
        return {
            ("key", MAKERS_ADDRESS): [EmailConfirmationHMAC.create(changed).key],
            ("key", NO_SUCH): ["x:y:z"],
            ("uidb36 key", MAKERS_PASSWORD): [uid, default_token_generator.make_token(maker)],
            ("uidb36 key", NO_SUCH): [uid, "x-y"],
            ("pk", MAKERS_KEY): [str(passkey.pk)],
            ("pk", NO_SUCH): [str(passkey.pk + 1000)],
            ("signed", MAILED_ADDRESS): [invitations.never_again(address_digest("a@example.org"))],
            ("signed", NO_SUCH): [f"{'0' * 64}.{'x' * 43}"],
            ("code", FACEBOOK_ASKED): [asked.confirmation_code],
            ("code", NO_SUCH): ["nothing"],
            ("name", A_MAIL): [_written_mail()],
            ("name", NO_SUCH): ["nothing.eml"],
        }

    def _record_of(self, game_id: UUID) -> UploadedRecord:
        return uploads.keep_record(
            player=self.person(MAKER),
            record=replaying.record_of(selectors.game_by_id(game_id)),
            form_key=uuid.uuid4(),
        )
