from django.db import migrations, models

from arqlab.core.concurrent_indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    """Index the judgments that do not count."""

    atomic = False  # which CONCURRENTLY needs

    dependencies = [("assessment", "0001_initial")]

    operations = [
        AddIndexConcurrently(
            model_name="judgment",
            index=models.Index(
                condition=models.Q(is_current=False), fields=["id"], name="judgment_retired"
            ),
        ),
    ]
