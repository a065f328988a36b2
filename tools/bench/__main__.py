"""`python -m tools.bench [PART…]`: print what things cost, and write it as JSON.

Ends with status 1 when a binding aim is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from tools.bench import bots, engine
from tools.bench.ground import ROOT, machine, site
from tools.bench.report import Report, table_of_aims
from tools.with_postgres import DidNotStart

PARTS = ("engine", "bots", "pages", "move", "games")
WITHOUT_SITE = {"engine", "bots"}


def main(arguments: list[str]) -> int:
    """Measure the chosen parts."""
    options = _options(arguments)
    # So that the servers started here are stopped too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    reports: dict[str, Report] = {}
    with ExitStack() as stack:
        for part in options.parts:
            if part not in WITHOUT_SITE and not reports.keys() - WITHOUT_SITE:
                stack.enter_context(site(options.database))
            started = time.monotonic()
            print(f"\n— {part} —", flush=True)
            reports[part] = _measure(part, options)
            for table in reports[part].tables:
                print(f"\n{table}", flush=True)
            print(f"\n({time.monotonic() - started:.0f} s)", flush=True)
    aims = [aim for report in reports.values() for aim in report.aims]
    if aims:
        print(f"\n{table_of_aims(aims)}")
    _write(options.json, reports)
    return 0 if all(aim.met for aim in aims if aim.binding) else 1


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument(
        "--database", choices=("postgresql", "sqlite"), default="postgresql",
        help="for pages and games; a move is measured on PostgreSQL",
    )  # fmt: skip
    parser.add_argument(
        "--games", type=int, default=50, help="how many games to play, in each part that plays any"
    )
    parser.add_argument("--seconds", type=float, default=2.5, help="of one measurement")
    parser.add_argument("--passes", type=int, default=6, help="over the kinds of move")
    parser.add_argument("--json", type=Path, default=ROOT / "var" / "bench.json")
    options = parser.parse_args(arguments)
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    options.parts = [part for part in PARTS if part in options.parts] or list(PARTS)
    if options.database == "sqlite":
        options.parts = [part for part in options.parts if part != "move"]
    return options


def _measure(part: str, options: argparse.Namespace) -> Report:
    if part == "engine":
        return engine.measure(options.seconds)
    if part == "bots":
        return bots.measure(options.seconds, options.games)
    # These can be imported once the site is set up.
    from tools.bench import move, pages, selfplay

    if part == "pages":
        return pages.measure()
    if part == "move":
        return move.measure(options.seconds, options.passes)
    return selfplay.measure(options.games)


def _write(path: Path, reports: dict[str, Report]) -> None:
    found = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "parts": {part: report.data() for part, report in reports.items()},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"\nWritten to {os.path.relpath(path)}.")


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except DidNotStart as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
