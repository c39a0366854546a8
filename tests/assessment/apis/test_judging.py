"""Judging over HTTP, as the page does it."""

from __future__ import annotations

from pathlib import Path

import pytest

from arqlab.core.models import Topic, User
from assessment.models import Judgment, Pool, PoolItem
from tests.assessment.desk import Desk
from tests.assessment.factories import assign, make_pool
from tests.collection.factories import load_small
from tests.factories import Scene


@pytest.fixture
def pool(scene: Scene, tmp_path: Path) -> Pool:
    """Give a pool of posts of the small collection; A.1 is the assessor's."""
    load_small(scene.lab, tmp_path)
    assign(scene.assessor, Topic.objects.get(query_id="A.1", task=scene.task))
    return make_pool(scene.task)


@pytest.fixture
def desk(pool: Pool, assessor: User) -> Desk:
    return Desk(assessor)


def test_the_next_item_is_the_first_that_waits_with_its_post_typeset(desk: Desk) -> None:
    item = desk.next()

    assert (item["name"], item["kind"], item["position"], item["state"]) == ("10", "posts", 1, "waiting")
    [instance] = item["instances"]
    assert (instance["heading"], instance["doc_id"], instance["judgment"]) == ("Answer post 10", "10", None)
    assert "<math" in instance["html"]
    assert instance["thread_url"] == "/labs/arqmath-x/posts/10/#post-10"


def test_a_submit_stores_the_label_and_answers_with_the_next_item(desk: Desk) -> None:
    answer = desk.submit(desk.next(), 3, comment="Good.")

    [saved] = answer["saved"]
    assert (saved["label"], saved["counts"], saved["message"]) == (3, True, "")
    assert answer["done"] is True
    assert answer["next"]["name"] == "11"
    judgment = Judgment.objects.get()
    assert (judgment.pk, judgment.label, judgment.comment, judgment.active_ms) == (
        saved["judgment"],
        3,
        "Good.",
        20_000,
    )
    assert PoolItem.objects.get(item="10").done_at is not None
