from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("assessment", "0002_first_release"),
    ]

    operations = [
        migrations.AddField("pool", "scale", models.JSONField(null=True)),
        migrations.AddField("qrelset", "scale", models.JSONField(null=True)),
    ]
