"""Which runs lack scores, and why a run cannot have any."""

from __future__ import annotations

import pytest

from assessment.models import QrelSet
from evaluation.selectors.waiting import measures_of, obstacle, unscored_runs, waiting_scores
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
        ("formula-ids", "visual-ids", False, "does not join them"),
        ("visual-ids", "formula-ids", True, "use qrels by visual ids"),
        ("posts", "visual-ids", True, "It names posts"),
    ],
)
def test_a_run_is_scored_against_qrels_of_its_items_only(task, run, qrels, joins, reason):
    said = obstacle(
        Run(items=run), QrelSet(task=task, name="v1", items=qrels), joins_formulas=joins
    )

    assert reason in said
    assert bool(said) == bool(reason)


def test_what_waits_is_listed_by_the_qrels_it_waits_for(team, task):
    run, first, second = make_run(team, task), make_qrels(task), make_qrels(task)
    assert waiting_scores() == [(first, [run]), (second, [run])]

    score_waiting(at=NOW)
    assert waiting_scores() == []


def test_another_tasks_runs_may_wait_on(team, task):
    run, qrel_set = make_run(team, task), make_qrels(task)

    assert waiting_scores(task) == [(qrel_set, [run])]
    assert waiting_scores(TaskFactory()) == []


def test_a_run_that_is_on_no_board_has_its_reason(team, task):
    qrel_set = make_qrels(task)
    waits, other = make_run(team, task), make_run(team, task, items="visual-ids")
    reasons = dict(unscored_runs(qrel_set, []))

    assert reasons[waits] == ""
    assert "visual ids" in reasons[other]
    assert dict(unscored_runs(qrel_set, [waits.pk])).keys() == {other}


def test_the_measures_take_the_lowest_relevant_label_of_the_qrels(task):
    task.overrides = {"measures": ["AP"]}
    task.save()

    names = [measures_of(make_qrels(task, relevant_from=label))[0].name for label in (1, 2)]
    assert names == ["AP(rel=1)", "AP(rel=2)"]
