"""What helps an assessor to read and write: own labels of related items, over HTTP."""

from dataclasses import asdict

import pytest

from arqkit.protocols.presets import PoolProtocol
from arqlab.core.models import Task, Topic
from assessment.models import Assignment, Judgment, Pool, PoolInstance, PoolItem
from collection.models import Collection, LabCollection
from tests.assessment.factories import assign, judge, make_formula_pool
from tests.assessment.judging.desk import Desk
from tests.factories import (
    FormulaTaskFactory,
    LabFactory,
    Scene,
    TaskFactory,
    TopicFactory,
    WrittenTaskFactory,
)

pytestmark = pytest.mark.django_db


def place(number: int) -> PoolInstance:
    """Return the only instance of an item of A.1: 10 and 11 of thread 1, 12 of thread 2."""
    return PoolInstance.objects.get(item__topic__query_id="A.1", item__position=number)


def related(desk: Desk, number: int = 1) -> dict:
    """Return the topic, position and label of the related items of an item."""
    answer = desk.get(f"items/{place(number).item_id}/related/")
    return {
        each["instance"]: [(one["topic"], one["position"], one["label"]) for one in each["labels"]]
        for each in answer["threads"]
    }


def test_own_labels_of_the_same_thread_are_listed_with_their_addresses(
    desk: Desk, scene: Scene
) -> None:
    judge(scene.assessor, place(2), 3)
    judge(scene.assessor, place(3), 1)

    assert related(desk) == {place(1).pk: [("A.1", 2, 3)]}
    assert related(desk, 3) == {}
    [thread] = desk.get(f"items/{place(1).item_id}/related/")["threads"]
    address = f"/labs/arqmath-x/tasks/task1/judge/A.1/?item={place(2).item_id}"
    assert thread["labels"][0]["url"] == address


def test_an_earlier_label_and_a_label_of_somebody_else_are_not_listed(
    desk: Desk, second: Desk, scene: Scene
) -> None:
    old = judge(scene.assessor, place(2), 3, is_current=False)
    judge(scene.assessor, place(2), 0, supersedes=old)
    assert related(desk) == {place(1).pk: [("A.1", 2, 0)]}

    Judgment.objects.filter(is_current=True).update(assessor=scene.organizer)
    assert related(desk) == {}


def test_where_generated_answers_are_judged_among_the_posts_no_thread_is_known(
    desk: Desk, scene: Scene
) -> None:
    judge(scene.assessor, place(2), 3)
    WrittenTaskFactory(lab=scene.lab, slug="task3")
    mixed = PoolProtocol(primary=10, includes_generated_answers=True)
    Pool.objects.update(settings=asdict(mixed))

    assert related(desk) == {}
    assert desk.last.status_code == 200


def test_a_thread_that_another_lab_closed_is_not_known(desk: Desk, scene: Scene) -> None:
    judge(scene.assessor, place(2), 3)
    other = TaskFactory(lab=LabFactory(slug="other"), slug="task1")
    TopicFactory(task=other, thread_id="1")
    LabCollection.objects.create(lab=other.lab, collection=Collection.objects.get())

    assert related(desk) == {}


@pytest.mark.parametrize("item", ["somebody's", "unknown", "another topic's"])
def test_items_that_the_assessor_may_not_see_are_unknown(
    desk: Desk, scene: Scene, item: str
) -> None:
    judge(scene.organizer, place(1), 3)
    other = PoolItem.objects.get(topic__query_id="A.2").pk
    pk = {"somebody's": place(1).item_id, "unknown": 99**9, "another topic's": other}[item]
    desk.get(f"items/{pk}/related/")

    assert desk.last.status_code == 404


@pytest.fixture
def formulas(scene: Scene) -> Task:
    """Return a formula task: formula 70 is judged for B.1 and B.2, and 80 for B.1 in its thread."""
    task = FormulaTaskFactory(lab=scene.lab, slug="task2")
    topics = [TopicFactory(task=task, query_id=name) for name in ("B.1", "B.2")]
    both = {"70": [("7", "1"), ("9", "12")]}
    make_formula_pool(task, {"B.1": both | {"80": [("8", "10")]}, "B.2": both})
    assign(scene.assessor, *topics)
    return task


def test_own_labels_of_the_same_formula_are_listed_by_topic(formulas: Task, scene: Scene) -> None:
    first = PoolItem.objects.get(topic__query_id="B.1", item="70")
    for instance in PoolInstance.objects.filter(item__topic__query_id="B.2"):
        judge(scene.assessor, instance, 2 if instance.doc_id == "7" else 0)
    judge(scene.assessor, PoolInstance.objects.get(doc_id="8"), 1)
    desk = Desk(scene.assessor, "B.1", task="task2")
    answer = desk.get(f"items/{first.pk}/related/")

    assert [(one["topic"], one["label"]) for one in answer["formula"]] == [("B.2", 2), ("B.2", 0)]
    in_thread = first.instances.get(doc_id="7").pk
    assert [
        (each["instance"], [one["label"] for one in each["labels"]]) for each in answer["threads"]
    ] == [(in_thread, [1])]


def test_labels_of_topics_of_others_are_not_listed(formulas: Task, scene: Scene) -> None:
    item = PoolItem.objects.get(topic__query_id="B.1", item="70")
    for instance in PoolInstance.objects.filter(item__topic__query_id="B.2"):
        judge(scene.assessor, instance, 2)
    Assignment.objects.filter(topic=Topic.objects.get(query_id="B.2")).delete()
    desk = Desk(scene.assessor, "B.1", task="task2")

    assert desk.get(f"items/{item.pk}/related/")["formula"] == []


def test_related_labels_take_the_same_number_of_queries_for_any_number_of_labels(
    desk: Desk, scene: Scene, django_assert_max_num_queries
) -> None:
    judge(scene.assessor, place(2), 3)
    with django_assert_max_num_queries(12):
        related(desk)


def test_own_recent_comments_of_the_task_are_listed_once_each_the_newest_first(
    desk: Desk, scene: Scene
) -> None:
    for number in range(10):
        judge(scene.assessor, place(1), 3, comment=f"Comment {number % 9}", is_current=False)
    judge(scene.assessor, place(1), 3, comment="", is_current=False)
    judge(scene.organizer, place(2), 3, comment="Not yours")

    expected = ["Comment 0", *(f"Comment {number}" for number in range(8, 1, -1))]
    assert desk.get("comments/")["comments"] == expected


def test_comments_of_another_task_are_not_listed(desk: Desk, formulas: Task, scene: Scene) -> None:
    judge(scene.assessor, PoolInstance.objects.get(doc_id="8"), 1, comment="On a formula")

    assert desk.get("comments/")["comments"] == []
