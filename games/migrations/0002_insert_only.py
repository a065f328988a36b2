"""Seals and fingerprints are insert-only: the database itself refuses to change them.

An anchor that could be edited after the words are known would prove nothing.
"""

from django.apps.registry import Apps as StateApps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

_TABLES = ("games_seal", "games_fingerprint")


def forbid_changes(_apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(
            """
            CREATE FUNCTION games_insert_only() RETURNS trigger AS $$
            BEGIN
                RAISE EXCEPTION '% is insert-only', TG_TABLE_NAME
                    USING ERRCODE = 'integrity_constraint_violation';
            END $$ LANGUAGE plpgsql
            """,
            params=None,  # the percent sign is PL/pgSQL's own
        )
        for table in _TABLES:
            schema_editor.execute(
                f"CREATE TRIGGER insert_only BEFORE UPDATE ON {table}"
                " FOR EACH ROW EXECUTE FUNCTION games_insert_only()"
            )
        return
    for table in _TABLES:
        schema_editor.execute(
            f"CREATE TRIGGER {table}_insert_only BEFORE UPDATE ON {table}"
            f" BEGIN SELECT RAISE(ABORT, '{table} is insert-only'); END"
        )


def allow_changes(_apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    postgresql = schema_editor.connection.vendor == "postgresql"
    for table in _TABLES:
        schema_editor.execute(
            f"DROP TRIGGER insert_only ON {table}"
            if postgresql
            else f"DROP TRIGGER {table}_insert_only"
        )
    if postgresql:
        schema_editor.execute("DROP FUNCTION games_insert_only()")


class Migration(migrations.Migration):
    dependencies = [("games", "0001_initial")]

    operations = [migrations.RunPython(forbid_changes, allow_changes)]
