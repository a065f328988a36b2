import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="after_move",
            field=models.CharField(
                choices=[
                    ("stay", "stay at the table"),
                    ("next", "go to the next game that waits for me"),
                    ("list", "go to my games"),
                ],
                default="stay",
                max_length=4,
                verbose_name="After my move",
            ),
        ),
        migrations.AddField(
            model_name="user",
            name="seen_at",
            field=models.DateTimeField(default=django.utils.timezone.now),
        ),
    ]
