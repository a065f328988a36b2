"""What one person sees of a game, ready for a page: nothing hidden is ever in it.

``TableView`` starts from the engine's seat view, which is built by allow-list, and adds names and
words. Templates, mails and pushes get this and never a game, a state or a row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from django.utils.translation import gettext as _

from . import wording
from .engine import (
    Capture,
    Card,
    RoundResult,
    RoundScore,
    RuleSet,
    Seat,
    SeatView,
    points_of,
)
from .models import FinishedRound, Game, Play
from .snapshot import BrokenGame, load_result, outcome_of, public_standing, read_play, terms_of


class Phase(StrEnum):
    """What the viewer can do at the table."""

    DEAL = "deal"  # sealed, and the viewer's words are awaited
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
class PlayerBox:
    """One side of the table; ``label`` is the name for an attribute, isolated in its direction."""

    name: str
    label: str
    is_me: bool
    is_computer: bool
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
    is_computer: bool
    phase: Phase
    updated_at: datetime
    broken: bool = True
    terms: str = ""
    round_number: int = 0
    my_total: int = 0
    their_total: int = 0
    sentence: str = ""
    last_play: str = ""


@dataclass(frozen=True, slots=True)
class LogRound:
    """A round of the full log: its plays, and its summary when it is finished."""

    number: int
    steps: tuple[Step, ...]
    summary: RoundSummary | None


@dataclass(frozen=True, slots=True)
class TableView:
    """One game as one player sees it."""

    game_id: UUID
    version: int
    phase: Phase
    rule_set: str
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
    steps: tuple[Step, ...]
    log: tuple[Step, ...]
    status: str
    announcement: str
    summary: RoundSummary | None
    result: Result | None


def capture_value(cards: tuple[Card, ...]) -> str:
    """Return what the form posts for a capture: the codes of its cards, joined by "+"."""
    return "+".join(card.code for card in cards)


def card_face(card: Card) -> CardFace:
    """Return a face-up card for a page."""
    return CardFace(card.code, wording.card_name(card))


def faces(cards: tuple[Card, ...]) -> tuple[CardFace, ...]:
    """Return face-up cards for a page."""
    return tuple(card_face(card) for card in cards)


def steps_of(game: Game, plays: list[Play], viewer: Seat) -> tuple[Step, ...]:
    """Return stored plays as ``viewer`` reads them."""
    rules = terms_of(game).rules
    return tuple(_step(game, play, viewer, rules) for play in plays)


def _step(game: Game, play: Play, viewer: Seat, rules: RuleSet) -> Step:
    seat = Seat(play.seat)
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
) -> TableView:
    """Return the game as the viewer of ``view`` sees it, with the ``plays`` that were last made.

    ``unseen`` is the finished round whose summary the viewer has not put away yet.
    """
    viewer = _viewer(view)
    other = viewer.other
    steps = steps_of(game, plays, viewer)
    latest = _since_my_last_choice(steps)
    status = _status(game, viewer)
    result = _result(game, viewer)
    return TableView(
        game_id=game.pk,
        version=game.version,
        phase=_phase(game, viewer),
        rule_set=view.terms.rules.name,
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
        announcement=" ".join(
            [*(step.spoken for step in latest), result.sentence if result else status]
        ),
        summary=round_summary(unseen, viewer) if unseen else None,
        result=result,
    )


def round_summary(finished: FinishedRound, viewer: Seat) -> RoundSummary:
    """Return what a finished round brought, with ``viewer``'s side first."""
    result = load_result(finished)
    mine, theirs = viewer, viewer.other
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
        left_over=_left_over(result, viewer),
    )


def game_row(game: Game, viewer: Seat) -> GameRow:
    """Return a listed game as ``viewer`` reads it. A damaged row is listed as such."""
    opponent = game.player(viewer.other)
    row = GameRow(
        game_id=game.pk,
        opponent=opponent.shown_name,
        is_computer=opponent.is_computer,
        phase=_phase(game, viewer),
        updated_at=game.changed_at,
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
    game: Game, plays: list[Play], finished: list[FinishedRound], viewer: Seat
) -> list[LogRound]:
    """Return the full log of a game, round by round."""
    summaries = {one.number: round_summary(one, viewer) for one in finished}
    numbers = sorted({play.round_number for play in plays})
    return [
        LogRound(
            number,
            steps_of(game, [play for play in plays if play.round_number == number], viewer),
            summaries.get(number),
        )
        for number in numbers
    ]


def _last_play(game: Game, viewer: Seat, rules: RuleSet) -> str:
    if game.last_text is None:
        return ""
    seat = Seat(game.last_seat)
    card, captured, kind = read_play(game, game.last_text)
    name = None if seat is viewer else game.player(seat).shown_name
    return wording.play_sentence(name, card, captured, kind, points_of(rules, kind))


def _viewer(view: SeatView) -> Seat:
    if view.seat is None:
        raise ValueError("a table is shown to one of its players")
    return view.seat


def _phase(game: Game, viewer: Seat) -> Phase:
    if game.status == Game.Status.SEALED:
        return Phase.DEAL
    if game.status == Game.Status.FINISHED:
        return Phase.OVER
    return Phase.PLAY if game.turn == viewer else Phase.WAIT


def _player_box(game: Game, view: SeatView, seat: Seat) -> PlayerBox:
    player = game.player(seat)
    basras = view.basras[seat]
    return PlayerBox(
        name=player.shown_name,
        label=_("You") if seat is view.seat else wording.isolated_name(player.shown_name),
        is_me=seat is view.seat,
        is_computer=player.is_computer,
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


def _since_my_last_choice(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The plays the viewer may not have seen: from the last card of the viewer's own choosing."""
    for index in range(len(steps) - 1, -1, -1):
        if steps[index].is_me and not steps[index].forced:
            return steps[index:]
    return steps


def _status(game: Game, viewer: Seat) -> str:
    match _phase(game, viewer):
        case Phase.DEAL:
            return _("The cards are sealed and wait for your words.")
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


def _left_over(result: RoundResult, viewer: Seat) -> str:
    if not result.left_over:
        return ""
    cards = " ".join(wording.isolated_symbol(card) for card in result.left_over)
    if result.left_over_to is None:
        return _("%(cards)s stayed on the floor and went to nobody.") % {"cards": cards}
    if result.left_over_to is viewer:
        return _("You took last, so the cards left on the floor went to you: %(cards)s") % {
            "cards": cards
        }
    return _("The other player took last, so the cards left on the floor went there: %(cards)s") % {
        "cards": cards
    }
