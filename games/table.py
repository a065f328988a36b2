"""What one person sees of a game, ready for a page: nothing hidden is ever in it.

``TableView`` starts from the engine's seat view, which is built by allow-list, and adds names and
words. Templates, mails and pushes get this and never a game, a state or a row.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from django.utils.translation import gettext as _

from accounts.models import User
from accounts.names import isolated_name

from . import selectors, wording
from .engine import (
    Capture,
    Card,
    Pair,
    RoundResult,
    RoundScore,
    RuleSet,
    Seat,
    SeatView,
    points_of,
)
from .engine.rounds import PLAYS, PLAYS_OF_A_DEAL
from .models import Challenge, Event, FinishedRound, Game, Play
from .selectors import Pulse
from .snapshot import (
    BrokenGame,
    load_result,
    outcome_of,
    public_standing,
    read_play,
    seat_named,
    terms_of,
)


class Phase(StrEnum):
    """What the viewer can do at the table."""

    PLAY = "play"  # the viewer is to play a card
    WAIT = "wait"  # the other player is to play
    OVER = "over"


@dataclass(frozen=True, slots=True)
class CardFace:
    """A face-up card: its code ("7D") and its spoken name."""

    code: str
    name: str


@dataclass(frozen=True, slots=True)
class Option:
    """One capture a card of the hand can make; ``value`` is what the form posts for it."""

    value: str
    takes: tuple[CardFace, ...]
    kind: str
    sentence: str
    spoken: str


@dataclass(frozen=True, slots=True)
class HandCard:
    """A card of the viewer's hand with its key (1–4) and its captures, the default first."""

    key: int
    face: CardFace
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A play that was made, in picture and in words."""

    ply: int
    is_me: bool
    card: CardFace
    takes: tuple[CardFace, ...]
    forced: bool
    sentence: str
    spoken: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Note:
    """Something that happened between the plays: new cards, the end of a round, an offer."""

    sentence: str

    @property
    def spoken(self) -> str:
        """No card is in it: it is said as it is written."""
        return self.sentence


@dataclass(frozen=True, slots=True)
class PlayerBox:
    """One side of the table; ``label`` is the name for an attribute, isolated in its direction."""

    name: str
    label: str
    page: UUID  # the player's public id
    is_me: bool
    is_former: bool  # somebody whose account was deleted
    level: str  # of a computer player
    to_play: bool
    deals: bool
    hand_count: int
    pile_count: int
    basra_count: int
    total: int


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """One component of a round's score; the lines of a round add up to its points."""

    label: str
    mine: int
    theirs: int


@dataclass(frozen=True, slots=True)
class RoundSummary:
    """What a finished round brought: shown until the viewer dismisses it."""

    number: int
    my_cards: int
    their_cards: int
    lines: tuple[ScoreLine, ...]
    my_points: int
    their_points: int
    my_total: int
    their_total: int
    carried: int
    left_over: str


@dataclass(frozen=True, slots=True)
class Result:
    """How the game ended."""

    won: bool | None
    sentence: str


@dataclass(frozen=True, slots=True)
class GameRow:
    """One of my games in a list, from its row alone: nothing is deciphered for it.

    Of a ``broken`` one no more is told than whose it is.
    """

    game_id: UUID
    opponent: str
    page: UUID  # the opponent's public id
    level: str  # of a computer player
    phase: Phase
    updated_at: datetime
    broken: bool = True
    terms: str = ""
    needs_answer: bool = False
    round_number: int = 0
    my_total: int = 0
    their_total: int = 0
    sentence: str = ""
    last_play: str = ""


@dataclass(frozen=True, slots=True)
class ChallengeRow:
    """An offer to play in a list: ``name`` is the other player's, empty while there is none."""

    challenge_id: UUID
    name: str
    page: UUID | None  # the other player's public id
    is_mine: bool
    level: str  # of a computer player
    is_rematch: bool
    listed: bool
    mailed: bool
    address: str  # where it was mailed to; for its maker, while it waits
    terms: str
    difference: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Rematch:
    """What has become of a rematch of the game."""

    challenge_id: UUID
    state: str
    is_mine: bool


@dataclass(frozen=True, slots=True)
class LogRound:
    """A round of the full log: what happened in it, and its summary when it was played out.

    A round that was broken off with its game is over too.
    """

    number: int
    steps: tuple[Step | Note, ...]
    summary: RoundSummary | None
    is_over: bool


