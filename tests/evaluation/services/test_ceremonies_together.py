"""Organizers who do the same at the same time: one of them does it, the others are told."""

from pathlib import Path

import pytest

from tests.databases import UseDatabase
from tests.submissions.processes import MAKE_LAB, output_of, outputs_in_rounds, outputs_together

SCORED = """
from assessment.models import Qrel, QrelSet
for run in submit("ours"):
    validate_uploaded_run(run_id=run.pk, at=timezone.now())
Task.objects.update(deadline=timezone.now() + timedelta(days=1))
fields = dict(items="posts", relevant_from=2, scale=task.protocol.labels.rows(), sha256="0" * 64)
fields |= dict(lines=1, topics=1)
qrel_set = QrelSet.objects.create(task=task, version=1, name="v1", **fields)
Qrel.objects.create(qrel_set=qrel_set, query_id="A.1", doc_id="10", relevance=3)
print(0)
"""
START = """
from arqlab.labs.services.labs import close_task, reopen_task
from assessment.models import QrelSet
from assessment.qrels.services.versions import choose_current_qrels, delete_qrels
from evaluation.services.releasing import hide_leaderboard, release_leaderboard
task = Task.objects.select_related("lab").get()
qrel_set = QrelSet.objects.select_related("task__lab").first()
if qrel_set is None:  # the other process has already deleted it
    fields = dict(items="posts", relevant_from=2, scale=task.protocol.labels.rows())
    qrel_set = QrelSet(pk=1, task=task, name="v1", **fields)
at = timezone.now()
try:
    {step}
    print(json.dumps("done"))
except UserError as refused:
    print(json.dumps(refused.code))
"""
RELEASE = "release_leaderboard(qrel_set=qrel_set, by=None, at=at)"
STEPS = {
    RELEASE: "already-released",
    "hide_leaderboard(task=task, by=None, at=at)": "not-released",
    "close_task(task=task, by=None, at=at)": "task-closed",
    "reopen_task(task=task, by=None)": "task-not-closed",
}
DELETE = "delete_qrels(qrel_set=qrel_set, by=None)"
EVENTS = """
from arqlab.core.models import AuditEvent
events = AuditEvent.objects.filter(verb__regex="^(leaderboard|task)").order_by("pk")
print(json.dumps(list(events.values_list("verb", flat=True))))
"""


@pytest.fixture
def data(tmp_path: Path, use_tested_database: UseDatabase) -> Path:
    """Return a data folder with a run and qrels; its database is on the tests' server."""
    use_tested_database(tmp_path)
    output_of(tmp_path, MAKE_LAB, SCORED)
    return tmp_path


def test_of_two_who_do_the_same_one_does_and_one_event_is_recorded(data):
    outcomes = outputs_in_rounds(data, [[START.format(step=step)] * 2 for step in STEPS])

    assert list(map(sorted, outcomes)) == [sorted(["done", refusal]) for refusal in STEPS.values()]
    verbs = ["leaderboard.release", "leaderboard.hide", "task.close", "task.reopen"]
    assert output_of(data, EVENTS) == verbs


def test_a_version_is_deleted_or_released_and_never_both(data):
    outcomes = outputs_together(data, [START.format(step=step) for step in (RELEASE, DELETE)])

    assert outcomes in (["done", "qrels-used"], ["nothing-to-release", "done"])
