"""Inviting somebody by mail: a challenge for whoever has the link in the mail.

Whoever invites is told the same, in the same time, whatever is known of the address. So the request
only stores the challenge, its invitation and a mail; whether the mail is sent is decided in the
worker, by ``sent_now``, which draws the link's token too.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.signing import Signer
from django.db import transaction
from django.utils import timezone

from accounts import addresses, outbox, quotas, relations
from accounts.models import User
from accounts.quotas import Limit

from .. import selectors
from ..engine import RuleSet
from ..models import Challenge, Fingerprint, Game, Invitation
from .challenges import challenge_to_be_mailed, end, take_seat, unanswered

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MAIL = "invitation"
_NEVER = Signer(salt="games.invitations.never", sep=".")


class MayNotInvite(Exception):
    """Only a player with an account and a confirmed address invites by mail."""


class NotTheInvited(Exception):
    """A member accepts what was mailed to an address that is not theirs, and was not asked yet."""


def invite(
    *,
    player: User | None,
    address: str,
    language: str,
    rules: RuleSet,
    target: int | None,
    form_key: UUID | None = None,
) -> Challenge:
    """Offer a game to whoever reads the mails of ``address``, and let the mail be sent.

    Posting one form twice (``form_key``) makes one invitation. Raises ``MayNotInvite`` or
    ``TooManyGames``; whether the mail will be sent is not told.
    """
    if player is None or not addresses.has_confirmed_one(player):
        raise MayNotInvite
    digest = addresses.address_digest(address)
    with transaction.atomic():
        challenge = challenge_to_be_mailed(
            player=player, rules=rules, target=target, form_key=form_key, to=digest
        )
        Invitation.objects.get_or_create(
            challenge=challenge,
            defaults={"address": address, "address_digest": digest, "language": language},
        )
        outbox.put(
            kind=MAIL,
            key=f"invitation {challenge.pk}",
            address=address,
            language=language,
            content={"challenge": str(challenge.pk)},
            lasts=DAY,
        )
    return challenge


def sent_now(challenge_id: str) -> tuple[Challenge, str] | None:
    """Return the challenge whose mail leaves now, and a fresh token for its link.

    ``None`` if it is not to be sent: it has found its end, a limit is reached, or whoever gets it
    does not want it. In the worker's transaction, right before the mail leaves.
    """
    challenge = selectors.mailed_challenge(UUID(challenge_id))
    if challenge is None or not challenge.is_waiting:
        return None
    invitation = challenge.invitation
    is_first_attempt = invitation.token_sha256 is None
    if is_first_attempt and not _may_be_sent(challenge, invitation):
        return None
    token = secrets.token_urlsafe(32)
    Invitation.objects.filter(pk=invitation.pk).update(token_sha256=digest_of(token))
    return challenge, token


def _may_be_sent(challenge: Challenge, invitation: Invitation) -> bool:
    inviter, address = challenge.maker, invitation.address
    if not addresses.has_confirmed_one(inviter):
        return False
    # Counted whoever is written to, so that the player's own figures tell nothing of the address.
    if not quotas.take(*limits_of(inviter)):
        return False
    # The player's counter is held by this transaction: no other one counts at the same time.
    most_open = settings.INVITATIONS["player_open"]
    if selectors.count_open_invitations(inviter, but=challenge) >= most_open:
        return False
    members = addresses.members_with(address)
    if not all(relations.may_challenge(inviter, member) for member in members):
        return False
    if addresses.is_suppressed(address):
        return False
    if not quotas.take(*_limits_to(address, invitation.address_digest)):
        return False
    if members:  # what was not sent reaches nobody here either
        Invitation.objects.filter(pk=invitation.pk).update(recipient=members[0])
    return True


def limits_of(player: User) -> list[Limit]:
    """Return how many invitations a player may send: in an hour, and in a day."""
    most = settings.INVITATIONS
    is_new = timezone.now() - player.date_joined < DAY
    a_day = most["new_player_day" if is_new else "player_day"]
    return [
        Limit(f"invitations by {player.pk} in an hour", most["player_hour"], HOUR),
        Limit(f"invitations by {player.pk} in a day", a_day, DAY),
    ]


def _limits_to(address: str, digest: str) -> list[Limit]:
    most = settings.INVITATIONS
    limits = [
        Limit(f"invitations to {digest} in a day", most["address_day"], DAY),
        Limit(unanswered(digest), most["address_unanswered"], None),
        Limit("invitations in a day", most["site_day"], DAY),
    ]
    domain = addresses.domain_of(address)
    if domain not in settings.LARGE_MAIL_PROVIDERS:
        key = hashlib.sha256(domain.encode()).hexdigest()
        limits.append(Limit(f"invitations to domain {key}", most["domain_day"], DAY))
    return limits


def digest_of(token: str) -> str:
    """Return what is stored of the token in a mailed link."""
    return hashlib.sha256(token.encode()).hexdigest()


def accept_invitation(
    *, token: str, player: User, words: str, words_by: Fingerprint.By, agreed: bool
) -> Game:
    """Take the seat that the mailed link offers; the token opens nothing from then on.

    ``agreed`` says that a member whose address it is not wants to accept all the same. Raises
    ``ChallengeNotFound``, ``NotTheInvited``, and what ``accept_challenge`` raises.
    """
    challenge = open_invitation(token, player)
    invitation = challenge.invitation
    if challenge.maker_id != player.pk and not agreed and asks_first(invitation, player):
        raise NotTheInvited
    return take_seat(challenge, player=player, words=words, words_by=words_by)


def decline_invitation(*, token: str, player: User | None) -> Challenge:
    """Say no to what was mailed; again is harmless. Whoever has the link need not be anybody.

    Raises ``ChallengeNotFound`` or ``ChallengeClosed``.
    """
    challenge = open_invitation(token, player)
    if player is not None and challenge.maker_id == player.pk:
        raise selectors.ChallengeNotFound  # its maker takes it back
    return end(challenge, Challenge.State.DECLINED)


def open_invitation(token: str, player: User | None) -> Challenge:
    """Return the challenge that a mailed link leads to, whatever has become of it.

    Raises ``ChallengeNotFound``: there is none, or there is a block between the two.
    """
    challenge = selectors.challenge_of_link(digest_of(token))
    if player is not None and relations.is_blocked(player, challenge.maker):
        raise selectors.ChallengeNotFound
    return challenge


def never_again(address_digest: str) -> str:
    """Return what the link carries by which an address wants no invitations any more.

    It works for ever, for everybody who has the mail, and for nothing else.
    """
    return _NEVER.sign(address_digest)


def may_stop_inviting(signed: str) -> str:
    """Return the digest that such a link carries. Raises ``django.core.signing.BadSignature``."""
    return _NEVER.unsign(signed)


def stop_inviting(signed: str) -> None:
    """Never mail an invitation to an address again; again is harmless.

    Raises ``django.core.signing.BadSignature``.
    """
    addresses.suppress(may_stop_inviting(signed))


def asks_first(invitation: Invitation, player: User | None) -> bool:
    """Return whether ``player`` has an account that the mail was not addressed to."""
    if player is None or not player.is_member:
        return False
    return not addresses.is_confirmed_by(player, invitation.address_digest)


def on_address_confirmed(*, user: User, address: str, **_signal: Any) -> None:
    """Receive ``accounts.signals.address_confirmed``: what was mailed there waits for ``user`` now.

    So an invitation outlives a sign-up in another browser than the one that opened its link. What
    was never sent is not among them.
    """
    mailed = Invitation.objects.filter(
        address_digest__in=addresses.address_digests(address),
        token_sha256__isnull=False,
        recipient=None,
        challenge__state=Challenge.State.WAITING,
    ).exclude(challenge__maker=user)
    for invitation in mailed.select_related("challenge__maker"):
        if relations.may_challenge(invitation.challenge.maker, user):
            Invitation.objects.filter(pk=invitation.pk, recipient=None).update(recipient=user)
