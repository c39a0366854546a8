"""Training with items of an earlier lab, whose labels are gold."""

import re

import pytest

from arqlab.core.models import Membership
from assessment.models import PoolInstance, PoolItem, Round
from assessment.rounds.tasks import reveal_complete_rounds
from collection.models import LabCollection
from tests.assessment.rounds.factories import vote
from tests.assessment.rounds.views.test_training import NEW, ROUND, ROUNDS, cells, exported
from tests.collection.factories import load_small
from tests.evaluation.factories import make_qrels
from tests.factories import (
    AssessorFactory,
    FormulaTaskFactory,
    LabFactory,
    TaskFactory,
    TopicFactory,
)


@pytest.fixture
def earlier(lab, organizer, tmp_path):
    """An earlier lab with the same collection, which the organizer organizes, too."""
    found = LabFactory(slug="earlier", name="The earlier lab")
    LabCollection.objects.create(lab=found, collection=load_small(lab, tmp_path))
    Membership.objects.create(lab=found, user=organizer, role="organizer")
    return found


@pytest.fixture
def gold(earlier):
    """Its qrels: three posts of the collection, and one that is missing."""
    task = TaskFactory(lab=earlier, slug="old")
    TopicFactory(task=task, query_id="A.9")
    return make_qrels(task, {"A.9": {"10": 3, "11": 0, "12": 2, "404": 1}})


def given(gold, *people, **fields):
    topics = list(gold.task.topics.values_list("pk", flat=True))
    known = {"topics": topics, "people": [one.pk for one in people], "count": 6, "seed": 3}
    return known | fields


def test_gold_labels_are_an_assessor_after_the_reveal(gold, lab, assessor, organizer, client_of):
    other = AssessorFactory(lab=lab).user
    client = client_of(organizer)
    page = client.get(NEW).text
    assert "Gold labels: The earlier lab" in " ".join(page.split())
    client.post(f"{NEW}?gold={gold.pk}", given(gold, assessor, other))

    made = Round.objects.get()
    instances = PoolInstance.objects.filter(item__pool=made.pool, item__assessor=assessor)
    assert sorted(instances.values_list("doc_id", flat=True)) == ["10", "11", "12"]
    for person, labels in ((assessor, (3, 0, 2)), (other, (0, 0, 2))):
        for doc_id, label in zip(("10", "11", "12"), labels, strict=True):
            vote(made, person, doc_id, label)
    reveal_complete_rounds()
    page = client.get(ROUND).text
    assert list(cells(page, "assessors-table"))[1:4] == [
        *sorted([assessor.name, other.name]),
        "Gold",
    ]
    votes = exported(client)
    assert dict(votes.filter(assessor="Gold").select("item", "label").iter_rows()) == {
        "10": 3, "11": 0, "12": 2,
    }  # fmt: skip
    assert cells(client.get(f"{ROUND}meeting/").text, "votes")["Gold"][0].endswith("High")


def test_gold_topics_are_judged_without_threads_that_are_closed(
    gold, assessor, organizer, client_of
):
    client_of(organizer).post(f"{NEW}?gold={gold.pk}", given(gold, assessor))
    page = client_of(assessor).get(f"{ROUND}judge/A.9/").text

    assert "The question of A.9" in page
    assert not re.search(r'<a class="judge-thread"\s+href', page)
    gold.task.threads = "open"
    gold.task.save()
    page = client_of(assessor).get(f"{ROUND}judge/A.9/").text
    assert "/labs/earlier/tasks/old/topics/A.9/thread/" in page


def test_each_label_is_drawn_in_turn(gold, assessor, organizer, client_of):
    client_of(organizer).post(f"{NEW}?gold={gold.pk}", given(gold, assessor, count=2))

    assert set(PoolItem.objects.values_list("item", flat=True)) == {"10", "12"}


def test_qrels_that_the_organizer_may_not_see_are_no_choice(gold, organizer, client_of, lab):
    client = client_of(organizer)
    Membership.objects.filter(lab=gold.task.lab).delete()
    assert "Gold labels" not in client.get(NEW).text

    gold.leaderboards.create(task=gold.task, version=1, released_at=gold.created_at)
    assert "Gold labels" in client.get(NEW).text
    gold.leaderboards.update(hidden_at=gold.created_at)
    assert "Gold labels" not in client.get(NEW).text


@pytest.mark.parametrize(("items", "ids"), [("formula-ids", ["7", "9"]), ("visual-ids", ["70"])])
def test_formulas_come_with_visual_id_and_post(
    earlier, lab, assessor, organizer, client_of, items, ids
):
    task = FormulaTaskFactory(lab=earlier, slug="old")
    TopicFactory(task=task, query_id="B.9")
    gold = make_qrels(task, {"B.9": dict.fromkeys(ids, 2)}, items=items)
    FormulaTaskFactory(lab=lab, slug="task2")
    address = f"{NEW.replace('task1', 'task2')}?gold={gold.pk}"
    client_of(organizer).post(address, given(gold, assessor))

    made = Round.objects.get()
    rows = PoolInstance.objects.values_list("item__item", "doc_id", "post_id")
    assert list(rows) == [("70", "7", "1")]
    vote(made, assessor, rows[0][1], 3)
    client = client_of(organizer)
    page = client.post(
        f"{ROUNDS.replace('task1', 'task2')}training-1/state/", {"action": "reveal"}, follow=True
    ).text
    assert "Gold" in cells(page, "assessors-table")
