"""Versions of qrels: frozen from judgments, never changed, one of them current."""

import hashlib
from io import StringIO

import pytest
from django.core.management import call_command

from arqkit.formats.qrels.read import write_qrels
from arqkit.judgments.qrels import Level
from arqlab.core.errors import UserError
from arqlab.core.models import AuditEvent
from assessment.models import PoolInstance, QrelSet
from assessment.qrels.selectors.versions import qrels_frame
from assessment.qrels.services.versions import QrelsChoice, choose_current_qrels, freeze_qrels
from evaluation.services.scoring import score_waiting
from tests.assessment.factories import NOW, judge, make_formula_pool, make_pool
from tests.evaluation.factories import make_qrels, make_run
from tests.factories import FormulaTaskFactory, TopicFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def pool(task, assessor) -> None:
    make_pool(task)
    for doc_id, label in {"10": 3, "11": 2, "12": 6}.items():
        judge(assessor, PoolInstance.objects.get(item__topic__query_id="A.1", doc_id=doc_id), label)


def freeze(task, name="v1", level=Level.INSTANCES, *, complete=False, by=None) -> QrelSet:
    choice = QrelsChoice(name, level, complete)
    return freeze_qrels(task=task, choice=choice, by=by, at=NOW)


def test_a_version_shows_what_it_holds_who_made_it_and_what_it_leaves_out(task, organizer):
    made = freeze(task, "official", by=organizer)

    made.refresh_from_db()
    assert qrels_frame(made).rows() == [("A.1", "10", 3), ("A.1", "11", 2)]
    assert (made.version, made.items, made.relevant_from, made.is_complete) == (
        1,
        "posts",
        2,
        False,
    )
    assert (made.made_by, made.created_at) == (organizer, NOW)
    assert made.dropped == [
        {"topic": "A.2", "relevant": 0, "reason": "No item of this topic has a label."}
    ]
    assert made.sha256 == hashlib.sha256(write_qrels(qrels_frame(made))).hexdigest()
    assert AuditEvent.objects.get(verb="qrels.freeze").detail["lines"] == 2


def test_the_hash_of_a_version_is_that_of_the_file_that_both_doors_give(
    task, organizer, client_of, assessor
):
    TopicFactory(task=task, query_id="A.10", position=3)
    make_pool(task, {"A.10": ["9", "10"], "A.2": ["9"]})
    for instance in PoolInstance.objects.exclude(judgments__is_current=True).order_by("-pk"):
        judge(assessor, instance, 2)
    made, out = freeze(task, "official"), StringIO()

    page = client_of(organizer).get(
        f"/labs/{task.lab.slug}/tasks/{task.slug}/qrels/1/", {"format": "tsv"}
    )
    call_command("export_qrels", f"{task.lab.slug}/{task.slug}", "--qrels", "official", stdout=out)

    assert out.getvalue().encode() == page.content
    assert hashlib.sha256(page.content).hexdigest() == made.sha256


def test_the_versions_of_each_task_are_counted_from_one(task, lab):
    make_qrels(FormulaTaskFactory(lab=lab))

    assert [freeze(task, name).version for name in ("a", "b")] == [1, 2]


def test_no_version_becomes_current_by_itself(task):
    first, second = freeze(task, "a"), freeze(task, "b")

    assert (first.is_current, second.is_current) == (False, False)
    assert (first.version, second.version) == (1, 2)


def test_a_version_stays_what_it_is_when_a_label_changes(task, organizer):
    made = freeze(task)
    instance = PoolInstance.objects.get(item__topic__query_id="A.1", doc_id="10")
    instance.judgments.update(is_current=False)
    judge(organizer, instance, 2)

    assert qrels_frame(made).rows()[0] == ("A.1", "10", 3)
    assert qrels_frame(freeze(task, "v2")).rows()[0] == ("A.1", "10", 2)


def test_a_complete_version_keeps_5_and_6(task):
    assert ("A.1", "12", 6) in qrels_frame(freeze(task, complete=True)).rows()


def test_a_name_that_is_taken_is_refused(task):
    make_qrels(task, name="official")

    with pytest.raises(UserError, match="another name") as refused:
        freeze(task, "official")
    assert refused.value.code == "name"


def test_answers_have_no_visual_level(task):
    with pytest.raises(UserError, match="the task does not retrieve formulas"):
        freeze(task, level=Level.VISUAL)


def test_a_task_without_a_topic_that_stays_is_not_frozen(lab):
    task = FormulaTaskFactory(lab=lab)

    with pytest.raises(UserError, match="no qrels to freeze"):
        freeze(task)
    assert not QrelSet.objects.filter(task=task).exists()


def test_formulas_are_frozen_at_both_levels(lab, assessor):
    task = FormulaTaskFactory(lab=lab)
    TopicFactory(task=task, query_id="B.1")
    make_formula_pool(task, {"B.1": {"70": [("7", "1"), ("9", "12")], "71": [("8", "10")]}})
    for instance in PoolInstance.objects.filter(item__pool__task=task).order_by("pk"):
        judge(assessor, instance, int(instance.doc_id) - 6)

    made = {level: freeze(task, level.value, level) for level in Level}

    assert (made[Level.VISUAL].items, qrels_frame(made[Level.VISUAL]).rows()) == (
        "visual-ids",
        [("B.1", "70", 3), ("B.1", "71", 2)],
    )
    assert (made[Level.INSTANCES].items, qrels_frame(made[Level.INSTANCES]).height) == (
        "formula-ids",
        3,
    )


def test_another_version_is_made_current_and_announced_once(task, organizer):
    first, second = freeze(task, "a"), freeze(task, "b")

    choose_current_qrels(qrel_set=second, by=organizer)
    choose_current_qrels(qrel_set=second, by=organizer)

    assert QrelSet.objects.get(task=task, is_current=True) == second
    assert AuditEvent.objects.filter(verb="qrels.choose", actor=organizer).count() == 1
    assert not QrelSet.objects.get(pk=first.pk).is_current


def test_the_beat_scores_runs_against_a_version_as_soon_as_it_is_frozen(task, team):
    run = make_run(team, task, {"A.1": ["10", "11"]})
    assert score_waiting(at=NOW) == 0

    made = freeze(task)

    assert score_waiting(at=NOW) == 1
    assert run.run_scores.get(qrel_set=made, measure__startswith="nDCG(judged").value == 1.0
