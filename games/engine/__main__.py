"""The engine's door for other programs: JSON lines in, JSON lines out (docs/door.md)."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import BinaryIO, Final
from uuid import UUID

from .captures import Kind, captures
from .cards import PACK, Card
from .errors import InvalidInput, RecordError, shown
from .game import Terms
from .notation import parse_record, replay
from .rounds import PLAYS, Basras, gets_left_over
from .rulesets import Replaced, RuleSet
from .scoring import outcome_after, score_round
from .seats import Pair, Seat
from .shuffle import (
    ROUNDS_SEALED,
    anchor_of,
    deal_round,
    round_key,
    secret_of_round,
    words_digest,
)

type Question = Mapping[str, object]
type Answer = dict[str, object]

MOST_NUMERALS: Final = 16
"""Floors with more numerals are refused; play never reaches more than 13."""

MOST_POINTS: Final = 10**9
"""Totals and carried points beyond this are refused; no game comes near it."""

MOST_SINGLES: Final = 13
"""Four jacks, four aces, the ten of diamonds and a two together."""

ONE_ROUND: Final = "one round"


# The verbs


def answer_captures(question: Question) -> Answer:
    """What a card takes from a floor."""
    _keys(question, ("rule_set", "floor", "played", "choice"))
    rules = RuleSet.from_json(question["rule_set"])
    floor = _cards(question["floor"])
    card = Card.parse(question["played"])
    _no_card_twice([*floor, card])
    _not_too_many(floor)
    options = captures(rules, floor, card)
    made = options[0]
    if question["choice"] is not None:
        chosen = _cards(question["choice"])
        matching = [one for one in options if sorted(chosen) == list(one.cards)]
        if not matching:
            raise InvalidInput("The choice is no maximal capture.", "choice")
        made = matching[0]
    return {
        "captured": _codes(made.cards),
        "kind": made.kind,
        "points": made.points,
        "maximal_captures": [_codes(one.cards) for one in options],
    }


def answer_rounds(question: Question) -> Answer:
    """The last plays of a round, by default captures, and who gets the left-overs."""
    _keys(question, ("rule_set", "floor", "last_plays", "last_capturer"), ("dealer",))
    rules = RuleSet.from_json(question["rule_set"])
    floor = _cards(question["floor"])
    plays = [_seat_and_card(entry) for entry in _list(question["last_plays"], "card")]
    _no_card_twice([*floor, *(card for _, card in plays)])
    last = question["last_capturer"]
    last_capturer = None if last is None else _seat(last)
    dealer = _seat(question.get("dealer", "A"))
    made: list[tuple[tuple[Card, ...], Kind, int]] = []
    for number, (seat, card) in enumerate(plays, 1):
        _not_too_many(floor)
        capture = captures(rules, floor, card)[0]
        if number == len(plays) and not rules.last_card_basra:
            made.append((capture.cards, Kind.NONE, 0))
        else:
            made.append((capture.cards, capture.kind, capture.points))
        if capture.cards:
            floor = [lying for lying in floor if lying not in capture.cards]
            last_capturer = seat
        else:
            floor = [*floor, card]
    receiver = gets_left_over(rules, last_capturer, dealer) if floor else None
    return {
        "captures": [_codes(cards) for cards, _, _ in made],
        "kinds": [kind for _, kind, _ in made],
        "points": [points for _, _, points in made],
        "left_over_to": None if receiver is None else [receiver, _codes(floor)],
    }


def answer_score(question: Question) -> Answer:
    """Count finished rounds one after the other."""
    _keys(question, ("rule_set", "target", "totals_before", "carried_before", "rounds"))
    rules = RuleSet.from_json(question["rule_set"])
    terms = Terms(rules, _target(question["target"]))
    totals = _pair_of_numbers(question["totals_before"], MOST_POINTS)
    carried = _number(question["carried_before"], 0, MOST_POINTS)
    rounds = _list(question["rounds"], "number")
    if len(rounds) > ROUNDS_SEALED:
        raise InvalidInput(f"A game has at most {ROUNDS_SEALED} rounds.", "number")
    counted: list[Answer] = []
    outcome = None
    for number, entry in enumerate(rounds, 1):
        if outcome is not None:
            raise InvalidInput(f"The game was over before round {number}.", "number")
        cards, basras, singles = _finished_round(rules, entry)
        score, carried = score_round(rules, cards, basras, Pair((), ()), carried)
        points = Pair(score.a.total + singles.a, score.b.total + singles.b)
        totals = Pair(totals.a + points.a, totals.b + points.b)
        outcome = outcome_after(terms.target, totals, number)
        result = None
        if outcome is not None:
            result = "draw" if outcome.winner is None else f"{outcome.winner} wins"
        counted.append(
            {
                "points": list(points),
                "totals": list(totals),
                "carried_after": carried,
                "result": result,
            }
        )
    return {"rounds": counted}


def answer_deal(question: Question) -> Answer:
    """Deal one round from its secret, or from the tip of the chain."""
    _keys(
        question,
        ("game_id", "round", "replaced"),
        ("words", "words_sha256", "secret", "tip", "rounds_sealed"),
    )
    _one_of(question, "words", "words_sha256")
    _one_of(question, "secret", "tip")
    game_id = _game_id(question["game_id"])
    replaced = _replaced(question["replaced"])
    if "words" in question:
        words_sha256 = words_digest(_text(question["words"]))
    else:
        words_sha256 = _bytes(question["words_sha256"])
    sealed = _number(question.get("rounds_sealed", ROUNDS_SEALED), 1, ROUNDS_SEALED)
    number = _number(question["round"], 1, sealed)
    answer: Answer = {}
    if "tip" in question:
        if "rounds_sealed" not in question:
            raise InvalidInput("With a tip, rounds_sealed must be given.", "missing")
        tip = _bytes(question["tip"])
        secret = secret_of_round(tip, sealed, number)
        answer["anchor"] = anchor_of(tip, sealed).hex()
    else:
        secret = _bytes(question["secret"])
    key = round_key(secret=secret, game_id=game_id, round_number=number, words_sha256=words_sha256)
    deal = deal_round(
        secret=secret,
        game_id=game_id,
        round_number=number,
        words_sha256=words_sha256,
        replaced=replaced,
    )
    if deal.first_dealer is not None:
        answer["first_dealer"] = "creator" if deal.first_dealer is Seat.A else "opponent"
    return answer | {
        "key": key.hex(),
        "secret": secret.hex(),
        "deck": _codes(deal.deck),
        "non_dealer": _codes(deal.non_dealer),
        "dealer": _codes(deal.dealer),
        "floor": _codes(deal.floor),
        "stock": _codes(deal.stock),
    }


def answer_replay(question: Question) -> Answer:
    """Play a game record through."""
    _keys(question, ("record",))
    text = question["record"]
    if not isinstance(text, str):
        raise RecordError("A record is a text.")
    record = parse_record(text)
    state = replay(record)
    outcome = None
    if state.outcome is not None:
        outcome = {"winner": state.outcome.winner, "reason": state.outcome.reason}
    return {
        "rounds": len(record.rounds),
        "plays": sum(len(recorded.plays) for recorded in record.rounds),
        "totals": list(state.totals),
        "outcome": outcome,
    }


VERBS: Final[dict[str, Callable[[Question], Answer]]] = {
    "captures": answer_captures,
    "rounds": answer_rounds,
    "score": answer_score,
    "deal": answer_deal,
    "replay": answer_replay,
}


# Reading a question


def _keys(question: Question, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> None:
    for key in needed:
        if key not in question:
            raise InvalidInput(f"{key} is missing.", "missing")
    for key in question:
        if key not in needed and key not in optional:
            raise InvalidInput(f"{shown(key)} is no key of this question.", "unknown_key")


def _one_of(question: Question, one: str, other: str) -> None:
    if one not in question and other not in question:
        raise InvalidInput(f"Either {one} or {other} must be given.", "missing")
    if one in question and other in question:
        raise InvalidInput(f"{one} and {other} exclude each other.", "unknown_key")


def _list(value: object, code: str) -> list[object]:
    if not isinstance(value, list):
        raise InvalidInput(f"{shown(value)} is not a list.", code)
    return value


def _cards(value: object) -> list[Card]:
    return [Card.parse(code) for code in _list(value, "card")]


def _no_card_twice(cards: list[Card]) -> None:
    if len(set(cards)) < len(cards):
        raise InvalidInput("A card is on the table twice.", "card")


def _not_too_many(floor: list[Card]) -> None:
    if sum(card.value is not None for card in floor) > MOST_NUMERALS:
        raise InvalidInput(f"The floor holds more than {MOST_NUMERALS} numerals.", "number")


def _seat(value: object) -> Seat:
    if not isinstance(value, str) or value not in list(Seat):
        raise InvalidInput(f"{shown(value)} is no seat.", "seat")
    return Seat(value)


def _seat_and_card(value: object) -> tuple[Seat, Card]:
    entry = _list(value, "card")
    if len(entry) != 2:
        raise InvalidInput("A play is a seat and a card.", "card")
    return _seat(entry[0]), Card.parse(entry[1])


def _number(value: object, least: int, most: int) -> int:
    # Not isinstance: True is an int to Python, and no number to anybody else.
    if type(value) is not int or not least <= value <= most:
        raise InvalidInput(f"{shown(value)} is no number from {least} to {most}.", "number")
    return value


def _pair_of_numbers(value: object, most: int) -> Pair[int]:
    numbers = _numbers(value, 2, most)
    return Pair(numbers[0], numbers[1])


def _numbers(value: object, count: int, most: int) -> list[int]:
    entries = _list(value, "number")
    if len(entries) != count:
        raise InvalidInput(f"{count} numbers belong here, not {len(entries)}.", "number")
    return [_number(entry, 0, most) for entry in entries]


def _target(value: object) -> int | None:
    return None if value == ONE_ROUND else _number(value, 0, MOST_POINTS)


def _finished_round(rules: RuleSet, value: object) -> tuple[Pair[int], Pair[Basras], Pair[int]]:
    """Cards, basras and points for single cards of one finished round."""
    if not isinstance(value, Mapping):
        raise InvalidInput("A round is an object.", "number")
    _keys(value, ("cards", "basras"), ("singles",))
    cards = _pair_of_numbers(value["cards"], len(PACK))
    out_of_play = len(PACK) - cards.a - cards.b
    if out_of_play < 0 or (out_of_play and rules.left_over != "nobody"):
        raise InvalidInput("The cards of a round are 52.", "number")
    made = _list(value["basras"], "number")
    if len(made) != 2:
        raise InvalidInput("Basras are given for two seats.", "number")
    basras = Pair(*(Basras(*_numbers(counts, 3, PLAYS)) for counts in made))
    return cards, basras, _pair_of_numbers(value.get("singles", [0, 0]), MOST_SINGLES)


def _game_id(value: object) -> UUID:
    if not isinstance(value, str) or not _UUID.fullmatch(value):
        raise InvalidInput("The game id is a UUID.", "hex")
    return UUID(value)


def _replaced(value: object) -> Replaced:
    match value:
        case "bottom" | "random place":
            return value
        case _:
            raise InvalidInput(f"A replaced card cannot go to {shown(value)}.", "rule_set")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInput("Words are a text.", "json")
    return value


def _bytes(value: object) -> bytes:
    if not isinstance(value, str) or not _HEX.fullmatch(value):
        raise InvalidInput("64 hexadecimal digits belong here.", "hex")
    return bytes.fromhex(value)


_HEX: Final = re.compile("[0-9a-fA-F]{64}")
_UUID: Final = re.compile("[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")


def _codes(cards: Iterable[Card]) -> list[str]:
    return [card.code for card in cards]


# Lines


def answer_line(verb: str, line: str) -> Answer:
    """Answer one line; whatever is wrong with it is an answer too."""
    try:
        return VERBS[verb](_question(line))
    except RecordError as error:
        return _refusal(error) | {"round": error.round, "ply": error.ply}
    except InvalidInput as error:
        return _refusal(error)


def _refusal(error: InvalidInput) -> Answer:
    return {"error": error.code, "message": str(error)}


def _question(line: str) -> Question:
    try:
        question = json.loads(
            line,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_constant=_no_constant,
        )
    except (ValueError, RecursionError) as error:
        raise InvalidInput("The line is not JSON.", "json") from error
    if not isinstance(question, dict):
        raise InvalidInput("The line is not a JSON object.", "json")
    return question


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(values := dict(pairs)) < len(pairs):
        raise ValueError("a key comes twice")
    return values


def _integer(digits: str) -> int:
    # Python refuses to read very long numbers. All of them are out of range here, and so is
    # this one; that way they are told to be, like any other.
    return int(digits) if len(digits) <= 20 else 10**20


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def serve(verb: str, source: BinaryIO, sink: BinaryIO) -> int:
    """Answer line by line, each at once; return the exit status."""
    for raw in source:
        try:
            line = raw.decode()
        except UnicodeDecodeError:
            print("The input is not UTF-8.", file=sys.stderr)
            return 2
        sink.write(json.dumps(answer_line(verb, line)).encode() + b"\n")
        sink.flush()
    return 0


def main(arguments: list[str]) -> int:
    """Run the door with the given command line; return the exit status."""
    if len(arguments) != 1 or arguments[0] not in VERBS:
        print(f"usage: python -m games.engine {{{','.join(VERBS)}}}", file=sys.stderr)
        return 2
    try:
        return serve(arguments[0], sys.stdin.buffer, sys.stdout.buffer)
    except BrokenPipeError:
        # Nobody reads the answers any more. Python would complain once more while it closes
        # the pipe, so that goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
