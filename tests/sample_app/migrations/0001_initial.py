"""Make the table of greetings."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Make the table of greetings."""

    dependencies = [("core", "0001_initial")]
    operations = [
        migrations.CreateModel(
            name="Greeting",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("topic", models.ForeignKey("core.Topic", models.CASCADE)),
                ("words", models.CharField(max_length=40)),
                ("secret", models.CharField(max_length=40)),
            ],
        )
    ]
