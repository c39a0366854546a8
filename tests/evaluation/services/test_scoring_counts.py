"""Counts of the qrels that were stored when only answered topics counted are computed again."""

from importlib import import_module

import pytest
from django.apps import apps

from evaluation.models import Leaderboard, ReleasedRun, RunScore, TopicScore
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from tests.evaluation.factories import NOW, POOR, make_qrels, make_run
from tests.factories import Scene

MEASURES = ["nDCG(judged_only=True)@1000", "NumQ", "NumRel"]


@pytest.fixture
def answering_one(scene: Scene) -> Run:
    """Return a run with the scores of an earlier version: it answers one topic of two."""
    scene.task.overrides = {"measures": MEASURES}
    scene.task.save()
    make_qrels(scene.task)
    run = make_run(scene.team, scene.task, POOR)
    score_waiting(at=NOW)
    for measure, mean in (("NumQ", 1), ("NumRel(rel=2)", 2)):
        TopicScore.objects.filter(measure=measure, query_id="A.2").delete()
        RunScore.objects.filter(measure=measure).update(value=mean)
    return run


def upgrade() -> None:
    """Do what the migration does, and what Celery beat does after it."""
    migration = import_module("evaluation.migrations.0005_count_topics_without_answers")
    migration.score_counts_again(apps, None)
    score_waiting(at=NOW)


def counts(run: Run) -> tuple[float, float, int]:
    """Return the stored numbers of topics and relevant items of a run, and of their rows."""
    means = dict(RunScore.objects.filter(run=run).values_list("measure", "value"))
    rows = TopicScore.objects.filter(run=run, measure__startswith="Num")
    return means["NumQ"], means["NumRel(rel=2)"], rows.count()


def test_counts_of_all_topics_take_the_place_of_those_of_answered_topics(answering_one):
    assert counts(answering_one) == (1, 2, 2)
    upgrade()
    assert counts(answering_one) == (2, 3, 4)
    assert score_waiting(at=NOW) == 0


def test_a_record_keeps_the_counts_that_were_released(scene, answering_one):
    release_leaderboard(qrel_set=scene.task.qrel_sets.get(), by=scene.organizer, at=NOW)
    released, entry = Leaderboard.objects.get().scores, ReleasedRun.objects.get().topic_scores
    upgrade()
    assert counts(answering_one) == (2, 3, 4)
    assert (Leaderboard.objects.get().scores, ReleasedRun.objects.get().topic_scores) == (
        released,
        entry,
    )
    assert entry["NumQ"] == {"A.1": 1}


def test_a_version_without_a_record_is_recorded_with_the_counts_that_were_released(
    scene, answering_one
):
    release_leaderboard(qrel_set=scene.task.qrel_sets.get(), by=scene.organizer, at=NOW)
    Leaderboard.objects.update(recorded_at=None)
    upgrade()
    assert counts(answering_one) == (1, 2, 2)