@dataclass(frozen=True, slots=True)
class TableView:
    """One game as one player sees it."""

    game_id: UUID
    version: int
    tag: str
    waiting: int
    phase: Phase
    terms: str
    target: int | None
    round_number: int
    deal_number: int
    stock_count: int
    carried: int
    anchor: str
    me: PlayerBox
    other: PlayerBox
    floor: tuple[CardFace, ...]
    hand: tuple[HandCard, ...]
    steps: tuple[Step | Note, ...]
    log: tuple[Step | Note, ...]
    status: str
    headline: str  # what the title says
    announcement: str  # what is spoken of a new board
    news: str  # what is spoken where no card was played
    summary: RoundSummary | None
    result: Result | None
    i_offer_to_cancel: bool
    they_offer_to_cancel: bool
    rematch: Rematch | None

    @property
    def poll_seconds(self) -> int:
        """How often an open table asks for news: the other player's play is seen within 3 s."""
        if self.phase is Phase.OVER:
            return 10
        if self.other.level:
            return 3 if self.phase is Phase.WAIT else 30
        return 2


def capture_value(cards: tuple[Card, ...]) -> str:
    """Return what the form posts for a capture: the codes of its cards, joined by "+"."""
    return "+".join(card.code for card in cards)


def card_face(card: Card) -> CardFace:
    """Return a face-up card for a page."""
    return CardFace(card.code, wording.card_name(card))


def faces(cards: tuple[Card, ...]) -> tuple[CardFace, ...]:
    """Return face-up cards for a page."""
    return tuple(card_face(card) for card in cards)


def _step(game: Game, play: Play, viewer: Seat, rules: RuleSet) -> Step:
    seat = seat_named(game, play.seat)
    name = game.player(seat).shown_name
    card, captured, kind = read_play(game, play.text)
    points = points_of(rules, kind)
    said = (None if seat is viewer else name, card, captured, kind, points)
    return Step(
        ply=play.ply,
        is_me=seat is viewer,
        card=card_face(card),
        takes=faces(captured),
        forced=play.forced,
        sentence=wording.play_sentence(*said),
        spoken=wording.play_sentence(*said, spoken=True),
        at=play.at,
    )


def table_view(
    game: Game,
    view: SeatView,
    *,
    plays: list[Play],
    anchor: str,
    unseen: FinishedRound | None,
    events: list[Event],
    pulse: Pulse,
) -> TableView:
    """Return the game as the viewer of ``view`` sees it, with the ``plays`` that were last made.

    ``unseen`` is the finished round whose summary the viewer has not put away yet; what came after
    that round is not told before. ``pulse`` is what a table that is open watches.
    """
    viewer = view.own_seat
    other = viewer.other
    events = [event for event in events if event.kind not in _ENDS]  # the result says it
    if unseen is not None:
        plays = [play for play in plays if play.round_number <= unseen.number]
        events = [event for event in events if event.after_ply < unseen.number * PLAYS]
    steps = told(game, plays, events, viewer)
    latest = _since_my_last_choice(steps)
    status = _status(game, viewer)
    result = _result(game, viewer)
    they_offer = game.cancel_offer == other
    rematch = _rematch(game, viewer, pulse)
    headline = _headline(status, result, unseen)
    offers = wording.rematch_sentence(_name_of(game, other)) if _is_offered(rematch) else ""
    news = [headline, *([offers] if offers else [])]
    return TableView(
        game_id=game.pk,
        version=game.version,
        tag=pulse.tag(version=game.version, offer=game.cancel_offer, seen=game.seen(viewer)),
        waiting=pulse.waiting,
        phase=_phase(game, viewer),
        terms=wording.terms_label(view.terms),
        target=view.terms.target,
        round_number=view.round_number,
        deal_number=view.deal_number,
        stock_count=view.stock_count,
        carried=view.carried,
        anchor=anchor,
        me=_player_box(game, view, viewer),
        other=_player_box(game, view, other),
        floor=faces(view.floor),
        hand=_hand(view),
        steps=latest,
        log=tuple(reversed(steps)),
        status=status,
        headline=headline,
        announcement=" ".join([*(step.spoken for step in latest), *news]),
        news=" ".join([*news, *([_asked(game, other)] if they_offer else [])]),
        summary=round_summary(game, unseen, viewer) if unseen else None,
        result=result,
        i_offer_to_cancel=game.cancel_offer == viewer,
        they_offer_to_cancel=they_offer,
        rematch=rematch,
    )


def told(
    game: Game, plays: list[Play], events: list[Event], viewer: Seat
) -> tuple[Step | Note, ...]:
    """Return stored plays as ``viewer`` reads them, and between them whatever else happened."""
    rules = terms_of(game).rules
    first = plays[0].ply if plays else 0
    waiting = deque(event for event in events if event.after_ply >= first - 1)
    steps: list[Step | Note] = []

    def tell_events(ply: int) -> None:
        while waiting and waiting[0].after_ply <= ply:
            steps.append(_event_note(game, waiting.popleft(), viewer))

    for play in plays:
        tell_events(play.ply - 1)
        steps.append(_step(game, play, viewer, rules))
        steps.extend(_after(play))
    tell_events(game.plies)
    return tuple(steps)


