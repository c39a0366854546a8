"""Keep the threads of tasks with a released leaderboard open, as they were."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def open_threads(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    released = apps.get_model("evaluation", "Leaderboard").objects.filter(hidden_at=None)
    tasks = apps.get_model("core", "Task").objects.filter(pk__in=released.values("task"))
    tasks.update(threads="open")


class Migration(migrations.Migration):
    dependencies = [
        ("core", "0003_threads_open_at_release"),
        ("evaluation", "0002_help_texts"),
    ]
    operations = [migrations.RunPython(open_threads, migrations.RunPython.noop)]
