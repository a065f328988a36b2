"""Counting a finished round, and who has won (docs/rules.md 4)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from .cards import Card
from .rounds import Basras
from .rulesets import RuleSet
from .seats import Pair, Seat
from .shuffle import ROUNDS_SEALED


class Reason(StrEnum):
    """Why a game is over."""

    SCORE = "score"
    ROUND_LIMIT = "round_limit"
    RESIGNED = "resigned"
    ABORTED = "aborted"
    CANCELLED = "cancelled"
    TIME = "time"

    @property
    def breaks_off(self) -> bool:
        """Whether the reason lies outside the cards, so that no play tells of it."""
        return self not in (Reason.SCORE, Reason.ROUND_LIMIT)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended; without a winner it is a draw or does not count, by its reason."""

    winner: Seat | None
    reason: Reason


@dataclass(frozen=True, slots=True)
class RoundScore:
    """One seat's points of one round, by where they come from; they add up to ``total``.

    ``carried_won`` are points of earlier ties won with the majority; ``singles`` lists the single
    cards that count, with their points.
    """

    majority: int = 0
    carried_won: int = 0
    basra: int = 0
    jack: int = 0
    komi: int = 0
    singles: tuple[tuple[Card, int], ...] = ()

    @property
    def total(self) -> int:
        """All points of the round."""
        return (
            self.majority
            + self.carried_won
            + self.basra
            + self.jack
            + self.komi
            + sum(points for _, points in self.singles)
        )


def majority_winner(cards: Pair[int]) -> Seat | None:
    """The seat with more cards, ``None`` when both have as many."""
    if cards.a == cards.b:
        return None
    return Seat.A if cards.a > cards.b else Seat.B


def score_round(
    rules: RuleSet,
    cards: Pair[int],
    basras: Pair[Basras],
    singles: Pair[tuple[tuple[Card, int], ...]],
    carried: int,
) -> tuple[Pair[RoundScore], int]:
    """Count a round from how many cards and basras each seat has.

    Returns the scores, and the points carried into the next round.
    """
    winner = majority_winner(cards)

    def score_of(seat: Seat) -> RoundScore:
        made = basras[seat]
        return RoundScore(
            majority=rules.majority if seat is winner else 0,
            carried_won=carried if seat is winner else 0,
            basra=made.basra * rules.basra,
            jack=made.jack * rules.jack_basra,
            komi=made.komi * (rules.komi_basra or 0),
            singles=singles[seat],
        )

    score = Pair.of(score_of)
    if winner is not None:
        return score, 0
    return score, carried + rules.majority if rules.equal_cards == "carried" else carried


def single_cards(rules: RuleSet, pile: Iterable[Card]) -> tuple[tuple[Card, int], ...]:
    """The cards of a pile that count by themselves, in pack order, with their points."""
    if rules.single_cards == "none":
        return ()
    points = {"10D": 3, rules.single_cards: 2}

    def points_of(card: Card) -> int:
        return 1 if card.is_jack or card.rank == 1 else points.get(card.code, 0)

    return tuple((card, worth) for card in sorted(pile) if (worth := points_of(card)))


def outcome_after(target: int | None, totals: Pair[int], round_number: int) -> Outcome | None:
    """The outcome once round ``round_number`` is counted; ``None`` if another is to be played.

    ``target`` ``None`` is a game of one round.
    """
    leader = majority_winner(totals)
    if target is None:
        return Outcome(leader, Reason.SCORE)
    if leader is not None and totals[leader] >= target:
        return Outcome(leader, Reason.SCORE)
    if round_number >= ROUNDS_SEALED:
        return Outcome(None, Reason.ROUND_LIMIT)
    return None
