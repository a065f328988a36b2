"""A game to look at again, position by position, and its record as text.

A game is replayed from its deals and its plays; ``ReplayView`` holds what a page may show of one
position. While the game runs that is what a stranger may see, and no more, whoever looks: the deals
of its running round are opened for the replay and stay in here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from django.utils.translation import gettext as _

from accounts.names import isolated_name

from . import dealing, engine, selectors, wording
from .bots import SeenPlay
from .dealing import BrokenSeal
from .engine import (
    BasraError,
    Deal,
    Fairness,
    GameState,
    Pair,
    Played,
    Record,
    RecordedPlay,
    RecordedRound,
    RecordedScore,
    Seat,
    SeatView,
)
from .engine.rounds import PLAYS_OF_A_DEAL
from .models import FinishedRound, Game, Play
from .snapshot import (
    BrokenGame,
    load_result,
    outcome_of,
    public_standing,
    published_anchor,
    read_play,
    terms_of,
)
from .table import CardFace, RoundSummary, card_face, faces, summary_of

LAST = "last"
"""Asks for the latest position, whichever that is by then."""

_PLY = re.compile("0|[1-9][0-9]{0,4}", re.ASCII)
_LONGEST_NAME = 40


class NoSuchPosition(Exception):
    """The game has no position that is called so."""


@dataclass(frozen=True, slots=True)
class Move:
    """A play in picture and in words; ``ply`` is the position after it."""

    ply: int
    is_current: bool
    is_mine: bool
    card: CardFace
    takes: tuple[CardFace, ...]
    sentence: str
    spoken: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Side:
    """One side of the table; ``hand`` is empty where hands are hidden.

    ``label`` is the name for an attribute, isolated in its direction.
    """

    name: str
    label: str
    is_me: bool
    to_play: bool
    deals: bool
    hand: tuple[CardFace, ...]
    hand_count: int
    pile_count: int
    basra_count: int
    total: int


@dataclass(frozen=True, slots=True)
class RoundStart:
    """A round to jump to: ``ply`` is the position in which it has just been dealt."""

    number: int
    ply: int
    is_current: bool


@dataclass(frozen=True, slots=True)
class ReplayView:
    """One position of a game, and the ways to the others.

    ``bottom`` is the side of the player who looks, or of who sits at A. ``log`` has all plays of
    the round of ``move``, or of the first. ``summary`` comes with the last play of a round.
    ``goes_on`` says that more may be played after this position than there is yet.
    """

    ply: int
    last_ply: int
    goes_on: bool
    version: int
    hands_open: bool
    rule_set: str
    terms: str
    round_number: int
    deal_number: int
    stock_count: int
    carried: int
    top: Side
    bottom: Side
    floor: tuple[CardFace, ...]
    move: Move | None
    summary: RoundSummary | None
    result: str
    log_round: int
    log: tuple[Move, ...]
    rounds: tuple[RoundStart, ...]

    @property
    def previous_ply(self) -> int | None:
        """The position before this one."""
        return self.ply - 1 if self.ply else None

    @property
    def next_ply(self) -> int | None:
        """The position after this one."""
        return self.ply + 1 if self.ply < self.last_ply else None

    @property
    def title(self) -> str:
        """What the window is called: the position first, since it changes."""
        return _("%(ply)d of %(last)d – %(name)s against %(other)s – Basra") % {
            "ply": self.ply,
            "last": self.last_ply,
            "name": self.bottom.label,
            "other": self.top.label,
        }

    @property
    def announcement(self) -> str:
        """What a screen reader says of the position."""
        return " ".join(filter(None, [self.move.spoken if self.move else "", self.result]))


def version_of(game_id: UUID) -> str | None:
    """Return what a running game's latest position is known by; ``None`` where there is no game."""
    version = Game.objects.filter(pk=game_id).values_list("version", flat=True).first()
    return None if version is None else version_tag(version)


def version_tag(version: int) -> str:
    """Return a version as polls send it."""
    return f"v{version}"


def game_replay(game: Game, viewer: Seat | None, asked: str) -> ReplayView:
    """Return a position of a game: the ``asked`` ply, ``LAST``, or "" for where one would begin.

    ``viewer`` is the seat of the player who looks, if one of the two does; hands are open to
    everybody once the game is over, and to nobody before. Raises ``NoSuchPosition`` and
    ``BrokenGame``.
    """
    over = game.status == Game.Status.FINISHED
    record = record_of(game) if over else _running_record(game)
    ply = _asked_ply(record, asked or ("0" if over else LAST))
    try:
        return _view(record, ply, viewer=viewer, hands_open=over, running=not over, game=game)
    except BasraError as error:
        raise BrokenGame(game.pk, "its plays do not follow from its deals") from error


def record_replay(record: Record, asked: str) -> ReplayView:
    """Return a position of a record that ``engine.replay`` has approved, with both hands.

    Raises ``NoSuchPosition``.
    """
    return _view(record, _asked_ply(record, asked or "0"), viewer=None, hands_open=True)