_ENDS = {Event.Kind.CANCELLED, Event.Kind.RESIGNED, Event.Kind.ABORTED}


def _after(play: Play) -> list[Note]:
    """New cards after every eighth play of a round, none after its last."""
    place = (play.ply - 1) % PLAYS + 1
    if place == PLAYS:
        sentence = wording.round_over(play.round_number)
    elif place % PLAYS_OF_A_DEAL == 0:
        sentence = _("Four new cards each are dealt.")
    else:
        return []
    return [Note(sentence)]


def _event_note(game: Game, event: Event, viewer: Seat) -> Note:
    seat = seat_named(game, event.seat)
    name = None if seat is viewer else _name_of(game, seat)
    return Note(wording.event_sentence(event.kind, name))


def _name_of(game: Game, seat: Seat) -> str:
    return game.player(seat).shown_name


def _headline(status: str, result: Result | None, unseen: FinishedRound | None) -> str:
    if result is not None:
        return result.sentence
    return wording.round_over(unseen.number) if unseen else status


def _asked(game: Game, other: Seat) -> str:
    return wording.event_sentence(Event.Kind.CANCEL_OFFERED, _name_of(game, other))


def _is_offered(rematch: Rematch | None) -> bool:
    waiting = Challenge.State.WAITING
    return rematch is not None and rematch.state == waiting and not rematch.is_mine


def _rematch(game: Game, viewer: Seat, pulse: Pulse) -> Rematch | None:
    if pulse.rematch is None:
        return None
    challenge_id, state, maker = pulse.rematch
    return Rematch(challenge_id, state, is_mine=maker == game.player(viewer).pk)


def challenge_row(challenge: Challenge, viewer: User | None) -> ChallengeRow:
    """Return an offer to play as ``viewer`` reads it in a list. A damaged one is listed as such."""
    is_mine = viewer is not None and challenge.maker_id == viewer.pk
    other = challenge.opponent if is_mine else challenge.maker
    invitation = selectors.invitation_of(challenge)
    try:
        terms = terms_of(challenge)
        words = wording.terms_label(terms), wording.rule_set_difference(terms.rules)
    except BrokenGame:
        words = _("These terms cannot be read at the moment."), ""
    return ChallengeRow(
        challenge_id=challenge.pk,
        name=other.shown_name if other else "",
        page=other.public_id if other else None,
        is_mine=is_mine,
        level=challenge.maker.level,
        is_rematch=challenge.rematch_of_id is not None,
        listed=challenge.listed,
        mailed=invitation is not None,
        address=invitation.address if invitation and is_mine else "",
        terms=words[0],
        difference=words[1],
        created_at=challenge.created_at,
    )


def round_summary(game: Game, finished: FinishedRound, viewer: Seat) -> RoundSummary:
    """Return what a finished round brought, with ``viewer``'s side first."""
    names = Pair(game.player_a.shown_name, game.player_b.shown_name)
    return summary_of(load_result(finished), names, mine=viewer, viewer=viewer)


def summary_of(
    result: RoundResult, names: Pair[str], *, mine: Seat, viewer: Seat | None
) -> RoundSummary:
    """Return a round's result with the side ``mine`` first; ``viewer`` is called "you"."""
    theirs, to = mine.other, result.left_over_to
    name = None if to is None or to is viewer else names[to]
    return RoundSummary(
        number=result.number,
        my_cards=result.cards[mine],
        their_cards=result.cards[theirs],
        lines=tuple(_score_lines(result.score[mine], result.score[theirs])),
        my_points=result.score[mine].total,
        their_points=result.score[theirs].total,
        my_total=result.totals[mine],
        their_total=result.totals[theirs],
        carried=result.carried,
        left_over=wording.left_over_sentence(result.left_over, to_nobody=to is None, name=name),
    )


def game_row(game: Game, viewer: Seat) -> GameRow:
    """Return a listed game as ``viewer`` reads it. A damaged row is listed as such."""
    opponent = game.player(viewer.other)
    row = GameRow(
        game_id=game.pk,
        opponent=opponent.shown_name,
        page=opponent.public_id,
        level=opponent.level,
        phase=_phase(game, viewer),
        updated_at=game.changed_at,
        needs_answer=game.cancel_offer == viewer.other,
    )
    try:
        terms, standing, result = terms_of(game), public_standing(game), _result(game, viewer)
        return replace(
            row,
            broken=False,
            terms=wording.terms_label(terms),
            round_number=standing.round_number,
            my_total=standing.totals[viewer],
            their_total=standing.totals[viewer.other],
            sentence=result.sentence if result else _status(game, viewer),
            last_play=_last_play(game, viewer, terms.rules),
        )
    except BrokenGame:
        return row


