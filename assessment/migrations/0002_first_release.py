import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ("assessment", "0002_pools_judgments_and_assignments"),
        ("assessment", "0003_pools_know_how_far_they_are_typeset"),
        ("assessment", "0004_pool_rows_are_ordered_and_found_by_their_own_columns"),
        ("assessment", "0005_the_position_of_an_item_is_found_by_its_topic"),
        ("assessment", "0006_posts_of_pools_are_found_by_their_ids"),
        ("assessment", "0007_judgments_know_when_they_were_given"),
    ]

    initial = True

    dependencies = [
        ('assessment', '0001_first_release'),
        ('collection', '0001_first_release'),
        ('core', '0001_first_release'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='assignment',
            name='assessor',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='assignment',
            name='assigned_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='assignment',
            name='topic',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='core.topic'),
        ),
        migrations.AddField(
            model_name='guideline',
            name='task',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='guidelines', to='core.task'),
        ),
        migrations.AddField(
            model_name='guideline',
            name='written_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='judgment',
            name='assessor',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='judgment',
            name='guideline',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to='assessment.guideline'),
        ),
        migrations.AddField(
            model_name='judgment',
            name='supersedes',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='superseded_by', to='assessment.judgment'),
        ),
        migrations.AddField(
            model_name='pool',
            name='frozen_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='pool',
            name='task',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pools', to='core.task'),
        ),
        migrations.AddField(
            model_name='pool',
            name='visual_map',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='pools', to='collection.visualmap'),
        ),
        migrations.AddField(
            model_name='judgment',
            name='instance',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to='assessment.poolinstance'),
        ),
        migrations.AddField(
            model_name='poolitem',
            name='leased_to',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='poolitem',
            name='pool',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='items', to='assessment.pool'),
        ),
        migrations.AddField(
            model_name='poolitem',
            name='topic',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='pool_items', to='core.topic'),
        ),
        migrations.AddField(
            model_name='poolinstance',
            name='item',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='instances', to='assessment.poolitem'),
        ),
        migrations.AddField(
            model_name='qrelset',
            name='made_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='qrelset',
            name='task',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='qrel_sets', to='core.task'),
        ),
        migrations.AddField(
            model_name='qrel',
            name='qrel_set',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='qrels', to='assessment.qrelset'),
        ),
        migrations.AddField(
            model_name='ticket',
            name='answered_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='ticket',
            name='judgment',
            field=models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='ticket', to='assessment.judgment'),
        ),
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(condition=models.Q(('ended_at', None)), fields=['assessor'], name='assignment_open'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('topic', 'assessor'), name='topic_assigned_once_to_a_person'),
        ),
        migrations.AddConstraint(
            model_name='guideline',
            constraint=models.UniqueConstraint(fields=('task', 'version'), name='guideline_version_once_per_task'),
        ),
        migrations.AddConstraint(
            model_name='pool',
            constraint=models.UniqueConstraint(fields=('task', 'number'), name='pool_number_once_per_task'),
        ),
        migrations.AddConstraint(
            model_name='pool',
            constraint=models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='pool_number_from_one'),
        ),
        migrations.AddConstraint(
            model_name='judgment',
            constraint=models.UniqueConstraint(condition=models.Q(('is_current', True)), fields=('instance',), name='one_current_judgment_per_instance'),
        ),
        migrations.AddConstraint(
            model_name='judgment',
            constraint=models.CheckConstraint(condition=models.Q(('label__in', [0, 1, 2, 3, 4, 5, 6])), name='judgment_label_known'),
        ),
        migrations.AddIndex(
            model_name='poolitem',
            index=models.Index(condition=models.Q(('done_at', None), ('later_at', None)), fields=['topic', 'pool', 'position'], name='pool_item_waiting'),
        ),
        migrations.AddConstraint(
            model_name='poolitem',
            constraint=models.UniqueConstraint(fields=('pool', 'topic', 'item'), name='item_once_per_pool'),
        ),
        migrations.AddConstraint(
            model_name='poolitem',
            constraint=models.UniqueConstraint(fields=('topic', 'pool', 'position'), name='position_once_per_pool'),
        ),
        migrations.AddConstraint(
            model_name='poolinstance',
            constraint=models.UniqueConstraint(fields=('item', 'doc_id'), name='instance_once_per_item'),
        ),
        migrations.AddConstraint(
            model_name='poolinstance',
            constraint=models.UniqueConstraint(fields=('item', 'position'), name='instance_position_once_per_item'),
        ),
        migrations.AddConstraint(
            model_name='qrelset',
            constraint=models.UniqueConstraint(fields=('task', 'version'), name='qrels_version_once_per_task'),
        ),
        migrations.AddConstraint(
            model_name='qrelset',
            constraint=models.UniqueConstraint(fields=('task', 'name'), name='qrels_name_once_per_task'),
        ),
        migrations.AddConstraint(
            model_name='qrelset',
            constraint=models.UniqueConstraint(condition=models.Q(('is_current', True)), fields=('task',), name='one_current_qrels_per_task'),
        ),
        migrations.AddConstraint(
            model_name='qrel',
            constraint=models.UniqueConstraint(fields=('qrel_set', 'query_id', 'doc_id'), name='item_judged_once_per_qrels'),
        ),
        migrations.AddConstraint(
            model_name='qrel',
            constraint=models.CheckConstraint(condition=models.Q(('relevance__gte', 0), ('relevance__lte', 6)), name='qrel_label_known'),
        ),
        migrations.AddIndex(
            model_name='ticket',
            index=models.Index(condition=models.Q(('answered_at', None)), fields=['raised_at'], name='ticket_open'),
        ),
    ]
