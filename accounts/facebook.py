"""Facebook: its word on who somebody is, who their friends are, and that they want no more of it.

No token is kept, not even in the session: friends are read once while it is in hand. Of what
Facebook says of a person the site stores the id and the name.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import logging
import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import requests
from allauth.account.internal.flows.login import AUTHENTICATION_METHODS_SESSION_KEY
from allauth.account.models import EmailAddress
from allauth.account.signals import user_logged_in
from allauth.socialaccount.internal.flows.login import record_authentication
from allauth.socialaccount.models import SocialAccount, SocialLogin, SocialToken
from allauth.socialaccount.providers.facebook.constants import GRAPH_API_URL
from allauth.socialaccount.providers.facebook.flows import compute_appsecret_proof
from allauth.socialaccount.providers.facebook.views import FacebookOAuth2Adapter
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.db.models import Q
from django.dispatch import receiver
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy

from . import closing, outbox, relations
from .addresses import confirmed_addresses
from .guests import player_of
from .mails import Letter, letter, link
from .models import FacebookRequest, Friendship, Mail, User
from .patient import Patient
from .ways_in import has_another_way_in

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

logger = logging.getLogger(__name__)

PROVIDER = "facebook"
FRIENDS = "facebook_friends"
"""Where a session keeps which players are friends on Facebook of whoever it belongs to."""

LARGEST_REQUEST = 4096
GOOD_FOR = timedelta(hours=1)
CLOCKS_DIFFER_BY = timedelta(minutes=2)

_FRIENDS_A_PAGE = 200
_PAGES_OF_FRIENDS = 5
_LONGEST_NAME = 200
# By what a linked account is shown to its owner.
_SHOWN = ("name", "login", "username")
# What reading an answer of another shape raises; the last two by allauth and by deep brackets.
_UNREADABLE = (
    KeyError, TypeError, ValueError, AttributeError, OverflowError, ImproperlyConfigured,
    RecursionError,
)  # fmt: skip
_MAIL_LASTS = timedelta(days=7)


# --- Signing in


class FacebookAdapter(FacebookOAuth2Adapter):
    """Facebook's own flow, that survives whatever Facebook answers."""

    # In a body: an address would carry the secret into logs.
    access_token_method = "POST"  # noqa: S105 - a method

    def get_access_token_data(self, *args: Any, **how: Any) -> Any:
        """Exchange the code. Raises ``OAuth2Error`` or ``requests.RequestException``."""
        try:
            return super().get_access_token_data(*args, **how)
        except _UNREADABLE as error:
            raise _unreadable(error) from error

    def parse_token(self, data: Any) -> SocialToken:
        """Return the token. Raises ``OAuth2Error``."""
        try:
            token = super().parse_token(data)
        except _UNREADABLE as error:
            raise _unreadable(error) from error
        if not isinstance(token.token, str) or not token.token:
            raise OAuth2Error("no token")
        return token

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **how: Any) -> SocialLogin:
        """Ask who it is. Raises ``OAuth2Error`` or ``requests.RequestException``."""
        try:
            login = super().complete_login(request, app, token, **how)
        except _UNREADABLE as error:
            raise _unreadable(error) from error
        if not login.account.uid.isascii() or not login.account.uid.isdigit():
            raise OAuth2Error("no id")
        return login


def _unreadable(error: Exception) -> OAuth2Error | requests.RequestException:
    # Some errors of requests are ValueErrors too.
    if isinstance(error, requests.RequestException):
        return error
    return OAuth2Error(f"not understood: {type(error).__name__}")


def about_to_sign_in(request: HttpRequest, login: SocialLogin) -> None:
    """Read what is to be read while the token is in hand, and forget the token.

    Called for every other site, once it has said who somebody is and before they are let in.
    """
    _keep_no_more_than_a_page_needs(login.account)
    if login.account.provider == PROVIDER and settings.FACEBOOK_FRIENDS and login.token:
        login.state[FRIENDS] = _players(_friends(login.provider.app, login.token))
        if login.state.get("process") == "connect":
            request.session[FRIENDS] = login.state[FRIENDS]
    login.token = None


def _keep_no_more_than_a_page_needs(account: SocialAccount) -> None:
    """Forget what else the other site has told; an address is the player's to give."""
    told = account.extra_data if isinstance(account.extra_data, dict) else {}
    account.extra_data = {
        # A database keeps neither a NUL nor half a character.
        field: "".join(filter(str.isprintable, told[field][:_LONGEST_NAME]))
        for field in _SHOWN
        if isinstance(told.get(field), str)
    }
    if account.pk:
        account.save(update_fields=["extra_data"])


