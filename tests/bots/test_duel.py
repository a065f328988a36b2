"""The duel: the same packs at both tables, a file it goes on in, and what it says at the end."""

from __future__ import annotations

import ast
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from games.bots import SeenPlay
from games.dueling import cheat
from games.dueling.matches import Duel, Match, Side, Table, Thinking, matches_of, play_match
from games.dueling.players import PLAYERS, Player
from games.dueling.report import Estimate, points, wins
from games.engine import RULE_SETS, GameState, Play, RuleSet, Terms, legal_plays
from tests.bots.positions import position
from tests.engine.helpers import ALL_RULES, steps

STANDARD = Terms(RULE_SETS["standard"], None)
ROOT = Path(__file__).parents[2]


def duel(*players: str, file: Path, deals: int = 4, **options: object) -> str:
    output = io.StringIO()
    call_command("duel", *players, deals=deals, file=file, stdout=output, **options)
    return output.getvalue()


def points_in(file: Path) -> list[list[int]]:
    """The first player's margin at both tables, a list for each match."""
    _head, *lines = file.read_text().splitlines()
    return [[table.margin for table in Match.from_line(line).tables] for line in lines]


def test_it_reports_points_and_games_won_with_intervals_and_the_time_of_each(
    tmp_path: Path,
) -> None:
    told = duel("easy", "random", file=tmp_path / "duels" / "a.jsonl", rules="standard")
    assert "easy against random, standard, one round: 4 packs" in told
    assert "points a game: " in told
    assert "games won: " in told
    assert "95 % interval" in told
    assert told.count("ms of CPU a play") == 2


def test_both_tables_are_dealt_the_same_packs_with_the_seats_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    met = []

    def noting(name: str) -> Player:
        def choose(state: GameState, seed: int, past: Sequence[SeenPlay]) -> Play:
            assert state.round is not None
            if len(state.round.stock) == 40 and not any(state.round.piles):
                met.append((name, state.turn, state.round.hands, state.round.stock))
            return legal_plays(state)[0]

        return choose

    for name in ("one", "two"):
        monkeypatch.setitem(PLAYERS, name, noting(name))
    play_match(Duel("one", "two", STANDARD, seed=3), 0)
    # Who leads, and from then on everybody, sits in the other seat at the second table.
    leads = [entry for entry in met if entry[1] is met[0][1] and len(entry[2].a) == 4]
    leads = [entry for entry in leads if len(entry[2].b) == 4]
    assert [entry[0] for entry in leads] in (["one", "two"], ["two", "one"])
    assert leads[0][1:] == leads[1][1:]


def test_a_player_against_itself_that_has_no_dice_ends_level_over_both_tables() -> None:
    match = play_match(Duel("cheat", "cheat", STANDARD, seed=3), 0)
    assert sum(table.margin for table in match.tables) == 0


def test_a_duel_stopped_and_started_again_is_the_one_that_was_never_stopped(
    tmp_path: Path,
) -> None:
    whole, stopped = tmp_path / "whole.jsonl", tmp_path / "stopped.jsonl"
    duel("easy", "random", file=whole, deals=5)
    duel("easy", "random", file=stopped, deals=2)
    # Stopped in the middle of writing the third.
    stopped.write_text(stopped.read_text() + '{"number": 2, "tab')
    duel("easy", "random", file=stopped, deals=5)
    assert points_in(stopped) == points_in(whole)
    assert len(points_in(whole)) == 5


def test_what_has_been_played_is_not_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.jsonl"
    told = duel("easy", "random", file=file)

    def must_not_play(state: GameState, seed: int, past: Sequence[SeenPlay]) -> Play:
        raise AssertionError

    monkeypatch.setitem(PLAYERS, "easy", must_not_play)
    assert duel("easy", "random", file=file) == told


def test_an_interrupted_duel_tells_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.jsonl"
    duel("easy", "random", file=file, deals=3)

    def interrupted(state: GameState, seed: int, past: Sequence[SeenPlay]) -> Play:
        raise KeyboardInterrupt

    monkeypatch.setitem(PLAYERS, "easy", interrupted)
    told = duel("easy", "random", file=file, deals=5)
    assert told.startswith("Interrupted")
    assert "3 packs" in told


