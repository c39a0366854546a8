"""Occurrences are frames of four columns, by line."""

import polars as pl
import pytest

from arqlab.formats.runs.report import OCCURRENCE, ProblemGroup, RunReport, listed, occurrences
from arqlab.ir.records import ItemKind, Severity


def test_occurrences_have_a_row_for_each_row_sorted_by_line():
    rows = pl.DataFrame({"line": [3, 1], "topic": ["A.1", "A.2"], "rank": [7, 8]})
    places = occurrences(rows, found="rank", expected=pl.lit("1"))

    assert dict(places.schema) == OCCURRENCE
    assert places.rows() == [(1, "A.2", "8", "1"), (3, "A.1", "7", "1")]


def test_a_place_without_a_line_is_the_whole_file():
    assert listed([(None, None, "x", "y")]).rows() == [(None, None, "x", "y")]
    assert dict(listed([]).schema) == OCCURRENCE


@pytest.mark.parametrize(
    ("severity", "is_valid"), [("error", False), ("warning", True), ("note", True)]
)
def test_a_run_is_valid_when_no_problem_is_an_error(severity, is_valid):
    group = ProblemGroup("x", Severity(severity), 1, "X.", "Y.", listed([]), repairable=False)
    report = RunReport("trec", "TREC", ItemKind.POSTS, 1, 1, 1, ("t",), (group,), None)

    assert report.is_valid is is_valid
