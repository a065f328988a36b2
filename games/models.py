"""Stored facts. The plays are the truth; a game's snapshot is kept beside them for speed."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models import User

from .engine import Seat

_SEATS = [(seat.value, seat.value) for seat in Seat]


class Challenge(models.Model):
    """An offer to play on stated terms. Its deals are sealed before anybody can accept it.

    Accepting makes the game, which takes the challenge's id: the shuffle is bound to it. A
    challenge with an ``opponent`` is for that player alone, a ``listed`` one for everybody, any
    other for whoever has its link. A game against the computer begins as the computer's challenge
    to the player, so that the words come from the player and after the sealing
    (docs/fair-shuffle.md, "words").
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        ACCEPTED = "accepted", _("accepted")
        DECLINED = "declined", _("declined")
        WITHDRAWN = "withdrawn", _("withdrawn")
        EXPIRED = "expired", _("expired")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    form_key = models.UUIDField(null=True, unique=True, editable=False)
    maker = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="challenges_made"
    )
    opponent = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        related_name="challenges_received",
    )
    listed = models.BooleanField(default=False)
    rematch_of = models.ForeignKey(
        "Game", on_delete=models.PROTECT, null=True, related_name="rematches"
    )
    rule_set = models.JSONField()
    target = models.PositiveSmallIntegerField(null=True)
    rules_version = models.PositiveSmallIntegerField()
    shuffle_version = models.CharField(max_length=32)

    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)

    # What selectors add: the database's clock, whether a block parts the maker and who looks.
    now: datetime
    parted: bool | None = None

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(opponent=None) | ~models.Q(maker=models.F("opponent")),
                name="nobody_challenges_themselves",
            ),
            models.UniqueConstraint(
                fields=["rematch_of"],
                condition=models.Q(state__in=["waiting", "accepted"]),
                name="one_rematch_of_a_game",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["maker", "-created_at"],
                condition=models.Q(state="waiting"),
                name="waiting_challenges_made",
            ),
            models.Index(
                fields=["opponent", "created_at"],
                condition=models.Q(state="waiting"),
                name="waiting_challenges_received",
            ),
            models.Index(
                fields=["-created_at"],
                condition=models.Q(state="waiting", listed=True),
                name="challenges_in_the_list",
            ),
            models.Index(
                fields=["expires_at"],
                condition=models.Q(state="waiting"),
                name="waiting_challenges_by_expiry",
            ),
        ]

    def __str__(self) -> str:
        return f"challenge {self.id}"

    @property
    def is_waiting(self) -> bool:
        """Whether it can still be accepted, as far as its own row says."""
        return self.state == self.State.WAITING and self.expires_at > self.now


class Invitation(models.Model):
    """A challenge that is mailed to an address, for whoever has the link in the mail.

    What becomes of it is the challenge's state. The mail is made by the queue, which draws the
    link's token then; only the token's SHA-256 is stored.
    """

    challenge = models.OneToOneField(
        Challenge, on_delete=models.CASCADE, primary_key=True, related_name="invitation"
    )
    # Forgotten when the challenge has found its end.
    address = models.EmailField(blank=True)
    address_digest = models.CharField(max_length=64)
    language = models.CharField(max_length=8)
    # The member whose confirmed address it is. The inviter is not told.
    recipient = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="invitations_received",
    )
    token_sha256 = models.CharField(  # noqa: DJ001 - unique where there is one
        max_length=64, unique=True, null=True
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["address_digest"], name="invitations_by_address"),
        ]

    def __str__(self) -> str:
        return f"invitation {self.challenge_id}"


class Game(models.Model):
    """Rounds between two players until a target is reached.

    Seat A is the one who made the challenge, seat B the one who accepted it; against the computer
    the human accepts. Its id is the challenge's. Whose turn it is stands in ``turn`` and nowhere
    else.
    """

    class Status(models.TextChoices):
        RUNNING = "running", _("running")
        FINISHED = "finished", _("finished")

    id = models.UUIDField(primary_key=True, editable=False)
    player_a = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="games_as_a"
    )
    player_b = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="games_as_b"
    )
    rule_set = models.JSONField()
    target = models.PositiveSmallIntegerField(null=True)
    rules_version = models.PositiveSmallIntegerField()
    shuffle_version = models.CharField(max_length=32)

    status = models.CharField(max_length=8, choices=Status, default=Status.RUNNING)
    turn = models.CharField(max_length=1, choices=_SEATS, blank=True)
    version = models.PositiveIntegerField(default=0)
    plies = models.PositiveIntegerField(default=0)
    public = models.JSONField(default=dict)
    hidden = models.BinaryField(default=bytes)
    winner = models.CharField(max_length=1, choices=_SEATS, blank=True)
    reason = models.CharField(max_length=16, blank=True)
    seen_a = models.PositiveSmallIntegerField(default=0)
    seen_b = models.PositiveSmallIntegerField(default=0)
    # Who offers to cancel the game and waits for an answer.
    cancel_offer = models.CharField(max_length=1, choices=_SEATS, blank=True)

    created_at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    # What selectors add where they say so: the database's clock, the anchor, whether anything
    # happened besides the plays, the last play.
    now: datetime
    anchor: str | None
    has_events: bool = False
    last_seat: str = ""
    last_text: str | None = None

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=~models.Q(player_a=models.F("player_b")), name="two_players_to_a_game"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["player_a", "status", "-changed_at"], name="games_of_player_a"),
            models.Index(fields=["player_b", "status", "-changed_at"], name="games_of_player_b"),
            models.Index(
                fields=["changed_at"],
                condition=models.Q(status="running"),
                name="running_games_by_change",
            ),
        ]

    def __str__(self) -> str:
        return f"game {self.id}"

    def player(self, seat: Seat) -> User:
        """Return who sits in ``seat``."""
        return self.player_a if seat is Seat.A else self.player_b

    def seat_of(self, player: User) -> Seat:
        """Return the seat of one of the two players; raise ``LookupError`` for anybody else."""
        for seat in Seat:
            if self.player(seat).pk == player.pk:
                return seat
        raise LookupError(f"{player.pk} does not sit at the table of {self}")

    def seen(self, seat: Seat) -> int:
        """Return how many summaries ``seat`` has put away."""
        return self.seen_a if seat is Seat.A else self.seen_b

    def seen_field(self, seat: Seat) -> str:
        """Return the name of the field that counts the summaries ``seat`` has put away."""
        return "seen_a" if seat is Seat.A else "seen_b"


