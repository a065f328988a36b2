import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0003_challenges"), ("sealing", "0001_initial")]

    operations = [
        migrations.RenameField(model_name="sealedtip", old_name="game", new_name="challenge"),
        migrations.AlterField(
            model_name="sealedtip",
            name="challenge",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                primary_key=True,
                related_name="+",
                serialize=False,
                to="games.challenge",
            ),
        ),
    ]
