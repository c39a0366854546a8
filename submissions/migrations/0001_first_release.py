import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [("submissions", "0001_initial")]

    initial = True

    dependencies = [
        ('core', '0001_first_release'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Upload',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('file', models.FileField(upload_to='uploads/%Y/%m/')),
                ('name', models.CharField(max_length=255)),
                ('size', models.PositiveBigIntegerField()),
                ('sha256', models.CharField(db_index=True, max_length=64)),
                ('uploaded_at', models.DateTimeField()),
                ('uploaded_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='uploads', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('member', models.CharField(blank=True, help_text="The file's name inside the archive.", max_length=255)),
                ('tag', models.CharField(max_length=100)),
                ('is_primary', models.BooleanField(default=False)),
                ('is_manual', models.BooleanField(default=False)),
                ('is_baseline', models.BooleanField(default=False)),
                ('data_used', models.CharField(blank=True, choices=[('both', 'Text and math'), ('text', 'Text'), ('math', 'Math'), ('links', "Links (the organizers' oracle)")], max_length=10)),
                ('answer_kind', models.CharField(blank=True, choices=[('extract', 'Extractive'), ('generate', 'Generative')], max_length=10)),
                ('description', models.TextField(blank=True)),
                ('items', models.CharField(blank=True, choices=[('posts', 'posts'), ('formula-ids', 'formula ids'), ('visual-ids', 'visual ids'), ('answers', 'written answers')], help_text='Empty: as found.', max_length=20)),
                ('check_only', models.BooleanField(default=False)),
                ('submitted_at', models.DateTimeField()),
                ('status', models.CharField(choices=[('uploaded', 'Waiting'), ('validating', 'Being checked'), ('valid', 'Valid'), ('invalid', 'Has errors')], default='uploaded', max_length=12)),
                ('status_changed_at', models.DateTimeField(help_text='A claim older than its limit goes back.')),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('report', models.JSONField(blank=True, default=dict, help_text='Format, lines, rows, topics, run tags as found.')),
                ('index', models.FileField(blank=True, upload_to='indexes/%Y/%m/')),
                ('occurrences', models.FileField(blank=True, upload_to='reports/%Y/%m/')),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('withdrawal_reason', models.TextField(blank=True)),
                ('submitted_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='runs', to=settings.AUTH_USER_MODEL)),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='core.task')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='core.team')),
                ('withdrawn_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('upload', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='submissions.upload')),
            ],
            options={
                'ordering': ['-submitted_at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='RunProblem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField()),
                ('kind', models.SlugField()),
                ('severity', models.CharField(choices=[('error', 'Error'), ('warning', 'Warning'), ('note', 'Note')], max_length=10)),
                ('count', models.PositiveIntegerField()),
                ('message', models.TextField()),
                ('todo', models.TextField()),
                ('is_repairable', models.BooleanField(default=False)),
                ('first', models.JSONField(default=list, help_text='The first occurrences: line, topic, found, expected.')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='problems', to='submissions.run')),
            ],
            options={
                'ordering': ['run', 'position'],
                'constraints': [models.UniqueConstraint(fields=('run', 'kind'), name='problem_kind_once_per_run'), models.CheckConstraint(condition=models.Q(('severity__in', ['error', 'warning', 'note'])), name='problem_severity_known')],
            },
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['status', 'status_changed_at'], name='run_waiting'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(condition=models.Q(('check_only', False), ('withdrawn_at', None), models.Q(('status', 'invalid'), _negated=True)), fields=('task', 'team', 'tag'), name='run_tag_once_per_team'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(condition=models.Q(('check_only', False), ('is_baseline', False), ('is_primary', True), ('status', 'valid'), ('withdrawn_at', None)), fields=('task', 'team'), name='one_primary_per_team'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['uploaded', 'validating', 'valid', 'invalid'])), name='run_status_known'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('status', 'valid'), _negated=True), models.Q(('index', ''), _negated=True), _connector='OR'), name='valid_run_has_its_index'),
        ),
    ]
