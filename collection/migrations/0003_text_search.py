"""The parts of the text index and of long texts that each database does in its own way.

SQLite: an FTS5 table over the words (its content is `collection_postwords`, so no text is stored
twice); `collection.services.triggers` creates its triggers after every migration. PostgreSQL: a text search configuration with English stems and without stop words (so that
phrases made of them are found), a generated column and its GIN index; long texts compressed by lz4.

Both: a post that is deleted or changed loses its words, and changes are counted in
`collection_textindex`.
"""

from django.db import migrations

CHANGED = "title body clean_title clean_body tags kind thread_id is_searched".split()

SQLITE_INDEX = [
    """
    CREATE VIRTUAL TABLE collection_postwords_index USING fts5(
        title, body, facets, content='collection_postwords', content_rowid='post_id', tokenize='porter unicode61')
    """,
]
TRIGGERS = [f"collection_post_words_of_{what}" for what in ("new", "deleted", "changed")]
SQLITE_UNDO = [
    *(f"DROP TRIGGER IF EXISTS {name}" for name in TRIGGERS),
    "DROP TRIGGER IF EXISTS collection_postwords_added",
    "DROP TRIGGER IF EXISTS collection_postwords_removed",
    "DROP TRIGGER IF EXISTS collection_postwords_changed",
    "DROP TABLE IF EXISTS collection_postwords_index",
]

POSTGRESQL_INDEX = [
    "CREATE TEXT SEARCH DICTIONARY arqlab_stem (TEMPLATE = snowball, Language = english)",
    "CREATE TEXT SEARCH CONFIGURATION arqlab_words (COPY = pg_catalog.simple)",
    """
    ALTER TEXT SEARCH CONFIGURATION arqlab_words
    ALTER MAPPING FOR asciiword, word, numword, asciihword, hword, numhword, hword_asciipart, hword_part, hword_numpart
    WITH arqlab_stem
    """,
    """
    ALTER TABLE collection_postwords ADD COLUMN words tsvector GENERATED ALWAYS AS (
        setweight(to_tsvector('arqlab_words', title), 'A')
        || setweight(to_tsvector('arqlab_words', body), 'D')
        || setweight(to_tsvector('simple', facets), 'C')) STORED
    """,
    "CREATE INDEX post_words_searched ON collection_postwords USING gin (words)",
]
POSTGRESQL_STEPS = [
    """
    CREATE FUNCTION collection_post_words_of_new() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        UPDATE collection_textindex SET changes = changes + 1;
        RETURN NULL;
    END $$
    """,
    """
    CREATE FUNCTION collection_post_words_of_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        DELETE FROM collection_postwords WHERE post_id IN (SELECT id FROM gone);
        RETURN NULL;
    END $$
    """,
    """
    CREATE FUNCTION collection_post_words_of_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        DELETE FROM collection_postwords WHERE post_id = OLD.id;
        IF OLD.tags IS DISTINCT FROM NEW.tags THEN
            DELETE FROM collection_postwords WHERE post_id IN (
                SELECT id FROM collection_post WHERE collection_id = OLD.collection_id AND thread_id = OLD.thread_id);
        END IF;
        UPDATE collection_textindex SET changes = changes + 1 WHERE collection_id = NEW.collection_id;
        RETURN NULL;
    END $$
    """,
    # Once for a batch, and for all collections: cheaper than asking each row where it belongs.
    """
    CREATE TRIGGER collection_post_words_of_new AFTER INSERT ON collection_post
    FOR EACH STATEMENT EXECUTE FUNCTION collection_post_words_of_new()
    """,
    """
    CREATE TRIGGER collection_post_words_of_deleted AFTER DELETE ON collection_post
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION collection_post_words_of_deleted()
    """,
    f"""
    CREATE TRIGGER collection_post_words_of_changed AFTER UPDATE ON collection_post FOR EACH ROW
    WHEN ({" OR ".join(f"OLD.{name} IS DISTINCT FROM NEW.{name}" for name in CHANGED)})
    EXECUTE FUNCTION collection_post_words_of_changed()
    """,
]
POSTGRESQL_UNDO = [
    *(f"DROP TRIGGER IF EXISTS {name} ON collection_post" for name in TRIGGERS),
    *(f"DROP FUNCTION IF EXISTS {name}()" for name in TRIGGERS),
    "DROP INDEX IF EXISTS post_words_searched",
    "ALTER TABLE collection_postwords DROP COLUMN IF EXISTS words",
    "DROP TEXT SEARCH CONFIGURATION IF EXISTS arqlab_words",
    "DROP TEXT SEARCH DICTIONARY IF EXISTS arqlab_stem",
]


def make_index(apps, schema_editor):
    _run(schema_editor, sqlite=SQLITE_INDEX, postgresql=POSTGRESQL_INDEX)


def keep_in_step(apps, schema_editor):
    _run(schema_editor, sqlite=[], postgresql=POSTGRESQL_STEPS)


def undo(apps, schema_editor):
    _run(schema_editor, sqlite=SQLITE_UNDO, postgresql=POSTGRESQL_UNDO)


def _run(schema_editor, *, sqlite, postgresql):
    with schema_editor.connection.cursor() as cursor:
        for statement in sqlite if schema_editor.connection.vendor == "sqlite" else postgresql:
            cursor.execute(statement)


COMPRESSED = {
    "collection_post": ("body", "clean_body"),
    "collection_comment": ("text", "clean_text"),
}


def compress(method):
    """Return an operation that sets how PostgreSQL 14 and later compresses long texts."""

    def run(apps, schema_editor):
        connection = schema_editor.connection
        if connection.vendor != "postgresql" or connection.pg_version < 140000:
            return
        with connection.cursor() as cursor:
            cursor.execute("SELECT 'lz4' = ANY(enumvals) FROM pg_settings WHERE name = 'default_toast_compression'")
            if not (cursor.fetchone() or [False])[0]:
                return
        for table, columns in COMPRESSED.items():
            for column in columns:
                schema_editor.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET COMPRESSION {method}")

    return run


class Migration(migrations.Migration):

    replaces = [
        ("collection", "0004_texts_of_posts_are_compressed_fast"),
        ("collection", "0006_words_are_searched_and_kept_in_step"),
    ]

    dependencies = [("collection", "0002_first_release")]

    operations = [
        migrations.RunPython(compress("lz4"), compress("pglz")),
        migrations.RunPython(make_index, undo),
        migrations.RunPython(keep_in_step, migrations.RunPython.noop),
    ]
