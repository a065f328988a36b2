"""A game: rounds until it has an outcome. Every function returns a new state."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .captures import Kind, captures
from .cards import JACK, PACK, Card
from .errors import GameOver, IllegalPlay, InvalidInput, NotYourTurn, shown
from .rounds import HAND_SIZE, Play, RoundState, gets_left_over, play_card
from .rulesets import TARGETS, RuleSet
from .scoring import Outcome, Reason, RoundScore, outcome_after, score_round, single_cards
from .seats import Pair, Seat
from .shuffle import ROUNDS_SEALED, Deal


@dataclass(frozen=True, slots=True)
class Terms:
    """What the players agreed on: the rule set, and the target (``None`` for one round)."""

    rules: RuleSet
    target: int | None

    def __post_init__(self) -> None:
        if not any(type(self.target) is type(one) and self.target == one for one in TARGETS):
            raise InvalidInput(f"A game cannot be played to {shown(self.target)}.", "number")


@dataclass(frozen=True, slots=True)
class GameState:
    """A game between two plays.

    ``round_number`` counts the rounds dealt so far. ``round`` is ``None`` before the first deal
    and between rounds; ``totals`` and ``carried`` are those of the rounds counted. A game that
    was broken off keeps its last round. ``next_dealer`` is ``None`` until the first dealer is
    known.
    """

    terms: Terms
    round_number: int
    round: RoundState | None
    totals: Pair[int]
    carried: int
    next_dealer: Seat | None
    outcome: Outcome | None

    @property
    def rounds_counted(self) -> int:
        """How many rounds have been played out and counted."""
        return self.round_number - (self.round is not None)

    @property
    def turn(self) -> Seat | None:
        """Who is to play; ``None`` between rounds and when the game is over."""
        return self.round.turn if self.round is not None and self.outcome is None else None


@dataclass(frozen=True, slots=True)
class RoundResult:
    """How round ``number`` ended: cards of each pile, left-overs, points, and the new totals."""

    number: int
    cards: Pair[int]
    left_over: tuple[Card, ...]
    left_over_to: Seat | None
    score: Pair[RoundScore]
    totals: Pair[int]
    carried: int


@dataclass(frozen=True, slots=True)
class Played:
    """What one play did.

    ``captured`` are the floor cards it took, in pack order. ``deals_next`` says that four new
    cards each were dealt after it; ``finished`` is there when it was the last of a round.
    """

    seat: Seat
    card: Card
    captured: tuple[Card, ...]
    kind: Kind
    points: int
    deals_next: bool
    finished: RoundResult | None


def new_game(terms: Terms) -> GameState:
    """A game before its first round is dealt."""
    return GameState(terms, 0, None, Pair(0, 0), 0, None, None)


def deal(state: GameState, deal: Deal) -> GameState:
    """Start the next round.

    The first dealer is the deal's; after that the deal alternates. Raises :class:`GameOver`,
    :class:`IllegalPlay` while a round is being played, :class:`InvalidInput` where round 1 comes
    without a first dealer.
    """
    if state.outcome is not None:
        raise GameOver("The game is over.")
    if state.round is not None:
        raise IllegalPlay("The round is still being played.")
    dealer = state.next_dealer or deal.first_dealer
    if dealer is None:
        raise InvalidInput("The first round needs a first dealer.", "seat")
    return replace(
        state,
        round_number=state.round_number + 1,
        round=RoundState.dealt(dealer, deal),
        next_dealer=dealer.other,
    )


def play(state: GameState, seat: Seat, play: Play) -> tuple[GameState, Played]:
    """Play one card for ``seat``; the last play of a round also counts it.

    When the round is over and the game is not, ``state.round`` is ``None`` and the caller deals
    the next. Raises :class:`GameOver`, :class:`NotYourTurn`, :class:`IllegalPlay`,
    :class:`InvalidInput`; the state given is never changed.
    """
    if state.outcome is not None:
        raise GameOver("The game is over.")
    if state.round is None:
        raise NotYourTurn("The next round has not been dealt.")
    if not isinstance(seat, Seat):
        raise InvalidInput("There are two seats, A and B.", "seat")
    if seat is not state.round.turn:
        raise NotYourTurn("The other seat is to play.")
    if not isinstance(play, Play):
        raise InvalidInput("That is not a play.", "card")
    after, capture = play_card(state.terms.rules, state.round, play)
    if after.hands.a or after.hands.b:
        next_state, finished = _with_round(state, after), None
    else:
        next_state, finished = _counted(state, after)
    played = Played(
        seat=seat,
        card=capture.card,
        captured=capture.cards,
        kind=capture.kind,
        points=capture.points,
        deals_next=len(after.stock) < len(state.round.stock),
        finished=finished,
    )
    return next_state, played


def resign(state: GameState, seat: Seat) -> GameState:
    """``seat`` gives up, on turn or not; the other seat wins. Raises :class:`GameOver`."""
    return end(state, Reason.RESIGNED, seat.other)


def end(state: GameState, reason: Reason, winner: Seat | None = None) -> GameState:
    """Break the game off for a reason that lies outside the cards.

    Raises :class:`GameOver`, and :class:`InvalidInput` for a reason that only the cards can give
    or that does not fit the winner: a resigned game has one, an aborted or cancelled one has not.
    """
    if state.outcome is not None:
        raise GameOver("The game is over.")
    if not reason.breaks_off:
        raise InvalidInput(f"A game is not broken off by {reason}.", "record")
    outcome = Outcome(winner, reason)
    if not _winner_fits(outcome):
        raise InvalidInput(f"That is no winner of a game that was {reason}.", "record")
    return replace(state, outcome=outcome)


def legal_plays(state: GameState) -> tuple[Play, ...]:
    """Every play of the seat to move, in the order of its hand, captures named, defaults first.

    A card that takes nothing has one play with an empty capture. Empty when nobody is to move.
    """
    seat = state.turn
    if seat is None or state.round is None:
        return ()
    rules, floor = state.terms.rules, state.round.floor
    return tuple(
        Play(card, frozenset(capture.cards))
        for card in state.round.hands[seat]
        for capture in captures(rules, floor, card)
    )


def forced_play(state: GameState) -> Play | None:
    """The one play there is, when the seat to move holds one card with no choice of capture."""
    seat = state.turn
    if seat is None or state.round is None or len(state.round.hands[seat]) != 1:
        return None
    plays = legal_plays(state)
    return plays[0] if len(plays) == 1 else None


def _with_round(state: GameState, table: RoundState) -> GameState:
    # Spelt out because it runs for every play, and ``replace`` takes a fifth of a play's time.
    return GameState(
        terms=state.terms,
        round_number=state.round_number,
        round=table,
        totals=state.totals,
        carried=state.carried,
        next_dealer=state.next_dealer,
        outcome=state.outcome,
    )


def _counted(state: GameState, after: RoundState) -> tuple[GameState, RoundResult]:
    """Settle the left-overs and count a round whose last card has been played."""
    rules, terms = state.terms.rules, state.terms
    piles, left_over, left_over_to = after.piles, after.floor, None
    if left_over:
        left_over_to = gets_left_over(rules, after.last_capturer, after.dealer)
    if left_over_to is not None:
        piles = piles.replace(left_over_to, piles[left_over_to] + left_over)
    cards = Pair(len(piles.a), len(piles.b))
    singles = Pair(single_cards(rules, piles.a), single_cards(rules, piles.b))
    score, carried = score_round(rules, cards, after.basras, singles, state.carried)
    totals = Pair.of(lambda seat: state.totals[seat] + score[seat].total)
    result = RoundResult(
        number=state.round_number,
        cards=cards,
        left_over=left_over,
        left_over_to=left_over_to,
        score=score,
        totals=totals,
        carried=carried,
    )
    outcome = outcome_after(terms.target, totals, state.round_number)
    return (
        replace(state, round=None, totals=totals, carried=carried, outcome=outcome),
        result,
    )


def _winner_fits(outcome: Outcome) -> bool:
    match outcome.reason:
        case Reason.RESIGNED:
            return outcome.winner is not None
        case Reason.ROUND_LIMIT | Reason.ABORTED | Reason.CANCELLED:
            return outcome.winner is None
        case Reason.SCORE | Reason.TIME:
            return True


# What can be wrong with a state


def problems(state: GameState) -> list[str]:
    """Everything that is wrong with a state, in sentences; empty for a sound one."""
    return [*_problems_of_game(state), *_problems_of_outcome(state), *_problems_of_round(state)]


def _problems_of_game(state: GameState) -> Iterator[str]:
    number = state.round_number
    if not 0 <= number <= ROUNDS_SEALED:
        yield f"Round {number} cannot be."
    if state.terms.target is None and number > 1:
        yield "A game of one round has more."
    if (state.next_dealer is None) != (number == 0):
        yield "The next dealer is known exactly when a round has been dealt."
    if min(state.totals) < 0:
        yield "A total is negative."
    counted = state.rounds_counted
    if counted <= 0 and any(state.totals):
        yield "There are points, but no round has been counted."
    rules = state.terms.rules
    ties = counted if rules.equal_cards == "carried" else 0
    if state.carried < 0 or (state.carried and state.carried not in _multiples(rules, ties)):
        yield f"{state.carried} points cannot be carried here."


def _multiples(rules: RuleSet, ties: int) -> set[int]:
    return {rules.majority * times for times in range(1, ties + 1)}


def _problems_of_outcome(state: GameState) -> Iterator[str]:
    counted = state.rounds_counted
    by_score = outcome_after(state.terms.target, state.totals, counted) if counted > 0 else None
    outcome = state.outcome
    if outcome is None:
        if by_score is not None:
            yield "The game should be over."
        return
    if not outcome.reason.breaks_off:
        if state.round is not None:
            yield "The game is over by its score in the middle of a round."
        if outcome != by_score:
            yield "The outcome does not follow from the totals."
    elif by_score is not None:
        yield "The game was broken off after it was over."
    if not _winner_fits(outcome):
        yield f"That is no winner of a game that ended by {outcome.reason}."


def _problems_of_round(state: GameState) -> Iterator[str]:
    play_state = state.round
    if play_state is None:
        return
    if state.round_number == 0:
        yield "A round is being played, but none has been dealt."
    if state.next_dealer is play_state.dealer:
        yield "The deal does not alternate."
    yield from _problems_of_cards(play_state)
    yield from _problems_of_floor(play_state.floor)
    yield from _problems_of_basras(play_state)


def _problems_of_cards(state: RoundState) -> Iterator[str]:
    everywhere = (
        *state.hands.a,
        *state.hands.b,
        *state.floor,
        *state.stock,
        *state.piles.a,
        *state.piles.b,
    )
    if sorted(everywhere) != list(PACK):
        yield "The 52 cards are not each in exactly one place."
    leads, follows = len(state.hands[state.dealer.other]), len(state.hands[state.dealer])
    if follows - leads not in (0, 1) or not 1 <= follows <= HAND_SIZE:
        yield f"The hands hold {leads} and {follows} cards."
    if len(state.stock) % (2 * HAND_SIZE) or len(state.stock) > len(PACK) - 12:
        yield f"The stock holds {len(state.stock)} cards."
    if (state.last_capturer is None) != (not state.piles.a and not state.piles.b):
        yield "Somebody captured last exactly when a pile has cards."
    elif state.last_capturer is not None and not state.piles[state.last_capturer]:
        yield "Who captured last has no cards."


def _problems_of_floor(floor: tuple[Card, ...]) -> Iterator[str]:
    # A jack or the komi stays only on an empty floor, so it lies first.
    if any(card.rank == JACK or card.is_komi for card in floor[1:]):
        yield "A jack or the komi lies on top of other cards."
    numerals = [card.rank for card in floor if card.value is not None]
    # All ten ranks, and no more than three of the first floor's four can be doubles.
    if len(numerals) > 13:
        yield f"{len(numerals)} numerals cannot lie on the floor."


def _problems_of_basras(state: RoundState) -> Iterator[str]:
    if sum(made.jack for made in state.basras) > 2:
        yield "There are more than two jack basras."
    if sum(made.komi for made in state.basras) > 1:
        yield "There is more than one komi basra."
    for seat in Seat:
        made = state.basras[seat]
        if min(made.basra, made.jack, made.komi) < 0:
            yield f"{seat} has a negative number of basras."
        # Each basra puts two cards or more into the pile.
        if 2 * (made.basra + made.jack + made.komi) > len(state.piles[seat]):
            yield f"{seat} has more basras than captures."
