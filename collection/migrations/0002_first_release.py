import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ("collection", "0002_dump_beside_posts"),
        ("collection", "0003_opinion_and_inputs_of_visual_maps"),
        ("collection", "0005_words_of_posts_and_pairs_of_formulas"),
        ("collection", "0007_pairs_are_claimed"),
    ]

    initial = True

    dependencies = [
        ('collection', '0001_first_release'),
        ('core', '0001_first_release'),
    ]

    operations = [
        migrations.AddField(
            model_name='labcollection',
            name='lab',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, to='core.lab'),
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
        migrations.AddField(
            model_name='postlink',
            name='collection',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='post_links', to='collection.collection'),
        ),
        migrations.AddField(
            model_name='tag',
            name='collection',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='known_tags', to='collection.collection'),
        ),
        migrations.AddField(
            model_name='visualmap',
            name='collection',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='visual_maps', to='collection.collection'),
        ),
        migrations.AddConstraint(
            model_name='textindex',
            constraint=models.CheckConstraint(condition=models.Q(('indexed__lte', models.F('changes'))), name='text_index_not_ahead'),
        ),
        migrations.AddConstraint(
            model_name='author',
            constraint=models.UniqueConstraint(fields=('collection', 'author_id'), name='author_once_per_collection'),
        ),
        migrations.AddIndex(
            model_name='comment',
            index=models.Index(fields=['collection', 'post_id'], name='comment_by_post'),
        ),
        migrations.AddConstraint(
            model_name='comment',
            constraint=models.UniqueConstraint(fields=('collection', 'comment_id'), name='comment_once_per_collection'),
        ),
        migrations.AddConstraint(
            model_name='import',
            constraint=models.UniqueConstraint(fields=('collection', 'kind', 'sha256'), name='source_imported_once'),
        ),
        migrations.AddConstraint(
            model_name='import',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['running', 'stopped', 'done'])), name='import_state_known'),
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
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['question', 'answer'])), name='post_kind_known'),
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
    ]
