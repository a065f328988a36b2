"""The fair deal: sealing, the joining player's words, and every round's cards.

The only code that opens a sealed tip. The recipe is ``engine.shuffle`` (docs/fair-shuffle.md);
here it meets the operating system's generator and the database.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from uuid import UUID

from django.db.models import OuterRef, Subquery

from games.sealing.models import SealedTip

from .cipher import Undecipherable, decrypt, encrypt
from .engine import (
    ROUNDS_SEALED,
    Deal,
    GameState,
    anchor_of,
    deal_round,
    secret_of_round,
    words_digest,
)
from .engine.rulesets import Replaced
from .models import Challenge, Fingerprint, Game, Seal


class BrokenSeal(Exception):
    """The sealed secret cannot be read, or the cards at the table are not the ones it deals."""


@dataclass(frozen=True, slots=True)
class SealedDeals:
    """All the deals of one game, opened for the server's own use. Never shown, stored or logged."""

    _tip: bytes
    _game_id: UUID
    _words_sha256: bytes
    _replaced: Replaced
    _rounds_sealed: int

    def __repr__(self) -> str:
        return f"<sealed deals of game {self._game_id}>"

    def deal(self, round_number: int) -> Deal:
        """Return the cards of a round, as docs/fair-shuffle.md deals them."""
        return deal_round(
            secret=self.secret(round_number),
            game_id=self._game_id,
            round_number=round_number,
            words_sha256=self._words_sha256,
            replaced=self._replaced,
        )

    def secret(self, round_number: int) -> bytes:
        """Return ``S[round_number]``: to be revealed when that round is final, never earlier."""
        return secret_of_round(self._tip, self._rounds_sealed, round_number)

    def check(self, state: GameState) -> None:
        """Raise ``BrokenSeal`` unless the hands and the stock are what the seal deals now.

        Looked at whenever cards are dealt, so that a damaged row stops the game instead of dealing
        other cards.
        """
        if state.round is None:
            return
        if not state.round.was_dealt_from(self.deal(state.round_number)):
            raise BrokenSeal(f"game {self._game_id}: the cards are not the sealed ones")


def seal(challenge: Challenge) -> Seal:
    """Seal the secrets of every round the game could have, before anybody joins; store the anchor.

    The tip comes from the operating system's generator and is stored encrypted.
    """
    tip = secrets.token_bytes(32)
    SealedTip.objects.create(
        challenge=challenge, tip=encrypt(tip.hex(), bound_to=_row(challenge.pk))
    )
    return Seal.objects.create(
        challenge=challenge, anchor=anchor_of(tip, ROUNDS_SEALED).hex(), rounds_sealed=ROUNDS_SEALED
    )


def freeze_words(game: Game, words: str, words_by: Fingerprint.By) -> Fingerprint:
    """Store the fingerprint of the joining player's words, for good. The words are not kept.

    Raises ``InvalidInput`` for words that are not one line of at most 200 characters.
    """
    return Fingerprint.objects.create(
        game=game, words_sha256=words_digest(words).hex(), words_by=words_by
    )


def are_frozen(words: str, fingerprint: Fingerprint) -> bool:
    """Return whether these are the words whose fingerprint was stored."""
    return words_digest(words).hex() == fingerprint.words_sha256


def open_seal(game_id: UUID, replaced: Replaced) -> SealedDeals:
    """Open the sealed deals of a game whose words are frozen.

    ``replaced`` is the rule set's value for replaced floor cards. Raises ``BrokenSeal`` when the
    row is missing, cannot be deciphered, or does not hang on the published anchor.
    """
    seal_of_game = Seal.objects.filter(pk=OuterRef("pk"))
    frozen = Fingerprint.objects.filter(pk=OuterRef("pk"))
    row = (
        SealedTip.objects.filter(pk=game_id)
        .values_list(
            "tip",
            Subquery(seal_of_game.values("anchor")),
            Subquery(seal_of_game.values("rounds_sealed")),
            Subquery(frozen.values("words_sha256")),
        )
        .first()
    )
    if row is None or None in row:
        raise BrokenSeal(f"game {game_id}: its seal is not complete")
    token, anchor, rounds_sealed, words_sha256 = row
    try:
        tip = bytes.fromhex(decrypt(token, bound_to=_row(game_id)))
        words = bytes.fromhex(words_sha256)
    except (Undecipherable, ValueError, TypeError) as error:
        raise BrokenSeal(f"game {game_id}: its tip cannot be read") from error
    if anchor_of(tip, rounds_sealed).hex() != anchor:
        raise BrokenSeal(f"game {game_id}: its tip does not hang on its anchor")
    return SealedDeals(tip, game_id, words, replaced, rounds_sealed)


def _row(game_id: UUID) -> str:
    return f"tip of {game_id}"
