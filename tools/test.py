"""`make test`: the suite on SQLite with the browser, then on PostgreSQL what touches a database.

Arguments go to pytest. The last lines tell what ran, what was left out, and how it ended.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from tools import browser
from tools.with_postgres import DidNotStart, postgresql

ROOT = Path(__file__).resolve().parent.parent
NOTHING_RAN = 5  # pytest's exit code


@dataclass
class Run:
    """How one run of pytest ended."""

    name: str
    code: int
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        counts = f"{self.passed} passed, {self.failed} failed{skipped}"
        return f"{self.name}: {counts} in {self.seconds:.0f} s"


def main(arguments: list[str]) -> int:
    """Run the suite, sum it up, and return 0 only if everything ended well."""
    os.chdir(ROOT)
    chromium = browser.get()
    notes = [f"Browser tests use {browser.version()}."]
    without_browser: list[str] = []
    if chromium:
        os.environ["BASRA_CHROMIUM"] = chromium
    elif os.environ.get("CI"):
        print("There is no Chromium, and under CI the browser tests must run.")
        return 1
    else:
        without_browser = ["--ignore=tests/e2e"]
        notes = ["Browser tests were LEFT OUT: there is no Chromium or Chrome, and none could be"]
        notes += ["fetched. Install one, or name it: BASRA_CHROMIUM=/path/to/chrome make test"]

    runs = [pytest("SQLite", [*without_browser, *arguments], {})]
    try:
        with postgresql(fast=True) as url:
            # The engine knows no database and the browser no difference: once is enough.
            environment = {"BASRA_TEST_DATABASE_URL": url, "BASRA_TEST_ONLY_DATABASE": "yes"}
            again = [*arguments, "--ignore=tests/e2e", "--ignore=tests/engine"]
            runs.append(pytest("PostgreSQL", again, environment))
    except DidNotStart as error:
        notes.append(str(error))
        runs.append(Run("PostgreSQL did not start", code=1, failed=1))
    return sum_up(runs, notes)


def pytest(name: str, arguments: list[str], environment: dict[str, str]) -> Run:
    """Run pytest once, and count."""
    print(f"\n— {name} —", flush=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *arguments],
            env={**os.environ, **environment},
            check=False,
        )
        run = Run(name, done.returncode, seconds=time.monotonic() - started)
        if report.exists():
            # Written by our own pytest a moment ago.
            for suite in ET.parse(report).getroot().iter("testsuite"):  # noqa: S314
                counts = {key: int(suite.get(key, "0")) for key in ("tests", "skipped")}
                wrong = int(suite.get("failures", "0")) + int(suite.get("errors", "0"))
                run.failed += wrong
                run.skipped += counts["skipped"]
                run.passed += counts["tests"] - counts["skipped"] - wrong
    return run


def sum_up(runs: list[Run], notes: list[str]) -> int:
    """Print the last lines; a run that found nothing to run is fine if another did."""
    broken = [run for run in runs if run.code not in {0, NOTHING_RAN}]
    total = Run("", 0, *(sum(getattr(run, key) for run in runs) for key in
                         ("passed", "failed", "skipped")))  # fmt: skip
    print()
    print(*runs, *notes, sep="\n")
    if not total.passed and not broken:
        print("No test ran.")
    for run in broken:
        print(f"{run.name} ended with pytest's exit code {run.code}.")
    skipped = f", {total.skipped} skipped" if total.skipped else ""
    print(f"{total.passed} passed, {total.failed} failed{skipped}")
    return 1 if broken or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
