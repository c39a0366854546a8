"""Create the table in which wrong passwords are counted."""

from django.core.management import call_command
from django.db import migrations

TABLE = "core_attempts"


def create(apps, schema_editor):
    call_command(
        "createcachetable", TABLE, database=schema_editor.connection.alias, verbosity=0
    )


def drop(apps, schema_editor):
    schema_editor.execute(f"DROP TABLE {schema_editor.quote_name(TABLE)}")


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0017_assessors_may_be_allowed_in_teams'),
    ]

    operations = [migrations.RunPython(create, drop)]
