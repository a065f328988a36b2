"""`make test`: the suite on SQLite, what touches a database on PostgreSQL as well, and the browser.

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
from typing import Self
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

    # The two databases at once, and the browser alone after them: it looks at the clock.
    without = ["-m", "not browser", *arguments]
    try:
        with (
            postgresql(fast=True) as url,
            Started(
                "PostgreSQL",
                [
                    # The engine knows no database and the browser no difference: once is enough.
                    *without,
                    "--ignore=tests/e2e",
                    "--ignore=tests/engine",
                ],
                {"BASRA_TEST_DATABASE_URL": url, "BASRA_TEST_ONLY_DATABASE": "yes"},
            ) as beside,
        ):
            runs = [Started("SQLite", [*without_browser, *without]).run(), beside.run()]
    except DidNotStart as error:
        notes.append(str(error))
        runs = [Started("SQLite", [*without_browser, *without]).run()]
        runs.append(Run("PostgreSQL did not start", code=1, failed=1))
    if not without_browser:
        runs.append(Started("Browser", ["-m", "browser", *arguments]).run())
    return sum_up(runs, notes)


class Started:
    """A run of pytest that goes on by itself; what it prints is shown when it has ended."""

    def __init__(
        self, name: str, arguments: list[str], environment: dict[str, str] | None = None
    ) -> None:
        self.name = name
        self.started = time.monotonic()
        self.folder = tempfile.TemporaryDirectory()
        self.report = Path(self.folder.name) / "report.xml"
        self.output = (Path(self.folder.name) / "output").open("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pytest", "-q", f"--junitxml={self.report}", *arguments],
            env={**os.environ, **(environment or {})},
            stdout=self.output,
            stderr=subprocess.STDOUT,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        # Nothing of it is left when the database it uses goes away.
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()

    def run(self) -> Run:
        """Wait for its end, show what it printed, and count."""
        code = self.process.wait()
        run = Run(self.name, code, seconds=time.monotonic() - self.started)
        self.output.seek(0)
        print(f"\n— {self.name} —", self.output.read(), sep="\n", flush=True)
        if self.report.exists():
            # Written by our own pytest a moment ago.
            for suite in ET.parse(self.report).getroot().iter("testsuite"):  # noqa: S314
                counts = {key: int(suite.get(key, "0")) for key in ("tests", "skipped")}
                wrong = int(suite.get("failures", "0")) + int(suite.get("errors", "0"))
                run.failed += wrong
                run.skipped += counts["skipped"]
                run.passed += counts["tests"] - counts["skipped"] - wrong
        self.output.close()
        self.folder.cleanup()
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
