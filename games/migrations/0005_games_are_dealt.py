"""A game has cards from its first moment; what can happen to it besides plays is kept."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.apps.registry import Apps as StateApps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def drop_sealed_games(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Their challenges wait in their place."""
    apps.get_model("games", "Game").objects.filter(status="sealed").delete()
    if schema_editor.connection.vendor == "postgresql":
        # The table is altered next, which PostgreSQL refuses while a check of it is put off.
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0004_seals_of_challenges"),
        ("sealing", "0002_tips_of_challenges"),
    ]

    operations = [
        migrations.RunPython(drop_sealed_games, migrations.RunPython.noop),
        migrations.RemoveConstraint(model_name="game", name="a_form_makes_one_game"),
        migrations.RemoveField(model_name="game", name="form_key"),
        migrations.AlterField(
            model_name="game",
            name="id",
            field=models.UUIDField(editable=False, primary_key=True, serialize=False),
        ),
        migrations.AlterField(
            model_name="game",
            name="status",
            field=models.CharField(
                choices=[("running", "running"), ("finished", "finished")],
                default="running",
                max_length=8,
            ),
        ),
        migrations.AddField(
            model_name="game",
            name="cancel_offer",
            field=models.CharField(blank=True, choices=[("A", "A"), ("B", "B")], max_length=1),
        ),
        migrations.AlterField(
            model_name="finishedround",
            name="result",
            field=models.JSONField(null=True),
        ),
        migrations.CreateModel(
            name="Event",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("after_ply", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("cancel_offered", "offered to end the game uncounted"),
                            ("cancel_declined", "declined to end the game"),
                            ("cancel_lapsed", "played on"),
                            ("cancelled", "agreed to end the game uncounted"),
                            ("resigned", "resigned"),
                            ("aborted", "called the game off"),
                        ],
                        max_length=16,
                    ),
                ),
                ("seat", models.CharField(choices=[("A", "A"), ("B", "B")], max_length=1)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "game",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="games.game",
                    ),
                ),
            ],
        ),
    ]