@receiver(user_logged_in, dispatch_uid="accounts.facebook.signed_in")
def _signed_in(request: HttpRequest, user: User, **about: Any) -> None:
    """Note in the new session how it began, and the friends who play."""
    login = about.get("sociallogin")
    if login is None:
        return
    if not request.session.get(AUTHENTICATION_METHODS_SESSION_KEY):
        # It went with a guest's session.
        login.user = user
        record_authentication(request, login)
    if FRIENDS in login.state:
        request.session[FRIENDS] = login.state[FRIENDS]


# --- Friends


def _friends(app: Any, token: Any) -> list[str]:
    """Return the ids of friends who use this app too; none if Facebook does not tell."""
    found: list[str] = []
    after = ""
    try:
        with Patient() as session:
            for _page in range(_PAGES_OF_FRIENDS):
                answer = session.get(
                    f"{GRAPH_API_URL}/me/friends",
                    params={
                        "fields": "id",
                        "limit": _FRIENDS_A_PAGE,
                        "access_token": token.token,
                        "appsecret_proof": compute_appsecret_proof(app, token),
                        **({"after": after} if after else {}),
                    },
                )
                answer.raise_for_status()
                page = answer.json()
                found += [str(friend["id"]) for friend in page["data"]]
                # Only the cursor is taken; the address of the next page is ours to make.
                paging = page.get("paging", {})
                after = paging.get("cursors", {}).get("after", "") if "next" in paging else ""
                if not after:
                    break
    except (requests.RequestException, *_UNREADABLE) as error:
        logger.warning("Facebook did not tell the friends", extra={"why": type(error).__name__})
    return found


def _players(ids: list[str]) -> list[int]:
    accounts = SocialAccount.objects.filter(provider=PROVIDER, uid__in=ids)
    return list(accounts.order_by("pk").values_list("user_id", flat=True))


def friends_who_play(request: HttpRequest) -> list[User]:
    """Return the friends on Facebook who play here and could be asked to be friends here.

    Not those who are, or have been asked, or want nothing to do with the player.
    """
    player, ids = player_of(request.user), request.session.get(FRIENDS)
    if player is None or not isinstance(ids, list) or not ids:
        return []
    known = Friendship.objects.filter(Q(asker=player) | Q(asked=player)).order_by()
    others: QuerySet[User] = (
        User.objects.filter(pk__in=ids, kind=User.Kind.MEMBER, is_active=True, quiet=False)
        .exclude(pk=player.pk)
        .exclude(pk__in=relations.blocked_with(player))
        .exclude(pk__in=known.values("asker"))
        .exclude(pk__in=known.values("asked"))
    )
    return list(others.order_by("name", "pk"))


# --- What Facebook asks for in somebody's name


class Unbelievable(Exception):
    """A signed request that Facebook has not made, or not just now. The message says why."""


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """Facebook's word about one of its users."""

    person: str
    issued_at: datetime


def read_signed_request(text: str, secret: str, now: datetime) -> SignedRequest:
    """Return what a signed request says.

    It is ``<signature>.<payload>``, both base64url without padding; the signature is HMAC-SHA256
    over the payload *as received*. Good for ``GOOD_FOR`` after it was issued. Raises
    ``Unbelievable``.
    """
    if len(text) > LARGEST_REQUEST:
        raise Unbelievable("too long")
    if not text.isascii() or text.count(".") != 1:
        raise Unbelievable("not a signed request")
    signature, payload = text.split(".")
    right = hmac.new(secret.encode(), payload.encode("ascii"), hashlib.sha256).digest()
    if not hmac.compare_digest(_decoded(signature), right):
        raise Unbelievable("wrong signature")
    try:
        said = json.loads(_decoded(payload))
    except (ValueError, RecursionError):
        raise Unbelievable("not JSON") from None
    if not isinstance(said, dict) or said.get("algorithm") != "HMAC-SHA256":
        raise Unbelievable("unknown algorithm")
    person, issued = said.get("user_id"), said.get("issued_at")
    if not isinstance(person, str) or not (person.isascii() and person.isdigit()):
        raise Unbelievable("no user")
    if not isinstance(issued, int) or isinstance(issued, bool) or not 0 < issued < 2**33:
        raise Unbelievable("no time")
    issued_at = datetime.fromtimestamp(issued, UTC)
    if issued_at > now + CLOCKS_DIFFER_BY or now - issued_at > GOOD_FOR:
        raise Unbelievable("not of this hour")
    return SignedRequest(person=person, issued_at=issued_at)


