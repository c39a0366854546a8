"""A task that overrides the order was pooled in it, and still is."""

from django.db import migrations


def keep_pooling_orders(apps, schema_editor):
    """Pool each task with an order of its own in that order."""
    for task in apps.get_model("core", "Task").objects.all():
        if order := task.overrides.get("order"):
            task.overrides.setdefault("pooling_order", order)
            task.save(update_fields=["overrides"])


class Migration(migrations.Migration):
    dependencies = [
        ("core", "0013_teams_know_who_created_them"),
    ]

    operations = [
        migrations.RunPython(keep_pooling_orders, migrations.RunPython.noop, elidable=True)
    ]
