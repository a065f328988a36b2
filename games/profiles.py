"""What others may know of a player: the page of a player is made from this and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Case, Count, Q, Value, When
from django.utils.translation import gettext as _

from accounts.models import Block, Friendship, User
from accounts.presence import how_lately
from accounts.relations import between, is_friend_of, may_challenge, may_see, may_see_presence

from . import selectors, wording
from .engine import Pair, Reason, Seat
from .models import Game, Play
from .snapshot import BrokenGame, outcome_of, public_standing, terms_of

if TYPE_CHECKING:
    from django.db.models import QuerySet

GAMES_ON_A_PAGE = 20
_GAMES_FOR_REPLY_TIME = 20
_PLAYS_FOR_REPLY_TIME = 400
_FEWEST_REPLIES = 5
_OF_PEOPLE = ~Q(player_a__kind=User.Kind.COMPUTER) & ~Q(player_b__kind=User.Kind.COMPUTER)
_UNCOUNTED = [Reason.ABORTED, Reason.CANCELLED]


@dataclass(frozen=True, slots=True)
class Figures:
    """Finished games with people: those that count, and those that do not."""

    won: int
    lost: int
    drawn: int
    uncounted: int
    called_off: int  # by the player

    @property
    def finished(self) -> int:
        """Games that count."""
        return self.won + self.lost + self.drawn


@dataclass(frozen=True, slots=True)
class ListedGame:
    """A finished game on a player's page, as somebody reads it who did not play."""

    game_id: UUID
    opponent: str
    result: str
    totals: str
    terms: str
    finished_at: datetime


@dataclass(frozen=True, slots=True)
class Relation:
    """What the viewer and the player are to each other, as far as the viewer may know."""

    is_me: bool = False
    is_friend: bool = False
    i_asked: bool = False
    they_asked: bool = False
    i_block: bool = False
    can_ask: bool = False
    can_block: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """The page of a player. ``figures`` are ``None`` where they are not shown to the viewer."""

    player_id: UUID
    name: str
    kind: str
    level: str
    is_former: bool
    member_since: datetime
    relation: Relation
    takes_challenges: bool
    record: str
    presence: str
    reply_time: str
    figures: Figures | None
    games: tuple[ListedGame, ...]


def profile_of(player: User, viewer: User | None) -> Profile:
    """Return the page of ``player`` as ``viewer`` or a visitor may see it.

    Whom the player has blocked sees what anybody sees of somebody who shows nothing.
    """
    shown = may_see(viewer, player)
    relation = _relation(player, viewer)
    return Profile(
        player_id=player.public_id,
        name=player.shown_name,
        kind=str(User.Kind(player.kind).label),
        level=player.level,
        is_former=player.kind == User.Kind.FORMER,
        member_since=player.date_joined,
        relation=relation,
        takes_challenges=may_challenge(viewer, player) and not player.is_computer,
        record=_record(player, viewer) if viewer is not None and not relation.is_me else "",
        presence=how_lately(player) if may_see_presence(viewer, player) else "",
        reply_time=_reply_time(player) if shown and not player.is_computer else "",
        figures=_figures(player) if shown else None,
        games=_games(player, viewer) if shown and not player.is_computer else (),
    )


def _relation(player: User, viewer: User | None) -> Relation:
    if viewer is None or viewer == player:
        return Relation(is_me=viewer == player)
    is_person = player.is_member or player.is_guest
    if not is_person:
        return Relation()
    i_block = Block.objects.filter(blocker=viewer, blocked=player).exists()
    row = Friendship.objects.filter(between(viewer, player)).first()
    return Relation(
        is_friend=row is not None and row.accepted_at is not None,
        i_asked=row is not None and row.accepted_at is None and row.asker_id == viewer.pk,
        # Asked by whom the viewer has blocked since: not heard.
        they_asked=row is not None
        and row.accepted_at is None
        and row.asked_id == viewer.pk
        and not i_block,
        i_block=i_block,
        can_ask=row is None
        and not i_block
        and viewer.is_member
        and player.is_member
        and not player.quiet,
        can_block=not i_block,
    )


def _with_people(player: User) -> QuerySet[Game]:
    """The finished games of a player: with people, or all of a computer's."""
    finished = Game.objects.filter(status=Game.Status.FINISHED)
    if player.is_computer:
        return finished.filter(selectors.games_with(player))
    return finished.filter(selectors.games_with(player) & _OF_PEOPLE)


def _won(player: User) -> Q:
    return Q(winner=Seat.A, player_a=player) | Q(winner=Seat.B, player_b=player)


