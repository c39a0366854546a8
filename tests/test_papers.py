"""Our figures beside those of the papers: the command, and the page that lists all tables."""

import re
from io import StringIO

import pytest
from django.core.management import call_command

from benchmarks.papers.__main__ import lines_of
from benchmarks.papers.figures import LABS, Figure, lab_figures, table_6
from benchmarks.papers.published import CEILINGS, GROUPS, JUDGED, SCORES
from tests.paths import ROOT

PAGE = (ROOT / "docs/papers.md").read_text(encoding="utf-8")
TABLES = {"000": ["1", "2", "3", "4", "A1", "A2"], "003": list("12345678"), "004": list("1234567")}


def figure(printed: str, ours: float, differs: str = "") -> Figure:
    return Figure("000 A1", "a run", printed, ours, differs)


@pytest.mark.parametrize(
    ("printed", "ours", "agrees"),
    [("0.263", 0.26254, True), ("0.263", 0.26249, False), ("77", 77, True), ("77", 78, False)],
)
def test_a_figure_agrees_to_the_printed_digits(printed, ours, agrees):
    assert figure(printed, ours).agrees is agrees
    assert figure(printed, ours).is_wrong is not agrees
    assert not figure(printed, ours, "another file").is_wrong


def test_the_lines_count_what_agrees_and_mark_what_is_wrong():
    found = [figure("0.5", 0.5), figure("0.5", 0.7), figure("0.5", 0.6, "another file")]
    lines = lines_of(found)

    assert lines[-1] == "1 figures agree, 1 cannot agree, 1 are wrong."
    assert [line for line in lines if line.endswith("WRONG")] == [lines[3]]
    assert lines[4].endswith("+0.1000  another file")


def test_the_correlations_follow_from_the_printed_scores():
    assert [one.what for one in table_6() if one.is_wrong] == []
    assert len(list(table_6())) == 12


@pytest.mark.parametrize("lab", ["ntcir-12-wfb"])
def test_a_lab_reproduces_the_figures_of_its_runs(lab, shared_data, db):
    call_command("load_lab", str(shared_data / lab), stdout=StringIO())
    found = list(lab_figures(lab, shared_data))

    assert [one for one in found if one.is_wrong] == []
    assert ("003 Table 7", "0.86") in {(one.table, one.printed) for one in found}


def test_every_figure_belongs_to_a_lab_that_the_command_loads():
    assert {one.lab for one in (*SCORES, *JUDGED, *CEILINGS, *GROUPS)} == set(LABS)


def test_the_page_lists_every_table_of_each_paper():
    for paper, section in re.findall(r"^## [^\n]*\((\d+)\)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S):
        rows = re.findall(r"^\| Table (\w+) \| (no|in part|yes) \| ", section, re.M)
        assert [table for table, _ in rows] == TABLES.pop(paper)
        computed = {one.table for one in (*SCORES, *JUDGED, *table_6()) if one.table[:3] == paper}
        for table, state in rows:
            has_figures = any(re.search(rf"(^|Table ){table}\b", one[4:]) for one in computed)
            assert has_figures == (state != "no" or table == "A2"), f"{paper} {table}"
    assert not TABLES
