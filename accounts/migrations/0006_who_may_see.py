from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0005_names_by_look")]

    operations = [
        migrations.AlterField(
            model_name="user",
            name="may_see",
            field=models.CharField(
                choices=[
                    ("everybody", "everybody"),
                    ("friends", "my friends"),
                    ("nobody", "nobody"),
                ],
                default="everybody",
                help_text=(
                    "Whoever has the link of a game can look on, and sees who plays. The pages of "
                    "those you have played name you only to whom you choose here."
                ),
                max_length=9,
                verbose_name="Who may see my games on my page, and when I was here",
            ),
        ),
    ]
