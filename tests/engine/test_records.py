"""Plays, states and games as text: round trips, replays, and golden games."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games.engine import (
    RULE_SETS,
    Card,
    Fairness,
    InvalidInput,
    Kind,
    Outcome,
    Pair,
    Play,
    Reason,
    Record,
    RecordedPlay,
    RecordedRound,
    RecordError,
    RuleSet,
    Seat,
    Terms,
    UnsoundState,
    anchor_of,
    deal,
    deal_round,
    dump_state,
    format_play,
    format_record,
    load_state,
    new_game,
    parse_play,
    parse_record,
    play,
    replay,
    resign,
    secret_of_round,
    words_digest,
)

from .helpers import (
    ALL_RULES,
    at_random,
    cards,
    chance_from,
    recorded_game,
    sealed_deal,
    steps,
)

GOLDEN = Path(__file__).parent / "golden"
STANDARD = Terms(RULE_SETS["standard"], 51)
TIP = bytes(range(32))


def fair_game(terms: Terms) -> Record:
    """One round of a game dealt from a sealed tip, the fairness data in its record."""
    game_id, words = UUID(int=7), words_digest("my words")
    secret = secret_of_round(TIP, 128, 1)
    dealt = deal_round(
        secret=secret,
        game_id=game_id,
        round_number=1,
        words_sha256=words,
        replaced=terms.rules.replaced,
    )
    assert dealt.first_dealer is not None
    return Record(
        terms=terms,
        rounds=(RecordedRound(dealt.first_dealer, dealt.cards, secret=secret),),
        game_id=game_id,
        fairness=Fairness(anchor_of(TIP, 128), words, "opponent"),
    )


def test_a_play_is_written_with_its_captures_in_pack_order_and_its_mark() -> None:
    written = set()
    for seed in range(4 * len(ALL_RULES)):
        rules = ALL_RULES[seed % len(ALL_RULES)]
        for _, played in steps(Terms(rules, 201), seed, at_random(seed)):
            if played is None:
                continue
            text = format_play(played)
            written.add(text.partition("*")[1:])
            expected = frozenset(played.captured) if played.captured else None
            assert parse_play(text) == Play(played.card, expected)
    assert written == {("", ""), ("*", ""), ("*", "J"), ("*", "K")}
    assert parse_play("8C:7S+8D+AH") == Play(Card.parse("8C"), frozenset(cards("8D AH 7S")))


@pytest.mark.parametrize(
    "text", ["", "8", "8C:", "8C*", "8C:+", "8C:7S+", "8C:7S+7S", "8C:8C", "8C:7S*X", "8C 7S", "x"]
)
def test_what_is_not_a_play_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_play(text)


def test_every_state_is_read_back_as_it_was_stored() -> None:
    for seed, rules in enumerate(ALL_RULES):
        terms = Terms(rules, 51)
        for state, _ in steps(terms, seed, at_random(seed)):
            public, hidden = json.loads(json.dumps(dump_state(state)))
            assert load_state(terms, public, hidden) == state
        broken_off = resign(deal(new_game(terms), sealed_deal(rules, seed, 1)), Seat.B)
        assert load_state(terms, *json.loads(json.dumps(dump_state(broken_off)))) == broken_off


def test_the_public_part_of_a_state_names_no_hidden_card() -> None:
    for state, _ in steps(STANDARD, 2, at_random(2)):
        public, _ = dump_state(state)
        words = json.dumps(public).replace('"', " ").split()
        table = state.round
        if table is not None:
            hidden = (*table.hands.a, *table.hands.b, *table.stock)
            assert not {str(card) for card in hidden} & set(words)


def damaged(public: dict[str, object], hidden: dict[str, object]) -> list[tuple[object, object]]:
    table = public["round"]
    assert isinstance(table, dict)
    return [
        ({}, hidden),
        (public, {}),
        ({**public, "totals": [0]}, hidden),
        ({**public, "totals": [0.0, 0]}, hidden),
        ({**public, "totals": [True, 0]}, hidden),
        ({**public, "carried": None}, hidden),
        ({**public, "next_dealer": "C"}, hidden),
        ({**public, "outcome": ["A"]}, hidden),
        ({**public, "outcome": ["A", "luck"]}, hidden),
        ({**public, "round": []}, hidden),
        ({**public, "round": None}, hidden),
        ({**public, "round": {**table, "floor": "1X"}}, hidden),
        ({**public, "round": {**table, "floor": None}}, hidden),
        ({**public, "round": {**table, "floor": ""}}, hidden),
        ({**public, "round": {**table, "dealer": "B" if table["dealer"] == "A" else "A"}}, hidden),
        (public, {**hidden, "stock": ""}),
        (public, {**hidden, "hands": ["", ""]}),
        (public, {**hidden, "hands": "8C"}),
    ]


def test_a_damaged_state_is_not_loaded() -> None:
    state = deal(new_game(STANDARD), sealed_deal(STANDARD.rules, 2, 1))
    public, hidden = json.loads(json.dumps(dump_state(state)))
    for wrong in damaged(public, hidden):
        with pytest.raises(UnsoundState):
            load_state(STANDARD, *wrong)  # type: ignore[arg-type]  # wrong on purpose


def test_a_record_is_read_back_as_it_was_written_and_replays_to_the_same_end() -> None:
    for seed, rules in enumerate(ALL_RULES):
        record, state = recorded_game(Terms(rules, (None, 51, 101)[seed % 3]), seed)
        text = format_record(record)
        assert parse_record(text) == record
        assert format_record(parse_record(text)) == text
        assert replay(record) == state


def test_a_record_may_stop_anywhere() -> None:
    record, _ = recorded_game(STANDARD, 6)
    first = record.rounds[0]
    for count in (0, 1, 17, 47):
        begun = replace(
            record,
            rounds=(replace(first, plays=first.plays[:count], score=None),),
            outcome=None,
        )
        state = replay(parse_record(format_record(begun)))
        assert state.outcome is None
        assert state.turn is not None
    assert replay(Record(STANDARD)) == new_game(STANDARD)


def test_a_game_that_was_broken_off_keeps_its_reason() -> None:
    record, _ = recorded_game(STANDARD, 6)
    first = replace(record.rounds[0], plays=record.rounds[0].plays[:5], score=None)
    for outcome in (
        Outcome(Seat.B, Reason.RESIGNED),
        Outcome(Seat.A, Reason.TIME),
        Outcome(None, Reason.ABORTED),
        Outcome(None, Reason.CANCELLED),
    ):
        broken_off = replace(record, rounds=(first,), outcome=outcome)
        assert parse_record(format_record(broken_off)) == broken_off
        assert replay(broken_off).outcome == outcome


def test_times_names_and_custom_rules_are_kept() -> None:
    record, _ = recorded_game(Terms(ALL_RULES[4], None), 9)
    first, *rest = record.rounds[0].plays
    timed = replace(first, at="2026-11-30T08:15:00Z")
    later = replace(rest[0], at="2026-11-30T08:15:00.250000Z")
    record = replace(
        record,
        rounds=(replace(record.rounds[0], plays=(timed, later, *rest[1:])),),
        names=Pair("منى", "the computer # 2"),
    )
    assert parse_record(format_record(record)) == record


def test_blank_lines_comments_and_spaces_are_read_over() -> None:
    record, _ = recorded_game(STANDARD, 6)
    text = format_record(record)
    loose = "# from a letter\r\n\r\n" + text.replace("\n", "  \r\n\r\n").replace("A ", "A   ", 1)
    assert format_record(parse_record(loose)) == text


type Change = Callable[[RecordedRound], RecordedRound]


def with_play(ply: int, **changes: object) -> Change:
    def change(first: RecordedRound) -> RecordedRound:
        plays = list(first.plays)
        plays[ply - 1] = replace(plays[ply - 1], **changes)  # type: ignore[arg-type]  # any field
        return replace(first, plays=tuple(plays))

    return change


def by_the_other_seat(ply: int) -> Change:
    return lambda first: with_play(ply, seat=first.plays[ply - 1].seat.other)(first)


def with_score(**changes: object) -> Change:
    def change(first: RecordedRound) -> RecordedRound:
        assert first.score is not None
        return replace(first, score=replace(first.score, **changes))  # type: ignore[arg-type]  # any field

    return change


@pytest.mark.parametrize(
    ("change", "ply"),
    [
        (with_play(9, kind=Kind.JACK), 9),
        (with_play(12, captured=cards("9C 9D 9H")), 12),
        (by_the_other_seat(1), 1),
        (by_the_other_seat(2), 2),
        (lambda first: replace(first, plays=first.plays[1:]), 1),
        (lambda first: replace(first, plays=first.plays[:20] + first.plays[21:]), 21),
        (lambda first: replace(first, plays=first.plays[:47]), None),
        (lambda first: replace(first, cards=first.cards[:51]), None),
        (with_score(carried=30), None),
        (with_score(totals=Pair(1, 2)), None),
    ],
)
def test_the_first_wrong_play_of_a_record_is_named(change: Change, ply: int | None) -> None:
    record, _ = recorded_game(STANDARD, 6)
    with pytest.raises(RecordError) as refused:
        replay(replace(record, rounds=(change(record.rounds[0]), *record.rounds[1:])))
    assert (refused.value.round, refused.value.ply) == (1, ply)


def test_a_wrong_dealer_or_a_round_too_many_is_named_by_its_round() -> None:
    record, _ = recorded_game(STANDARD, 6)
    assert len(record.rounds) > 1
    second = replace(record.rounds[1], dealer=record.rounds[0].dealer)
    with pytest.raises(RecordError) as refused:
        replay(replace(record, rounds=(record.rounds[0], second)))
    assert (refused.value.round, refused.value.ply) == (2, None)
    with pytest.raises(RecordError) as refused:
        replay(replace(record, rounds=(*record.rounds, record.rounds[0])))
    assert refused.value.round == len(record.rounds) + 1


def test_an_outcome_that_does_not_follow_is_refused() -> None:
    record, state = recorded_game(STANDARD, 6)
    assert state.outcome is not None
    assert state.outcome.winner is not None
    for outcome in (
        Outcome(state.outcome.winner.other, Reason.SCORE),
        Outcome(None, Reason.ABORTED),
    ):
        with pytest.raises(RecordError):
            replay(replace(record, outcome=outcome))
    begun = replace(record, rounds=())
    with pytest.raises(RecordError):
        replay(begun)


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=lambda rules: rules.name)
def test_a_revealed_secret_must_give_the_very_deal_of_its_round(rules: RuleSet) -> None:
    record = fair_game(Terms(rules, 101))
    assert parse_record(format_record(record)) == record
    assert replay(record).round_number == 1
    first, fairness = record.rounds[0], record.fairness
    assert fairness is not None
    cards_swapped = first.cards[1:2] + first.cards[:1] + first.cards[2:]
    for wrong in (
        replace(record, rounds=(replace(first, cards=cards_swapped),)),
        replace(record, rounds=(replace(first, dealer=first.dealer.other),)),
        replace(record, rounds=(replace(first, secret=secret_of_round(TIP, 128, 2)),)),
        replace(record, fairness=replace(fairness, anchor=bytes(32))),
        replace(record, fairness=replace(fairness, words_sha256=bytes(32))),
        replace(record, game_id=UUID(int=8)),
    ):
        with pytest.raises(RecordError) as refused:
            replay(wrong)
        assert refused.value.round == 1


HEADER = "basra-record 1\nrules standard\ntarget 121\n"
PACKED = " ".join(str(card) for card in sealed_deal(STANDARD.rules, 1, 1).cards)
ROUND = f"{HEADER}round 1\ndealer A\ncards {PACKED}\n"


@pytest.mark.parametrize(
    ("text", "round_number", "ply"),
    [
        ("", None, None),
        ("basra-record 2\n", None, None),
        ("basra-record 1\nrules standard\n", None, None),
        ("basra-record 1\nrules none\ntarget 121\n", None, None),
        ("basra-record 1\nrules {\ntarget 121\n", None, None),
        ("basra-record 1\nrules " + '{"base":' * 9000 + "\ntarget 121\n", None, None),
        ("basra-record 1\nrules standard\ntarget 100\n", None, None),
        ("basra-record 1\nrules standard\ntarget 0121\n", None, None),
        ("basra-record 1\ngame x\nrules standard\ntarget 121\n", None, None),
        (HEADER + "name A\nname B Karim\n", None, None),
        (HEADER + "name B Karim\n", None, None),
        (HEADER + "name A Mo\x07na\nname B Karim\n", None, None),
        (HEADER + "shuffle basra-shuffle-v2\n", None, None),
        (HEADER + "shuffle basra-shuffle-v1\nanchor 00\n", None, None),
        (HEADER + "outcome A\n", None, None),
        (HEADER + "outcome C score\n", None, None),
        (HEADER + "more\n", None, None),
        (HEADER + "round 2\n", 1, None),
        (HEADER + "round 1\ndealer C\n", 1, None),
        (HEADER + "round 1\ndealer A\ncards 8C\n", 1, None),
        (ROUND + "A\n", 1, 1),
        (ROUND + "B 8C\nA 8X\n", 1, 2),
        (ROUND + "B 8C 2026-13-30T08:15:00Z\n", 1, 1),
        (ROUND + "B 8C 2026-11-30T08:15:00Z 3\n", 1, 1),
        (ROUND + "B 8C\n" * 49, 1, 49),
        (ROUND + "score A total=1\n", 1, None),
    ],
)
def test_a_text_that_is_no_record_is_refused_where_it_goes_wrong(
    text: str, round_number: int | None, ply: int | None
) -> None:
    with pytest.raises(RecordError) as refused:
        parse_record(text)
    assert (refused.value.round, refused.value.ply) == (round_number, ply)


def test_what_a_record_cannot_hold_is_not_written() -> None:
    for name in ("", " Mona", "Mo\nna", "Mo\u2028na", "\ud800"):
        with pytest.raises(RecordError):
            format_record(Record(STANDARD, names=Pair(name, "Karim")))
    record, _ = recorded_game(STANDARD, 6)
    late = with_play(1, at="2026-11-30 08:15")(record.rounds[0])
    with pytest.raises(RecordError):
        format_record(replace(record, rounds=(late,)))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_record_with_any_line_changed_is_read_or_refused(data: st.DataObject) -> None:
    lines = format_record(recorded_game(STANDARD, 6)[0]).splitlines()
    place = data.draw(st.integers(0, len(lines) - 1))
    lines[place] = data.draw(
        st.sampled_from([*lines, "", "A 8C:7S*", "secret " + "00" * 32]) | st.text(max_size=30)
    )
    try:
        record = parse_record("\n".join(lines))
    except RecordError:
        return
    assert parse_record(format_record(record)) == record
    with suppress(RecordError):
        replay(record)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.txt")), ids=lambda path: path.stem)
def test_golden_games_replay_to_the_same_end_for_ever(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    expected = json.loads((GOLDEN / "ends.json").read_text())[path.stem]
    record = parse_record(text)
    assert format_record(record) == text
    state = replay(record)
    assert state.outcome is not None
    assert {
        "rounds": state.round_number,
        "totals": list(state.totals),
        "winner": state.outcome.winner,
        "reason": state.outcome.reason,
    } == expected


def test_there_are_golden_games_of_every_rule_set() -> None:
    names = {parse_record(path.read_text()).terms.rules.name for path in GOLDEN.glob("*.txt")}
    assert names == {*RULE_SETS, "custom"}


def test_a_play_may_leave_its_capture_to_the_rules() -> None:
    state = deal(new_game(STANDARD), sealed_deal(STANDARD.rules, 2, 1))
    chance = chance_from(2)
    for _ in range(20):
        assert state.round is not None
        assert state.turn is not None
        card = chance.choice(state.round.hands[state.turn])
        floor = state.round.floor
        state, played = play(state, state.turn, Play(card))
        assert RecordedPlay.of(played).captured == played.captured
        assert set(played.captured) <= set(floor)
