"""One pack played out: the state of a round, and what one play changes in it."""

from dataclasses import dataclass

from .captures import Capture, Kind, captures, without_basra
from .cards import Card
from .errors import IllegalPlay, InvalidInput
from .rulesets import RuleSet
from .seats import Pair, Seat
from .shuffle import Deal

HAND_SIZE = 4
DEALS = 6
PLAYS_OF_A_DEAL = 2 * HAND_SIZE
PLAYS = PLAYS_OF_A_DEAL * DEALS
"""How many plays a round has: 48."""


@dataclass(frozen=True, slots=True)
class Basras:
    """How many basras of each kind one seat has made in the round."""

    basra: int = 0
    jack: int = 0
    komi: int = 0

    def plus(self, kind: Kind) -> "Basras":
        """The count after a capture of this kind."""
        match kind:
            case Kind.NONE:
                return self
            case Kind.BASRA:
                return Basras(self.basra + 1, self.jack, self.komi)
            case Kind.JACK:
                return Basras(self.basra, self.jack + 1, self.komi)
            case Kind.KOMI:
                return Basras(self.basra, self.jack, self.komi + 1)


@dataclass(frozen=True, slots=True)
class Play:
    """A card to play, and which of its maximal captures to take.

    ``capture`` ``None`` leaves it to the rules, which take the default.
    """

    card: Card
    capture: frozenset[Card] | None = None


@dataclass(frozen=True, slots=True)
class RoundState:
    """A round between two plays.

    Cards lie in the order in which they came: ``floor`` as laid down, ``stock`` as it will be
    dealt, ``piles`` as captured.
    """

    dealer: Seat
    hands: Pair[tuple[Card, ...]]
    floor: tuple[Card, ...]
    stock: tuple[Card, ...]
    piles: Pair[tuple[Card, ...]]
    basras: Pair[Basras]
    last_capturer: Seat | None

    @classmethod
    def dealt(cls, dealer: Seat, deal: Deal) -> "RoundState":
        """The round before its first play."""
        hands = Pair(deal.non_dealer, deal.non_dealer).replace(dealer, deal.dealer)
        return cls(
            dealer, hands, deal.floor, deal.stock, Pair((), ()), Pair(Basras(), Basras()), None
        )

    @property
    def turn(self) -> Seat:
        """Who plays next: the non-dealer whenever both hands are equally long."""
        leads = self.dealer.other
        return leads if len(self.hands.a) == len(self.hands.b) else self.dealer

    @property
    def deal_number(self) -> int:
        """Which deal of the round is being played, 1 to 6."""
        return DEALS - len(self.stock) // PLAYS_OF_A_DEAL

    def was_dealt_from(self, deal: Deal) -> bool:
        """Whether hands and stock are what ``deal`` gives when the cards have just been dealt."""
        both = 2 * HAND_SIZE
        given = (*deal.non_dealer, *deal.dealer, *deal.stock)[both * (self.deal_number - 1) :]
        leads, follows, stock = given[:HAND_SIZE], given[HAND_SIZE:both], given[both:]
        hands = Pair(leads, leads).replace(self.dealer, follows)
        return (self.hands, self.stock) == (hands, stock)

    @property
    def on_last_card(self) -> bool:
        """Whether the next play is the last one of the round."""
        return not self.stock and len(self.hands.a) + len(self.hands.b) == 1


def play_card(rules: RuleSet, state: RoundState, play: Play) -> tuple[RoundState, Capture]:
    """Let the seat to move play; when both hands are empty the next four each are dealt.

    After the last play of a round both hands stay empty and the floor is still there, to be
    settled by whoever counts the round. Raises :class:`InvalidInput` for what is not a play,
    :class:`IllegalPlay` for a card that is not in the hand and for a set of cards that is no
    maximal capture.
    """
    seat = state.turn
    hand = state.hands[seat]
    card = _own_card(hand, play.card)
    capture = _chosen(captures(rules, state.floor, card), play.capture)
    if state.on_last_card and not rules.last_card_basra:
        capture = without_basra(capture)

    hands = state.hands.replace(seat, tuple(held for held in hand if held != card))
    stock = state.stock
    if not hands.a and not hands.b and stock:
        leads, follows, stock = stock[:4], stock[4:8], stock[8:]
        hands = Pair(leads, leads).replace(state.dealer, follows)

    piles, basras, last_capturer = state.piles, state.basras, state.last_capturer
    if capture.cards:
        floor = tuple(lying for lying in state.floor if lying not in capture.cards)
        piles = piles.replace(seat, (*piles[seat], card, *capture.cards))
        basras = basras.replace(seat, basras[seat].plus(capture.kind))
        last_capturer = seat
    else:
        floor = (*state.floor, card)
    return (
        RoundState(state.dealer, hands, floor, stock, piles, basras, last_capturer),
        capture,
    )


def gets_left_over(rules: RuleSet, last_capturer: Seat | None, dealer: Seat) -> Seat | None:
    """Who gets the cards still on the floor after the last play; ``None`` for nobody."""
    if rules.left_over == "nobody":
        return None
    return last_capturer or dealer


def _own_card(hand: tuple[Card, ...], card: object) -> Card:
    # A bare tuple, or a card made of floats, equals a card: go on with the one from the hand.
    if not isinstance(card, Card):
        raise InvalidInput("A play needs a card.", "card")
    for held in hand:
        if held == card:
            return held
    raise IllegalPlay("That card is not in the hand.")


def _chosen(options: tuple[Capture, ...], chosen: object) -> Capture:
    if chosen is None:
        return options[0]
    if not isinstance(chosen, frozenset):
        raise InvalidInput("A capture is a set of cards.", "choice")
    for option in options:
        if chosen == set(option.cards):
            return option
    raise IllegalPlay("That is no maximal capture of this card.", "choice")
