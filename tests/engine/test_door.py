"""The door, as another program sees it: a process, lines in, lines out."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games.engine import RULE_SETS, RuleSet, Terms, format_record
from games.engine.__main__ import VERBS, answer_line

from .helpers import CUSTOM, cases, recorded_game

ROOT = Path(__file__).parents[2]

CAPTURES = {"rule_set": "standard", "floor": ["8D", "7S"], "played": "8C", "choice": None}
ROUNDS = {
    "rule_set": "standard",
    "floor": ["8D"],
    "last_plays": [["A", "8C"], ["B", "KH"]],
    "last_capturer": None,
}
SCORE: dict[str, Any] = {
    "rule_set": "standard",
    "target": 121,
    "totals_before": [0, 0],
    "carried_before": 0,
    "rounds": [{"cards": [30, 22], "basras": [[2, 0, 0], [0, 1, 0]]}],
}
DEAL = {
    "game_id": "00112233-4455-6677-8899-AABBCCDDEEFF",
    "words": "x",
    "round": 1,
    "replaced": "bottom",
    "secret": "AB" * 32,
}
QUESTIONS: dict[str, dict[str, Any]] = {
    "captures": CAPTURES,
    "rounds": ROUNDS,
    "score": SCORE,
    "deal": DEAL,
}


def through_the_door(verb: str, lines: bytes) -> tuple[list[dict[str, Any]], int]:
    done = subprocess.run(
        [sys.executable, "-m", "games.engine", verb],
        input=lines,
        capture_output=True,
        check=False,
        cwd=ROOT,
        timeout=60,
    )
    assert b"Traceback" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode


def asked(verb: str, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    lines = b"".join(json.dumps(question).encode() + b"\n" for question in questions)
    answers, status = through_the_door(verb, lines)
    assert status == 0
    assert len(answers) == len(questions)
    return answers


def refusal(verb: str, question: object) -> str:
    answer = answer_line(verb, json.dumps(question))
    assert set(answer) >= {"error", "message"}
    return str(answer["error"])


def only(case: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: case[key] for key in keys}


def test_every_worked_capture_passes_through_the_door() -> None:
    worked = cases("captures")
    questions = [only(case, "rule_set", "floor", "played", "choice") for case in worked]
    for case, answer in zip(worked, asked("captures", questions), strict=True):
        assert set(answer["captured"]) == set(case["captured"])
        assert (answer["kind"], answer["points"]) == (case["kind"], case["points"])
        expected = {frozenset(one) for one in case["maximal_captures"]}
        assert {frozenset(one) for one in answer["maximal_captures"]} == expected


def test_every_worked_end_of_a_round_passes_through_the_door() -> None:
    worked = cases("rounds")
    questions = [only(case, "rule_set", "floor", "last_plays", "last_capturer") for case in worked]
    for case, answer in zip(worked, asked("rounds", questions), strict=True):
        assert [set(one) for one in answer["captures"]] == [set(one) for one in case["captured"]]
        assert (answer["kinds"], answer["points"]) == (case["kinds"], case["points"])
        assert answer["left_over_to"] == case["left_over_to"]


def test_every_worked_score_passes_through_the_door() -> None:
    worked = cases("scoring")
    keys = ("rule_set", "target", "totals_before", "carried_before")
    questions = [
        {**only(case, *keys), "rounds": [only(one, "cards", "basras") for one in case["rounds"]]}
        for case in worked
    ]
    stated = ("points", "totals", "carried_after", "result")
    for case, answer in zip(worked, asked("score", questions), strict=True):
        assert answer["rounds"] == [only(one, *stated) for one in case["rounds"]]


def test_every_worked_vector_passes_through_the_door() -> None:
    worked = cases("vectors")
    with_tip = [
        only(case, "game_id", "words", "round", "tip", "rounds_sealed") | {"replaced": replaced}
        for case in worked
        for replaced in ("bottom", "random place")
    ]
    with_secret = [
        only(case, "game_id", "words_sha256", "round", "secret") | {"replaced": replaced}
        for case in worked
        for replaced in ("bottom", "random place")
    ]
    expected = [(case, part) for case in worked for part in ("bottom", "random_place")]
    for question in (with_tip, with_secret):
        for (case, part), answer in zip(expected, asked("deal", question), strict=True):
            assert answer["key"] == case["key"]
            assert answer["secret"] == case["secret"]
            assert answer.get("anchor") == (case["anchor"] if "tip" in question[0] else None)
            assert " ".join(answer["deck"]) == case["deck"]
            for name in ("non_dealer", "dealer", "floor", "stock"):
                assert " ".join(answer[name]) == case[part][name]
            assert answer.get("first_dealer") == case[part].get("first_dealer")


def test_a_record_is_replayed_and_a_wrong_one_names_round_and_ply() -> None:
    record, state = recorded_game(Terms(RULE_SETS["standard"], 51), 4)
    text = format_record(record)
    assert state.outcome is not None
    assert record.rounds[0].plays[2].seat == record.rounds[0].plays[0].seat
    lines = text.splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("cards")) + 1
    swapped = [*lines[:first], lines[first + 1], lines[first], *lines[first + 2 :]]
    right, wrong, unreadable = asked(
        "replay", [{"record": text}, {"record": "\n".join(swapped)}, {"record": "x"}]
    )
    assert right == {
        "rounds": len(record.rounds),
        "plays": 48 * len(record.rounds),
        "totals": list(state.totals),
        "outcome": {"winner": state.outcome.winner, "reason": "score"},
    }
    assert only(wrong, "error", "round", "ply") == {"error": "record", "round": 1, "ply": 1}
    assert only(unreadable, "error", "round", "ply") == {
        "error": "record",
        "round": None,
        "ply": None,
    }


BAD_LINES = [
    b"",
    b"   ",
    b"nonsense",
    b"[]",
    b"null",
    b"3",
    b'"captures"',
    b"\xef\xbb\xbf{}",
    b'{"rule_set": NaN}',
    b'{"rule_set": 1, "rule_set": 1}',
    b"[" * 100_000,
    b'{"rule_set":' * 50_000,
    b'{"floor": ' + b"[" * 800 + b"]" * 800 + b"}",
    b"9" * 10_000,
]


@pytest.mark.parametrize("verb", VERBS)
def test_a_line_that_is_no_question_is_answered_and_the_next_one_too(verb: str) -> None:
    lines = b"\n".join([*BAD_LINES, b"{}"])
    answers, status = through_the_door(verb, lines)
    assert status == 0
    assert len(answers) == len(BAD_LINES) + 1
    codes = [answer["error"] for answer in answers]
    assert codes[-1] == "missing"
    assert set(codes[:-1]) == {"json", "missing"}
    assert codes[:12] == ["json"] * 12


def test_lines_end_at_a_line_feed_and_nothing_else() -> None:
    question = {**DEAL, "words": "a\u2029b"}
    lines = json.dumps(CAPTURES).encode().replace(b" ", b"\r") + b"\r\n"
    answers, status = through_the_door("captures", lines)
    assert (len(answers), answers[0]["captured"], status) == (1, ["8D"], 0)
    answers, _ = through_the_door("deal", json.dumps(question, ensure_ascii=False).encode())
    assert len(answers) == 1


def test_only_an_unknown_verb_and_input_that_is_not_utf_8_end_with_status_2() -> None:
    assert through_the_door("shuffle", b"{}\n") == ([], 2)
    answers, status = through_the_door("captures", b"{}\n\xff\xfe\n{}\n")
    assert (len(answers), status) == (1, 2)
    assert through_the_door("captures", b"") == ([], 0)


@pytest.mark.parametrize(
    ("verb", "change", "code"),
    [
        ("captures", {"floor": "8D"}, "card"),
        ("captures", {"floor": ["8D", "8D"]}, "card"),
        ("captures", {"floor": ["8C"]}, "card"),
        ("captures", {"played": "8d"}, "card"),
        ("captures", {"played": 8}, "card"),
        ("captures", {"played": "\ud800"}, "card"),
        ("captures", {"choice": []}, "choice"),
        ("captures", {"choice": ["7S"]}, "choice"),
        ("captures", {"choice": ["8D", "8D"]}, "choice"),
        ("captures", {"choice": "8D"}, "card"),
        ("captures", {"rule_set": "house rules"}, "rule_set"),
        ("captures", {"rule_set": None}, "rule_set"),
        ("captures", {"rule_set": {}}, "missing"),
        ("captures", {"rule_set": {"base": []}}, "rule_set"),
        ("captures", {"rule_set": {"base": "standard", "basra": True}}, "rule_set"),
        ("captures", {"rule_set": {"base": "standard", "basra": 10.0}}, "rule_set"),
        ("captures", {"rule_set": {"base": "standard", "basra": 101}}, "rule_set"),
        ("captures", {"rule_set": {"base": "standard", "basra": 10**400}}, "rule_set"),
        ("captures", {"rule_set": {"base": "standard", "last_card_basra": 1}}, "rule_set"),
        ("captures", {"rule_set": {"base": "standard", "name": "x"}}, "unknown_key"),
        ("captures", {"rule_set": {"base": "standard", "komi_alone": "any card"}}, "missing"),
        ("captures", {"colour": "red"}, "unknown_key"),
        ("rounds", {"last_plays": [["C", "8C"]]}, "seat"),
        ("rounds", {"last_plays": [["A", "8D"]]}, "card"),
        ("rounds", {"last_plays": ["A"]}, "card"),
        ("rounds", {"last_plays": None}, "card"),
        ("rounds", {"last_capturer": "a"}, "seat"),
        ("rounds", {"dealer": None}, "seat"),
        ("score", {"target": 100}, "number"),
        ("score", {"target": 121.0}, "number"),
        ("score", {"target": None}, "number"),
        ("score", {"totals_before": [0]}, "number"),
        ("score", {"totals_before": [0, -1]}, "number"),
        ("score", {"carried_before": True}, "number"),
        ("score", {"carried_before": 10**400}, "number"),
        ("score", {"rounds": {}}, "number"),
        ("score", {"rounds": [{"cards": [30, 23], "basras": [[0, 0, 0], [0, 0, 0]]}]}, "number"),
        ("score", {"rounds": [{"cards": [30, 22], "basras": [[0, 0], [0, 0, 0]]}]}, "number"),
        ("score", {"rounds": [{"cards": [30, 22]}]}, "missing"),
        ("score", {"rounds": [{**SCORE["rounds"][0], "points": 0}]}, "unknown_key"),
        ("score", {"rounds": [{**SCORE["rounds"][0], "singles": [14, 0]}]}, "number"),
        ("score", {"target": "one round", "rounds": SCORE["rounds"] * 2}, "number"),
        ("score", {"rounds": [{"cards": [26, 26], "basras": [[0] * 3] * 2}] * 129}, "number"),
        ("deal", {"game_id": "x"}, "hex"),
        ("deal", {"game_id": 1}, "hex"),
        ("deal", {"secret": "ab" * 31}, "hex"),
        ("deal", {"secret": "٠" * 64}, "hex"),
        ("deal", {"round": 0}, "number"),
        ("deal", {"round": 129}, "number"),
        ("deal", {"replaced": "top"}, "rule_set"),
        ("deal", {"words": "x" * 201}, "number"),
        ("deal", {"words": "\ud800"}, "json"),
        ("deal", {"words_sha256": "ab" * 32}, "unknown_key"),
        ("deal", {"tip": "ab" * 32}, "unknown_key"),
        ("replay", {"record": 7}, "record"),
        ("replay", {"record": "\ud800"}, "record"),
    ],
)
def test_what_is_wrong_is_told_by_its_code(verb: str, change: dict[str, Any], code: str) -> None:
    assert refusal(verb, {**QUESTIONS.get(verb, {}), **change}) == code


def test_a_number_longer_than_python_reads_is_out_of_range() -> None:
    text = json.dumps({**SCORE, "carried_before": 7}).replace("7", "7" * 6000)
    assert answer_line("score", text)["error"] == "number"


@pytest.mark.parametrize("verb", QUESTIONS)
def test_every_needed_key_is_asked_for(verb: str) -> None:
    question = QUESTIONS[verb]
    assert "error" not in answer_line(verb, json.dumps(question))
    for key in question:
        without = {name: value for name, value in question.items() if name != key}
        assert refusal(verb, without) == "missing"


def test_a_tip_needs_to_know_how_many_rounds_were_sealed() -> None:
    question = {key: value for key, value in DEAL.items() if key != "secret"}
    assert refusal("deal", {**question, "tip": "ab" * 32}) == "missing"
    assert refusal("deal", {**question, "tip": "ab" * 32, "rounds_sealed": 0}) == "number"
    late = {**question, "tip": "ab" * 32, "rounds_sealed": 4, "round": 5}
    assert refusal("deal", late) == "number"


def test_a_floor_with_more_than_sixteen_numerals_is_refused_and_sixteen_are_answered() -> None:
    numerals = [f"{rank}{suit}" for rank in ("A", 2, 3, 4, 5) for suit in "CDHS"]
    question = {**CAPTURES, "played": "10S"}
    assert refusal("captures", {**question, "floor": numerals[:17]}) == "number"
    answer = answer_line("captures", json.dumps({**question, "floor": numerals[:16]}))
    assert answer["captured"]


def test_a_round_without_any_capture_leaves_its_floor_to_the_dealer() -> None:
    question = {**ROUNDS, "last_plays": [["A", "9C"]]}
    for dealer in ("A", "B"):
        answer = answer_line("rounds", json.dumps({**question, "dealer": dealer}))
        assert answer["left_over_to"] == [dealer, ["8D", "9C"]]
    nobody = {**question, "rule_set": {"base": "standard", "left_over": "nobody"}}
    assert answer_line("rounds", json.dumps(nobody))["left_over_to"] is None


def test_the_last_play_of_a_round_makes_no_basra_where_the_rules_say_so() -> None:
    rules = {"base": "egyptian_basra", "last_card_basra": False}
    plays = [["A", "8C"], ["B", "KH"], ["A", "KS"]]
    answer = answer_line("rounds", json.dumps({**ROUNDS, "rule_set": rules, "last_plays": plays}))
    assert answer["kinds"] == ["basra", "none", "none"]
    assert answer["points"] == [10, 0, 0]


def test_the_128th_round_without_a_winner_is_a_draw() -> None:
    rounds = [{"cards": [26, 26], "basras": [[0, 0, 0], [0, 0, 0]]}] * 128
    answer = answer_line("score", json.dumps({**SCORE, "rounds": rounds}))
    results = [one["result"] for one in answer["rounds"]]  # type: ignore[attr-defined]  # JSON
    assert results == [None] * 127 + ["draw"]


def test_every_rule_set_is_read_back_as_it_is_written() -> None:
    for rules in [*RULE_SETS.values(), RuleSet.from_json(CUSTOM)]:
        assert RuleSet.from_json(json.loads(json.dumps(rules.to_json()))) == rules
    unchanged = RuleSet.from_json({"base": "standard", "majority": 30})
    assert unchanged.to_json() == "standard"


CODES = {"json", "missing", "unknown_key", "card", "rule_set", "choice", "seat", "number", "hex"}
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(alphabet=st.characters(), max_size=5)
    | st.sampled_from(["A", "8C", "7D", "JS", "standard", "one round", "bottom"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None)
@given(verb=st.sampled_from(sorted(VERBS)), data=st.data())
def test_whatever_stands_in_a_question_the_answer_is_an_answer(
    verb: str, data: st.DataObject
) -> None:
    question = dict(QUESTIONS.get(verb, {"record": ""}))
    key = data.draw(st.sampled_from(sorted(question)))
    question[key] = data.draw(VALUES)
    answer = answer_line(verb, json.dumps(question))
    json.dumps(answer)
    assert answer.get("error") in {None, "record", *CODES}
    if "error" in answer:
        assert isinstance(answer["message"], str)


@settings(max_examples=200, deadline=None)
@given(verb=st.sampled_from(sorted(VERBS)), line=st.text(max_size=40))
def test_whatever_the_line_is_the_answer_is_a_refusal(verb: str, line: str) -> None:
    assert "error" in answer_line(verb, line)
