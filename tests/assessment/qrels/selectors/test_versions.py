"""Qrels as they are read: versions by name, counts, and the digest of a lab."""

import pytest

from arqlab.core.models import Topic
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import (
    lab_fingerprint,
    lab_summary,
    qrels_frame,
    qrels_named,
    topic_judgments,
)
from tests.evaluation.factories import make_qrels
from tests.factories import TaskFactory

pytestmark = pytest.mark.django_db


def test_without_a_name_the_current_version_is_meant(task):
    first, second = make_qrels(task), make_qrels(task)

    assert qrels_named(task) == first
    assert qrels_named(task, second.name) == second


def test_a_name_that_there_is_not_gives_none(task):
    make_qrels(task)

    assert qrels_named(task, "v9") is None
    assert qrels_named(TaskFactory()) is None


def test_qrels_without_a_row_are_a_frame_without_a_row(task):
    frame = qrels_frame(make_qrels(task, {}))

    assert (frame.columns, frame.height) == (["topic", "item", "label"], 0)


def test_only_judged_items_are_counted_and_relevant_ones_from_the_label_of_the_qrels(task):
    assert topic_judgments(make_qrels(task)) == {"A.1": (4, 2), "A.2": (2, 1)}
    assert topic_judgments(make_qrels(task, relevant_from=1))["A.1"] == (4, 3)


def test_a_summary_has_a_line_for_each_version_and_for_a_task_without_qrels(task):
    make_qrels(task), make_qrels(task, {"A.1": {"p1": 3}})
    TaskFactory(lab=task.lab, slug="task2", position=2)

    assert lab_summary(task.lab) == [
        ("task1", 2, "v1", 2, 6),
        ("task1", 2, "v2", 1, 1),
        ("task2", 0, None, 0, 0),
    ]


def test_the_digest_of_a_lab_changes_with_its_topics_and_qrels(task):
    digests = [lab_fingerprint(task.lab)]
    make_qrels(task)
    digests.append(lab_fingerprint(task.lab))
    Topic.objects.filter(task=task).update(title="Another")
    digests.append(lab_fingerprint(task.lab))

    assert len(set(digests)) == 3
    assert lab_fingerprint(task.lab) == digests[-1]


def test_the_digest_of_a_lab_is_its_own(task):
    before = lab_fingerprint(task.lab)
    make_qrels(TaskFactory())

    assert lab_fingerprint(task.lab) == before
    assert QrelSet.objects.exists()
