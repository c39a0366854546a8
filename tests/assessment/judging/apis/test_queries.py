"""What a submit asks the database, with the transactions of a request."""

from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from assessment.models import PoolItem
from collection.models import Post
from tests.assessment.factories import assign, make_pool
from tests.assessment.judging.desk import Desk, body_for, label_for, name_of
from tests.collection.factories import load_small
from tests.factories import make_lab

LINK = '<a href="https://math.stackexchange.com/q/2">there</a>'


@pytest.fixture
def desk(transactional_db: None, tmp_path: Path) -> Desk:
    """Return the desk of an assessor of a lab that nothing rolls back."""
    scene = make_lab()
    load_small(scene.lab, tmp_path)
    make_pool(scene.task)
    assign(scene.assessor, scene.task.topics.get(query_id="A.1"))
    return Desk(scene.assessor)


@pytest.mark.parametrize(("link", "count"), [("", 6), (LINK, 7)])
def test_a_submit_asks_the_database_at_most_seven_times(desk: Desk, link: str, count: int) -> None:
    """Session and person, the item, its label, the next item, both items, its formulas, and posts
    that it links to.
    """
    formula = '<span class="math-container" id="5">$b^2$</span>'
    Post.objects.filter(post_id="12").update(body=f"<p>{formula} {link}</p>", rules=0)
    desk.get(
        f"items/{PoolItem.objects.get(item='12', topic__query_id='A.1').pk}/"
    )  # its formula is typeset and kept
    item = desk.submit(desk.next(), 1)["next"]

    body = body_for(item, [label_for(item["instances"][0], 2)])
    with CaptureQueriesContext(connection) as queries:
        answer = desk.post("judgments/", body)

    assert name_of(answer["next"]) == "12"
    asked = [query["sql"] for query in queries if not query["sql"].startswith(("BEGIN", "COMMIT"))]
    assert len(asked) == count
