"""The program that a doubter runs: it agrees with the engine, and no tampering gets past it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from games.engine import ROUNDS_SEALED
from tests import cast
from tests.engine.helpers import ALL_RULES, cases
from tests.tampering import (
    KINDS,
    TAMPERINGS_OF_A_KIND,
    WORDS,
    document,
    tamperings,
    vector_document,
)
from tools import verify_shuffle
from tools.verify_shuffle import check

PROGRAM = Path(verify_shuffle.__file__)
GAMES = 80
"""Of 128 rounds each: more than ten thousand deals."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "fairness.json"


def run(*arguments: object, stdin: str = "") -> tuple[int, str, str]:
    """Run the program as a doubter does: alone, without anything of the project."""
    done = subprocess.run(
        [sys.executable, "-I", PROGRAM, *(str(one) for one in arguments)],
        input=stdin, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def test_the_program_is_short_and_needs_nothing_but_python() -> None:
    text = PROGRAM.read_text()
    assert len(text.splitlines()) < 40
    imports = [line.split()[1] for line in text.splitlines() if line.startswith(("import", "from"))]
    assert imports
    assert set(imports) <= sys.stdlib_module_names


def test_the_site_hands_the_program_out_as_it_is_here() -> None:
    response = Client().get("/fairness/verify_shuffle.py")
    assert response.content == PROGRAM.read_bytes()
    assert response["Content-Type"].startswith("text/x-python")
    assert response["Content-Disposition"] == 'attachment; filename="verify_shuffle.py"'


@pytest.mark.parametrize("vector", cases("vectors"), ids=lambda one: f"{one['case']}{one['round']}")
def test_every_worked_vector_comes_out(vector: dict[str, Any], path: Path) -> None:
    path.write_text(json.dumps(vector_document(vector)))
    code, said, _ = run(path, "--words", vector["words"])
    assert code == 0
    assert f"round {vector['round']}: as sealed" in said.splitlines()


def test_ten_thousand_deals_of_all_rule_sets_are_as_sealed(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sealed = 0
    for game in range(GAMES):
        path.write_text(json.dumps(document(game, ALL_RULES[game % len(ALL_RULES)])))
        check(str(path), f"  {WORDS} ")
        said = capsys.readouterr().out.splitlines()
        assert said[:-1] == [f"round {number}: as sealed" for number in range(1, ROUNDS_SEALED + 1)]
        sealed += len(said) - 1
    assert sealed >= 10_000


def test_every_tampering_is_caught(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    caught = dict.fromkeys(KINDS, 0)
    for kind, changed in tamperings(ALL_RULES):
        path.write_text(json.dumps(changed))
        with pytest.raises(SystemExit) as found:
            check(str(path))
        assert str(found.value.code).startswith("wrong: ")
        caught[kind] += 1
    assert caught == dict.fromkeys(KINDS, TAMPERINGS_OF_A_KIND)


@pytest.mark.parametrize("kind", KINDS)
def test_the_program_names_what_is_wrong_and_fails(kind: str) -> None:
    changed = next(one for of, one in tamperings(ALL_RULES) if of == kind)
    code, _, error = run("-", stdin=json.dumps(changed))
    assert code == 1
    assert error.startswith("wrong: ")
    part = "hang on the anchor" if kind in ("secret", "anchor", "round order") else "other cards"
    assert part in error


def test_other_words_are_told_from_the_own_ones(path: Path) -> None:
    path.write_text(json.dumps(document("words", ALL_RULES[0], 2)))
    assert run(path, "--words", WORDS)[0] == 0
    for other in ("", "tea", WORDS.upper()):
        code, said, error = run(path, "--words", other)
        assert (code, said, error) == (1, "", "wrong: these words have another fingerprint\n")


def test_words_that_were_exchanged_with_all_the_cards_are_seen_by_whoever_kept_theirs(
    path: Path,
) -> None:
    path.write_text(json.dumps(document("exchanged", ALL_RULES[0], 2, words="the server's")))
    assert run(path)[0] == 0
    assert run(path, "--words", WORDS)[0] == 1


def test_a_game_whose_first_round_goes_on_has_nothing_wrong(path: Path) -> None:
    game = document("fresh", ALL_RULES[0], 0)
    path.write_text(json.dumps(game))
    code, said, _ = run(path)
    assert code == 0
    assert said.splitlines() == [
        f"Rounds that are over: 0. Is this the anchor you know? '{game['anchor']}'"
    ]


def a_round(**changes: object) -> dict[str, Any]:
    return {"rounds": [{**document("hostile", ALL_RULES[0], 1)["rounds"][0], **changes}]}


@pytest.mark.parametrize(
    "changes",
    [
        {"version": "basra-shuffle-v2"}, {"version": None},
        {"rounds_sealed": 0}, {"rounds_sealed": 10**400}, {"rounds_sealed": -1},
        {"rounds_sealed": "128"}, {"rounds_sealed": None}, {"rounds_sealed": []},
        {"rounds": None}, {"rounds": 7}, {"rounds": "round"}, {"rounds": {"round": 1}},
        {"rounds": [None]}, {"rounds": [[]]}, {"rounds": [{}]},
        {"anchor": None}, {"anchor": 7}, {"anchor": "anchor"}, {"anchor": ""},
        {"game_id": None}, {"game_id": 7}, {"game_id": "game"}, {"game_id": ""},
        {"words_sha256": None}, {"words_sha256": 7}, {"words_sha256": "zz"},
        a_round(round="1"), a_round(round=0), a_round(round=2),
        a_round(secret=None), a_round(secret=7), a_round(secret="é"), a_round(secret=""),
        a_round(deck=None), a_round(deck=["AC"]), a_round(deck="AC " * 52), a_round(deck=""),
        a_round(first_dealer=None), a_round(first_dealer="nobody"), a_round(first_dealer=[]),
        {"rounds": a_round()["rounds"] * 2}, {"rounds": a_round()["rounds"] * 129},
    ],
)  # fmt: skip
def test_a_hostile_document_is_refused_in_a_line(changes: dict[str, Any]) -> None:
    hostile = {**document("hostile", ALL_RULES[0], 1), **changes}
    code, _, error = run("-", stdin=json.dumps(hostile))
    assert code in (1, 2)
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize("text", ["", "[", "[]", "null", "{}", '"a"', "[" * 100_000, "<html>"])
def test_what_is_no_document_is_said_so(text: str) -> None:
    code, said, error = run("-", stdin=text)
    assert (code, said) == (2, "")
    assert error == "This cannot be read as the fairness document of a game.\n"


def test_a_file_that_is_not_there_is_said_so(path: Path) -> None:
    assert run(path)[0] == run()[0] == 2


@pytest.mark.django_db
@pytest.mark.parametrize("target", [None, 51])
def test_the_document_of_a_game_that_was_played_is_as_sealed(target: int | None) -> None:
    game = cast.sit_down(cast.person("Mona"), cast.person("Karim"), target=target, seed=5)
    browser = cast.browser_of(game.player_a)
    game = cast.play_until_ply(game, 60)
    for played in (game, cast.play_to_the_end(game)):
        published = cast.text_of(cast.look(browser, "fairness_document", played))
        code, said, _ = run("-", "--words", cast.WORDS, stdin=published)
        assert code == 0
        assert "round 1: as sealed" in said
        assert said.count("as sealed") == len(json.loads(published)["rounds"])
