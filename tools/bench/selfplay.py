"""Whole games of the easy against the medium computer player, stored move by move, and audited."""

from __future__ import annotations

import io
import time
from itertools import cycle, islice, product
from typing import TYPE_CHECKING

from django.core.management import CommandError, call_command
from django.db import connection

from accounts.models import User
from games import engine, services
from games.models import Fingerprint, Game
from tools.bench.report import Aim, Report, Table

if TYPE_CHECKING:
    from uuid import UUID

TARGETS = (None, 51, 101)


def measure(number: int) -> Report:
    """Play so many games, of every rule set and several targets in turn, and audit them."""
    started = time.monotonic()
    terms = cycle(product(TARGETS, engine.RULE_SETS.values()))
    games = [_played(rules, target) for target, rules in islice(terms, number)]
    seconds = time.monotonic() - started
    plays = sum(Game.objects.filter(pk__in=games).values_list("plies", flat=True))
    unfinished = Game.objects.filter(pk__in=games).exclude(status=Game.Status.FINISHED).count()

    started = time.monotonic()
    verdict, sound = _audit(games)
    audit_seconds = time.monotonic() - started
    return Report(
        [
            Table(
                f"{number} games of computer players on {connection.vendor}",
                ("", "games a second", "plays a second", "seconds"),
                [
                    ("played", number / seconds, plays / seconds, seconds),
                    (f"audited: {verdict}", number / audit_seconds, plays / audit_seconds,
                     audit_seconds),
                ],
            )
        ],
        [
            Aim("games that did not end", unfinished, 0, binding=True),
            Aim("audit, 0 for clean", 0 if sound else 1, 0, binding=True),
        ],
    )  # fmt: skip


def _played(rules: engine.RuleSet, target: int | None) -> UUID:
    easy = services.computer_player(User.Level.EASY)
    challenge = services.challenge_by_the_computer(
        player=easy, level=User.Level.MEDIUM, rules=rules, target=target
    )
    game = services.accept_challenge(
        challenge_id=challenge.pk, player=easy, words="", words_by=Fingerprint.By.SERVER
    )
    # It replies until it is a person's turn, and there is none at this table.
    return services.computer_reply(game).pk


def _audit(games: list[UUID]) -> tuple[str, bool]:
    output = io.StringIO()
    try:
        call_command("audit", *games, stdout=output)
    except CommandError as error:
        print(output.getvalue())
        return str(error), False
    return output.getvalue().strip(), True
