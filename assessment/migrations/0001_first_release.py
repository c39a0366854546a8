import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [("assessment", "0001_initial")]

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('assigned_at', models.DateTimeField()),
                ('reviewed_since', models.DateTimeField(blank=True, help_text='The finished topic is being looked through.', null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['topic', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='Guideline',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveSmallIntegerField()),
                ('text', models.TextField()),
                ('written_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['task', 'version'],
            },
        ),
        migrations.CreateModel(
            name='Judgment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('label', models.SmallIntegerField()),
                ('comment', models.TextField(blank=True)),
                ('reason', models.TextField(blank=True, help_text='Why the label before it was changed.')),
                ('active_ms', models.PositiveIntegerField(help_text='Time with the page in view and the person at it.', null=True)),
                ('key', models.UUIDField(unique=True)),
                ('is_current', models.BooleanField(default=True)),
                ('is_imported', models.BooleanField(default=False, help_text='It was judged elsewhere.')),
                ('judged_at', models.DateTimeField()),
                ('given_at', models.DateTimeField(help_text="When the assessor gave it by the page's clock, which may be long before it could be sent.", null=True)),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='Pool',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField(help_text='1 is the pool, the others are its supplements.')),
                ('reason', models.TextField(blank=True, help_text='Why a supplement was made.')),
                ('preset', models.SlugField(blank=True, max_length=40)),
                ('settings', models.JSONField(help_text='The fields of arqlab.ir.protocols.presets.PoolProtocol.')),
                ('seed', models.BigIntegerField()),
                ('inputs', models.JSONField(default=dict, help_text='The order of the runs; hashes of the collection and of the posts relevant in Task 1.')),
                ('runs', models.JSONField(help_text='The runs that were pooled: name, kind, depth, sha256 of the index.')),
                ('sha256', models.CharField(max_length=64)),
                ('frozen_at', models.DateTimeField()),
                ('closed_at', models.DateTimeField(blank=True, help_text='Since then no judgment is taken.', null=True)),
                ('typeset_through', models.PositiveIntegerField(blank=True, default=0, help_text='The formulas of the items up to this position are typeset; empty when all are.', null=True)),
                ('typeset_since', models.DateTimeField(blank=True, help_text='When the posts were imported for which typesetting began again.', null=True)),
            ],
            options={
                'ordering': ['task', 'number'],
            },
        ),
        migrations.CreateModel(
            name='PoolInstance',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('doc_id', models.CharField(max_length=300)),
                ('position', models.PositiveSmallIntegerField(default=0, help_text='The order on the page.')),
                ('post_id', models.CharField(blank=True, max_length=300)),
            ],
            options={
                'ordering': ['item_id', 'position'],
            },
        ),
        migrations.CreateModel(
            name='PoolItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('posts', 'post'), ('visual-ids', 'formula'), ('answers', 'written answer')], max_length=12)),
                ('item', models.CharField(help_text='A post id, a visual id, or RUN:TOPIC.', max_length=300)),
                ('position', models.PositiveIntegerField()),
                ('text', models.TextField(blank=True, help_text='A written answer, as the run has it.')),
                ('done_at', models.DateTimeField(null=True)),
                ('later_at', models.DateTimeField(help_text='An assessor put it off: it comes after all others.', null=True)),
                ('leased_until', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['pool_id', 'topic_id', 'position'],
            },
        ),
        migrations.CreateModel(
            name='Qrel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('query_id', models.CharField(max_length=100)),
                ('doc_id', models.CharField(max_length=300)),
                ('relevance', models.SmallIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='QrelSet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveSmallIntegerField()),
                ('name', models.SlugField()),
                ('items', models.CharField(choices=[('posts', 'posts'), ('formula-ids', 'formula ids'), ('visual-ids', 'visual ids'), ('answers', 'written answers')], max_length=20)),
                ('relevant_from', models.SmallIntegerField(help_text='The lowest label that counts as relevant where measures are binary.')),
                ('sha256', models.CharField(help_text='Of the file of the version (arqlab.formats.qrels.read.write_qrels).', max_length=64)),
                ('is_complete', models.BooleanField(default=False, help_text='5 and 6 are in it: what was shown and not judged.')),
                ('dropped', models.JSONField(blank=True, default=list, help_text='Topics that were left out: topic, relevant, reason (protocol §6).')),
                ('is_current', models.BooleanField(default=False, help_text='The version that boards show unless told otherwise.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ['task', 'version'],
            },
        ),
        migrations.CreateModel(
            name='Ticket',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('html', models.TextField(blank=True, help_text='The item as the page showed it.')),
                ('browser', models.CharField(blank=True, max_length=300)),
                ('raised_at', models.DateTimeField()),
                ('answer', models.TextField(blank=True)),
                ('answered_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
    ]