class Event(models.Model):
    """Something that happened at the table besides the plays, for the log."""

    class Kind(models.TextChoices):
        CANCEL_OFFERED = "cancel_offered", _("offered to end the game uncounted")
        CANCEL_DECLINED = "cancel_declined", _("declined to end the game")
        CANCEL_LAPSED = "cancel_lapsed", _("played on")
        CANCELLED = "cancelled", _("agreed to end the game uncounted")
        RESIGNED = "resigned", _("resigned")
        ABORTED = "aborted", _("called the game off")
        # Somebody who played as a guest against their own account; it ended uncounted.
        SAME_PERSON = "same_person", _("turned out to be both players")

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="events")
    after_ply = models.PositiveIntegerField()
    kind = models.CharField(max_length=16, choices=Kind)
    seat = models.CharField(max_length=1, choices=_SEATS)
    at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.seat} {self.kind} after ply {self.after_ply}"


class Play(models.Model):
    """One card played, by choice or because it was forced."""

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="plays")
    ply = models.PositiveIntegerField()
    round_number = models.PositiveSmallIntegerField()
    seat = models.CharField(max_length=1, choices=_SEATS)
    text = models.CharField(max_length=200)
    forced = models.BooleanField(default=False)
    answered_version = models.PositiveIntegerField()
    move_id = models.UUIDField(null=True)
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["game", "ply"], name="one_play_to_a_ply"),
            models.UniqueConstraint(fields=["game", "seat", "move_id"], name="a_move_lands_once"),
        ]

    def __str__(self) -> str:
        return f"{self.ply}. {self.seat} {self.text}"


class FinishedRound(models.Model):
    """What a round brought, with the secret it was dealt from, stored when the round is final.

    A round that was broken off with its game has no result.
    """

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="finished_rounds")
    number = models.PositiveSmallIntegerField()
    dealer = models.CharField(max_length=1, choices=_SEATS)
    secret = models.CharField(max_length=64)
    deck = models.CharField(max_length=160)
    result = models.JSONField(null=True)
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["game", "number"], name="a_round_is_finished_once"),
        ]

    def __str__(self) -> str:
        return f"round {self.number} of game {self.game_id}"


class Seal(models.Model):
    """The anchor of a chain of secrets. Insert-only: a trigger refuses every change."""

    challenge = models.OneToOneField(
        Challenge, on_delete=models.CASCADE, primary_key=True, related_name="seal"
    )
    anchor = models.CharField(max_length=64, unique=True)
    rounds_sealed = models.PositiveSmallIntegerField()
    at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.anchor


class Fingerprint(models.Model):
    """SHA-256 of the words that the joining player added. Insert-only, like the seal."""

    class By(models.TextChoices):
        OPPONENT = "opponent", _("the player who joined")
        SERVER = "server", _("proposed by the server")

    game = models.OneToOneField(
        Game, on_delete=models.CASCADE, primary_key=True, related_name="fingerprint"
    )
    words_sha256 = models.CharField(max_length=64)
    words_by = models.CharField(max_length=8, choices=By)
    at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.words_sha256


class UploadedRecord(models.Model):
    """A game record that somebody brought to look at. Its owner alone sees it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="uploaded_records"
    )
    form_key = models.UUIDField(unique=True, editable=False)
    text = models.TextField()
    # For the list: the players as the record names them, if it does, and how many cards it plays.
    name_a = models.CharField(max_length=40, blank=True)
    name_b = models.CharField(max_length=40, blank=True)
    plays = models.PositiveIntegerField()
    uploaded_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["owner", "-uploaded_at"], name="records_of_owner"),
        ]

    def __str__(self) -> str:
        return f"record {self.id}"
