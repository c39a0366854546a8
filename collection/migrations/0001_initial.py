"""The parts of the text index and of long texts that each database does in its own way.

SQLite: an FTS5 table over the words (its content is `collection_postwords`, so no text is stored
twice); `collection.services.triggers` creates its triggers after every migration. PostgreSQL: a text search configuration with English stems and without stop words (so that
phrases made of them are found), a generated column and its GIN index; long texts compressed by lz4.

Both: a post that is deleted or changed loses its words, and changes are counted in
`collection_textindex`.
"""

import django.db.models.deletion
from django.db import migrations, models

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

    initial = True

    dependencies = [
        ('core', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Collection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(unique=True)),
                ('is_complete', models.BooleanField(default=True, help_text='Whether the collection has all items. If not, runs may contain other items.')),
                ('posts_index', models.FileField(blank=True, upload_to='collections/')),
                ('formulas_index', models.FileField(blank=True, upload_to='collections/')),
                ('slt_index', models.FileField(blank=True, upload_to='collections/')),
                ('opt_index', models.FileField(blank=True, upload_to='collections/')),
                ('conversions', models.FileField(blank=True, upload_to='collections/')),
                ('source_sha256', models.CharField(blank=True, help_text='SHA-256 of the imported files.', max_length=64)),
                ('loaded_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['slug'],
            },
        ),
        migrations.CreateModel(
            name='Post',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('post_id', models.CharField(max_length=300)),
                ('kind', models.CharField(choices=[('question', 'Question'), ('answer', 'Answer'), ('document', 'Document')], max_length=10)),
                ('thread_id', models.CharField(blank=True, max_length=40)),
                ('is_searched', models.BooleanField(default=True, help_text='A post outside the date window is kept for topics and threads but not searched.')),
                ('title', models.TextField(blank=True)),
                ('body', models.TextField()),
                ('clean_title', models.TextField(null=True)),
                ('clean_body', models.TextField(null=True)),
                ('rules', models.PositiveSmallIntegerField(default=0)),
                ('tags', models.JSONField(blank=True, default=list)),
                ('score', models.IntegerField(null=True)),
                ('up_votes', models.IntegerField(null=True)),
                ('down_votes', models.IntegerField(null=True)),
                ('views', models.IntegerField(null=True)),
                ('accepted_id', models.CharField(blank=True, max_length=40)),
                ('author_id', models.CharField(blank=True, max_length=40)),
                ('author_name', models.CharField(blank=True, help_text='Name of the owner if the dump has no id for them.', max_length=200)),
                ('created_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['collection', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='Import',
            fields=[
                ('job_ptr', models.OneToOneField(auto_created=True, on_delete=django.db.models.deletion.CASCADE, parent_link=True, primary_key=True, serialize=False, to='core.job')),
                ('source', models.CharField(help_text='File name without its folder.', max_length=300)),
                ('sha256', models.CharField(help_text="SHA-256 of the kind, the file and the import's options.", max_length=64)),
                ('rows', models.PositiveBigIntegerField(default=0, help_text='Rows read and stored so far.')),
                ('kept', models.PositiveBigIntegerField(default=0)),
                ('counts', models.JSONField(default=dict, help_text='Numbers of rows kept and skipped, by kind.')),
                ('finished_at', models.DateTimeField(null=True)),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imports', to='collection.collection')),
            ],
            options={
                'ordering': ['collection', 'pk'],
            },
            bases=('core.job',),
        ),
        migrations.CreateModel(
            name='LabCollection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='collection.collection')),
                ('lab', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, to='core.lab')),
            ],
        ),
        migrations.AddField(
            model_name='collection',
            name='labs',
            field=models.ManyToManyField(related_name='collections', through='collection.LabCollection', to='core.lab'),
        ),
        migrations.CreateModel(
            name='PostWords',
            fields=[
                ('post', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, primary_key=True, related_name='words', serialize=False, to='collection.post')),
                ('title', models.TextField(blank=True)),
                ('body', models.TextField(blank=True)),
                ('facets', models.TextField()),
            ],
        ),
        migrations.AddField(
            model_name='post',
            name='collection',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='posts', to='collection.collection'),
        ),
        migrations.CreateModel(
            name='PostLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('post_id', models.CharField(max_length=40)),
                ('related_id', models.CharField(max_length=40)),
                ('kind', models.CharField(choices=[('related', 'Related'), ('duplicate', 'Duplicate')], max_length=10)),
                ('created_at', models.DateTimeField(null=True)),
                ('collection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='post_links', to='collection.collection')),
            ],
            options={
                'ordering': ['collection', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='Tag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
                ('count', models.PositiveIntegerField(default=0)),
                ('collection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='known_tags', to='collection.collection')),
            ],
            options={
                'ordering': ['collection', 'name'],
            },
        ),
        migrations.CreateModel(
            name='VisualMap',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveSmallIntegerField()),
                ('mapping', models.FileField(upload_to='collections/')),
                ('forms', models.FileField(upload_to='collections/')),
                ('changes', models.FileField(blank=True, upload_to='collections/')),
                ('opinion', models.FileField(blank=True, upload_to='collections/')),
                ('pairs', models.FileField(blank=True, upload_to='collections/')),
                ('pairs_claimed_at', models.DateTimeField(help_text='When a process started to build the pairs.', null=True)),
                ('inputs', models.CharField(blank=True, help_text='Digest of the columns from which the version was made.', max_length=64)),
                ('counts', models.JSONField(default=dict, help_text='Numbers of instances and formulas, and of ids assigned, merged and split.')),
                ('made_at', models.DateTimeField()),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='visual_maps', to='collection.collection')),
            ],
            options={
                'ordering': ['collection', 'version'],
            },
        ),
        migrations.CreateModel(
            name='TextIndex',
            fields=[
                ('collection', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='text_index', serialize=False, to='collection.collection')),
                ('changes', models.BigIntegerField(default=0)),
                ('indexed', models.BigIntegerField(default=-1)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('indexed__lte', models.F('changes'))), name='text_index_not_ahead')],
            },
        ),
        migrations.CreateModel(
            name='Author',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('author_id', models.CharField(max_length=40)),
                ('name', models.CharField(max_length=200)),
                ('reputation', models.IntegerField(null=True)),
                ('gold', models.PositiveIntegerField(default=0)),
                ('silver', models.PositiveIntegerField(default=0)),
                ('bronze', models.PositiveIntegerField(default=0)),
                ('collection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='authors', to='collection.collection')),
            ],
            options={
                'ordering': ['collection', 'pk'],
                'constraints': [models.UniqueConstraint(fields=('collection', 'author_id'), name='author_once_per_collection')],
            },
        ),
        migrations.CreateModel(
            name='Comment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('comment_id', models.CharField(max_length=40)),
                ('post_id', models.CharField(max_length=40)),
                ('text', models.TextField()),
                ('clean_text', models.TextField(null=True)),
                ('rules', models.PositiveSmallIntegerField(default=0)),
                ('score', models.IntegerField(null=True)),
                ('author_id', models.CharField(blank=True, max_length=40)),
                ('author_name', models.CharField(blank=True, max_length=200)),
                ('created_at', models.DateTimeField(null=True)),
                ('collection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='comments', to='collection.collection')),
            ],
            options={
                'ordering': ['collection', 'pk'],
                'indexes': [models.Index(fields=['collection', 'post_id'], name='comment_by_post')],
                'constraints': [models.UniqueConstraint(fields=('collection', 'comment_id'), name='comment_once_per_collection')],
            },
        ),
        migrations.AddConstraint(
            model_name='import',
            constraint=models.UniqueConstraint(fields=('collection', 'sha256'), name='source_imported_once'),
        ),
        migrations.AddIndex(
            model_name='post',
            index=models.Index(fields=['collection', 'thread_id'], name='post_by_thread'),
        ),
        migrations.AddConstraint(
            model_name='post',
            constraint=models.UniqueConstraint(fields=('collection', 'post_id'), name='post_once_per_collection'),
        ),
        migrations.AddConstraint(
            model_name='post',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['question', 'answer', 'document'])), name='post_kind_known'),
        ),
        migrations.AddIndex(
            model_name='postlink',
            index=models.Index(fields=['collection', 'related_id'], name='post_link_by_related'),
        ),
        migrations.AddConstraint(
            model_name='postlink',
            constraint=models.UniqueConstraint(fields=('collection', 'post_id', 'related_id', 'kind'), name='post_linked_once'),
        ),
        migrations.AddConstraint(
            model_name='postlink',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['related', 'duplicate'])), name='post_link_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='tag',
            constraint=models.UniqueConstraint(fields=('collection', 'name'), name='tag_once_per_collection'),
        ),
        migrations.AddConstraint(
            model_name='visualmap',
            constraint=models.UniqueConstraint(fields=('collection', 'version'), name='visual_map_version_once_per_collection'),
        ),
        migrations.RunPython(compress("lz4"), compress("pglz")),
        migrations.RunPython(make_index, undo),
        migrations.RunPython(keep_in_step, migrations.RunPython.noop),
    ]
