import arqlab.core.models.jobs
import arqlab.core.models.people
import django.contrib.auth.models
import django.contrib.auth.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.core.management import call_command
from django.db import migrations, models


ATTEMPTS = "core_attempts"


def create_attempts(apps, schema_editor):
    """Create the table in which wrong passwords are counted."""
    call_command("createcachetable", ATTEMPTS, database=schema_editor.connection.alias, verbosity=0)


def drop_attempts(apps, schema_editor):
    schema_editor.execute(f"DROP TABLE {schema_editor.quote_name(ATTEMPTS)}")


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='Lab',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(unique=True)),
                ('name', models.CharField(max_length=200)),
                ('description', models.TextField(blank=True)),
                ('protocol', models.CharField(help_text='Slug of a preset in arqkit.protocols.presets.', max_length=40)),
                ('is_public', models.BooleanField(default=True, help_text='Everyone sees a public lab. Only its organizers, assessors and teams see a draft.')),
                ('archived_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='TypesetFormula',
            fields=[
                ('digest', models.CharField(help_text='SHA-256 of the mode (display or inline) and the LaTeX.', max_length=64, primary_key=True, serialize=False)),
                ('latex', models.TextField()),
                ('is_display', models.BooleanField()),
                ('mathml', models.TextField(blank=True)),
                ('engine', models.CharField(db_index=True, help_text='Version of the typesetter. A formula with another version is typeset again.', max_length=40)),
            ],
        ),
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            managers=[
                ('objects', django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='What the token is used for.', max_length=80)),
                ('scope', models.CharField(choices=[('read', 'Read'), ('write', 'Read and change')], default='read', max_length=8)),
                ('digest', models.CharField(help_text='SHA-256 of the token.', max_length=64, unique=True)),
                ('created_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('last_used_at', models.DateTimeField(help_text='Recorded at most once an hour.', null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-created_at', '-pk'),
            },
        ),
        migrations.CreateModel(
            name='Correction',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('formula', 'Formula'), ('text', 'Text'), ('thread', 'Thread')], max_length=10)),
                ('key', models.TextField()),
                ('digest', models.CharField(help_text='SHA-256 of the key, which may be long.', max_length=64)),
                ('value', models.TextField()),
                ('made_at', models.DateTimeField()),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('lab', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='corrections', to='core.lab')),
            ],
            options={
                'ordering': ['-made_at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='AuditEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('verb', models.CharField(max_length=60)),
                ('target', models.CharField(max_length=300)),
                ('detail', models.JSONField(blank=True, default=dict)),
                ('actor', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('lab', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='audit_events', to='core.lab')),
            ],
            options={
                'ordering': ['-at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='Task',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField()),
                ('name', models.CharField(max_length=200)),
                ('kind', models.CharField(choices=[('answers', 'Answer retrieval'), ('formulas', 'Formula retrieval'), ('written-answers', 'Generated answers'), ('documents', 'Document retrieval')], max_length=20)),
                ('description', models.TextField(blank=True)),
                ('position', models.PositiveSmallIntegerField(default=0)),
                ('trec_items', models.CharField(choices=[('posts', 'posts'), ('formula-ids', 'formula ids'), ('visual-ids', 'visual ids'), ('answers', 'generated answers'), ('documents', 'documents')], help_text='The kind of items in six-column TREC files of this task.', max_length=20)),
                ('overrides', models.JSONField(blank=True, default=dict, help_text="Values that override the protocol's preset.")),
                ('opens_at', models.DateTimeField(blank=True, null=True)),
                ('deadline', models.DateTimeField(blank=True, null=True)),
                ('closed_at', models.DateTimeField(blank=True, help_text='When it was closed by hand.', null=True)),
                ('judging_deadline', models.DateTimeField(blank=True, help_text='When judging should be complete. It closes nothing.', null=True)),
                ('shows_own_scores', models.BooleanField(default=False, help_text='Teams see the scores of their own runs before the leaderboard is released.')),
                ('takes_post_hoc_runs', models.BooleanField(default=False, help_text='After the deadline, teams can submit post-hoc runs: they are scored and marked, and are in no pool and on no official leaderboard.')),
                ('archived_at', models.DateTimeField(blank=True, null=True)),
                ('published_runs', models.CharField(choices=[('all', 'All runs'), ('primary', 'Primary runs and baselines'), ('none', 'No runs')], default='all', help_text='The runs whose rankings, and lines of the certificate, everyone may open after the release.', max_length=10)),
                ('threads', models.CharField(choices=[('at-release', 'When a leaderboard is released'), ('open', 'Now'), ('closed', 'Never')], default='at-release', help_text='When teams and visitors see the threads of the topics, which contain answers.', max_length=10)),
                ('lab', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tasks', to='core.lab')),
            ],
            options={
                'ordering': ['lab', 'position', 'slug'],
            },
        ),
        migrations.CreateModel(
            name='Team',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('paper', models.URLField(blank=True, help_text='Address of the paper.')),
                ('code', models.URLField(blank=True, help_text='Address of the code.')),
                ('citation', models.TextField(blank=True, help_text='How to cite the paper, in any format.')),
                ('name', models.CharField(max_length=80)),
                ('affiliation', models.CharField(blank=True, help_text='Institutions and countries, as in the overview paper.', max_length=200)),
                ('invitation_token', models.CharField(default=arqlab.core.models.people.new_invitation_token, max_length=64, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('is_lab', models.BooleanField(default=False, editable=False, help_text='The lab itself, to which its baselines belong; it has no members.')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='created_teams', to=settings.AUTH_USER_MODEL)),
                ('lab', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='teams', to='core.lab')),
            ],
            options={
                'ordering': ['lab', 'name'],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('organizer', 'Organizer'), ('assessor', 'Assessor'), ('member', 'Team member')], max_length=20)),
                ('may_join_team', models.BooleanField(default=False, help_text='Whether an organizer allowed this assessor to be in a team of the lab.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('lab', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='core.lab')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='core.team')),
            ],
            options={
                'ordering': ['lab', 'role', 'user'],
            },
        ),
        migrations.CreateModel(
            name='Topic',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('query_id', models.CharField(max_length=100)),
                ('position', models.PositiveIntegerField()),
                ('title', models.TextField(blank=True)),
                ('body', models.TextField(blank=True)),
                ('tags', models.JSONField(blank=True, default=list)),
                ('formula_id', models.CharField(blank=True, max_length=100)),
                ('latex', models.TextField(blank=True)),
                ('thread_id', models.CharField(blank=True, help_text='Id of the question post from which the topic was made, if known.', max_length=40)),
                ('thread_since', models.DateTimeField(default=django.utils.timezone.now, editable=False, help_text='When the topic got its thread. If labs share a collection, the first closes it.')),
                ('info', models.JSONField(blank=True, default=dict, help_text="Topic information from the lab's folder, such as category and difficulty.")),
                ('info_edits', models.JSONField(blank=True, default=dict, help_text="Values edited by organizers, which override those from the lab's folder.")),
                ('title_html', models.TextField(blank=True)),
                ('body_html', models.TextField(blank=True)),
                ('formula_html', models.TextField(blank=True)),
                ('engine', models.CharField(blank=True, help_text='Version of the typesetter. HTML of another version is made again.', max_length=40)),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='topics', to='core.task')),
            ],
            options={
                'ordering': ['task', 'position'],
            },
        ),
        migrations.CreateModel(
            name='TopicVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('title', models.TextField(blank=True)),
                ('body', models.TextField(blank=True)),
                ('tags', models.JSONField(blank=True, default=list)),
                ('formula_id', models.CharField(blank=True, max_length=100)),
                ('latex', models.TextField(blank=True)),
                ('replaced_at', models.DateTimeField(auto_now_add=True)),
                ('topic', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='core.topic')),
            ],
            options={
                'ordering': ['topic', 'pk'],
            },
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.UniqueConstraint(django.db.models.functions.text.Lower('email'), condition=models.Q(('email', ''), _negated=True), name='user_email_once'),
        ),
        migrations.AddConstraint(
            model_name='correction',
            constraint=models.UniqueConstraint(fields=('lab', 'kind', 'digest'), name='correction_once_per_lab'),
        ),
        migrations.AddConstraint(
            model_name='correction',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['formula', 'text', 'thread'])), name='correction_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(('published_runs__in', ['all', 'primary', 'none'])), name='task_published_runs_known'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(('threads__in', ['at-release', 'open', 'closed'])), name='task_threads_known'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.UniqueConstraint(fields=('lab', 'slug'), name='task_slug_once_per_lab'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['answers', 'formulas', 'written-answers', 'documents'])), name='task_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(('opens_at__isnull', True), ('deadline__isnull', True), ('opens_at__lt', models.F('deadline')), _connector='OR'), name='task_opens_before_deadline'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(('opens_at__isnull', True), ('judging_deadline__isnull', True), ('opens_at__lt', models.F('judging_deadline')), _connector='OR'), name='task_opens_before_judging_deadline'),
        ),
        migrations.AddConstraint(
            model_name='team',
            constraint=models.UniqueConstraint(models.F('lab'), django.db.models.functions.text.Lower('name'), name='team_name_once_per_lab'),
        ),
        migrations.AddConstraint(
            model_name='team',
            constraint=models.UniqueConstraint(condition=models.Q(('is_lab', True)), fields=('lab',), name='one_team_is_the_lab'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.UniqueConstraint(condition=models.Q(('team', None)), fields=('lab', 'user', 'role'), name='role_once_per_lab'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.UniqueConstraint(fields=('team', 'user'), name='member_once_per_team'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('role__in', ['member']), ('team__isnull', False)), models.Q(('role__in', ['organizer', 'assessor']), ('team__isnull', True)), _connector='OR'), name='only_members_have_a_team'),
        ),
        migrations.AddConstraint(
            model_name='topic',
            constraint=models.UniqueConstraint(fields=('task', 'query_id'), name='topic_once_per_task'),
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(help_text='The name of its `JobKind`.', max_length=20)),
                ('key', models.CharField(blank=True, default='', help_text='What it makes. One job of a kind with a key waits or runs at a time.', max_length=200)),
                ('options', models.JSONField(blank=True, default=dict)),
                ('files', models.JSONField(blank=True, default=list, help_text='Field, name, size and SHA-256 of each file.')),
                ('folder', models.CharField(default=arqlab.core.models.jobs.new_folder, help_text='Folder of the files.', max_length=32, unique=True)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('unconfirmed', 'Unconfirmed'), ('done', 'Done'), ('refused', 'Refused'), ('failed', 'Failed'), ('stopped', 'Stopped')], default='waiting', max_length=11)),
                ('is_stopping', models.BooleanField(default=False, help_text='Its worker is asked to stop.')),
                ('done', models.PositiveBigIntegerField(default=0, help_text='Rows done by the current step.')),
                ('total', models.PositiveBigIntegerField(blank=True, help_text='Estimated rows of the current step, if known.', null=True)),
                ('message', models.TextField(blank=True, help_text='Why the job was refused or stopped.')),
                ('summary', models.JSONField(blank=True, default=list, help_text='Sentences on what was done.')),
                ('warnings', models.JSONField(blank=True, default=list, help_text='Sentences on loaded qrels that join nothing.')),
                ('changes', models.JSONField(blank=True, default=dict, help_text='What a load would change, and its digest.')),
                ('problem_count', models.PositiveBigIntegerField(default=0, help_text='Number of all problems; only some are stored with their lines.')),
                ('problem_groups', models.JSONField(blank=True, default=list, help_text='The problems by cause, with examples.')),
                ('log', models.TextField(blank=True, default='', help_text='Each change of state with its time.')),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField(help_text='Time of the last sign of life.')),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('lab', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='core.lab')),
                ('task', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='core.task')),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='JobProblem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(max_length=300)),
                ('line', models.PositiveBigIntegerField(null=True)),
                ('found', models.TextField()),
                ('expected', models.TextField()),
                ('todo', models.TextField()),
                ('job', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='problems', to='core.job')),
            ],
            options={
                'ordering': ['job', 'pk'],
            },
        ),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ['waiting', 'running']), models.Q(('key', ''), _negated=True)), fields=('kind', 'key'), name='one_job_at_a_time'),
        ),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['waiting', 'running', 'unconfirmed', 'done', 'refused', 'failed', 'stopped'])), name='job_state_known'),
        ),
        migrations.RunPython(create_attempts, drop_attempts),
    ]
