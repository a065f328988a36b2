"""The people at the tables: players with an account, guests, and the computer."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import PermissionsMixin, UserManager
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class User(AbstractBaseUser, PermissionsMixin):
    """Whoever can hold a seat. The computer is a user like any other to the code."""

    class Kind(models.TextChoices):
        MEMBER = "member", _("player")
        GUEST = "guest", _("guest")
        COMPUTER = "computer", _("computer player")

    username = models.CharField(max_length=150, unique=True)
    name = models.CharField(_("name"), max_length=24)
    email = models.EmailField(blank=True)
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.MEMBER)
    is_staff = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    date_joined = models.DateTimeField(default=timezone.now)
    plays_forced_cards = models.BooleanField(
        _("play forced cards by themselves"),
        default=True,
        help_text=_("Your last card goes by itself when it leaves you nothing to choose."),
    )

    USERNAME_FIELD = "username"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]

    objects = UserManager["User"]()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(Lower("name"), name="one_player_to_a_name"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_computer(self) -> bool:
        return self.kind == self.Kind.COMPUTER
