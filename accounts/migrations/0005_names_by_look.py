"""Makes names unique by look: of two look-alikes the older keeps it, the later gets a number."""

from itertools import count
from typing import Any

from django.db import migrations

from accounts.names import MAX_LENGTH, skeleton_of

_PEOPLE = ("member", "guest")


def part_look_alikes(apps: Any, schema_editor: Any) -> None:
    users = apps.get_model("accounts", "User").objects.using(schema_editor.connection.alias)
    taken: set[str] = set()
    changed = []
    for user in users.only("username", "name", "kind", "skeleton").order_by("pk").iterator():
        name = user.name
        skeleton = skeleton_of(name) if user.kind in _PEOPLE else user.username
        for number in count(2):
            if skeleton and skeleton not in taken:
                break
            ending = f" {number}"
            user.name = name[: MAX_LENGTH - len(ending)].rstrip() + ending
            skeleton = skeleton_of(user.name)
        taken.add(skeleton)
        if skeleton != user.skeleton or user.name != name:
            user.skeleton = skeleton
            changed.append(user)
    # First out of the way: a new key may be another's old one.
    for user in changed:
        users.filter(pk=user.pk).update(skeleton=f"#{user.pk}")
    for user in changed:
        users.filter(pk=user.pk).update(name=user.name, skeleton=user.skeleton)


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0004_people"),
    ]

    operations = [
        migrations.RunPython(part_look_alikes, migrations.RunPython.noop, elidable=True),
    ]
