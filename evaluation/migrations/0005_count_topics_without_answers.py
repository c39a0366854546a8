from django.db import migrations

COUNTS = ("NumQ", "NumRel")


def score_counts_again(apps, schema_editor):
    """Let `score_waiting` compute these counts again, which were those of answered topics.

    A released version from before there were records is recorded with what was published, so that
    the scores of its runs stay.
    """
    scorings = apps.get_model("evaluation", "Scoring").objects
    boards = apps.get_model("evaluation", "Leaderboard").objects
    unrecorded = boards.filter(recorded_at=None, hidden_at=None).values_list("qrel_set", "scores")
    published = {(qrels, int(run)) for qrels, scores in unrecorded for run in scores}
    rows = list(scorings.values_list("pk", "qrel_set", "run", "measures"))
    for key, qrels, run, measures in rows:
        others = [name for name in measures if not name.startswith(COUNTS)]
        if others != measures and (qrels, run) not in published:
            scorings.filter(pk=key).update(measures=others)


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0004_topics_of_releases")]
    operations = [migrations.RunPython(score_counts_again, migrations.RunPython.noop)]
