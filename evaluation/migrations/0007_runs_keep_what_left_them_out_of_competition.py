"""Runs that the released leaderboard, or else the current qrels, have out of competition stay so."""

from django.db import migrations


def keep(apps, schema_editor):
    """Store the reason with each run of the newest record of its task."""
    Run = apps.get_model("submissions", "Run")
    for qrel_set in apps.get_model("assessment", "QrelSet").objects.filter(is_current=True):
        boards = apps.get_model("evaluation", "Leaderboard").objects.filter(
            task=qrel_set.task_id, hidden_at=None
        )
        newest = boards.order_by("-version").first() or qrel_set
        for row in newest.out_of_competition:
            Run.objects.filter(pk=row["run"]).update(out_of_competition=row["reason"])


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0006_reasons_of_releases"),
        ("assessment", "0008_versions_of_qrels_leave_runs_out_of_competition"),
        ("submissions", "0010_runs_are_out_of_competition"),
    ]
    operations = [migrations.RunPython(keep, migrations.RunPython.noop)]
