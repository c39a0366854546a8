"""Leaderboards are ordered as in the papers' tables."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arqkit.leaderboard import Board, BoardRun, columns_in, part_of_board, sorted_board, with_runs
from arqkit.measures.names import parse_measures
from arqkit.standings import BASELINE, FLAGS, OUT_OF_COMPETITION, PRIMARY, STANDINGS, WITHDRAWN

MEASURES = parse_measures(["nDCG(judged_only=True)@1000", "P@10"])
NDCG, P10 = (measure.name for measure in MEASURES)
EMPTY = Board("arqmath-3/task1", "official", 78, MEASURES, {NDCG: 1.0, P10: 0.95})


def run(team: str, tag: str, ndcg: float, p10: float = 0.1, **marks: Any) -> BoardRun:
    return BoardRun(0, team, tag, {NDCG: ndcg, P10: p10}, **marks)


def tags(board: Board) -> list[str]:
    return [row.run.tag for row in board.rows]


def best_of(board: Board, measure: str) -> set[str]:
    return {
        row.run.tag
        for row in board.rows
        for cell in row.cells
        if cell.measure.name == measure and cell.is_best
    }


def test_a_part_of_a_board_keeps_its_best_values_and_opens_groups_anew():
    runs = [
        BoardRun(key, team, f"run{key}", {NDCG: ndcg, P10: 0.1})
        for key, team, ndcg in ((1, "A", 0.9), (2, "A", 0.5), (3, "B", 0.4))
    ]
    part = part_of_board(with_runs(EMPTY, runs), MEASURES[:1], {2, 3})

    assert [(row.run.key, row.opens_group) for row in part.rows] == [(2, True), (3, True)]
    assert [len(row.cells) for row in part.rows] == [1, 1]
    assert best_of(part, NDCG) == set()


def test_the_main_measures_are_the_first_three_that_rate_runs():
    names = ["Judged@10", "nDCG@10", "P@5", "RR", "AP"]

    board = replace(EMPTY, measures=parse_measures(names))
    assert board.main_measures == parse_measures(names)[1:4]
    assert replace(board, printed=2).main_measures == parse_measures(names)[1:3]
    assert len(replace(board, measures=parse_measures(["Judged@10"])).main_measures) == 1


def test_baselines_come_first_then_teams_by_their_best_run():
    runs = [
        run("A", "a1", 0.2),
        run("B", "b1", 0.1),
        run("B", "b2", 0.5),
        run("X", "base", 0.05, standings=[BASELINE]),
    ]

    assert tags(with_runs(EMPTY, runs)) == ["base", "b2", "b1", "a1"]


def test_the_row_of_a_run_is_named_by_its_key():
    first, second = (BoardRun(key, "Team", f"run{key}", {}) for key in (7, 8))

    assert with_runs(EMPTY, [first, second]).row_of(8).run == second


def test_an_unscored_run_is_last_in_its_team():
    runs = [BoardRun(1, "A", "waiting", {}), run("A", "scored", 0.0)]

    assert tags(with_runs(EMPTY, runs)) == ["scored", "waiting"]


def test_each_group_opens_with_its_first_line():
    board = with_runs(EMPTY, [run("A", "a1", 0.2), run("A", "a2", 0.1), run("B", "b1", 0.15)])

    assert [row.opens_group for row in board.rows] == [True, False, True]


def test_the_best_of_the_teams_is_marked_and_a_worse_baseline_is_not():
    board = with_runs(
        EMPTY,
        [run("X", "base", 0.3, standings=[BASELINE]), run("A", "a1", 0.4), run("B", "b1", 0.2)],
    )

    assert best_of(board, NDCG) == {"a1"}


def test_a_baseline_that_beats_the_teams_is_marked_beside_their_best():
    board = with_runs(EMPTY, [run("X", "base", 0.5, standings=[BASELINE]), run("A", "a1", 0.4)])

    assert best_of(board, NDCG) == {"base", "a1"}


def test_values_that_print_alike_are_all_best():
    board = with_runs(EMPTY, [run("A", "a1", 0.72001), run("B", "b1", 0.72004)])

    assert best_of(board, NDCG) == {"a1", "b1"}


def test_a_withdrawn_run_is_never_the_best():
    board = with_runs(EMPTY, [run("A", "a1", 0.9, standings=[WITHDRAWN]), run("B", "b1", 0.2)])

    assert best_of(board, NDCG) == {"b1"}


def test_a_withdrawn_run_does_not_raise_its_team():
    board = with_runs(
        EMPTY,
        [run("A", "a1", 0.9, standings=[WITHDRAWN]), run("A", "a2", 0.1), run("B", "b1", 0.2)],
    )

    assert tags(board) == ["b1", "a2", "a1"]


def test_a_run_out_of_competition_is_listed_apart_and_is_never_the_best():
    runs = [
        run("A", "late", 0.9, standings=[OUT_OF_COMPETITION]),
        run("A", "a1", 0.2),
        run("B", "b1", 0.5),
        run("Organizers", "oracle", 0.8, standings=[BASELINE, OUT_OF_COMPETITION]),
        run("Organizers", "bm25", 0.3, standings=[BASELINE]),
    ]

    rows = with_runs(EMPTY, runs).rows

    assert [row.run.tag for row in rows] == ["bm25", "b1", "a1", "late", "oracle"]
    assert [row.run.tag for row in rows if row.opens_group] == ["bm25", "b1", "a1", "late"]
    assert [row.run.tag for row in rows if row.cells[0].is_best] == ["b1"]


def test_no_run_is_best_by_judged_at_k():
    judged = parse_measures(["Judged@10"])
    board = with_runs(Board("t", "q", 1, judged), [BoardRun(1, "A", "a1", {judged[0].name: 1.0})])

    assert not board.rows[0].cells[0].is_best


@pytest.mark.parametrize("place", ["page", "table", "latex", "json"])
def test_each_place_has_its_columns_before_the_measures(place):
    is_file = place in ("table", "json")
    marks = {standing.key.replace("-", "_") for standing in STANDINGS if standing.letter}
    columns = {"data", *(flag.key for flag in FLAGS)}

    assert {column.key for column in columns_in(place)} == (
        columns | {"team", "run", "standing", *marks} if is_file else columns
    )


def test_a_table_shows_texts_and_the_headings_of_true_marks():
    shown = run("A", "a1", 0.2, flags=[PRIMARY], data="text")

    texts = {column.key: column.text(shown) for column in columns_in("table")}
    assert [text for text in texts.values() if text] == ["A", "a1", "text", "P", "official"]
    assert texts["primary"] == "P"


@pytest.mark.parametrize(
    ("column", "order"), [("run", ["a2", "B1", "c1"]), ("team", ["c1", "a2", "B1"])]
)
def test_sorting_by_names_ignores_their_case(column, order):
    runs = [run("x", "B1", 0.1), run("W", "a2", 0.2), run("v", "c1", 0.3)]

    assert tags(sorted_board(with_runs(EMPTY, runs), column)) == order


def test_sorting_by_a_measure_removes_the_groups():
    board = sorted_board(
        with_runs(EMPTY, [run("A", "a1", 0.2, 0.3), run("B", "b1", 0.5, 0.1)]), "P@10"
    )

    assert tags(board) == ["a1", "b1"]
    assert not any(row.opens_group for row in board.rows)


def test_an_unknown_column_does_not_change_the_leaderboard():
    board = with_runs(EMPTY, [run("A", "a1", 0.2)])

    assert sorted_board(board, "nonsense") is board


means: st.SearchStrategy[Mapping[str, float]] = st.fixed_dictionaries(
    {NDCG: st.floats(0, 1), P10: st.floats(0, 1)}
)
runs = st.lists(
    st.builds(
        BoardRun,
        st.integers(),
        st.sampled_from("ABC"),
        st.text("xyz", min_size=1),
        means,
        standings=st.sampled_from([[], [BASELINE]]),
    ),
    max_size=12,
    unique_by=lambda run: (
        run.key
    ),  # as the database has it; two runs may have one name when one was withdrawn
)


@given(runs)
def test_a_leaderboard_has_every_run_once_and_keeps_groups_together(runs: list[BoardRun]):
    board = with_runs(EMPTY, runs)
    groups = ["" if row.run.is_baseline else row.run.team for row in board.rows]

    assert sorted(map(id, runs)) == sorted(id(row.run) for row in board.rows)
    assert sum(row.opens_group for row in board.rows) == len(set(groups))


@given(runs, st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_the_order_of_the_runs(runs: list[BoardRun], random):
    shuffled = random.sample(runs, len(runs))
    place = [row.run.key for row in with_runs(EMPTY, runs).rows]

    assert place == [row.run.key for row in with_runs(EMPTY, shuffled).rows]
