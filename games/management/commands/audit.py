"""Replay every game from its seal and its plays, and name what does not fit."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from games import selectors
from games.auditing import problems_of

_GAMES_AT_A_TIME = 200


class Command(BaseCommand):
    help = (
        "Replays every game, or those named, from its seal and its plays, and compares everything "
        "that is stored. Prints a line for each fault and ends with status 1 if there is any. "
        "Changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("games", nargs="*", type=UUID, metavar="GAME", help="ids of games")

    def handle(self, *_args: Any, **options: Any) -> None:
        games = selectors.all_games().order_by("created_at")
        if options["games"]:
            games = games.filter(pk__in=options["games"])
        audited = damaged = 0
        for game in games.iterator(_GAMES_AT_A_TIME):
            audited += 1
            problems = problems_of(game)
            damaged += bool(problems)
            for problem in problems:
                self.stdout.write(f"game {game.pk}: {problem}")
        summary = f"{audited} games audited, {damaged} damaged"
        if damaged:
            raise CommandError(summary)
        self.stdout.write(summary)
