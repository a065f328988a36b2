"""The table of sealed secrets: an app of its own, so that one import rule guards it.

Only ``games.dealing`` may import this package (import-linter checks it). A tip yields every deal
of a game, so it is stored encrypted with a key that is not in the database.
"""

from __future__ import annotations

from django.db import models


class SealedTip(models.Model):
    """The encrypted end of a game's chain of secrets (docs/fair-shuffle.md, "chain")."""

    challenge = models.OneToOneField(
        "games.Challenge", on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    tip = models.BinaryField()

    def __str__(self) -> str:
        return f"sealed tip of {self.challenge_id}"