@dataclass(frozen=True, slots=True)
class Choice:
    """A play that was made, what its player saw before it, and the plays since the last deal."""

    ply: int
    view: SeatView
    play: engine.Play
    past: tuple[SeenPlay, ...]


def choice_at(game: Game, asked: str) -> Choice:
    """Return the play of a game that is asked for by its number, with what its player saw.

    Only in a round whose cards are published. Raises ``NoSuchPosition`` and ``BrokenGame``.
    """
    record = record_of(game)
    ply = _asked_ply(record, asked)
    if ply == 0:
        raise NoSuchPosition
    made = [play for recorded in record.rounds for play in recorded.plays]
    stated = made[ply - 1]
    play = engine.Play(stated.card, frozenset(stated.captured))
    try:
        state = _position(record, ply - 1).state
        engine.play(state, stated.seat, play)
    except BasraError as error:
        raise BrokenGame(game.pk, "its plays do not follow from its deals") from error
    dealt = ply - 1 - (ply - 1) % PLAYS_OF_A_DEAL
    return Choice(
        ply=ply,
        view=engine.seat_view(state, stated.seat),
        play=play,
        past=tuple(SeenPlay(one.seat, one.card, one.captured) for one in made[dealt : ply - 1]),
    )


def record_of(game: Game) -> Record:
    """Return the record of a game, from what it has published. Raises ``BrokenGame``.

    Of a running game these are its finished rounds.
    """
    fingerprint = selectors.fingerprint_of(game)
    if fingerprint is None:
        raise BrokenGame(game.pk, "its words are not frozen")
    try:
        fairness = Fairness(
            anchor=bytes.fromhex(published_anchor(game)),
            words_sha256=bytes.fromhex(fingerprint.words_sha256),
            words_by="server" if fingerprint.words_by == fingerprint.By.SERVER else "opponent",
        )
        plays = _plays_by_round(game)
        rounds = tuple(
            _finished_round(game, finished, fairness, plays.get(finished.number, ()))
            for finished in selectors.finished_rounds(game)
        )
    except (BasraError, ValueError) as error:
        raise BrokenGame(game.pk, "what it has published is damaged") from error
    return Record(
        terms=terms_of(game),
        rounds=rounds,
        outcome=outcome_of(game),
        game_id=game.pk,
        names=_names(game),
        fairness=fairness,
    )


def _finished_round(
    game: Game, finished: FinishedRound, fairness: Fairness, plays: tuple[RecordedPlay, ...]
) -> RecordedRound:
    secret = bytes.fromhex(finished.secret)
    deal = engine.deal_round(
        secret=secret,
        game_id=game.pk,
        round_number=finished.number,
        words_sha256=fairness.words_sha256,
        replaced=terms_of(game).rules.replaced,
    )
    return RecordedRound(
        dealer=Seat(finished.dealer),
        cards=deal.cards,
        plays=plays,
        # A round that was broken off with its game was never counted.
        score=RecordedScore.of(load_result(finished)) if finished.result else None,
        secret=secret,
    )


def _running_record(game: Game) -> Record:
    """The game so far, hidden cards and all: for ``_view`` alone, never to be shown or written."""
    terms = terms_of(game)
    try:
        deals = dealing.open_seal(game.pk, terms.rules.replaced)
        first = deals.deal(1).first_dealer or Seat.A
        plays = _plays_by_round(game)
        rounds = tuple(
            RecordedRound(
                dealer=first if number % 2 else first.other,
                cards=deals.deal(number).cards,
                plays=plays.get(number, ()),
            )
            for number in range(1, public_standing(game).round_number + 1)
        )
    except (BrokenSeal, BasraError, ValueError) as error:
        raise BrokenGame(game.pk, str(error)) from error
    return Record(terms, rounds, names=_names(game))


def _plays_by_round(game: Game) -> dict[int, tuple[RecordedPlay, ...]]:
    by_round: dict[int, list[RecordedPlay]] = {}
    # A card that was played since the game's row was read belongs to no position of that row.
    for play in selectors.all_plays(game).filter(ply__lte=game.plies):
        by_round.setdefault(play.round_number, []).append(_recorded_play(game, play))
    return {number: tuple(plays) for number, plays in by_round.items()}


def _recorded_play(game: Game, play: Play) -> RecordedPlay:
    card, captured, kind = read_play(game, play.text)
    at = play.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return RecordedPlay(Seat(play.seat), card, captured, kind, at)


def _names(game: Game) -> Pair[str]:
    return Pair.of(lambda seat: game.player(seat).shown_name)


# Positions


@dataclass(frozen=True, slots=True)
class _Position:
    """A state with the play that led to it. It has every card: only ``_view`` looks at it."""

    state: GameState
    played: Played | None


def _asked_ply(record: Record, asked: str) -> int:
    last = sum(len(recorded.plays) for recorded in record.rounds)
    if asked == LAST:
        return last
    if not _PLY.fullmatch(asked) or int(asked) > last:
        raise NoSuchPosition
    return int(asked)


