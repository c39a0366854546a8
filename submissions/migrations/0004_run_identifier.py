from django.db import migrations, models


def pooled_tags(apps):
    """Return the tags under which pools contain the answers of runs, by key: those of the freeze."""
    tags = {}
    for pool in apps.get_model("assessment", "Pool").objects.order_by("frozen_at", "pk"):
        for run in pool.runs:
            tags.setdefault(run["run"], run["tag"])
    return tags


def name_runs(apps, schema_editor):
    """Name each run that takes part by its tag, so that pools, judgments and qrels still join.

    A tag that was corrected after the freeze is taken as it was then. Of runs with the same tag in
    a task, the first pooled one keeps it, else the first that is not withdrawn.
    """
    Run, pooled = apps.get_model("submissions", "Run"), pooled_tags(apps)
    runs = list(Run.objects.filter(status="valid", check_only=False).order_by("pk"))
    runs.sort(key=lambda run: (run.pk not in pooled, run.withdrawn_at is not None, run.pk))
    taken = set()
    for run in runs:
        run.identifier = pooled.get(run.pk, run.tag)
        while (run.task_id, run.identifier) in taken:
            run.identifier += f"-{run.pk}"
        taken.add((run.task_id, run.identifier))
    Run.objects.bulk_update(runs, ["identifier"], batch_size=200)


class Migration(migrations.Migration):

    dependencies = [
        ('submissions', '0003_run_sha256'),
        ('assessment', '0007_pools_include_generated_answers'),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='identifier',
            field=models.CharField(blank=True, default='', editable=False, help_text='Immutable id of the run in pools, qrels and run maps; set when the run becomes valid.', max_length=200),
            preserve_default=False,
        ),
        migrations.RunPython(name_runs, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(condition=models.Q(('identifier', ''), _negated=True), fields=('task', 'identifier'), name='run_identifier_once_per_task'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('status', 'valid'), _negated=True), ('check_only', True), models.Q(('identifier', ''), _negated=True), _connector='OR'), name='submitted_valid_run_has_an_identifier'),
        ),
    ]
