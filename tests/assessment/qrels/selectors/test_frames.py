"""Frames read from the database."""

import polars as pl
import pytest

from assessment.models import Judgment, PoolInstance
from assessment.qrels.selectors.drafts import with_current
from assessment.qrels.selectors.frames import read_frame
from tests.assessment.factories import judge, make_pool

pytestmark = pytest.mark.django_db
IDS = ['a "quoted" id', "a,b", "two\nlines", "a\ttab", "\\N", "t", "é", "'", "%s", "1"]
FIELDS = ("doc_id", "post_id", "current__label", "current__is_imported", "item")
SCHEMA = {
    "doc_id": pl.String,
    "post": pl.String,
    "label": pl.Int8,
    "is_imported": pl.Boolean,
    "item": pl.Int64,
}


def test_a_frame_has_the_rows_of_the_query_whatever_characters_they_have(task, assessor):
    make_pool(task, {"A.1": IDS})
    first, second = PoolInstance.objects.order_by("pk")[:2]
    PoolInstance.objects.filter(pk=first.pk).update(post_id="")
    judge(assessor, first, 0)
    judge(assessor, second, 3, is_imported=True)
    rows = with_current(PoolInstance.official.all()).order_by("-pk").values_list(*FIELDS)

    frame = read_frame(rows, SCHEMA)

    assert frame.rows() == list(rows)
    assert [row[0] for row in frame.rows()] == IDS[::-1]
    assert dict(frame.schema) == SCHEMA


@pytest.mark.parametrize("found", ["all", "none"])
def test_a_frame_without_rows_has_its_columns(found):
    rows = getattr(Judgment.objects, found)().values_list("instance__doc_id", "label")

    assert read_frame(rows, {"doc_id": pl.String, "label": pl.Int8}).rows() == []


def test_the_values_of_a_query_are_quoted(task):
    make_pool(task, {"A.1": IDS})
    rows = PoolInstance.official.filter(doc_id__in=["'", "%s", "t"]).order_by("pk")

    frame = read_frame(rows.values_list("doc_id"), {"doc_id": pl.String})

    assert frame["doc_id"].to_list() == ["t", "'", "%s"]
