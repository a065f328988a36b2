"""Who sits at the tables: players with an account, guests, and the computer players."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import PermissionsMixin, UserManager
from django.db import models
from django.db.models.functions import Greatest, Least, Now
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, pgettext_lazy

from .names import skeleton_of


class User(AbstractBaseUser, PermissionsMixin):
    """Whoever can hold a seat. A computer player is a user like any other to the code."""

    class Kind(models.TextChoices):
        MEMBER = "member", gettext_lazy("player")
        GUEST = "guest", gettext_lazy("guest")
        COMPUTER = "computer", gettext_lazy("computer player")
        # Somebody whose account was deleted; what stays is a seat at other people's tables.
        FORMER = "former", gettext_lazy("former player")

    class Audience(models.TextChoices):
        """Whom a player lets do something."""

        EVERYBODY = "everybody", gettext_lazy("everybody")
        FRIENDS = "friends", gettext_lazy("my friends")
        NOBODY = "nobody", gettext_lazy("nobody")

    class Deck(models.TextChoices):
        TWO_COLOURS = "two", gettext_lazy("two colours")
        FOUR_COLOURS = "four", gettext_lazy("four colours, one for each suit")

    class AfterMove(models.TextChoices):
        STAY = "stay", gettext_lazy("stay at the table")
        NEXT = "next", gettext_lazy("go to the next game that waits for me")
        LIST = "list", gettext_lazy("go to my games")

    class Level(models.TextChoices):
        """How well a computer player plays; the label is its name."""

        EASY = "easy", pgettext_lazy("name of the easy computer player", "Simsim")
        MEDIUM = "medium", pgettext_lazy("name of the medium computer player", "Amm Sayed")
        HARD = "hard", pgettext_lazy("name of the hard computer player", "El Usta")

    username = models.CharField(max_length=150, unique=True)
    # What addresses of pages and links carry in place of the key.
    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(gettext_lazy("name"), max_length=24)
    # What makes a name unique: see accounts.names.
    skeleton = models.CharField(max_length=200, unique=True, editable=False)
    email = models.EmailField(blank=True)
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.MEMBER)
    level = models.CharField(max_length=6, choices=Level, blank=True, db_default="")
    is_staff = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    date_joined = models.DateTimeField(default=timezone.now)
    plays_forced_cards = models.BooleanField(
        gettext_lazy("Play my forced cards for me"),
        default=True,
        help_text=gettext_lazy("A last card that leaves you nothing to choose goes by itself."),
    )

    after_move = models.CharField(
        gettext_lazy("After my move"), max_length=4, choices=AfterMove, default=AfterMove.STAY
    )
    confirms_plays = models.BooleanField(
        gettext_lazy("Ask before a card is played"),
        default=True,
        help_text=gettext_lazy("A chosen card shows what it takes, and is played by a button."),
    )
    deck = models.CharField(
        gettext_lazy("Cards"), max_length=4, choices=Deck, default=Deck.TWO_COLOURS
    )
    # Empty: as the browser says.
    language = models.CharField(gettext_lazy("Language"), max_length=8, blank=True)
    time_zone = models.CharField(gettext_lazy("Time zone"), max_length=64, blank=True)
    may_challenge = models.CharField(
        gettext_lazy("Who may challenge me"),
        max_length=9,
        choices=Audience,
        default=Audience.EVERYBODY,
    )
    may_see = models.CharField(
        gettext_lazy("Who may see my games on my page, and when I was here"),
        max_length=9,
        choices=Audience,
        default=Audience.EVERYBODY,
        help_text=gettext_lazy(
            "Whoever has the link of a game can look on, and sees who plays. The pages of those "
            "you have played name you only to whom you choose here."
        ),
    )
    quiet = models.BooleanField(
        gettext_lazy("Quiet mode"),
        default=False,
        help_text=gettext_lazy(
            "Nobody can challenge you, invite you or ask for your friendship, and nobody sees "
            "when you are here. Your running games go on."
        ),
    )
    # When the account will be deleted, as its owner asked.
    closes_at = models.DateTimeField(null=True, editable=False)
    # An account whose address is not confirmed yet takes over this guest's games when it is.
    takes_over = models.OneToOneField(
        "self", on_delete=models.SET_NULL, null=True, editable=False, related_name="taken_over_by"
    )
    # A guest who has become somebody: the rest is moved there and the row deleted later.
    merged_into = models.ForeignKey(
        "self", on_delete=models.CASCADE, null=True, editable=False, related_name="merged_guests"
    )
    # The last visit, to within some minutes: see accounts.presence.
    seen_at = models.DateTimeField(default=timezone.now)

    # The fields in which players say how they want things.
    SETTINGS: ClassVar = (
        "plays_forced_cards", "after_move", "confirms_plays", "deck", "language", "time_zone",
        "may_challenge", "may_see", "quiet",
    )  # fmt: skip

    USERNAME_FIELD = "username"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]

    objects = UserManager["User"]()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(kind="computer", level__in=["easy", "medium", "hard"])
                | (~models.Q(kind="computer") & models.Q(level="")),
                name="a_level_for_each_computer",
            ),
        ]

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save, with the key of the name kept in step with it.

        Whoever is shown under no name of their own takes none away from others.
        """
        has_a_name = self.kind in (self.Kind.MEMBER, self.Kind.GUEST)
        self.skeleton = skeleton_of(self.name) if has_a_name else self.username
        if (fields := kwargs.get("update_fields")) is not None and {"name", "kind", "username"} & {
            *fields
        }:
            kwargs["update_fields"] = {*fields, "skeleton"}
        super().save(*args, **kwargs)

    def __str__(self) -> str:
        return self.name

    @property
    def shown_name(self) -> str:
        """The name on pages; the house's own players have one in every language."""
        if self.kind == self.Kind.FORMER:
            return gettext("former player")
        return str(self.Level(self.level).label) if self.is_computer else self.name

    @property
    def is_computer(self) -> bool:
        return self.kind == self.Kind.COMPUTER

    @property
    def is_former(self) -> bool:
        """Whether this is somebody whose account was deleted."""
        return self.kind == self.Kind.FORMER

    @property
    def is_guest(self) -> bool:
        return self.kind == self.Kind.GUEST

    @property
    def is_member(self) -> bool:
        """Whether this is a person with an account of their own."""
        return self.kind == self.Kind.MEMBER


