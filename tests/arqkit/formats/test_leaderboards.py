"""Boards as files."""

import csv
import json
import re
import subprocess

import pytest

from arqkit.formats.leaderboards import write_board
from arqkit.leaderboard import (
    COLUMNS,
    EVERYWHERE,
    Board,
    BoardColumn,
    BoardRun,
    columns_in,
    with_runs,
)
from arqkit.standings import BASELINE, MANUAL, OUT_OF_COMPETITION, PRIMARY, WITHDRAWN
from arqkit.texts.maths.conversion import latexml_name
from tests.arqkit.test_leaderboard import EMPTY, NDCG, P10, run

BOARD = with_runs(
    EMPTY,
    [
        run("Baseline", "TF_IDF", 0.2, standings=[BASELINE], flags=[PRIMARY]),
        run("A & B", "a1", 0.26254, 0.11555, flags=[MANUAL]),
        BoardRun(3, "C", "waiting", {}),
    ],
)


def rows_of(board: Board) -> list[dict[str, str]]:
    return list(csv.DictReader(write_board(board, "tsv").splitlines(), delimiter="\t"))


def test_the_tsv_has_the_columns_of_runs_and_one_for_each_measure():
    first, second, _ = rows_of(BOARD)

    assert list(first) == [*(column.key for column in columns_in("table")), "nDCG'", "P@10"]
    assert {name: text for name, text in first.items() if text} == {
        "team": "Baseline",
        "run": "TF_IDF",
        "primary": "P",
        "baseline": "B",
        "standing": "baseline",
        "nDCG'": "0.2000",
        "P@10": "0.1000",
    }
    assert {name: text for name, text in second.items() if text} == {
        "team": "A & B",
        "run": "a1",
        "manual": "M",
        "standing": "official",
        "nDCG'": "0.2625",
        "P@10": "0.1155",
    }


def test_a_run_that_is_not_scored_has_empty_cells():
    last = rows_of(BOARD)[-1]

    assert {text for text in last.values() if text} == {"C", "waiting", "official"}


@pytest.mark.parametrize(
    ("format_", "mark"),
    [
        ("tsv", "\tW\twithdrawn\t"),
        ("csv", ",W,withdrawn,"),
        ("json", '"withdrawn": true'),
        ("latex", "late (withdrawn) & text &"),
    ],
)
def test_a_withdrawn_run_is_marked_in_every_file(format_, mark):
    board = with_runs(EMPTY, [run("A", "late", 0.2, standings=[WITHDRAWN], data="text")])

    assert mark in write_board(board, format_)


@pytest.mark.skipif(
    latexml_name() is None,
    reason="LaTeXML is not installed; apt-get install latexml to run this test.",
)
def test_the_latex_compiles_with_the_packages_that_it_names(tmp_path):
    odd = run("~^\\ {$%_#} d'Été & <Co>", "a_1′", 0.2, flags=[MANUAL], standings=[WITHDRAWN])
    table = write_board(with_runs(EMPTY, [odd, run("A", "a1", 0.1)]), "latex")
    packages = re.search(r"^% Needs (\\usepackage\{.+\})\.$", table, re.MULTILINE)[1]
    document = tmp_path / "board.tex"
    document.write_text(
        "\n".join(
            [r"\documentclass{article}", packages, r"\begin{document}", table, r"\end{document}"]
        )
    )

    done = subprocess.run(
        ["latexml", "--strict", "--destination", str(tmp_path / "board.xml"), document],
        cwd=tmp_path,  # latexml logs to a file there
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert not re.search(r"^(Warning|Error|Fatal)", done.stderr, re.MULTILINE), done.stderr


def test_every_file_marks_a_run_out_of_competition():
    board = with_runs(
        EMPTY, [run("A", "late", 0.9, standings=[OUT_OF_COMPETITION]), run("B", "b", 0.1)]
    )

    latex = write_board(board, "latex")
    row = rows_of(board)[1]
    assert (row["out_of_competition"], row["standing"]) == ("O", "out-of-competition")
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
    assert data["runs"][1]["scores"] == {"nDCG'": 0.26254, "P@10": 0.11555}
    assert data["runs"][2]["id"] == 3
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
    monkeypatch.setattr("arqkit.leaderboard.COLUMNS", (*COLUMNS, kind))

    text = write_board(BOARD, format_)

    assert heading in text
    assert all(f"by {tag}" in text for tag in ("a1", "waiting"))
