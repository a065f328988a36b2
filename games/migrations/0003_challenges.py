"""Challenges: every game begins with one, and has its id."""

import uuid
from datetime import timedelta

import django.db.models.deletion
import django.db.models.functions.datetime
from django.apps.registry import Apps as StateApps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def give_every_game_its_challenge(
    apps: StateApps, _schema_editor: BaseDatabaseSchemaEditor
) -> None:
    """What was a sealed game is a challenge that still waits."""
    game, challenge = apps.get_model("games", "Game"), apps.get_model("games", "Challenge")
    challenge.objects.bulk_create(
        [
            challenge(
                id=one.id,
                maker=one.player_a,
                opponent=one.player_b,
                rule_set=one.rule_set,
                target=one.target,
                rules_version=one.rules_version,
                shuffle_version=one.shuffle_version,
                state="waiting" if one.status == "sealed" else "accepted",
                created_at=one.created_at,
                expires_at=one.created_at + timedelta(days=14),
                answered_at=None if one.status == "sealed" else one.created_at,
            )
            for one in game.objects.select_related("player_a", "player_b")
        ],
        batch_size=500,
    )


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("games", "0002_insert_only"),
    ]

    operations = [
        migrations.CreateModel(
            name="Challenge",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("form_key", models.UUIDField(editable=False, null=True, unique=True)),
                (
                    "maker",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="challenges_made",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "opponent",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="challenges_received",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("listed", models.BooleanField(default=False)),
                (
                    "rematch_of",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rematches",
                        to="games.game",
                    ),
                ),
                ("rule_set", models.JSONField()),
                ("target", models.PositiveSmallIntegerField(null=True)),
                ("rules_version", models.PositiveSmallIntegerField()),
                ("shuffle_version", models.CharField(max_length=32)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("accepted", "accepted"),
                            ("declined", "declined"),
                            ("withdrawn", "withdrawn"),
                            ("expired", "expired"),
                        ],
                        default="waiting",
                        max_length=9,
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("expires_at", models.DateTimeField()),
                ("answered_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "waiting")),
                        fields=["maker", "-created_at"],
                        name="waiting_challenges_made",
                    ),
                    models.Index(
                        condition=models.Q(("state", "waiting")),
                        fields=["opponent", "created_at"],
                        name="waiting_challenges_received",
                    ),
                    models.Index(
                        condition=models.Q(("listed", True), ("state", "waiting")),
                        fields=["-created_at"],
                        name="challenges_in_the_list",
                    ),
                    models.Index(
                        condition=models.Q(("state", "waiting")),
                        fields=["expires_at"],
                        name="waiting_challenges_by_expiry",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("opponent", None),
                            models.Q(("maker", models.F("opponent")), _negated=True),
                            _connector="OR",
                        ),
                        name="nobody_challenges_themselves",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["waiting", "accepted"])),
                        fields=("rematch_of",),
                        name="one_rematch_of_a_game",
                    ),
                ],
            },
        ),
        migrations.RunPython(give_every_game_its_challenge, migrations.RunPython.noop),
    ]
