import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [("collection", "0001_initial")]

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Collection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(unique=True)),
                ('is_complete', models.BooleanField(default=True, help_text='Of a sample, an item that is not in it is no error.')),
                ('posts_index', models.FileField(blank=True, upload_to='collections/')),
                ('formulas_index', models.FileField(blank=True, upload_to='collections/')),
                ('slt_index', models.FileField(blank=True, upload_to='collections/')),
                ('opt_index', models.FileField(blank=True, upload_to='collections/')),
                ('conversions', models.FileField(blank=True, upload_to='collections/')),
                ('source_sha256', models.CharField(blank=True, help_text='Of the files that were read.', max_length=64)),
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
                ('post_id', models.CharField(max_length=40)),
                ('kind', models.CharField(choices=[('question', 'Question'), ('answer', 'Answer')], max_length=10)),
                ('thread_id', models.CharField(max_length=40)),
                ('is_searched', models.BooleanField(default=True, help_text='Outside the date window a post is kept for topics and their threads, and not searched.')),
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
                ('author_name', models.CharField(blank=True, help_text='Where the dump names an owner without an id.', max_length=200)),
                ('created_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['collection', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='PostLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('post_id', models.CharField(max_length=40)),
                ('related_id', models.CharField(max_length=40)),
                ('kind', models.CharField(choices=[('related', 'Related'), ('duplicate', 'Duplicate')], max_length=10)),
                ('created_at', models.DateTimeField(null=True)),
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
                ('pairs_claimed_at', models.DateTimeField(help_text='Since when a process makes the pairs.', null=True)),
                ('inputs', models.CharField(blank=True, help_text='A digest of the columns that it was made of.', max_length=64)),
                ('counts', models.JSONField(default=dict, help_text='Instances, formulas, and how many ids were given, merged, split.')),
                ('made_at', models.DateTimeField()),
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
            },
        ),
        migrations.CreateModel(
            name='Import',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('posts', 'Posts'), ('comments', 'Comments'), ('post_links', 'Post links'), ('tags', 'Tags'), ('users', 'Users'), ('votes', 'Votes'), ('badges', 'Badges'), ('latex', 'Formulas in LaTeX'), ('slt', 'Formulas as symbol layout trees'), ('opt', 'Formulas as operator trees')], max_length=20)),
                ('source', models.CharField(help_text="The file's name, without its folder.", max_length=300)),
                ('sha256', models.CharField(help_text='Of the source and of the options that it was read with.', max_length=64)),
                ('state', models.CharField(choices=[('running', 'Running'), ('stopped', 'Stopped'), ('done', 'Done')], default='running', max_length=10)),
                ('rows', models.PositiveBigIntegerField(default=0, help_text='Rows read and stored so far.')),
                ('kept', models.PositiveBigIntegerField(default=0)),
                ('problem_count', models.PositiveBigIntegerField(default=0, help_text='All of them; a part is kept by line.')),
                ('counts', models.JSONField(default=dict, help_text='What was kept or passed over, by kind of row.')),
                ('started_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField(help_text="When the last batch was stored: the import's heartbeat.")),
                ('finished_at', models.DateTimeField(null=True)),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imports', to='collection.collection')),
            ],
            options={
                'ordering': ['collection', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='ImportProblem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(max_length=300)),
                ('line', models.PositiveBigIntegerField(null=True)),
                ('found', models.TextField()),
                ('expected', models.TextField()),
                ('todo', models.TextField()),
                ('record', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='problems', to='collection.import')),
            ],
            options={
                'ordering': ['record', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='LabCollection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='collection.collection')),
            ],
        ),
    ]