def test_fewer_deals_than_the_file_holds_are_the_first_of_them(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    duel("easy", "random", file=file, deals=5)
    assert "2 packs" in duel("easy", "random", file=file, deals=2)
    assert len(points_in(file)) == 5


@pytest.mark.parametrize(
    "content",
    [
        '{"first": "hard"}\n',
        "not a duel",
        "",
    ],
)
def test_another_file_is_left_as_it_is(tmp_path: Path, content: str) -> None:
    file = tmp_path / "a.jsonl"
    duel("easy", "random", file=file)
    file.write_text(content or file.read_text() + "no match\n")
    before = file.read_text()
    with pytest.raises(CommandError):
        duel("easy", "random", file=file)
    assert file.read_text() == before


def test_the_file_of_another_seed_is_not_gone_on_with(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    duel("easy", "random", file=file)
    with pytest.raises(CommandError, match="not of this duel"):
        duel("easy", "random", file=file, seed=2)


def test_other_seeds_deal_other_packs() -> None:
    one, two = (Duel("easy", "random", STANDARD, seed) for seed in (1, 2))
    assert one.pack(0, 1).deck != two.pack(0, 1).deck
    assert one.pack(0, 1).deck != one.pack(1, 1).deck != one.pack(1, 2).deck


def test_whole_games_and_custom_rules_can_be_played(tmp_path: Path) -> None:
    rules = json.dumps({"base": "standard", "basra": 25})
    told = duel("easy", "random", file=tmp_path / "a", deals=1, rules=rules, target=51)
    assert "custom, games to 51" in told
    assert json.loads((tmp_path / "a").read_text().split("\n")[0])["rules"]["basra"] == 25


@pytest.mark.parametrize(
    "options",
    [
        {"rules": "bridge"},
        {"rules": '{"base": "standard", "basra": 1000}'},
        {"rules": "{"},
        {"deals": 0},
    ],
)
def test_what_cannot_be_played_is_refused_in_a_sentence(
    tmp_path: Path, options: dict[str, object]
) -> None:
    with pytest.raises(CommandError):
        call_command("duel", "easy", "random", file=tmp_path / "a", **options)
    assert not (tmp_path / "a").exists()


def test_a_folder_cannot_be_the_file(tmp_path: Path) -> None:
    with pytest.raises(CommandError):
        duel("easy", "random", file=tmp_path)


def a_match(number: int, *margins: int) -> Match:
    one, two = (Table(Side(100 + margin, Thinking()), Side(100, Thinking())) for margin in margins)
    return Match(number, (one, two))


def test_an_interval_is_over_matches_and_not_over_tables() -> None:
    # The tables of each match cancel out, so that nothing is left to chance.
    matches = [a_match(0, 30, -30), a_match(1, 10, -10)]
    assert (points(matches).mean, points(matches).within) == (0.0, 0.0)
    assert (wins(matches).mean, wins(matches).within) == (0.5, 0.0)


def test_a_draw_is_half_a_win() -> None:
    assert wins([a_match(0, 0, 20)]).mean == 0.75


def test_an_interval_is_1_96_standard_errors() -> None:
    # Of 0 and 2 the mean is 1, the standard deviation 2 ** 0.5, the standard error 1.
    assert Estimate.of([0.0, 2.0]).within == pytest.approx(1.96)
    assert Estimate.of([5.0]).low == float("-inf")


def test_matches_are_written_and_read_alike(tmp_path: Path) -> None:
    duel = Duel("easy", "random", STANDARD, seed=1)
    played = list(matches_of(duel, tmp_path / "a", 2))
    assert list(matches_of(duel, tmp_path / "a", 2)) == played


# The player that sees all cards


@pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: f"{rules.name}-{rules.base}")
def test_the_cheat_plays_by_the_rules_all_the_same(rules: RuleSet) -> None:
    def choose(state: GameState) -> Play:
        chosen = cheat.choose_play(state)
        assert chosen in legal_plays(state)
        return chosen

    *_, (last, _played) = steps(Terms(rules, None), 1, choose)
    assert last.outcome is not None


def test_the_cheat_wins_by_what_it_sees() -> None:
    duel = Duel("cheat", "medium", STANDARD, seed=1)
    assert points([play_match(duel, number) for number in range(15)]).low > 0


@pytest.mark.parametrize(("theirs", "laid"), [("KH 2S", "QC"), ("QH 2S", "KC")])
def test_the_cheat_does_not_lay_the_card_that_the_other_holds_too(theirs: str, laid: str) -> None:
    state = position("KC QC", "", unseen=f"{theirs} 3C 4C 5C 6C 8C 9C 10C AC")
    assert cheat.choose_play(state).card.code == laid


def test_nothing_but_the_command_imports_a_duel() -> None:
    importing = set()
    for path in [*ROOT.glob("games/**/*.py"), *ROOT.glob("accounts/**/*.py"),
                 *ROOT.glob("basra_site/**/*.py")]:  # fmt: skip
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom) and "dueling" in ast.unparse(node):
                importing.add(path.relative_to(ROOT).as_posix())
    assert importing == {"games/management/commands/duel.py"}