def _position(record: Record, ply: int) -> _Position:
    """Play a record through until ``ply`` cards were played; a next round is dealt by then."""
    state, played, made = engine.new_game(record.terms), None, 0
    for recorded in record.rounds:
        state = engine.deal(state, Deal.from_cards(recorded.cards, recorded.dealer))
        for stated in recorded.plays:
            if made == ply:
                return _Position(state, played)
            play = engine.Play(stated.card, frozenset(stated.captured))
            state, played = engine.play(state, stated.seat, play)
            made += 1
    if record.outcome is not None and state.outcome is None:
        state = engine.end(state, record.outcome.reason, record.outcome.winner)
    return _Position(state, played)


# Views


def _view(
    record: Record,
    ply: int,
    *,
    viewer: Seat | None,
    hands_open: bool,
    running: bool = False,
    game: Game | None = None,
) -> ReplayView:
    position = _position(record, ply)
    view = engine.seat_view(position.state, None)
    names = _shown_names(record)
    hands: Pair[tuple[CardFace, ...]] = Pair((), ())
    if hands_open:
        hands = Pair.of(lambda seat: faces(engine.seat_view(position.state, seat).hand))
    sides = Pair.of(lambda seat: _side(view, seat, names[seat], hands[seat], viewer))
    starts = _starts(record)
    last_ply = starts.pop()
    log_round = sum(start < ply for start in starts) or 1
    log = _moves(record, log_round, starts[log_round - 1], ply, names, viewer)
    finished = position.played.finished if position.played else None
    bottom = viewer or Seat.A
    return ReplayView(
        ply=ply,
        last_ply=last_ply,
        goes_on=running and ply == last_ply,
        version=game.version if game else 0,
        hands_open=hands_open,
        rule_set=view.terms.rules.name,
        terms=wording.terms_label(view.terms),
        round_number=view.round_number,
        deal_number=view.deal_number,
        stock_count=view.stock_count,
        carried=view.carried,
        top=sides[bottom.other],
        bottom=sides[bottom],
        floor=faces(view.floor),
        move=next((move for move in log if move.is_current), None),
        summary=summary_of(finished, names, mine=bottom, viewer=viewer) if finished else None,
        result=_result(view, names, viewer),
        log_round=log_round,
        log=log,
        rounds=tuple(
            RoundStart(number, start, number == view.round_number)
            for number, start in enumerate(starts, 1)
        ),
    )


def _starts(record: Record) -> list[int]:
    """The position in which each round has just been dealt, and the last position of all."""
    starts = [0]
    for recorded in record.rounds:
        starts.append(starts[-1] + len(recorded.plays))
    return starts


def shortened(name: str) -> str:
    """Return a name of a record as pages show it: there a name can be of any length."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _shown_names(record: Record) -> Pair[str]:
    if record.names is None:
        return Pair(_("Player A"), _("Player B"))
    return record.names.map(shortened)


def _side(
    view: SeatView, seat: Seat, name: str, hand: tuple[CardFace, ...], viewer: Seat | None
) -> Side:
    basras = view.basras[seat]
    return Side(
        name=name,
        label=isolated_name(name),
        is_me=seat is viewer,
        to_play=view.turn is seat,
        deals=view.dealer is seat,
        hand=hand,
        hand_count=view.hand_counts[seat],
        pile_count=len(view.piles[seat]),
        basra_count=basras.basra + basras.jack + basras.komi,
        total=view.totals[seat],
    )


def _moves(
    record: Record, number: int, start: int, ply: int, names: Pair[str], viewer: Seat | None
) -> tuple[Move, ...]:
    if not record.rounds:
        return ()
    rules = record.terms.rules
    moves = []
    for made, play in enumerate(record.rounds[number - 1].plays, start + 1):
        name = None if play.seat is viewer else names[play.seat]
        said = (name, play.card, play.captured, play.kind, engine.points_of(rules, play.kind))
        moves.append(
            Move(
                ply=made,
                is_current=made == ply,
                is_mine=play.seat is viewer,
                card=card_face(play.card),
                takes=faces(play.captured),
                sentence=wording.play_sentence(*said),
                spoken=wording.play_sentence(*said, spoken=True),
                at=_time(play.at),
            )
        )
    return tuple(moves)


def _time(at: str | None) -> datetime | None:
    """The time that a record states; ``None`` for one that no calendar has."""
    try:
        time = datetime.fromisoformat(at) if at else None
    except ValueError:
        return None
    # The first and the last year there is could leave the calendar in another time zone.
    return time if time and 1 < time.year < 9999 else None


def _result(view: SeatView, names: Pair[str], viewer: Seat | None) -> str:
    outcome = view.outcome
    if outcome is None:
        return ""
    if viewer is None:
        return wording.outcome_told(outcome, names)
    i_won = None if outcome.winner is None else outcome.winner is viewer
    return wording.outcome_sentence(outcome, i_won=i_won, other=names[viewer.other])
