import arqlab.core.models
import django.contrib.auth.models
import django.contrib.auth.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [("core", "0001_initial"), ("core", "0002_typeset_formulas_and_topic_threads")]

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
                ('protocol', models.CharField(help_text='A preset of arqlab.ir.protocols.presets.', max_length=40)),
                ('is_public', models.BooleanField(default=True, help_text='Visitors see the lab; a draft is seen by its organizers.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='TypesetFormula',
            fields=[
                ('digest', models.CharField(help_text='Of display or inline, and the LaTeX.', max_length=64, primary_key=True, serialize=False)),
                ('latex', models.TextField()),
                ('is_display', models.BooleanField()),
                ('mathml', models.TextField(blank=True)),
                ('engine', models.CharField(help_text='The typesetter and its rules; others set it again.', max_length=40)),
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
                ('kind', models.CharField(choices=[('answers', 'Answer retrieval'), ('formulas', 'Formula retrieval'), ('written-answers', 'Written answers')], max_length=20)),
                ('description', models.TextField(blank=True)),
                ('position', models.PositiveSmallIntegerField(default=0)),
                ('trec_items', models.CharField(choices=[('posts', 'posts'), ('formula-ids', 'formula ids'), ('visual-ids', 'visual ids'), ('answers', 'written answers')], help_text='What an item of a six-column TREC file is in this task.', max_length=20)),
                ('overrides', models.JSONField(blank=True, default=dict, help_text='Fields of the protocol that differ from the preset.')),
                ('opens_at', models.DateTimeField(blank=True, null=True)),
                ('deadline', models.DateTimeField(blank=True, null=True)),
                ('shows_own_scores', models.BooleanField(default=False, help_text='A team sees the scores of its own runs before the leaderboard is released.')),
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
                ('name', models.CharField(max_length=80)),
                ('invitation_token', models.CharField(default=arqlab.core.models.new_invitation_token, max_length=64, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
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
                ('thread_id', models.CharField(blank=True, help_text='The question post that the topic was made of, where it is known.', max_length=40)),
                ('info', models.JSONField(blank=True, default=dict, help_text='Category, difficulty, dependency and the like.')),
                ('info_edits', models.JSONField(blank=True, default=dict, help_text="What organizers changed of it on the pages; it goes before the folder's.")),
                ('title_html', models.TextField(blank=True)),
                ('body_html', models.TextField(blank=True)),
                ('formula_html', models.TextField(blank=True)),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='topics', to='core.task')),
            ],
            options={
                'ordering': ['task', 'position'],
            },
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.UniqueConstraint(django.db.models.functions.text.Lower('email'), condition=models.Q(('email', ''), _negated=True), name='user_email_once'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.UniqueConstraint(fields=('lab', 'slug'), name='task_slug_once_per_lab'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['answers', 'formulas', 'written-answers'])), name='task_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(('opens_at__isnull', True), ('deadline__isnull', True), ('opens_at__lt', models.F('deadline')), _connector='OR'), name='task_opens_before_deadline'),
        ),
        migrations.AddConstraint(
            model_name='team',
            constraint=models.UniqueConstraint(models.F('lab'), django.db.models.functions.text.Lower('name'), name='team_name_once_per_lab'),
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
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('role', 'member'), ('team__isnull', False)), models.Q(('role__in', ['organizer', 'assessor']), ('team__isnull', True)), _connector='OR'), name='only_members_have_a_team'),
        ),
        migrations.AddConstraint(
            model_name='topic',
            constraint=models.UniqueConstraint(fields=('task', 'query_id'), name='topic_once_per_task'),
        ),
    ]
