"""A filled database goes through the app's migrations, forwards and backwards, and keeps what was
judged.
"""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import connection

from assessment.models import Judgment, PoolInstance
from tests.assessment.factories import judge, make_pool, make_written_pool, raise_ticket
from tests.collection.factories import load_small
from tests.factories import make_lab

pytestmark = pytest.mark.django_db(transaction=True)


def test_instances_name_their_posts_by_key_again_when_it_goes_back(tmp_path):
    scene = make_lab()
    load_small(scene.lab, tmp_path)
    pool = make_pool(scene.task, {"A.1": ["10", "11", "999"]})
    make_written_pool(scene.task, {"A.1": {"run:A.1": "An answer."}})
    first, second, *_ = PoolInstance.objects.filter(item__pool=pool)
    judge(scene.assessor, first, 3)
    raise_ticket(scene.assessor, second)
    before = list(Judgment.objects.values())

    try:
        call_command("migrate", "assessment", "0005", verbosity=0)
        shown = rows(
            "SELECT doc_id, post_id FROM assessment_poolinstance WHERE shown_post_id IS NULL ORDER BY id"
        )
        named = rows(
            "SELECT post.post_id FROM assessment_poolinstance instance"
            " JOIN collection_post post ON post.id = instance.shown_post_id ORDER BY instance.id"
        )
    finally:
        call_command("migrate", "assessment", verbosity=0)

    assert named == [("10",), ("11",)]
    assert shown == [("999", "999"), ("run:A.1", "")]
    assert list(Judgment.objects.values()) == before


def rows(query: str) -> list[tuple[object, ...]]:
    """Return the rows of a query: the models know nothing of a table as it was."""
    with connection.cursor() as cursor:
        cursor.execute(query)
        return [tuple(row) for row in cursor.fetchall()]