class Friendship(models.Model):
    """Two players who are friends, or one who has asked the other: one row for two people."""

    asker = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="friendships_asked"
    )
    asked = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="friendships_received"
    )
    asked_at = models.DateTimeField(db_default=Now())
    accepted_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                Least("asker", "asked"), Greatest("asker", "asked"), name="one_friendship_of_two"
            ),
            models.CheckConstraint(
                condition=~models.Q(asker=models.F("asked")), name="nobody_befriends_themselves"
            ),
        ]

    def __str__(self) -> str:
        return f"friendship of {self.asker_id} and {self.asked_id}"


class Block(models.Model):
    """A player who wants nothing to do with another one. Who was blocked is not told."""

    blocker = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="blocks_made"
    )
    blocked = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="blocks_received"
    )
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["blocker", "blocked"], name="blocked_once"),
            models.CheckConstraint(
                condition=~models.Q(blocker=models.F("blocked")), name="nobody_blocks_themselves"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.blocker_id} blocks {self.blocked_id}"


class Mail(models.Model):
    """The outbox: a mail that is to be sent, stored with what gave rise to it.

    The row is the truth and a task only the doorbell. A mail whose sending was begun and not
    reported is of unknown outcome and never sent again.
    """

    class State(models.TextChoices):
        NEW = "new"
        STARTED = "started"
        SENT = "sent"
        UNKNOWN = "unknown"
        DEAD = "dead"  # cannot or need not be sent

    # One mail for one thing: "invitation <id>".
    key = models.CharField(max_length=120, unique=True)
    kind = models.CharField(max_length=24)
    # Whose account it is about, if anybody's; of a stranger only the address is known.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="mails"
    )
    address = models.EmailField()
    language = models.CharField(max_length=8)
    # What the composer of its kind needs; emptied when the mail has left.
    content = models.JSONField(default=dict)
    state = models.CharField(max_length=8, choices=State, default=State.NEW)
    attempts = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())
    not_before = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    # When its sending was begun, and when it ended.
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["not_before"],
                condition=models.Q(state__in=["new", "started"]),
                name="mails_to_be_sent",
            ),
        ]

    def __str__(self) -> str:
        return self.key


class Quota(models.Model):
    """How often something was done in the present window; see ``accounts.quotas``."""

    key = models.CharField(max_length=160, primary_key=True)
    ends_at = models.DateTimeField()
    used = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.key}: {self.used}"


class SuppressedAddress(models.Model):
    """An address that never wants an invitation again; only its digest is kept."""

    digest = models.CharField(max_length=64, primary_key=True)
    at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.digest


class RetiredName(models.Model):
    """What nobody may take for a while, as a digest: a name of a deleted account, or of one that a
    sign-up seemed to make (``accounts.signing_in``)."""

    digest = models.CharField(max_length=64, primary_key=True)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return self.digest


class DataExport(models.Model):
    """What a player has asked to take along: made by the queue, fetched once, deleted soon."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="exports"
    )
    asked_at = models.DateTimeField(db_default=Now())
    made_at = models.DateTimeField(null=True)
    # A ZIP file with data.json and data.html.
    content = models.BinaryField(null=True)
    fetched_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"export of {self.user_id}"


class FacebookRequest(models.Model):
    """Facebook's word that somebody has removed the app or wants their data deleted."""

    class Kind(models.TextChoices):
        DEAUTHORISE = "deauthorise"
        DELETE = "delete"

    kind = models.CharField(max_length=11, choices=Kind)
    # What the status page is found by; says nothing of the person.
    confirmation_code = models.CharField(max_length=32, unique=True)
    # Digest of Facebook's id: the same request sent again is answered as once.
    person = models.CharField(max_length=64)
    issued_at = models.DateTimeField()
    received_at = models.DateTimeField(db_default=Now())
    # Whose account it is; forgotten with the account.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="facebook_requests",
    )
    done_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["kind", "person", "issued_at"], name="a_facebook_request_acts_once"
            ),
        ]

    def __str__(self) -> str:
        return self.confirmation_code
