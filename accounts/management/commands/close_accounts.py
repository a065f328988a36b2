"""`manage.py close_accounts NUMBER …`: after a restore, delete again what had been deleted."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts import closing
from accounts.models import User


class Command(BaseCommand):
    help = "Deletes the accounts with these numbers now, without the seven days."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("accounts", nargs="+", type=int, metavar="NUMBER")

    def handle(self, *_args: Any, **options: Any) -> None:
        wanted = set(options["accounts"])
        people = User.objects.filter(pk__in=wanted)
        closed = closing.close_all(people, len(wanted))
        left = people.filter(kind__in=[User.Kind.MEMBER, User.Kind.GUEST])
        self.stdout.write(f"{closed} deleted, {len(wanted) - closed} were not there or are left")
        if left.exists():
            numbers = ", ".join(map(str, left.order_by("pk").values_list("pk", flat=True)))
            raise CommandError(f"could not be deleted, see the log: {numbers}")
