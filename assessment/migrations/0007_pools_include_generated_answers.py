"""Rename the setting `holds_written_answers` of frozen pools to `includes_generated_answers`."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

BEFORE, AFTER = "holds_written_answers", "includes_generated_answers"


def rename(apps: Apps, old: str, new: str) -> None:
    for pool in apps.get_model("assessment", "Pool").objects.filter(settings__has_key=old):
        pool.settings[new] = pool.settings.pop(old)
        pool.save(update_fields=["settings"])


def forwards(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    rename(apps, BEFORE, AFTER)


def backwards(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    rename(apps, AFTER, BEFORE)


class Migration(migrations.Migration):
    dependencies = [("assessment", "0006_help_texts")]
    operations = [migrations.RunPython(forwards, backwards)]
