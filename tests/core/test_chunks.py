"""Rows are read in chunks, and another connection may write between any two of them."""

import pytest

from arqlab.core.models import Topic
from arqlab.core.models.reading import rows_in_chunks, values_in_chunks

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("size", [None, 1, 2, 3])
def test_all_rows_are_read_in_the_order_of_their_keys(scene, size):
    rows = Topic.objects.order_by("-query_id")

    assert [topic.query_id for topic in rows_in_chunks(rows, size=size)] == ["A.1", "A.2"]
    assert list(values_in_chunks(rows, "query_id", "position", size=size)) == [
        ("A.1", 1),
        ("A.2", 2),
    ]


def test_each_chunk_is_a_query_and_rows_that_come_later_are_read(scene, django_assert_num_queries):
    rows = values_in_chunks(Topic.objects.filter(task=scene.task), "query_id", size=1)
    with django_assert_num_queries(1):
        first = next(rows)
    Topic.objects.create(task=scene.task, query_id="A.3", position=3)

    assert [first, *rows] == [("A.1",), ("A.2",), ("A.3",)]
