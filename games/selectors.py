"""Reads: games as the services and the pages need them, each in a bounded number of statements."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import (
    Count,
    Exists,
    IntegerField,
    Max,
    Model,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Coalesce, Now

from accounts.models import User
from accounts.relations import asks_of, blocked_with, is_blocked, is_parted

from .bots import SeenPlay
from .engine import Reason, Seat
from .engine.rounds import PLAYS_OF_A_DEAL
from .models import Challenge, Event, Fingerprint, FinishedRound, Game, Invitation, Play, Seal
from .snapshot import seen_play

PLAYS_AT_THE_TABLE = 8
FINISHED_GAMES_ON_A_PAGE = 20
CHALLENGES_IN_THE_LIST = 50
MOST_LISTED_CHALLENGES = 3  # of one player: the open table is everybody's
MOST_OPEN_GAMES = 50  # about, that one can have: the list shows them all
MOST_OFFERS_AT_HOME = 2 * MOST_OPEN_GAMES  # by the player and to the player
CHALLENGE_LASTS = timedelta(days=14)
CHALLENGE_IS_KEPT = timedelta(days=30)
"""After its end, where no game came of it."""
AWAY_FOR_LONG = timedelta(days=1)
"""A challenge in the list is withdrawn when its maker was not seen for so long."""


class GameNotFound(Exception):
    """There is no such game, or it is not this player's: the answer is the same."""


class ChallengeNotFound(Exception):
    """There is no such challenge, or it is not for this player: the answer is the same."""


# Named by a mapping, since the models themselves declare what selectors add to them.
_CLOCK = {"now": Now()}
_ANCHOR = {"anchor": Subquery(Seal.objects.filter(pk=OuterRef("pk")).values("anchor"))}
_EVENTS = {"has_events": Exists(Event.objects.filter(game=OuterRef("pk")))}


def all_games() -> QuerySet[Game]:
    """Return every game with both players, the anchor, ``now`` and ``has_events``."""
    # The clock of a move is the database's, read once with the game.
    games = Game.objects.select_related("player_a", "player_b")
    return games.annotate(**_CLOCK, **_ANCHOR, **_EVENTS)


def games_with(player: User) -> Q:
    """Return the condition that a game is ``player``'s."""
    return Q(player_a=player) | Q(player_b=player)


def game_of(player: User, game_id: UUID) -> Game:
    """Return a game of ``player`` with both players, the anchor and ``now``.

    Raises ``GameNotFound``.
    """
    game = all_games().filter(games_with(player), pk=game_id).first()
    if game is None:
        raise GameNotFound
    return game


def game_to_check(player: User | None, game_id: UUID) -> Game:
    """Return a game whose fairness ``player`` may check: an own one, or any that is over."""
    over = Q(status=Game.Status.FINISHED)
    game = all_games().filter(over | games_with(player) if player else over, pk=game_id).first()
    if game is None:
        raise GameNotFound
    return game


def game_by_id(game_id: UUID) -> Game:
    """Return a game for the server's own work, with both players, the anchor and ``now``."""
    return all_games().get(pk=game_id)


# Challenges

WAITING = Q(state=Challenge.State.WAITING, expires_at__gt=Now())
"""The condition that a challenge can still be answered, as far as its own row says."""


def _challenges() -> QuerySet[Challenge]:
    related = Challenge.objects.select_related("maker", "opponent", "seal", "invitation")
    return related.annotate(**_CLOCK)


def challenge_for(viewer: User | None, challenge_id: UUID) -> Challenge:
    """Return a challenge that ``viewer`` may see, with its players, its seal and ``now``.

    One to a single player is seen by its two players only, one that was mailed by its maker and
    whoever's confirmed address it was mailed to, any other by whoever knows its address.
    Raises ``ChallengeNotFound``.
    """
    found = _challenges().filter(_visible_to(viewer), pk=challenge_id)
    challenge = found.annotate(**_parted_from(viewer)).first()
    if challenge is None:
        raise ChallengeNotFound
    return challenge


