from typing import Any

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def name_the_computer(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let the computer of before play on as Amm Sayed, at the tables where it sits."""
    del schema_editor
    users = apps.get_model("accounts", "User").objects
    users.filter(kind="computer").update(level="medium")
    for level in ("easy", "hard"):  # after a way back
        users.filter(kind="computer", username=f"computer-{level}").update(level=level)
    users.filter(username="computer").update(
        username="computer-medium", name="Amm Sayed (computer)", name_key="amm sayed (computer)"
    )


def take_the_name_back(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Give the computer the name of before."""
    del schema_editor
    users = apps.get_model("accounts", "User").objects
    users.filter(username="computer-medium").update(
        username="computer", name="The computer", name_key="the computer"
    )


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_presence_and_after_move"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="level",
            field=models.CharField(
                blank=True,
                choices=[("easy", "Simsim"), ("medium", "Amm Sayed"), ("hard", "El Usta")],
                db_default="",
                max_length=6,
            ),
        ),
        migrations.RunPython(name_the_computer, take_the_name_back),
        migrations.AddConstraint(
            model_name="user",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "computer"), ("level__in", ["easy", "medium", "hard"])),
                    models.Q(
                        models.Q(("kind", "computer"), _negated=True),
                        ("level", ""),
                    ),
                    _connector="OR",
                ),
                name="a_level_for_each_computer",
            ),
        ),
    ]
