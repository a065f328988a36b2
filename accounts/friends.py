"""Friends and blocks: one function for each thing that two players can do about one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models.functions import Now

from .models import Block, Friendship, User
from .names import skeleton_of
from .relations import asks_of, between, hold
from .signals import players_parted
from .signing_in import PENDING

if TYPE_CHECKING:
    from uuid import UUID

MOST_OPEN_ASKS = 50
MOST_BLOCKS = 1000


class NoSuchPlayer(Exception):
    """There is nobody of this name or at this address."""


class MembersOnly(Exception):
    """Guests, computers, oneself and who has left are nobody's friends."""


class TakesNoRequests(Exception):
    """The player is in quiet mode."""


class HasBlocked(Exception):
    """The asker has blocked the player, and would have to take that back first."""


class TooMany(Exception):
    """The player has as many open requests, friends or blocks as one can have."""


def player_at(public_id: UUID) -> User:
    """Return the player of an address. Raises ``NoSuchPlayer``."""
    player = User.objects.filter(public_id=public_id, merged_into=None).first()
    if player is None:
        raise NoSuchPlayer
    return player


def player_called(name: str) -> User:
    """Return the person of a name, as it looks. Raises ``NoSuchPlayer``."""
    people = User.objects.filter(kind__in=[User.Kind.MEMBER, User.Kind.GUEST], is_active=True)
    # An account that nobody has confirmed yet is nobody: else its name would tell of it.
    known = people.exclude(username__startswith=PENDING)
    player = known.filter(skeleton=skeleton_of(name), merged_into=None).first()
    if player is None:
        raise NoSuchPlayer
    return player


def ask(player: User, other: User) -> None:
    """Ask ``other`` for friendship, or agree where ``other`` has asked; again is harmless.

    Whom ``other`` has blocked may ask like anybody, and is not heard: nothing tells the one from
    the other. Raises ``MembersOnly``, ``TakesNoRequests``, ``HasBlocked`` or ``TooMany``.
    """
    if player.pk == other.pk or not (player.is_member and other.is_member):
        raise MembersOnly
    with transaction.atomic():
        # Of two requests at once, from either side, the second finds the first.
        if not hold(player, other):
            raise MembersOnly
        if Block.objects.filter(blocker=player, blocked=other).exists():
            raise HasBlocked
        if Friendship.objects.filter(asker=player, asked=other).exists() or accept(player, other):
            return
        if other.quiet:
            raise TakesNoRequests
        asked = Friendship.objects.filter(asker=player, accepted_at=None)
        if asked.count() >= MOST_OPEN_ASKS:
            raise TooMany
        Friendship.objects.create(asker=player, asked=other)


def accept(player: User, other: User) -> bool:
    """Become the friend of ``other``, who has asked; return whether that is so. Again is fine."""
    heard = asks_of(player).filter(asker=other).order_by()
    asked = Friendship.objects.filter(pk__in=list(heard.values_list("pk", flat=True)))
    if asked.filter(accepted_at=None).update(accepted_at=Now()):
        return True
    friends = Friendship.objects.filter(asker=other, asked=player, accepted_at__isnull=False)
    return friends.exists()


def decline(player: User, other: User) -> None:
    """Forget that ``other`` has asked. ``other`` is not told."""
    Friendship.objects.filter(asker=other, asked=player, accepted_at=None).delete()


def cancel(player: User, other: User) -> None:
    """Take back that ``player`` has asked; a friendship that came of it stays."""
    Friendship.objects.filter(asker=player, asked=other, accepted_at=None).delete()


def remove(player: User, other: User) -> None:
    """End the friendship of two. ``other`` is not told."""
    Friendship.objects.filter(between(player, other), accepted_at__isnull=False).delete()


def block(player: User, other: User) -> None:
    """Have nothing to do with ``other`` any more, on any path; games that run go on.

    Friendship and requests end, and what waits between the two is closed. ``other`` is not told.
    Raises ``MembersOnly`` (oneself, a computer, nobody any more) or ``TooMany``.
    """
    people = (User.Kind.MEMBER, User.Kind.GUEST)
    if player.pk == other.pk or other.kind not in people:
        raise MembersOnly
    with transaction.atomic():
        if not hold(player, other):
            raise MembersOnly
        if Block.objects.filter(blocker=player).count() >= MOST_BLOCKS:
            raise TooMany
        Block.objects.get_or_create(blocker=player, blocked=other)
        Friendship.objects.filter(between(player, other)).delete()
        players_parted.send(sender=User, blocker=player, blocked=other)


def unblock(player: User, other: User) -> None:
    """Take a block back. What it ended stays ended."""
    Block.objects.filter(blocker=player, blocked=other).delete()