def _parted_from(viewer: User | None) -> dict[str, Exists | Value]:
    """What tells whether the maker and ``viewer`` want nothing to do with each other."""
    if viewer is None:
        return {"parted": Value(False)}
    return {"parted": is_parted(viewer, "maker")}


def _visible_to(viewer: User | None) -> Q:
    for_anybody = Q(opponent=None, invitation=None)
    return for_anybody | _between(viewer) if viewer is not None else for_anybody


def _between(player: User) -> Q:
    invited = Invitation.objects.filter(recipient=player)
    return Q(maker=player) | Q(opponent=player) | Q(pk__in=invited.values("pk"))


def invitation_of(challenge: Challenge) -> Invitation | None:
    """Return the invitation that the challenge was mailed with, if it was."""
    return getattr(challenge, "invitation", None)


def is_for(challenge: Challenge, player: User | None) -> bool:
    """Return whether a challenge was made to ``player`` alone, by name or by address."""
    if player is None:
        return False
    invitation = invitation_of(challenge)
    return player.pk in (challenge.opponent_id, invitation and invitation.recipient_id)


def challenge_of_link(token_sha256: str) -> Challenge:
    """Return the challenge whose invitation was mailed with this token, waiting or not.

    Raises ``ChallengeNotFound``.
    """
    challenge = _challenges().filter(invitation__token_sha256=token_sha256).first()
    if challenge is None:
        raise ChallengeNotFound
    return challenge


def mailed_challenge(challenge_id: UUID) -> Challenge | None:
    """Return a challenge that was made to be mailed, for the server's own work."""
    return _challenges().filter(pk=challenge_id, invitation__isnull=False).first()


def invitations_by(player: User, limit: int) -> list[Challenge]:
    """Return the challenges that ``player`` has sent by mail, the latest first."""
    mailed = _challenges().filter(maker=player, invitation__isnull=False)
    return list(mailed.order_by("-created_at", "pk")[:limit])


def count_open_invitations(player: User, but: Challenge) -> int:
    """Return how many of the mails of ``player`` wait for an answer; ``but`` is not counted."""
    mailed = Challenge.objects.filter(WAITING, maker=player, invitation__token_sha256__isnull=False)
    return mailed.exclude(pk=but.pk).count()


def plays_in(player: User | None, game_id: UUID) -> bool:
    """Return whether ``player`` has a seat in a game."""
    if player is None:
        return False
    return Game.objects.filter(games_with(player), pk=game_id).exists()


def challenge_state(viewer: User | None, challenge_id: UUID) -> str | None:
    """Return what has become of a challenge; ``None`` if there is none that ``viewer`` may see."""
    challenges = Challenge.objects.filter(_visible_to(viewer), pk=challenge_id)
    return challenges.values_list("state", flat=True).first()


def is_open(challenge: Challenge, viewer: User | None) -> bool:
    """Return whether a challenge can be accepted now: it waits, and its maker has not left.

    A maker who looks at it is back. For whom either has blocked the other it is gone.
    """
    parted = challenge.parted
    if parted is None:
        parted = viewer is not None and is_blocked(challenge.maker, viewer)
    if parted or not challenge.maker.is_active:
        return False
    left = challenge.now - challenge.maker.seen_at > AWAY_FOR_LONG
    is_back = viewer is not None and viewer.pk == challenge.maker_id
    return challenge.is_waiting and (is_back or not (challenge.listed and left))


def rematch_of(game: Game, player: User) -> Challenge | None:
    """Return the rematch of a game that was offered or accepted, or that ``player`` was refused."""
    offered = _challenges().filter(_stands_for(player), rematch_of=game)
    return offered.order_by("-created_at").first()


def _stands_for(player: User) -> Q:
    accepted = Q(state=Challenge.State.ACCEPTED)
    return WAITING | accepted | Q(state=Challenge.State.DECLINED, maker=player)


