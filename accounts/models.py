"""Who sits at the tables: players with an account, guests, and the computer players."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import PermissionsMixin, UserManager
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy, pgettext_lazy


def name_key(name: str) -> str:
    """Return what two names have in common that are one name to a reader."""
    return name.casefold()


class User(AbstractBaseUser, PermissionsMixin):
    """Whoever can hold a seat. A computer player is a user like any other to the code."""

    class Kind(models.TextChoices):
        MEMBER = "member", gettext_lazy("player")
        GUEST = "guest", gettext_lazy("guest")
        COMPUTER = "computer", gettext_lazy("computer player")

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
    name = models.CharField(gettext_lazy("name"), max_length=24)
    # What makes a name unique: the database folds letters of the Latin alphabet only.
    name_key = models.CharField(max_length=72, unique=True, editable=False)
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
    # The last visit, to within some minutes: see accounts.presence.
    seen_at = models.DateTimeField(default=timezone.now)

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
        """Save, with the key of the name kept in step with it."""
        self.name_key = name_key(self.name)
        if (fields := kwargs.get("update_fields")) is not None and "name" in fields:
            kwargs["update_fields"] = {*fields, "name_key"}
        super().save(*args, **kwargs)

    def __str__(self) -> str:
        return self.name

    @property
    def shown_name(self) -> str:
        """The name on pages; the house's own players have one in every language."""
        return str(self.Level(self.level).label) if self.is_computer else self.name

    @property
    def is_computer(self) -> bool:
        return self.kind == self.Kind.COMPUTER
