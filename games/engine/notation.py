"""Plays, states and whole games as text, both ways.

The grammar of the game record is docs/record.md. What is written is canonical: reading it gives
the same value, and what is read and written again is the canonical text.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from .captures import Kind
from .cards import Card, format_cards, parse_cards
from .errors import BasraError, InvalidInput, RecordError, UnsoundState, shown
from .game import GameState, Played, RoundResult, Terms, deal, end, new_game, play, problems
from .rounds import PLAYS, Basras, Play, RoundState
from .rulesets import RuleSet
from .scoring import Outcome, Reason, RoundScore
from .seats import Pair, Seat
from .shuffle import SHUFFLE_VERSION, Deal, anchor_from_secret, deal_round, is_one_line

RECORD_VERSION: Final = 1

_MARKS: Final = {Kind.NONE: "", Kind.BASRA: "*", Kind.JACK: "*J", Kind.KOMI: "*K"}
_KINDS: Final = {mark: kind for kind, mark in _MARKS.items()}
_PLAY = re.compile(r"(?P<card>[^:*]+)(?::(?P<taken>[^:*]+))?(?P<mark>\*[JK]?)?")


# A play


def format_play(played: Played) -> str:
    """One play: ``8C``, or ``8C:7S+8D+AH*`` with what it took and the mark of its basra.

    Captured cards are in pack order. Marks: ``*`` basra, ``*J`` jack basra, ``*K`` komi basra.
    """
    return _play_text(played.card, played.captured, played.kind)


def parse_play(text: str) -> Play:
    """Read a play; the mark is read over, and no capture leaves it to the rules.

    Raises :class:`InvalidInput` for what is not a play.
    """
    card, captured, _ = read_play(text)
    return Play(card, frozenset(captured) if captured else None)


def _play_text(card: Card, captured: Iterable[Card], kind: Kind) -> str:
    taken = "+".join([other.code for other in sorted(captured)])
    return f"{card}:{taken}{_MARKS[kind]}" if taken else card.code


def read_play(text: str) -> tuple[Card, tuple[Card, ...], Kind]:
    """Read what a play did: its card, what it captured in pack order, and the kind of basra.

    Raises :class:`InvalidInput` for what is not a play.
    """
    match = _PLAY.fullmatch(text)
    if match is None or (match["mark"] and not match["taken"]):
        raise InvalidInput(f"{shown(text)} is not a play.", "card")
    card = Card.parse(match["card"])
    codes = match["taken"].split("+") if match["taken"] else []
    captured = tuple(sorted(map(Card.parse, codes)))
    if len({card, *captured}) <= len(captured):
        raise InvalidInput(f"{shown(text)} has a card twice.", "card")
    return card, captured, _KINDS[match["mark"] or ""]


# A state, as it is stored


def dump_state(state: GameState) -> tuple[dict[str, object], dict[str, object]]:
    """A state as two JSON objects: what both players know, and hands and stock.

    The terms are not included; they are stored with the game.
    """
    table = state.round
    public: dict[str, object] = {
        "round_number": state.round_number,
        "totals": list(state.totals),
        "carried": state.carried,
        "next_dealer": state.next_dealer,
        "outcome": None,
        "round": None,
    }
    if state.outcome is not None:
        public["outcome"] = [state.outcome.winner, state.outcome.reason]
    if table is None:
        return public, {}
    public["round"] = {
        "dealer": table.dealer,
        "floor": format_cards(table.floor),
        "piles": list(table.piles.map(format_cards)),
        "basras": [[made.basra, made.jack, made.komi] for made in table.basras],
        "last_capturer": table.last_capturer,
    }
    return public, {
        "hands": list(table.hands.map(format_cards)),
        "stock": format_cards(table.stock),
    }


def load_state(
    terms: Terms, public: Mapping[str, object], hidden: Mapping[str, object]
) -> GameState:
    """The state that :func:`dump_state` wrote.

    Raises :class:`UnsoundState` for anything else: wrong keys or types, or a position that
    ``problems`` finds fault with.
    """
    try:
        state = _loaded(terms, public, hidden)
    except (KeyError, TypeError, ValueError, AttributeError, InvalidInput) as error:
        raise UnsoundState("The stored state cannot be read.") from error
    if wrong := problems(state):
        raise UnsoundState(" ".join(wrong))
    return state


def _loaded(terms: Terms, public: Mapping[str, object], hidden: Mapping[str, object]) -> GameState:
    outcome = None
    if public["outcome"] is not None:
        winner, reason = _items(public["outcome"], 2)
        outcome = Outcome(_seat_or_none(winner), Reason(_string(reason)))
    totals_a, totals_b = _items(public["totals"], 2)
    return GameState(
        terms=terms,
        round_number=_whole(public["round_number"]),
        round=_loaded_round(public["round"], hidden),
        totals=Pair(_whole(totals_a), _whole(totals_b)),
        carried=_whole(public["carried"]),
        next_dealer=_seat_or_none(public["next_dealer"]),
        outcome=outcome,
    )


def _loaded_round(table: object, hidden: Mapping[str, object]) -> RoundState | None:
    if table is None:
        if hidden:
            raise ValueError("hidden cards without a round")
        return None
    if not isinstance(table, Mapping):
        raise TypeError("not an object")
    hand_a, hand_b = _items(hidden["hands"], 2)
    pile_a, pile_b = _items(table["piles"], 2)
    basras_a, basras_b = _items(table["basras"], 2)
    return RoundState(
        dealer=Seat(_string(table["dealer"])),
        hands=Pair(_cards(hand_a), _cards(hand_b)),
        floor=_cards(table["floor"]),
        stock=_cards(hidden["stock"]),
        piles=Pair(_cards(pile_a), _cards(pile_b)),
        basras=Pair(
            Basras(*map(_whole, _items(basras_a, 3))), Basras(*map(_whole, _items(basras_b, 3)))
        ),
        last_capturer=_seat_or_none(table["last_capturer"]),
    )


def _items(value: object, count: int) -> list[object]:
    if not isinstance(value, list) or len(value) != count:
        raise TypeError(f"not a list of {count}")
    return value


def _whole(value: object) -> int:
    if type(value) is not int:
        raise TypeError("not a whole number")
    return value


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _cards(value: object) -> tuple[Card, ...]:
    return parse_cards(_string(value))


def _seat_or_none(value: object) -> Seat | None:
    return None if value is None else Seat(_string(value))


# The record of a game


@dataclass(frozen=True, slots=True)
class RecordedPlay:
    """One play as it was made.

    ``at`` is a time in UTC, written ``2026-11-30T08:15:00Z``, with six decimals or none.
    """

    seat: Seat
    card: Card
    captured: tuple[Card, ...] = ()
    kind: Kind = Kind.NONE
    at: str | None = None

    @classmethod
    def of(cls, played: Played, at: str | None = None) -> "RecordedPlay":
        """What a record keeps of ``played``."""
        return cls(played.seat, played.card, played.captured, played.kind, at)


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """One seat's points of a round by component, as a record states them."""

    majority: int
    carried: int
    basra: int
    jack: int
    komi: int
    singles: int
    total: int

    @classmethod
    def of(cls, score: RoundScore) -> "ScoreLine":
        """The line for a counted round."""
        return cls(
            majority=score.majority,
            carried=score.carried_won,
            basra=score.basra,
            jack=score.jack,
            komi=score.komi,
            singles=sum(points for _, points in score.singles),
            total=score.total,
        )


