import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [("evaluation", "0001_initial")]

    initial = True

    dependencies = [
        ('assessment', '0002_first_release'),
        ('core', '0001_first_release'),
        ('submissions', '0001_first_release'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Leaderboard',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveSmallIntegerField()),
                ('measures', models.JSONField(default=list, help_text='Its columns, as ir_measures writes them, the main one first.')),
                ('scores', models.JSONField(default=dict, help_text='The means as released: run, then measure.')),
                ('released_at', models.DateTimeField()),
                ('hidden_at', models.DateTimeField(blank=True, null=True)),
                ('qrel_set', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='leaderboards', to='assessment.qrelset')),
                ('released_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('runs', models.ManyToManyField(related_name='leaderboards', to='submissions.run')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='leaderboards', to='core.task')),
            ],
            options={
                'ordering': ['task', '-version'],
                'constraints': [models.UniqueConstraint(fields=('task', 'version'), name='leaderboard_version_once_per_task')],
            },
        ),
        migrations.CreateModel(
            name='RunScore',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('measure', models.CharField(max_length=60)),
                ('value', models.FloatField()),
                ('qrel_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='run_scores', to='assessment.qrelset')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='run_scores', to='submissions.run')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('qrel_set', 'run', 'measure'), name='run_score_once')],
            },
        ),
        migrations.CreateModel(
            name='Scoring',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('measures', models.JSONField(help_text="The measures' names, as ir_measures writes them.")),
                ('order', models.CharField(default='score', help_text="What orders the run's items: score or rank.", max_length=10)),
                ('identity', models.CharField(blank=True, default='', help_text="What told which item of the qrels an item of the run is: the run's tag, or the formula index.", max_length=200)),
                ('scored_at', models.DateTimeField()),
                ('qrel_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scorings', to='assessment.qrelset')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scorings', to='submissions.run')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('run', 'qrel_set'), name='run_scored_once_per_qrels')],
            },
        ),
        migrations.CreateModel(
            name='TopicScore',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('measure', models.CharField(max_length=60)),
                ('query_id', models.CharField(max_length=100)),
                ('value', models.FloatField()),
                ('qrel_set', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='topic_scores', to='assessment.qrelset')),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='topic_scores', to='submissions.run')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('run', 'qrel_set', 'measure', 'query_id'), name='topic_score_once')],
            },
        ),
    ]
