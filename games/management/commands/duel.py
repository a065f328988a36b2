"""Let two computer players play duplicate matches, and say who is better by how much."""

from __future__ import annotations

import gc
import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from games.dueling.matches import CannotGoOn, Duel, Match, matches_of
from games.dueling.players import PLAYERS
from games.dueling.report import report
from games.engine import DEFAULT_RULE_SET, TARGETS, InvalidInput, RuleSet, Terms


class Command(BaseCommand):
    help = (
        "Lets two computer players play the same packs twice, with the seats changed, and reports "
        "points and games won with 95 % intervals. Keeps every match in a file and goes on there "
        "when it is started again. Touches no game of the site."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("first", choices=PLAYERS)
        parser.add_argument("second", choices=PLAYERS)
        parser.add_argument(
            "--rules",
            default=DEFAULT_RULE_SET,
            help="a named rule set, or a custom one as a JSON object",
        )
        targets = [target for target in TARGETS if target is not None]
        parser.add_argument(
            "--target", type=int, choices=targets, help="play whole games, not single rounds"
        )
        parser.add_argument("--deals", type=int, default=2000, help="how many packs")
        parser.add_argument("--seed", type=int, default=1, help="another seed, other packs")
        parser.add_argument("--file", type=Path, help="where to keep the matches")

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["deals"] < 1:
            raise CommandError("At least one pack has to be played.")
        terms = Terms(_rules(options["rules"]), options["target"])
        duel = Duel(options["first"], options["second"], terms, options["seed"])
        # The garbage of a whole site would be looked through in the middle of a player's thinking.
        gc.freeze()
        matches: list[Match] = []
        try:
            for match in matches_of(duel, options["file"] or _file_of(duel), options["deals"]):
                matches.append(match)  # noqa: PERF402 - kept when it is interrupted
        except (CannotGoOn, OSError) as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            if not matches:
                raise
            self.stdout.write("Interrupted; this is how far it is:")
        finally:
            gc.unfreeze()
        self.stdout.write(report(duel, matches))


def _rules(text: str) -> RuleSet:
    try:
        return RuleSet.from_json(json.loads(text) if text.startswith("{") else text)
    except (InvalidInput, ValueError) as error:
        raise CommandError(str(error)) from error


def _file_of(duel: Duel) -> Path:
    target = f"-{duel.terms.target}" if duel.terms.target is not None else ""
    name = f"{duel.first}-{duel.second}-{duel.terms.rules.name}{target}-{duel.seed}.jsonl"
    return Path(settings.VAR, "duels", name)
