from django.db import migrations

COLUMNS = {
    "collection_post": ("body", "clean_body"),
    "collection_comment": ("text", "clean_text"),
}


def compress(method):
    """Have PostgreSQL (14 and later, where it was built with lz4) keep long texts by another method from now on."""

    def run(apps, schema_editor):
        connection = schema_editor.connection
        if connection.vendor != "postgresql" or connection.pg_version < 140000:
            return
        with connection.cursor() as cursor:
            cursor.execute("SELECT 'lz4' = ANY(enumvals) FROM pg_settings WHERE name = 'default_toast_compression'")
            if not (cursor.fetchone() or [False])[0]:
                return
        for table, columns in COLUMNS.items():
            for column in columns:
                schema_editor.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET COMPRESSION {method}")

    return run


class Migration(migrations.Migration):
    dependencies = [("collection", "0003_opinion_and_inputs_of_visual_maps")]

    operations = [migrations.RunPython(compress("lz4"), compress("pglz"))]