def open_list(viewer: User | None, page: int) -> tuple[list[Challenge], bool]:
    """Return a page of the challenges that anybody may accept, and whether more follow.

    The newest first, but ``viewer``'s own and those of players that a block parts from ``viewer``.
    Pages count from 1.
    """
    listed = _challenges().filter(WAITING, listed=True, maker__seen_at__gte=Now() - AWAY_FOR_LONG)
    if viewer is not None:
        listed = listed.exclude(maker=viewer).exclude(maker__in=blocked_with(viewer))
    return _page_of(listed.order_by("-created_at", "pk"), page, CHALLENGES_IN_THE_LIST)


def _page_of[Row: Model](rows: QuerySet[Row], page: int, size: int) -> tuple[list[Row], bool]:
    """Return one page of rows, counted from 1, and whether more follow: in one statement."""
    start = (page - 1) * size
    found = list(rows[start : start + size + 1])
    return found[:size], len(found) > size


def waiting_challenges(player: User) -> list[Challenge]:
    """Return what was offered to ``player`` and what ``player`` offers, the newest first.

    As many as there can be, about; what came first is at least asked for by *Next*.
    """
    waiting = _challenges().filter(WAITING, _between(player)).order_by("-created_at", "pk")
    return list(waiting[:MOST_OFFERS_AT_HOME])


def count_commitments(player: User, but: Challenge | None = None) -> int:
    """Return how many games ``player`` plays or has promised to play; ``but`` is not counted."""
    games = Game.objects.filter(games_with(player), status=Game.Status.RUNNING)
    promised = Challenge.objects.filter(
        WAITING, Q(maker=player) | Q(opponent=player, maker__kind=User.Kind.COMPUTER)
    )
    if but is not None:
        promised = promised.exclude(pk=but.pk)
    return games.count() + promised.count()


def count_listed(player: User) -> int:
    """Return how many offers of ``player`` stand on the open table."""
    return Challenge.objects.filter(WAITING, maker=player, listed=True).count()


def count_aborted(player: User, *, within: timedelta | None = None) -> int:
    """Return how many games ``player`` has called off, ever or within a time before now."""
    mine = Q(seat=Seat.A, game__player_a=player) | Q(seat=Seat.B, game__player_b=player)
    aborted = Event.objects.filter(mine, kind=Event.Kind.ABORTED)
    if within is not None:
        aborted = aborted.filter(at__gt=Now() - within)
    return aborted.count()


# What waits for me: one definition for the list, the count, the title and "Next"


def _games_waiting_for(player: User) -> QuerySet[Game]:
    my_move = Q(turn=Seat.A, player_a=player) | Q(turn=Seat.B, player_b=player)
    my_answer = Q(cancel_offer=Seat.B, player_a=player) | Q(cancel_offer=Seat.A, player_b=player)
    return Game.objects.filter(my_move | my_answer, status=Game.Status.RUNNING)


def _challenges_waiting_for(player: User) -> tuple[QuerySet[Challenge], QuerySet[Challenge]]:
    """Those to the player by name, and those by mail: two lists, each with an index of its own."""
    waiting = Challenge.objects.filter(WAITING)
    mailed = waiting.filter(invitation__recipient=player)
    return waiting.filter(opponent=player), mailed


def _counted[Row: Model](rows: QuerySet[Row]) -> Coalesce:
    by_one = rows.order_by().annotate(one=Value(1)).values("one")
    return Coalesce(
        Subquery(by_one.annotate(count=Count("pk")).values("count")),
        0,
        output_field=IntegerField(),
    )


def _number_waiting_for(player: User) -> CombinedExpression:
    by_name, by_mail = _challenges_waiting_for(player)
    return _counted(_games_waiting_for(player)) + _counted(by_name) + _counted(by_mail)


def waiting_counts(player: User) -> tuple[int, int]:
    """Return how many games and challenges wait for ``player``, and how many ask for friendship.

    In one statement.
    """
    counted = User.objects.filter(pk=player.pk).annotate(
        waiting=_number_waiting_for(player), asks=_counted(asks_of(player))
    )
    waiting, asks = counted.values_list("waiting", "asks").get()
    return int(waiting), int(asks)