def _decoded(part: str) -> bytes:
    try:
        padded = part + "=" * (-len(part) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise Unbelievable("not base64url") from None


def deauthorise(request: SignedRequest) -> FacebookRequest:
    """Somebody has removed the app at Facebook: unlink, and end what Facebook began.

    The link stays where it is the only way in. The same request again changes nothing.
    """
    with transaction.atomic():
        row, is_new, account = _received(FacebookRequest.Kind.DEAUTHORISE, request)
        if is_new and account is not None:
            user = account.user
            _end_sessions(user, account.uid)
            if has_another_way_in(user, but=account):
                account.delete()
                _tell_how_to_get_in(user, row)
        return row


def delete_data(request: SignedRequest) -> FacebookRequest:
    """Somebody wants deleted what came from Facebook; return the row with the code for them.

    Where there is no other way in, the whole account is closed after its stay; until then the bare
    link stays, by which its owner can come and keep the account. The same request again changes
    nothing, and is answered by the same code.
    """
    with transaction.atomic():
        row, is_new, account = _received(FacebookRequest.Kind.DELETE, request)
        if is_new and account is not None:
            user = account.user
            _forget_unconfirmed_addresses(user)
            if has_another_way_in(user, but=account):
                account.delete()
            else:
                account.extra_data = {}
                account.save(update_fields=["extra_data"])
                with suppress(closing.NotAsked):  # it is being closed at this moment
                    closing.ask_to_close(user, why="facebook")
        return row


def _received(
    kind: FacebookRequest.Kind, request: SignedRequest
) -> tuple[FacebookRequest, bool, SocialAccount | None]:
    """Store a request once; of the same one twice at a time the second waits for the first."""
    account = (
        SocialAccount.objects.select_related("user")
        .filter(provider=PROVIDER, uid=request.person)
        .first()
    )
    row, is_new = FacebookRequest.objects.get_or_create(
        kind=kind,
        person=_digest(request.person),
        issued_at=request.issued_at,
        defaults={
            "confirmation_code": secrets.token_hex(16),
            "user": account.user if account else None,
            "done_at": timezone.now(),
        },
    )
    return row, is_new, account


def _digest(person: str) -> str:
    return salted_hmac("accounts.facebook.person", person, algorithm="sha256").hexdigest()


def _end_sessions(user: User, uid: str) -> None:
    """End the sessions that a sign-in by Facebook began."""
    for session in UserSession.objects.filter(user=user):
        records = SessionStore(session.session_key).get(AUTHENTICATION_METHODS_SESSION_KEY)
        first = records[0] if isinstance(records, list) and records else {}
        if first.get("provider") == PROVIDER and first.get("uid") == uid:
            session.end()


def _forget_unconfirmed_addresses(user: User) -> None:
    EmailAddress.objects.filter(user=user, verified=False).delete()
    Mail.objects.filter(user=user, kind="address_given").delete()
    if user.email and not EmailAddress.objects.filter(user=user, email__iexact=user.email).exists():
        user.email = ""
        user.save(update_fields=["email"])


def _tell_how_to_get_in(user: User, row: FacebookRequest) -> None:
    for address in confirmed_addresses(user)[:1]:
        outbox.put(
            kind="facebook_unlinked",
            key=f"facebook unlinked {row.confirmation_code}",
            address=address,
            user=user,
            lasts=_MAIL_LASTS,
        )


@outbox.composer("facebook_unlinked")
def _unlinked(mail: Mail) -> Letter | None:
    """Tell how to sign in without Facebook, unless it is linked again."""
    user = mail.user
    if user is None or SocialAccount.objects.filter(user=user, provider=PROVIDER).exists():
        return None
    context_ = {
        "name": user.name,
        "has_password": user.has_usable_password(),
        "reset_url": link(reverse("account_reset_password")),
        "code_url": link(reverse("account_request_login_code")),
    }
    subject = gettext_lazy("Your account is no longer linked to Facebook")
    return letter("facebook_unlinked", context_, language=mail.language, subject=subject)


def secret() -> str | None:
    """Return the secret of the app, or ``None`` where Facebook is not offered."""
    provider: dict[str, Any] | None = settings.SOCIALACCOUNT_PROVIDERS.get(PROVIDER)
    return str(provider["APPS"][0]["secret"]) if provider else None
