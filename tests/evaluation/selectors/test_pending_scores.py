"""Which runs lack scores, and why a run cannot have any."""

import pytest

from assessment.models import QrelSet
from evaluation.selectors.pending_scores import (
    measures_of,
    pending_scores,
    scoring_obstacle,
    unscored_runs,
)
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from tests.evaluation.factories import NOW, make_qrels, make_run
from tests.factories import TaskFactory

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("run", "qrels", "joins", "reason"),
    [
        ("posts", "posts", False, ""),
        ("formula-ids", "visual-ids", True, ""),
        ("formula-ids", "visual-ids", False, "does not map one to the other"),
        ("visual-ids", "formula-ids", True, "Use qrels with visual ids"),
        ("posts", "visual-ids", True, "The run has posts"),
    ],
)
def test_a_run_is_scored_only_against_qrels_with_the_same_item_type(
    task, run, qrels, joins, reason
):
    found = scoring_obstacle(
        Run(items=run), QrelSet(task=task, name="v1", items=qrels), joins_formulas=joins
    )

    assert reason in found
    assert bool(found) == bool(reason)


def test_waiting_runs_are_listed_by_qrels(team, task):
    run, first, second = make_run(team, task), make_qrels(task), make_qrels(task)
    assert pending_scores() == [(first, [run]), (second, [run])]

    score_waiting(at=NOW)
    assert pending_scores() == []


def test_the_list_can_be_limited_to_one_task(team, task):
    run, qrel_set = make_run(team, task), make_qrels(task)

    assert pending_scores(task) == [(qrel_set, [run])]
    assert pending_scores(TaskFactory()) == []


def test_a_run_without_scores_has_a_reason(team, task):
    qrel_set = make_qrels(task)
    waits, other = make_run(team, task), make_run(team, task, items="visual-ids")
    reasons = dict(unscored_runs(qrel_set, []))

    assert reasons[waits] == ""
    assert "visual ids" in reasons[other]
    assert dict(unscored_runs(qrel_set, [waits.pk])).keys() == {other}


def test_the_measures_use_the_relevance_threshold_of_the_qrels(task):
    task.overrides = {"measures": ["AP"]}
    task.save()

    names = [measures_of(make_qrels(task, relevant_from=label))[0].name for label in (1, 2)]
    assert names == ["AP(rel=1)", "AP(rel=2)"]