@dataclass(frozen=True, slots=True)
class Pulse:
    """What a table that is open somewhere watches, besides what its game's row says.

    ``rematch`` is the rematch that counts for the viewer: its id, state and maker.
    """

    waiting: int
    rematch: tuple[UUID, str, int] | None = None

    def tag(self, *, version: int, offer: str, seen: int) -> str:
        """Return the tag of a board: of what the row says, the rest from here.

        The part before the colon changes when there is another board to show.
        """
        rematch = f"{self.rematch[0]}{self.rematch[1]}" if self.rematch else ""
        return f"{version}.{offer}.{seen}.{rematch}:{self.waiting}"


def pulse(player: User, game_id: UUID) -> tuple[Pulse, str] | None:
    """Return the pulse of a game of ``player`` and the tag of its board now, in one statement.

    ``None`` if it is not theirs.
    """
    statement, parameters = _pulse_statement(connection.vendor)
    stand_ins = {_NOBODY: player.pk, _key(_NO_GAME): _key(game_id)}
    with connection.cursor() as cursor:
        cursor.execute(statement, [stand_ins.get(value, value) for value in parameters])
        row = cursor.fetchone()
    if row is None:
        return None
    rematch, state, maker, version, offer, player_a, seen_a, seen_b, waiting = row
    now = Pulse(waiting, (UUID(str(rematch)), state, maker) if rematch else None)
    seen = seen_a if player_a == player.pk else seen_b
    return now, now.tag(version=version, offer=offer, seen=seen)


_NOBODY, _NO_GAME = -1, UUID(int=0)


@cache
def _pulse_statement(_vendor: str) -> tuple[str, tuple[Any, ...]]:
    """Return the statement of a pulse, with ``_NOBODY`` and ``_NO_GAME`` among its parameters.

    Every open table asks it every two seconds, and compiling it takes Django many times as long as
    asking it: 3.6 ms of 3.8 here. So it is compiled once.
    """
    player = User(pk=_NOBODY)
    offered = Challenge.objects.filter(_stands_for(player), rematch_of=OuterRef("pk"))
    latest = offered.order_by("-created_at")
    row = (
        Game.objects.filter(games_with(player), pk=_NO_GAME)
        .annotate(
            rematch=Subquery(latest.values("pk")[:1]),
            rematch_state=Subquery(latest.values("state")[:1]),
            rematch_maker=Subquery(latest.values("maker")[:1]),
            waiting=_number_waiting_for(player),
        )
        .values_list(
            "rematch", "rematch_state", "rematch_maker",
            "version", "cancel_offer", "player_a", "seen_a", "seen_b", "waiting",
        )
    )  # fmt: skip
    return row.query.sql_with_params()


def _key(game_id: UUID) -> Any:
    return Game._meta.pk.get_db_prep_value(game_id, connection)


def next_waiting(player: User, after: UUID | None) -> tuple[str, UUID] | None:
    """Return the game or challenge that waits for ``player`` next after the one named.

    What has waited longest comes first, then round and round: (kind, id), or ``None``.
    """
    games = _games_waiting_for(player).values_list("changed_at", "pk")
    items = [(since, key, "table") for since, key in games]
    for challenges in _challenges_waiting_for(player):
        waiting = challenges.values_list("created_at", "pk")
        items += [(since, key, "challenge") for since, key in waiting]
    order = [(kind, key) for _since, key, kind in sorted(items)]
    if not order:
        return None
    place = next((index for index, (_kind, key) in enumerate(order) if key == after), -1)
    return order[(place + 1) % len(order)]


# Lists and logs


def open_games(player: User) -> QuerySet[Game]:
    """Return the running games of ``player``, the latest change first."""
    return _listed(player).filter(status=Game.Status.RUNNING)


def finished_games(player: User, page: int) -> tuple[list[Game], bool]:
    """Return a page of the finished games of ``player``, the latest first, and whether more follow.

    Pages count from 1.
    """
    finished = _listed(player).filter(status=Game.Status.FINISHED)
    return _page_of(finished, page, FINISHED_GAMES_ON_A_PAGE)


