"""A seal belongs to the challenge: the deals are sealed before there is a game."""

import django.db.models.deletion
from django.apps.registry import Apps as StateApps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def forbid_changes_again(_apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """SQLite writes the table anew for a changed column, and drops its trigger by that."""
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute(
            "CREATE TRIGGER games_seal_insert_only BEFORE UPDATE ON games_seal"
            " BEGIN SELECT RAISE(ABORT, 'games_seal is insert-only'); END"
        )


class Migration(migrations.Migration):
    dependencies = [("games", "0003_challenges")]

    operations = [
        migrations.RunPython(migrations.RunPython.noop, forbid_changes_again),
        migrations.RenameField(model_name="seal", old_name="game", new_name="challenge"),
        migrations.AlterField(
            model_name="seal",
            name="challenge",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                primary_key=True,
                related_name="seal",
                serialize=False,
                to="games.challenge",
            ),
        ),
        migrations.RunPython(forbid_changes_again, migrations.RunPython.noop),
    ]
