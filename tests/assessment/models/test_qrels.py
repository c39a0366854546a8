"""The database refuses nonsense about qrels, whoever writes it."""

import pytest
from django.db import IntegrityError

from assessment.models import Qrel, QrelSet
from tests.evaluation.factories import make_qrels

pytestmark = pytest.mark.django_db


def add(task, **fields):
    values = {
        "version": 9,
        "name": "nine",
        "items": "posts",
        "relevant_from": 2,
        "scale": [],
        "sha256": "0" * 64,
        "lines": 0,
        "topics": 0,
    }
    return QrelSet.objects.create(task=task, **(values | fields))


@pytest.mark.parametrize("fields", [{"version": 1}, {"name": "v1"}, {"is_current": True}])
def test_a_task_has_a_version_a_name_and_current_qrels_once(task, fields):
    make_qrels(task)
    with pytest.raises(IntegrityError):
        add(task, **fields)


def test_one_version_may_follow_another(task):
    make_qrels(task)
    assert str(add(task)) == f"{task} nine"


@pytest.mark.parametrize("label", [-1, 100])
def test_a_label_is_one_that_a_scale_can_have(task, label):
    with pytest.raises(IntegrityError):
        Qrel.objects.create(qrel_set=add(task), query_id="A.1", doc_id="10", relevance=label)


def test_an_item_has_one_label_for_a_topic(task):
    qrel_set = add(task)
    assert (
        str(Qrel.objects.create(qrel_set=qrel_set, query_id="A.1", doc_id="10", relevance=3))
        == "A.1 10 3"
    )
    with pytest.raises(IntegrityError):
        Qrel.objects.create(qrel_set=qrel_set, query_id="A.1", doc_id="10", relevance=2)