def _listed(player: User) -> QuerySet[Game]:
    last_play = Play.objects.filter(game=OuterRef("pk")).order_by("-ply")
    added = {
        "last_seat": Subquery(last_play.values("seat")[:1]),
        "last_text": Subquery(last_play.values("text")[:1]),
    }
    return (
        all_games()
        .defer("hidden")
        .filter(games_with(player))
        .annotate(**added)
        .order_by("-changed_at", "pk")
    )


def latest_plays(game: Game) -> list[Play]:
    """Return the last plays of a game in order, at most as many as the table shows."""
    plays = game.plays.filter(ply__lte=game.plies)  # none that came after its row was read
    return list(reversed(plays.order_by("-ply")[:PLAYS_AT_THE_TABLE]))


def plays_since_the_deal(game: Game) -> list[SeenPlay]:
    """Return the plays since the last deal, as both players saw them. Raises ``BrokenGame``."""
    of_this_deal = game.plies % PLAYS_OF_A_DEAL
    if not of_this_deal:
        return []
    rows = game.plays.filter(ply__gt=game.plies - of_this_deal, ply__lte=game.plies)
    return [seen_play(game, row) for row in rows.order_by("ply")]


def all_plays(game: Game) -> QuerySet[Play]:
    """Return every play of a game in order."""
    return game.plays.order_by("ply")


def unseen_round(game: Game, seat: Seat, finished: int) -> FinishedRound | None:
    """Return the first of the ``finished`` rounds whose summary ``seat`` has not put away."""
    seen = game.seen(seat)
    if seen >= finished:
        return None
    played_out = game.finished_rounds.filter(number__gt=seen, number__lte=finished)
    return played_out.order_by("number").first()


def events(game: Game) -> list[Event]:
    """Return what happened at the table besides the plays, in order; asked only if anything did."""
    return list(game.events.order_by("pk")) if game.has_events else []


def finished_rounds(game: Game) -> QuerySet[FinishedRound]:
    """Return the finished rounds of a game in order."""
    return game.finished_rounds.order_by("number")


@dataclass(frozen=True, slots=True)
class Tally:
    """A player's games against one computer player: those that count, and the latest of all."""

    won: int
    lost: int
    drawn: int
    latest: datetime

    @property
    def figures(self) -> tuple[int, int, int]:
        """Games won, lost and drawn."""
        return self.won, self.lost, self.drawn


def records_against_the_computer(player: User) -> dict[str, Tally]:
    """Return the record of ``player`` by level, where there was any game, in one statement.

    What was called off or cancelled does not count.
    """
    over = Q(status=Game.Status.FINISHED)
    uncounted = Q(reason__in=[Reason.ABORTED, Reason.CANCELLED])
    # The computer makes the challenge and so has seat A.
    games = Game.objects.filter(player_b=player, player_a__kind=User.Kind.COMPUTER)
    rows = games.order_by().values_list("player_a__level").annotate(
        won=Count("pk", filter=over & Q(winner=Seat.B)),
        lost=Count("pk", filter=over & Q(winner=Seat.A)),
        drawn=Count("pk", filter=over & Q(winner="") & ~uncounted),
        latest=Max("created_at"),
    )  # fmt: skip
    return {level: Tally(*counted) for level, *counted in rows}


def fingerprint_of(game: Game) -> Fingerprint | None:
    """Return the fingerprint of the joining player's words, once they are frozen."""
    return Fingerprint.objects.filter(game=game).first()


def awaiting_the_computer(*, for_at_least: timedelta, limit: int) -> list[UUID]:
    """Return running games in which the computer has owed a play for ``for_at_least``."""
    computers = Q(turn=Seat.A, player_a__kind=User.Kind.COMPUTER) | Q(
        turn=Seat.B, player_b__kind=User.Kind.COMPUTER
    )
    return list(
        Game.objects.filter(
            computers, status=Game.Status.RUNNING, changed_at__lt=Now() - for_at_least
        )
        .order_by("changed_at")
        .values_list("pk", flat=True)[:limit]
    )