@dataclass(frozen=True, slots=True)
class RecordedScore:
    """What a record states at the end of a round: both scores, the new totals, carried points."""

    lines: Pair[ScoreLine]
    totals: Pair[int]
    carried: int

    @classmethod
    def of(cls, result: RoundResult) -> "RecordedScore":
        """What a record keeps of ``result``."""
        return cls(result.score.map(ScoreLine.of), result.totals, result.carried)


@dataclass(frozen=True, slots=True)
class RecordedRound:
    """One round: the 52 cards in dealing order after floor replacement, and its plays.

    The cards include hands and stock: a round that is still being played belongs into no record
    that a player can read. ``secret`` is the revealed secret of the round; ``score`` may be left
    out of any round.
    """

    dealer: Seat
    cards: tuple[Card, ...]
    plays: tuple[RecordedPlay, ...] = ()
    score: RecordedScore | None = None
    secret: bytes | None = None


@dataclass(frozen=True, slots=True)
class Fairness:
    """What was published of the shuffle before the cards were played."""

    anchor: bytes
    words_sha256: bytes
    words_by: Literal["opponent", "server"] | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A whole game, or the beginning of one.

    ``outcome`` may be left out where the game goes on, or where it follows from the cards.
    """

    terms: Terms
    rounds: tuple[RecordedRound, ...] = ()
    outcome: Outcome | None = None
    game_id: UUID | None = None
    names: Pair[str] | None = None
    fairness: Fairness | None = None


def format_record(record: Record) -> str:
    """Write a record as text, every line ending in a line feed.

    Raises :class:`RecordError` for what the text cannot hold: a name that is empty, has spaces
    around it or control characters, and a time not written as in :class:`RecordedPlay`.
    """
    lines = [f"basra-record {RECORD_VERSION}"]
    if record.game_id is not None:
        lines.append(f"game {record.game_id}")
    rules = record.terms.rules.to_json()
    if not isinstance(rules, str):
        rules = json.dumps(rules, separators=(",", ":"))
    lines.append(f"rules {rules}")
    target = record.terms.target
    lines.append(f"target {'one round' if target is None else target}")
    if record.names is not None:
        lines += [f"name {seat} {_checked_name(record.names[seat])}" for seat in Seat]
    if (fairness := record.fairness) is not None:
        lines.append(f"shuffle {SHUFFLE_VERSION}")
        lines.append(f"anchor {fairness.anchor.hex()}")
        lines.append(f"words-sha256 {fairness.words_sha256.hex()}")
        if fairness.words_by is not None:
            lines.append(f"words-by {fairness.words_by}")
    for number, recorded in enumerate(record.rounds, 1):
        lines += _round_lines(number, recorded)
    if record.outcome is not None:
        lines.append(f"outcome {record.outcome.winner or '-'} {record.outcome.reason}")
    return "\n".join(lines) + "\n"


def parse_record(text: str) -> Record:
    """Read a record; that the plays follow the rules is for :func:`replay` to say.

    Raises :class:`RecordError` with the round and ply of the first line that cannot be read.
    """
    return _Reader(text).record()


def replay(record: Record) -> GameState:
    """Play a record through and return the state at its end.

    Everything the record states is checked: each play with its capture and basra, scores,
    totals, dealers, the outcome, and, where fairness data are given, that the revealed secrets
    hang on the anchor and give these very cards. Raises :class:`RecordError` with round and ply
    of the first thing that is wrong.
    """
    state = new_game(record.terms)
    for number, recorded in enumerate(record.rounds, 1):
        if state.outcome is not None:
            raise RecordError("The game was over before this round.", number)
        if state.round is not None:
            raise RecordError("The round before was not played out.", number)
        _check_fairness(record, recorded, number)
        try:
            state = deal(state, Deal.from_cards(recorded.cards, recorded.dealer))
        except BasraError as error:
            raise RecordError(str(error), number) from error
        if state.round is None or state.round.dealer is not recorded.dealer:
            raise RecordError(f"{recorded.dealer} does not deal this round.", number)
        state = _replay_round(state, recorded, number)
    return _replay_end(state, record)


def _replay_round(state: GameState, recorded: RecordedRound, number: int) -> GameState:
    finished = None
    for ply, stated in enumerate(recorded.plays, 1):
        try:
            state, played = play(state, stated.seat, Play(stated.card, frozenset(stated.captured)))
        except BasraError as error:
            raise RecordError(str(error), number, ply) from error
        if played.kind is not stated.kind:
            raise RecordError(f"This play makes {played.kind}, not {stated.kind}.", number, ply)
        finished = played.finished
    if recorded.score is not None:
        if finished is None:
            raise RecordError("A round that is not over has no score.", number)
        if recorded.score != RecordedScore.of(finished):
            raise RecordError("The stated score is not the score of this round.", number)
    return state


def _replay_end(state: GameState, record: Record) -> GameState:
    stated = record.outcome
    if stated is None or stated == state.outcome:
        return state
    number = len(record.rounds) or None
    try:
        return end(state, stated.reason, stated.winner)
    except BasraError as error:
        raise RecordError("The stated outcome does not follow from the game.", number) from error


def _check_fairness(record: Record, recorded: RecordedRound, number: int) -> None:
    fairness, secret = record.fairness, recorded.secret
    if fairness is None or secret is None:
        return
    if anchor_from_secret(secret, number) != fairness.anchor:
        raise RecordError("The secret of this round does not hang on the anchor.", number)
    if record.game_id is None:
        return
    try:
        fair = deal_round(
            secret=secret,
            game_id=record.game_id,
            round_number=number,
            words_sha256=fairness.words_sha256,
            replaced=record.terms.rules.replaced,
        )
    except InvalidInput as error:
        raise RecordError(str(error), number) from error
    if fair.cards != recorded.cards:
        raise RecordError("The secret of this round does not give these cards.", number)
    if number == 1 and fair.first_dealer is not recorded.dealer:
        raise RecordError("The secret of this round draws the other dealer.", number)


def _round_lines(number: int, recorded: RecordedRound) -> list[str]:
    lines = [f"round {number}", f"dealer {recorded.dealer}"]
    if recorded.secret is not None:
        lines.append(f"secret {recorded.secret.hex()}")
    lines.append(f"cards {format_cards(recorded.cards)}")
    for stated in recorded.plays:
        line = f"{stated.seat} {_play_text(stated.card, stated.captured, stated.kind)}"
        lines.append(line if stated.at is None else f"{line} {_checked_time(stated.at)}")
    if (score := recorded.score) is not None:
        for seat in Seat:
            points = score.lines[seat]
            lines.append(
                f"score {seat} "
                + " ".join(f"{name}={getattr(points, name)}" for name in _SCORE_NAMES)
            )
        lines.append(f"totals {score.totals.a} {score.totals.b} carried {score.carried}")
    return lines


_SCORE_NAMES: Final = ("majority", "carried", "basra", "jack", "komi", "singles", "total")
_TIME = re.compile(
    r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{6})?Z",
    re.ASCII,
)
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")


def _checked_name(name: str) -> str:
    if not name or name != name.strip() or not is_one_line(name):
        raise RecordError("A name is one line of text.")
    return name


def _checked_time(at: str) -> str:
    if not _TIME.fullmatch(at):
        raise RecordError(f"{shown(at)} is no time in UTC.")
    return at


class _Reader:
    """Reads a record line by line, and knows where it is when something is wrong."""

    def __init__(self, text: str) -> None:
        lines = (line.strip() for line in text.split("\n"))
        self._lines = [line for line in lines if line and not line.startswith("#")]
        self._next = 0
        self._round: int | None = None
        self._ply: int | None = None

    def record(self) -> Record:
        if self._needed("basra-record") != str(RECORD_VERSION):
            raise self._wrong(f"Only version {RECORD_VERSION} of the record can be read.")
        game_id = self._optional("game")
        identity = None if game_id is None else self._uuid(game_id)
        rules = self._rules(self._needed("rules"))
        terms = self._terms(rules, self._needed("target"))
        names = self._names()
        fairness = self._fairness()
        rounds: list[RecordedRound] = []
        while self._peek("round"):
            rounds.append(self._recorded_round(len(rounds) + 1))
        self._round = None
        outcome = self._outcome()
        if self._next < len(self._lines):
            raise self._wrong(f"{shown(self._lines[self._next])} does not belong here.")
        return Record(terms, tuple(rounds), outcome, identity, names, fairness)

    def _recorded_round(self, number: int) -> RecordedRound:
        self._round = number
        if self._needed("round") != str(number):
            raise self._wrong(f"Round {number} should come here.")
        dealer = self._seat(self._needed("dealer"))
        secret = self._optional("secret")
        cards = self._pack(self._needed("cards"))
        plays: list[RecordedPlay] = []
        while self._peek("A") or self._peek("B"):
            self._ply = len(plays) + 1
            if self._ply > PLAYS:
                raise self._wrong(f"A round has {PLAYS} plays.")
            plays.append(self._play())
        self._ply = None
        score = self._score() if self._peek("score") else None
        return RecordedRound(
            dealer, cards, tuple(plays), score, None if secret is None else self._hex(secret)
        )

    def _play(self) -> RecordedPlay:
        seat, *rest = self._take().split()
        if not 1 <= len(rest) <= 2:
            raise self._wrong("A play is a seat, the play, and perhaps a time.")
        try:
            card, captured, kind = read_play(rest[0])
        except InvalidInput as error:
            raise self._wrong(str(error)) from error
        at = rest[1] if len(rest) == 2 else None
        if at is not None and not _TIME.fullmatch(at):
            raise self._wrong(f"{shown(at)} is no time in UTC.")
        return RecordedPlay(Seat(seat), card, captured, kind, at)

    def _score(self) -> RecordedScore:
        lines = Pair.of(self._score_line)
        words = self._needed("totals").split()
        if len(words) != 4 or words[2] != "carried":
            raise self._wrong("Totals are two numbers and what is carried.")
        a, b, carried = (self._number(words[place]) for place in (0, 1, 3))
        return RecordedScore(lines, Pair(a, b), carried)

    def _score_line(self, seat: Seat) -> ScoreLine:
        stated, *parts = self._needed("score").split() or [""]
        pairs = [part.partition("=") for part in parts]
        if stated != seat or tuple(name for name, _, _ in pairs) != _SCORE_NAMES:
            raise self._wrong(f"The score of {seat} names {', '.join(_SCORE_NAMES)}.")
        return ScoreLine(*(self._number(points) for _, _, points in pairs))

    def _names(self) -> Pair[str] | None:
        return Pair.of(self._name) if self._peek("name") else None

    def _name(self, seat: Seat) -> str:
        stated, _, name = self._needed("name").partition(" ")
        if stated != seat:
            raise self._wrong(f"The name of {seat} should come here.")
        try:
            return _checked_name(name.strip())
        except RecordError as error:
            raise self._wrong(str(error)) from error

    def _fairness(self) -> Fairness | None:
        version = self._optional("shuffle")
        if version is None:
            return None
        if version != SHUFFLE_VERSION:
            raise self._wrong(f"The shuffle is {SHUFFLE_VERSION}.")
        anchor = self._hex(self._needed("anchor"))
        words = self._hex(self._needed("words-sha256"))
        match self._optional("words-by"):
            case None:
                return Fairness(anchor, words)
            case "opponent" | "server" as words_by:
                return Fairness(anchor, words, words_by)
            case _:
                raise self._wrong("The words are by the opponent or the server.")

    def _outcome(self) -> Outcome | None:
        stated = self._optional("outcome")
        if stated is None:
            return None
        winner, _, reason = stated.partition(" ")
        if reason.strip() not in list(Reason):
            raise self._wrong("The outcome needs a reason.")
        return Outcome(None if winner == "-" else self._seat(winner), Reason(reason.strip()))

    def _rules(self, text: str) -> RuleSet:
        try:
            return RuleSet.from_json(json.loads(text) if text.startswith("{") else text)
        except (ValueError, RecursionError, InvalidInput) as error:
            raise self._wrong("The rules are no rule set.") from error

    def _terms(self, rules: RuleSet, text: str) -> Terms:
        try:
            one_round = text.split() == ["one", "round"]
            return Terms(rules, None if one_round else self._number(text))
        except InvalidInput as error:
            raise self._wrong("The target is no target.") from error

    def _pack(self, text: str) -> tuple[Card, ...]:
        try:
            return Deal.from_cards(parse_cards(text)).cards
        except InvalidInput as error:
            raise self._wrong(str(error)) from error

    def _uuid(self, text: str) -> UUID:
        try:
            return UUID(text)
        except ValueError as error:
            raise self._wrong("The game id is a UUID.") from error

    def _hex(self, text: str) -> bytes:
        if not re.fullmatch("[0-9a-fA-F]{64}", text):
            raise self._wrong("Secrets and fingerprints are 64 hexadecimal digits.")
        return bytes.fromhex(text)

    def _seat(self, text: str) -> Seat:
        if text not in list(Seat):
            raise self._wrong(f"{shown(text)} is no seat.")
        return Seat(text)

    def _number(self, text: str) -> int:
        if not _NUMBER.fullmatch(text):
            raise self._wrong(f"{shown(text)} is no number.")
        return int(text)

    def _peek(self, word: str) -> bool:
        return self._next < len(self._lines) and self._lines[self._next].split()[0] == word

    def _take(self) -> str:
        line = self._lines[self._next]
        self._next += 1
        return line

    def _optional(self, word: str) -> str | None:
        return self._take().removeprefix(word).strip() if self._peek(word) else None

    def _needed(self, word: str) -> str:
        value = self._optional(word)
        if value is None:
            raise self._wrong(f"A line {word!r} is missing.")
        return value

    def _wrong(self, message: str) -> RecordError:
        return RecordError(message, self._round, self._ply)
