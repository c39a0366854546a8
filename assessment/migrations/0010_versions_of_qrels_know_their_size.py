from django.db import migrations, models


def count_lines(apps, schema_editor):
    versions = apps.get_model("assessment", "QrelSet").objects.all()
    for one in versions.annotate(
        counted=models.Count("qrels"), judged=models.Count("qrels__query_id", distinct=True)
    ):
        versions.filter(pk=one.pk).update(lines=one.counted, topics=one.judged)


class Migration(migrations.Migration):

    dependencies = [
        ('assessment', '0009_pools_leave_out_runs_and_topics'),
    ]

    operations = [
        migrations.AddField(
            model_name='qrelset',
            name='lines',
            field=models.PositiveIntegerField(default=0, help_text='Number of lines, counted when it was stored.'),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='qrelset',
            name='topics',
            field=models.PositiveIntegerField(default=0, help_text='Number of topics in these lines.'),
            preserve_default=False,
        ),
        migrations.RunPython(count_lines, migrations.RunPython.noop),
    ]
