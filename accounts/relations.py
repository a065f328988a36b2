"""Who are friends, who is blocked, and what one player lets another do or see.

A block is a wall with two sides: each question about it is asked for both, so that nothing that a
player sees tells which of the two has blocked the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Case, Exists, F, OuterRef, Q, When

from .models import Block, Friendship, User

if TYPE_CHECKING:
    from django.db.models import QuerySet


def hold(*players: User) -> bool:
    """Let nobody else change who these people are until the transaction ends.

    Returns whether all of them are still here: their accounts neither deleted nor being deleted,
    and no guest who has become somebody. Everything that brings two people together asks this
    first, so that everybody waits in one order: people by key, then challenges, then games.
    Computers are not held: they stay, and everybody would wait for them.
    """
    keys = {player.pk for player in players if not player.is_computer}
    # Without the key: rows that name these players need not wait.
    rows = User.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk")
    return sum(rows.values_list("is_active", flat=True)) == len(keys)


def between(a: User, b: User) -> Q:
    """Return the condition that a friendship, asked for or made, is the one of these two."""
    return Q(asker=a, asked=b) | Q(asker=b, asked=a)


def are_friends(a: User, b: User) -> bool:
    """Return whether one has asked and the other has accepted."""
    return Friendship.objects.filter(between(a, b), accepted_at__isnull=False).exists()


def is_blocked(a: User, b: User) -> bool:
    """Return whether either has blocked the other."""
    return Block.objects.filter(Q(blocker=a, blocked=b) | Q(blocker=b, blocked=a)).exists()


def blocked_with(player: User) -> QuerySet[Block, Any]:
    """Return the keys of all whom ``player`` has blocked or who have blocked ``player``.

    For ``exclude(maker__in=…)`` within one statement; it is never to be shown.
    """
    blocks = Block.objects.filter(Q(blocker=player) | Q(blocked=player)).order_by()
    other = Case(When(blocker=player, then=F("blocked_id")), default=F("blocker_id"))
    return blocks.values_list(other, flat=True)


def is_parted(player: User, column: str) -> Exists:
    """Return an expression: whether a block parts ``player`` from the user in ``column``."""
    other = OuterRef(column)
    return Exists(
        Block.objects.filter(Q(blocker=player, blocked=other) | Q(blocker=other, blocked=player))
    )


def is_friend_of(player: User, column: str) -> Exists:
    """Return an expression: whether ``player`` and the user in ``column`` are friends."""
    other = OuterRef(column)
    both = Q(asker=player, asked=other) | Q(asker=other, asked=player)
    return Exists(Friendship.objects.filter(both, accepted_at__isnull=False))


def friends_of(player: User) -> QuerySet[User]:
    """Return the friends of ``player`` by name."""
    accepted = Friendship.objects.filter(
        Q(asker=player) | Q(asked=player), accepted_at__isnull=False
    ).order_by()
    other = Case(When(asker=player, then=F("asked_id")), default=F("asker_id"))
    return User.objects.filter(pk__in=accepted.values_list(other, flat=True)).order_by("name", "pk")


def asks_of(player: User) -> QuerySet[Friendship]:
    """Return the friendships that ``player`` was asked for and has not answered, the oldest first.

    Who is blocked is not heard: the asker is not told, and the asking waits.
    """
    asks = Friendship.objects.filter(asked=player, accepted_at=None)
    return asks.exclude(asker__in=blocked_with(player)).order_by("asked_at", "pk")


def may_challenge(who: User | None, whom: User) -> bool:
    """Return whether ``who``, or a visitor (``None``), may challenge or invite ``whom`` now.

    Not where either has blocked the other, ``whom`` is in quiet mode or lets others do it, has no
    account any more, or is ``who``. The sentence that says no is the same for all of these.
    """
    if who == whom or whom.kind == User.Kind.FORMER or not whom.is_active:
        return False
    if whom.is_computer:
        return True
    if whom.quiet:
        return False
    if who is None:
        return whom.may_challenge == User.Audience.EVERYBODY
    if is_blocked(who, whom):
        return False
    return _is_in(whom.may_challenge, who, whom)


def may_see(who: User | None, whom: User) -> bool:
    """Return whether ``who`` may see the games of ``whom``, and when ``whom`` was here.

    A visitor (``None``) sees what everybody may, and so does whom a block parts from ``whom``:
    whoever signs out must not see more. For presence ask ``may_see_presence``.
    """
    if who is not None and who.pk == whom.pk:
        return True
    if whom.kind == User.Kind.FORMER:
        return False
    if whom.is_computer:
        return True
    if who is None or is_blocked(who, whom):
        return whom.may_see == User.Audience.EVERYBODY
    return _is_in(whom.may_see, who, whom)


def may_see_presence(who: User | None, whom: User) -> bool:
    """Return whether ``who`` may see when ``whom`` was here: not in quiet mode."""
    if who is not None and who.pk == whom.pk:
        return True
    return not whom.quiet and not whom.is_computer and may_see(who, whom)


def _is_in(audience: str, who: User, whom: User) -> bool:
    if audience == User.Audience.EVERYBODY:
        return True
    return audience == User.Audience.FRIENDS and are_friends(who, whom)
