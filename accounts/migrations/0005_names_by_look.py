"""Makes names unique by look, and none of them a web address.

Of two look-alikes the older keeps it, the later gets a number.
"""

import re
from itertools import batched, count
from typing import Any

from django.db import migrations, models
from django.db.models.functions import Cast, Concat

from accounts.names import MAX_LENGTH, skeleton_of

_PEOPLE = ("member", "guest")
_DOT_INSIDE_A_WORD = re.compile(r"(?<=[^\s._'-])\.(?=[^\s._'-])")
_AT_ONCE = 500


def part_look_alikes(apps: Any, schema_editor: Any) -> None:
    connection = schema_editor.connection
    users = apps.get_model("accounts", "User").objects.using(connection.alias)
    taken: set[str] = set()
    changed = []
    for user in users.only("username", "name", "kind", "skeleton").order_by("pk").iterator():
        is_person = user.kind in _PEOPLE
        name = _DOT_INSIDE_A_WORD.sub(" ", user.name) if is_person else user.name
        skeleton = skeleton_of(name) if is_person else user.username
        fresh = name
        for number in count(2):
            if skeleton and skeleton not in taken:
                break
            ending = f" {number}"
            fresh = name[: MAX_LENGTH - len(ending)].rstrip() + ending
            skeleton = skeleton_of(fresh)
        taken.add(skeleton)
        if (fresh, skeleton) != (user.name, user.skeleton):
            changed.append((fresh, skeleton, user.pk))
    # First out of the way: a new key may be another's old one.
    aside = Concat(models.Value("#"), Cast("pk", models.CharField()))
    for some in batched(changed, _AT_ONCE, strict=False):
        users.filter(pk__in=[key for _name, _skeleton, key in some]).update(skeleton=aside)
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE accounts_user SET name = %s, skeleton = %s WHERE id = %s", changed
        )


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0004_people"),
    ]

    operations = [
        migrations.RunPython(part_look_alikes, migrations.RunPython.noop, elidable=True),
    ]
