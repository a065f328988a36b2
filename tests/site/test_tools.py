"""The programs behind `make play` and `make test`."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tools import browser, play
from tools.test import NOTHING_RAN, Run, sum_up

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_development_settings_are_written_once_and_for_their_owner(tmp_path: Path) -> None:
    path = tmp_path / "var" / "development.env"
    play.write_settings(path)
    first = path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for name in ("BASRA_DEVELOPMENT=yes", "SECRET_KEY=", "BASRA_CARD_KEYS="):
        assert name in first
    play.write_settings(path)
    assert path.read_text() == first


def test_an_interrupted_first_start_is_repaired(tmp_path: Path) -> None:
    path = tmp_path / "development.env"
    path.with_suffix(".draft").write_text("SECRET_K")
    play.write_settings(path)
    assert "BASRA_CARD_KEYS=" in path.read_text()


def test_only_this_machine_is_let_in_unless_asked() -> None:
    assert play.more_hosts("") == ""
    assert play.more_hosts("192.0.2.7").split(",") == [
        "localhost",
        "127.0.0.1",
        "[::1]",
        "192.0.2.7",
    ]


def test_a_browser_that_was_named_but_does_not_run_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASRA_CHROMIUM", str(tmp_path / "nothing"))
    assert browser.get() is None


def test_playwrights_own_browser_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BASRA_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    chrome = tmp_path / "chromium-1234" / "chrome-linux64" / "chrome"
    chrome.parent.mkdir(parents=True)
    chrome.write_text("#!/bin/sh\necho Chromium 1\n")
    chrome.chmod(0o755)
    assert browser.find() == str(chrome)


def test_the_last_line_counts_both_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runs = [Run("SQLite", 0, passed=5, skipped=1), Run("PostgreSQL", 0, passed=3)]
    assert sum_up(runs, ["a note"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert "a note" in said
    assert said[-1] == "8 passed, 0 failed, 1 skipped"


@pytest.mark.parametrize(
    "runs",
    [
        [Run("SQLite", 0, passed=5), Run("PostgreSQL", 1, passed=2, failed=1)],
        # Died before it could count.
        [Run("SQLite", 0, passed=5), Run("PostgreSQL", -9)],
        [Run("SQLite", NOTHING_RAN), Run("PostgreSQL", NOTHING_RAN)],
    ],
)
def test_anything_that_went_wrong_fails_the_whole(runs: list[Run]) -> None:
    assert sum_up(runs, []) == 1


def test_a_part_of_the_suite_may_touch_no_database() -> None:
    assert sum_up([Run("SQLite", 0, passed=5), Run("PostgreSQL", NOTHING_RAN)], []) == 0


@pytest.mark.parametrize(
    ("host", "names"),
    [("", ""), ("0.0.0.0", "localhost,127.0.0.1,[::1],"), ("192.0.2.7", "192.0.2.7")],  # noqa: S104 - a name, nothing listens
)
def test_the_names_of_a_site_that_lets_others_in_are_found_without_any_settings(
    host: str, names: str
) -> None:
    program = f"from tools.play import more_hosts; print(more_hosts({host!r}))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": os.environ["PATH"]}, cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert names in done.stdout