def _figures(player: User) -> Figures:
    called_off = 0 if player.is_computer else selectors.count_aborted(player)
    return _counted(_with_people(player), player, called_off)


def _counted(games: QuerySet[Game], player: User, called_off: int = 0) -> Figures:
    uncounted = Q(reason__in=_UNCOUNTED)
    counts = games.order_by().aggregate(
        won=Count("pk", filter=_won(player)),
        drawn=Count("pk", filter=Q(winner="") & ~uncounted),
        uncounted=Count("pk", filter=uncounted),
        all=Count("pk"),
    )
    won, drawn, without = counts["won"], counts["drawn"], counts["uncounted"]
    return Figures(won, counts["all"] - won - drawn - without, drawn, without, called_off)


def _record(player: User, viewer: User) -> str:
    """The viewer's games against the player: they are the viewer's own to know."""
    together = Game.objects.filter(
        Q(player_a=player, player_b=viewer) | Q(player_a=viewer, player_b=player),
        status=Game.Status.FINISHED,
    )
    record = _counted(together, viewer)
    return wording.record_sentence(player.shown_name, record.won, record.lost, record.drawn)


def _games(player: User, viewer: User | None) -> tuple[ListedGame, ...]:
    games = _with_people(player).select_related("player_a", "player_b").defer("hidden")
    is_friend: Case | Value = Value(False)
    if viewer is not None:
        of_b = When(player_a=player, then=is_friend_of(viewer, "player_b"))
        is_friend = Case(of_b, default=is_friend_of(viewer, "player_a"))
    listed = []
    latest = games.annotate(with_a_friend=is_friend).order_by("-finished_at", "pk")
    for game in latest[:GAMES_ON_A_PAGE]:
        seat = game.seat_of(player)
        try:
            outcome, totals = outcome_of(game), public_standing(game).totals
            terms = wording.terms_label(terms_of(game))
        except BrokenGame:
            continue
        if outcome is None or game.finished_at is None:
            continue
        opponent = game.player(seat.other)
        name = opponent.shown_name
        if viewer not in (player, opponent) and not _shows(opponent, game.with_a_friend):
            name = _("a player")
        names = Pair(name, player.shown_name) if seat is Seat.B else Pair(player.shown_name, name)
        listed.append(
            ListedGame(
                game_id=game.pk,
                opponent=name,
                result=wording.outcome_told(outcome, names),
                totals=f"{totals[seat]} : {totals[seat.other]}",
                terms=terms,
                finished_at=game.finished_at,
            )
        )
    return tuple(listed)


def _shows(opponent: User, is_friend: bool) -> bool:
    """As ``may_see`` says, of somebody who is loaded already; a block leaves no friends."""
    if opponent.kind == User.Kind.FORMER:
        return True  # under no name of their own
    if opponent.may_see == User.Audience.FRIENDS:
        return is_friend
    return opponent.may_see == User.Audience.EVERYBODY


def _reply_time(player: User) -> str:
    """How long the player usually takes for a card against people, in coarse words.

    The median of the latest plays of their own choosing; nothing where there are few.
    """
    games = Game.objects.filter(selectors.games_with(player) & _OF_PEOPLE)
    latest = games.order_by("-changed_at", "pk").values_list("pk", flat=True)
    plays = (
        Play.objects.filter(game__in=list(latest[:_GAMES_FOR_REPLY_TIME]))
        .order_by("-at", "game", "-ply")
        .values_list("game", "ply", "seat", "forced", "at", "game__player_a")
    )[:_PLAYS_FOR_REPLY_TIME]
    by_game: dict[UUID, list[tuple[int, str, bool, datetime, int]]] = {}
    for game, ply, seat, forced, at, player_a in plays:
        by_game.setdefault(game, []).append((ply, seat, forced, at, player_a))
    taken = []
    for rows in by_game.values():
        for before, after in pairwise(sorted(rows)):
            own_seat = Seat.A if after[4] == player.pk else Seat.B
            follows = after[0] == before[0] + 1
            if follows and after[1] == own_seat != before[1] and not after[2]:
                taken.append(after[3] - before[3])
    if len(taken) < _FEWEST_REPLIES:
        return ""
    return _in_words(timedelta(seconds=median(one.total_seconds() for one in taken)))


def _in_words(usual: timedelta) -> str:
    for limit, words in (
        (timedelta(minutes=2), _("answers at once")),
        (timedelta(minutes=20), _("answers within minutes")),
        (timedelta(hours=1), _("answers within an hour")),
        (timedelta(hours=8), _("answers within a few hours")),
        (timedelta(days=1), _("answers within a day")),
    ):
        if usual <= limit:
            return words
    return _("answers within a few days")