def log_rounds(
    game: Game,
    plays: list[Play],
    finished: list[FinishedRound],
    events: list[Event],
    viewer: Seat,
) -> list[LogRound]:
    """Return the full log of a game, round by round."""
    summaries = {one.number: round_summary(game, one, viewer) for one in finished if one.result}
    steps: dict[int, list[Step | Note]] = {}
    number = 1
    for step in told(game, plays, events, viewer):
        if isinstance(step, Step):
            number = (step.ply - 1) // PLAYS + 1
        steps.setdefault(number, []).append(step)
    over = {one.number for one in finished}
    return [
        LogRound(number, tuple(some), summaries.get(number), number in over)
        for number, some in steps.items()
    ]


def _last_play(game: Game, viewer: Seat, rules: RuleSet) -> str:
    if game.last_text is None:
        return ""
    seat = seat_named(game, game.last_seat)
    card, captured, kind = read_play(game, game.last_text)
    name = None if seat is viewer else game.player(seat).shown_name
    return wording.play_sentence(name, card, captured, kind, points_of(rules, kind))


def _phase(game: Game, viewer: Seat) -> Phase:
    if game.status == Game.Status.FINISHED:
        return Phase.OVER
    return Phase.PLAY if game.turn == viewer else Phase.WAIT


def _player_box(game: Game, view: SeatView, seat: Seat) -> PlayerBox:
    player = game.player(seat)
    basras = view.basras[seat]
    return PlayerBox(
        name=player.shown_name,
        page=player.public_id,
        label=_("You") if seat is view.seat else isolated_name(player.shown_name),
        is_me=seat is view.seat,
        is_former=player.is_former,
        level=player.level,
        to_play=game.turn == seat,
        deals=view.dealer is seat,
        hand_count=view.hand_counts[seat],
        pile_count=len(view.piles[seat]),
        basra_count=basras.basra + basras.jack + basras.komi,
        total=view.totals[seat],
    )


def _hand(view: SeatView) -> tuple[HandCard, ...]:
    options = view.options()
    return tuple(
        HandCard(key, card_face(card), tuple(_option(capture) for capture in options[card]))
        for key, card in enumerate(view.hand, start=1)
    )


def _option(capture: Capture) -> Option:
    said = (capture.cards, capture.kind, capture.points)
    return Option(
        value=capture_value(capture.cards),
        takes=faces(capture.cards),
        kind=capture.kind,
        sentence=wording.capture_sentence(*said),
        spoken=wording.capture_sentence(*said, spoken=True),
    )


def _since_my_last_choice(steps: tuple[Step | Note, ...]) -> tuple[Step | Note, ...]:
    """What the viewer may not have seen: from the last card of the viewer's own choosing."""
    for index in range(len(steps) - 1, -1, -1):
        step = steps[index]
        if isinstance(step, Step) and step.is_me and not step.forced:
            return steps[index:]
    return steps


def _status(game: Game, viewer: Seat) -> str:
    match _phase(game, viewer):
        case Phase.PLAY:
            return _("Your turn.")
        case _:
            return wording.waiting_for(game.player(viewer.other).shown_name)


def _result(game: Game, viewer: Seat) -> Result | None:
    outcome = outcome_of(game)
    if outcome is None:
        return None
    i_won = None if outcome.winner is None else outcome.winner is viewer
    other = game.player(viewer.other).shown_name
    return Result(i_won, wording.outcome_sentence(outcome, i_won=i_won, other=other))


def _score_lines(mine: RoundScore, theirs: RoundScore) -> list[ScoreLine]:
    """Every component that anybody scored in; the majority always, since it is always asked."""
    lines = [ScoreLine(_("Most cards"), mine.majority, theirs.majority)]
    optional = (
        (_("Carried from earlier rounds"), mine.carried_won, theirs.carried_won),
        (_("Basras"), mine.basra, theirs.basra),
        (_("Jack basras"), mine.jack, theirs.jack),
        (_("Komi basra"), mine.komi, theirs.komi),
        (_("Single cards"), _singles(mine), _singles(theirs)),
    )
    lines.extend(ScoreLine(label, a, b) for label, a, b in optional if a or b)
    return lines


def _singles(score: RoundScore) -> int:
    return sum(points for _card, points in score.singles)
