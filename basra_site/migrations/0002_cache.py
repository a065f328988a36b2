from typing import Any

from django.core.management import call_command
from django.db import migrations


def make_the_table(apps: Any, schema_editor: Any) -> None:
    """The table of django.core.cache: what is counted for a while, for every process."""
    del apps
    call_command(
        "createcachetable", "basra_site_cache", database=schema_editor.connection.alias, verbosity=0
    )


class Migration(migrations.Migration):
    dependencies = [("basra_site", "0001_initial")]

    operations = [
        migrations.RunPython(make_the_table, migrations.RunPython.noop),
    ]
