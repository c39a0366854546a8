from django.db import migrations


def mark_random_orders(apps, schema_editor):
    runs = apps.get_model("submissions", "Run").objects
    runs.filter(made_by__system="random").update(is_control=True)


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0001_initial"),
        ("submissions", "0004_controls"),
    ]
    operations = [migrations.RunPython(mark_random_orders, migrations.RunPython.noop)]
