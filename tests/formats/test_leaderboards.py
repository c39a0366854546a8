"""Boards as files."""

from __future__ import annotations

import csv
import json

import pytest

from arqlab.formats.leaderboards import write_board
from arqlab.ir.leaderboard import COLUMNS, EVERYWHERE, BoardColumn, BoardRun, with_runs
from tests.ir.test_leaderboard import EMPTY, NDCG, P10, run

BOARD = with_runs(
    EMPTY,
    [
        run("Baseline", "TF_IDF", 0.2, is_baseline=True, is_primary=True),
        run("A & B", "a1", 0.26254, 0.11555, is_manual=True),
        BoardRun(3, "C", "waiting", {}),
    ],
)


def test_the_tsv_has_team_run_primary_manual_and_a_column_for_each_measure():
    lines = write_board(BOARD, "tsv").splitlines()

    assert lines[0] == "team\trun\tprimary\tmanual\tout_of_competition\tnDCG'\tP@10"
    assert lines[1] == "Baseline\tTF_IDF\tP\t\t\t0.2000\t0.1000"
    assert lines[2] == "A & B\ta1\t\tM\t\t0.2625\t0.1155"


def test_a_run_that_is_not_scored_has_empty_cells():
    assert write_board(BOARD, "tsv").splitlines()[-1] == "C\twaiting\t\t\t\t\t"


def test_every_file_marks_a_run_out_of_competition():
    board = with_runs(
        EMPTY, [run("A", "late", 0.9, is_out_of_competition=True), run("B", "b", 0.1)]
    )

    tsv, latex = (write_board(board, format_) for format_ in ("tsv", "latex"))
    assert tsv.splitlines()[2] == "A\tlate\t\t\tO\t0.9000\t0.1000"
    assert latex.index(r"\textbf{B}") < latex.index(r"\textbf{Out of competition}")
    assert "A late & " in latex
    marks = [row["out_of_competition"] for row in json.loads(write_board(board, "json"))["runs"]]
    assert marks == [False, True]


def test_the_csv_reads_back():
    rows = list(csv.DictReader(write_board(BOARD, "csv").splitlines()))

    assert [row["nDCG'"] for row in rows] == ["0.2000", "0.2625", ""]


def test_the_json_names_measures_qrels_topics_and_ceilings():
    data = json.loads(write_board(BOARD, "json"))

    assert (data["task"], data["qrels"], data["topics"]) == ("arqmath-3/task1", "official", 78)
    assert data["measures"][1] == {"label": "P@10", "name": P10, "ceiling": 0.95}
    assert data["runs"][1]["scores"] == {"nDCG'": 0.2625, "P@10": 0.1155}
    assert data["measures"][0]["name"] == NDCG


def test_the_latex_groups_teams_marks_the_best_and_escapes_names():
    text = write_board(BOARD, "latex")

    assert r"\multicolumn{6}{l}{\textbf{A \& B}} \\" in text
    assert r"a1 &  &  & \checkmark & \textbf{0.2625} & \textbf{0.1155} \\" in text
    assert r"\textit{TF\_IDF}" in text
    assert r"\textit{Best possible} & & & & 1.0000 & 0.9500 \\" in text


def test_the_latex_has_as_many_cells_in_every_line_as_columns():
    lines = [
        line
        for line in write_board(BOARD, "latex").splitlines()
        if line.endswith(r"\\") and "multicolumn" not in line
    ]

    assert {line.count(" &") - line.count(r"\&") for line in lines} == {5}


def test_the_latex_names_a_team_once_over_all_its_runs():
    board = with_runs(EMPTY, [run("A", "a1", 0.2), run("A", "a2", 0.1)])

    assert write_board(board, "latex").count(r"\textbf{A}") == 1


@pytest.mark.parametrize(
    ("format_", "heading"),
    [("tsv", "kind"), ("csv", "kind"), ("json", '"kind"'), ("latex", "Kind")],
)
def test_a_new_column_reaches_every_file(format_, heading, monkeypatch):
    kind = BoardColumn("kind", "Kind", lambda run: f"by {run.tag}", EVERYWHERE)
    monkeypatch.setattr("arqlab.ir.leaderboard.COLUMNS", (*COLUMNS, kind))

    text = write_board(BOARD, format_)

    assert heading in text
    assert all(f"by {tag}" in text for tag in ("a1", "waiting"))
