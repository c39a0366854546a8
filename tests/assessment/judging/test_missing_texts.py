"""An item whose text is missing can only be reported."""

from typing import Any

import pytest

from arqlab.core.models import Correction, Task
from assessment.judging.services.importing import import_judgments
from assessment.models import Judgment, PoolItem
from tests.assessment.factories import NOW, assign, make_formula_pool, make_pool
from tests.assessment.judging.desk import Desk
from tests.assessment.rounds.factories import round_of
from tests.collection.factories import load_small

LABELS = {0: False, 1: False, 2: False, 3: False, 5: True, 6: True}  # the value, and if it is taken


def pool_of(task: Task, kind: str) -> None:
    """Make a pool of two items without a text."""
    if kind == "visual-ids":
        formulas = {name: [(f"{name}0", name), (f"{name}1", "999")] for name in ("98", "99")}
        make_formula_pool(task, {"A.1": formulas})
    else:
        make_pool(task, {"A.1": ["98", "99"]})
    PoolItem.objects.update(kind=kind, text="")


@pytest.mark.parametrize("has_collection", [True, False])
@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("kind", ["posts", "documents", "answers", "visual-ids"])
def test_an_item_without_text_takes_only_labels_that_are_not_judgments(
    task, assessor, tmp_path, kind, label, has_collection
):
    if has_collection:
        load_small(task.lab, tmp_path)
    pool_of(task, kind)
    assign(assessor, task.topics.get(query_id="A.1"))
    desk = Desk(assessor)
    item = desk.next()
    answer = desk.submit(item, label)

    assert not item["instances"][0]["has_text"]
    assert "The text of this item is missing" in item["instances"][0]["html"]
    assert Judgment.objects.exists() == LABELS[label]
    if not LABELS[label]:
        assert (desk.last.status_code, answer["code"]) == (409, "no-text")
        assert answer["message"].startswith("Nothing was stored: the text of this item is missing")
        assert answer["errors"][0]["expected"] == "System failure (5) or Do not know (6)"


@pytest.mark.parametrize("kind", ["training", "second", "sample"])
def test_the_same_holds_in_rounds(task, assessor, kind):
    pool_of(task, "posts")
    desk = Desk(assessor, round=round_of(task, kind, assessor).key)
    item: Any = desk.next()

    assert desk.submit(item, 3)["code"] == "no-text"
    assert desk.submit(item, 5)["saved"][0]["counts"]


def test_an_item_whose_text_an_organizer_added_takes_all_labels(task, assessor, organizer):
    pool_of(task, "posts")
    assign(assessor, task.topics.get(query_id="A.1"))
    added = {"kind": "text", "key": "98", "value": "<p>Found.</p>", "made_at": NOW}
    Correction.objects.create(lab=task.lab, digest="0", made_by=organizer, **added)
    desk = Desk(assessor)
    item = desk.next()

    assert item["instances"][0]["has_text"]
    assert desk.submit(item, 3)["saved"][0]["counts"]


def test_labels_judged_elsewhere_are_imported_for_items_without_text(task):
    pool_of(task, "posts")
    data = b"topic\titem\tlabel\nA.1\t98\t3\n"
    import_judgments(task=task, data=data, path="labels.tsv", at=NOW, by=None)

    assert Judgment.objects.get().label == 3
