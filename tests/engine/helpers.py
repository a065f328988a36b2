"""What the engine's tests share: cases, deals, and whole games played by a seeded chooser."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from games.engine import (
    RULE_SETS,
    Card,
    Deal,
    GameState,
    Pair,
    Play,
    Played,
    Record,
    RecordedPlay,
    RecordedRound,
    RecordedScore,
    RuleSet,
    Seat,
    Terms,
    deal,
    deal_round,
    legal_plays,
    new_game,
    parse_cards,
    play,
)

CASES = Path(__file__).parent / "cases"

CUSTOM: dict[str, object] = {
    "base": "standard",
    "komi_alone": "any card",
    "komi_among_others": "any card",
    "jack_on_lone_komi": "komi",
    "komi_basra": 25,
    "single_cards": "2C",
    "last_card_basra": False,
    "left_over": "nobody",
}
ALL_RULES: list[RuleSet] = [
    *RULE_SETS.values(),
    RuleSet.from_json(CUSTOM),
    RuleSet.from_json(
        {
            "base": "egyptian_basra_v2",
            "komi_alone": "ordinary seven",
            "komi_on_lone_jack": "none",
            "jack_on_lone_komi": "komi",
            "equal_cards": "carried",
            "single_cards": "2S",
            "majority": 7,
        }
    ),
]


def cases(name: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads((CASES / f"{name}.json").read_text())
    return loaded


def cards(text: str) -> tuple[Card, ...]:
    return parse_cards(text)


def values_of(rules: RuleSet) -> dict[str, Any]:
    """A rule set as the plain dict that the slow rules read."""
    names = RuleSet.__dataclass_fields__
    return {name: getattr(rules, name) for name in names if name not in ("name", "base")}


def chance_from(seed: object) -> random.Random:
    """A generator that always gives the same."""
    return random.Random(str(seed))


def sealed_deal(rules: RuleSet, seed: int, number: int) -> Deal:
    return deal_round(
        secret=chance_from(f"{seed} {number}").randbytes(32),
        game_id=UUID(int=seed),
        round_number=number,
        words_sha256=bytes(32),
        replaced=rules.replaced,
    )


type Chooser = Callable[[GameState], Play]


def at_random(seed: int) -> Chooser:
    chance = chance_from(seed)
    return lambda state: chance.choice(legal_plays(state))


def steps(terms: Terms, seed: int, choose: Chooser) -> Iterator[tuple[GameState, Played | None]]:
    """Every state of one whole game, each with the play that led to it."""
    state = new_game(terms)
    while state.outcome is None:
        if state.round is None:
            state = deal(state, sealed_deal(terms.rules, seed, state.round_number + 1))
            yield state, None
        assert state.turn is not None
        state, played = play(state, state.turn, choose(state))
        yield state, played


def recorded_game(terms: Terms, seed: int) -> tuple[Record, GameState]:
    """A random game, as a record and as the state it ends in."""
    rounds: list[RecordedRound] = []
    plays: list[RecordedPlay] = []
    state = new_game(terms)
    dealer, number = Seat.A, 0
    for state, played in steps(terms, seed, at_random(seed)):
        if played is None:
            assert state.round is not None
            dealer, number, plays = state.round.dealer, state.round_number, []
            continue
        plays.append(RecordedPlay.of(played))
        if played.finished is not None:
            rounds.append(
                RecordedRound(
                    dealer=dealer,
                    cards=sealed_deal(terms.rules, seed, number).cards,
                    plays=tuple(plays),
                    score=RecordedScore.of(played.finished),
                )
            )
    record = Record(
        terms, tuple(rounds), state.outcome, UUID(int=seed), names=Pair("Mona", "Karim El-Sayed")
    )
    return record, state
