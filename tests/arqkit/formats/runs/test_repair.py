"""A repaired run has none of the problems that were called repairable, and is otherwise the run."""

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arqkit.formats.runs.check import check_run
from arqkit.formats.runs.repair import repaired_run
from arqkit.formats.runs.report import RunRules
from arqkit.records import ItemKind, TaskKind

RULES = RunRules(TaskKind.ANSWERS, ("A.1", "A.2", "A.3"), limit=4)
FORMULAS = RunRules(TaskKind.FORMULAS, ("A.1", "A.2", "A.3"), limit=4, items=ItemKind.FORMULA_IDS)
BY_RANK = RunRules(TaskKind.ANSWERS, ("A.1", "A.2", "A.3"), limit=4, order="rank")
WRITTEN = RunRules(TaskKind.GENERATED_ANSWERS, ("A.1", "A.2", "A.3"), limit=1)

CELLS = {
    "topic": st.sampled_from(["A.1", "A.2", "A.3", "A.9", "Query_Id", "", " A.1"]),
    "item": st.sampled_from([*"123456789", "10", "", "Post_Id", "ü"]),
    "rank": st.sampled_from([*"1234567", "0", "-1", "1.5", "x", "+3", "007", "", " 2"]),
    "score": st.sampled_from(
        ["1", "2.5", "2,5", "0,9", "nan", "inf", "1e39", "x", "", "-3", "0.1", "0.1000000001"]
    ),
    "tag": st.sampled_from(["t", "t", "u", "", "a b"]),
    "answer": st.sampled_from(
        ["x", "$a$ b", '"quoted"', 'a "b" c', '"open', "$", "", "z" * 1300, '"two\nlines"']
    ),
}
LAYOUTS = {
    "task1": ("topic", "item", "rank", "score", "tag"),
    "task2": ("topic", "item", "item", "rank", "score", "tag"),
    "trec": ("topic", "tag", "item", "rank", "score", "tag"),
    "task3": ("topic", "rank", "score", "tag", "item", "answer"),
    "pair": ("topic", "answer"),
}
ODD_LINES = st.sampled_from(
    ["", "  ", "\t\t", "A.1\t2", "# a comment", "A.1 Q0 3 1 0.5 t", "a\rb", "topic\trank"]
)


def lines_of(layout: str, separator: str = "\t") -> st.SearchStrategy[str]:
    return st.tuples(*(CELLS[name] for name in LAYOUTS[layout])).map(separator.join)


@st.composite
def files(draw, layouts=("task1", "task2", "trec")):
    separator = draw(st.sampled_from("\t\t "))
    line = st.one_of(
        lines_of(draw(st.sampled_from(layouts)), separator), ODD_LINES, st.just("A.1\t1\t1\t1\tt")
    )
    lines = draw(st.lists(line, max_size=14))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    last = draw(st.sampled_from([end, ""]))
    return (draw(st.sampled_from(["", "\ufeff"])) + end.join(lines) + last).encode()


def problems(data: bytes, rules: RunRules) -> dict[str, bool]:
    return {group.kind: group.is_repairable for group in check_run(data, rules).problems}


def assert_repairs(data: bytes, rules: RunRules) -> None:
    repairable = {kind for kind, is_repairable in problems(data, rules).items() if is_repairable}
    repaired = repaired_run(data, rules)
    if repaired is None:
        assert not repairable
        return
    if (index := check_run(data, rules).index) is not None:  # a valid run keeps its result
        changed = check_run(repaired, rules).index
        assert changed.select("topic", "item", "order").equals(
            index.select("topic", "item", "order")
        )
    left = problems(repaired, rules)
    assert not {kind for kind, is_repairable in left.items() if is_repairable}, (
        data,
        repaired,
        left,
    )
    assert repaired_run(repaired, rules) is None


@settings(max_examples=120, deadline=None)
@given(files(), st.sampled_from([RULES, FORMULAS, BY_RANK]))
def test_a_repaired_run_has_nothing_left_to_repair(data, rules):
    assert_repairs(data, rules)


@settings(max_examples=100, deadline=None)
@given(files(("task3", "pair")))
def test_a_repaired_run_of_generated_answers_has_nothing_left_to_repair(data):
    assert_repairs(data, WRITTEN)


def repaired(*lines: str, rules: RunRules = RULES, end: str = "\n") -> list[str] | None:
    data = repaired_run((end.join(lines) + end).encode(), rules)
    return None if data is None else data.decode().split(end)[:-1]


def test_a_run_without_repairable_problems_has_no_repaired_file():
    assert repaired("A.1\t1\t1\t2\tt", "A.1\t2\t2\t1\tt", end="\r\n") is None
    assert repaired("A.9\t1\t1\tx\tt") is None


def test_lines_that_need_no_repair_stay_byte_for_byte():
    lines = ["A.1\t1\t1\t2\tt\r", "", "A.2\t1\t01\t+2.50\tt", "A.1"]

    assert repaired(*lines) == [lines[0], lines[2], lines[3]]


def test_a_csv_file_becomes_a_file_with_tabs():
    data = b'"A.1","7","1","2.5","t"\r\nA.1, 8, 1, 2, t\r\nA.1,9\r\n'

    assert repaired_run(data, RULES) == b"A.1\t7\t1\t2.5\tt\r\nA.1\t8\t2\t2\tt\r\nA.1,9\r\n"


def test_a_decimal_comma_becomes_a_point_and_blanks_around_cells_go():
    assert repaired("A.1 \t1\t1\t0,9\tt") == ["A.1\t1\t1\t0.9\tt"]


def test_a_header_a_byte_order_mark_and_lone_carriage_returns_go():
    data = "\ufeffQuery_Id\tPost_Id\tRank\tScore\tTag\rA.1\t1\t1\t2\tt\r".encode()

    assert repaired_run(data, RULES) == b"A.1\t1\t1\t2\tt\n"


def test_of_duplicates_the_highest_score_stays_and_ranks_close_up():
    lines = ["A.1\t1\t1\t3\tt", "A.1\t2\t2\t2\tt", "A.1\t1\t3\t1\tt", "A.1\t3\t4\t0\tt"]

    assert repaired(*lines) == [lines[0], lines[1], "A.1\t3\t3\t0\tt"]


def test_a_list_over_the_limit_is_cut_by_score():
    lines = [f"A.1\t{number}\t{number}\t{10 - number}\tt" for number in range(1, 8)]

    assert repaired(*lines) == lines[:4]


def test_ranks_that_jump_are_numbered_again_in_their_own_order():
    lines = ["A.1\t9\t2\t1\tt", "A.1\t1\t5\t1\tt", "A.2\t1\t1\t1\tt"]

    assert repaired(*lines) == ["A.1\t9\t1\t1\tt", "A.1\t1\t2\t1\tt", "A.2\t1\t1\t1\tt"]


def test_ranks_against_scores_are_numbered_again_by_score_where_scores_count():
    lines = ["A.1 Q0 9 1 1 t", "A.1 Q0 1 2 5 t"]

    assert repaired(*lines) == ["A.1 Q0 9 2 1 t", "A.1 Q0 1 1 5 t"]
    assert repaired(*lines, rules=BY_RANK) is None


def test_ranks_that_cannot_be_read_are_not_guessed_where_ranks_count():
    lines = ["A.1\t1\tx\t2\tt", "A.1\t2\t5\t1\tt"]

    assert repaired(*lines, rules=BY_RANK) is None
    assert repaired(*lines) == ["A.1\t1\t1\t2\tt", "A.1\t2\t2\t1\tt"]


def test_a_file_that_is_not_utf_8_is_not_repaired():
    data = "A.1\tschön\t1\t2\tt\n\n".encode("latin-1")

    assert repaired_run(data, RULES) is None
    assert not any(group.is_repairable for group in check_run(data, RULES).problems)


def test_topics_and_answers_become_a_run_of_generated_answers():
    lines = ["A.1\tBecause.", 'A.2\t"""So"" is it"']

    assert repaired(*lines, rules=WRITTEN) == [
        "A.1\t1\t1.0\trun\t\tBecause.",
        'A.2\t1\t1.0\trun\t\t"""So"" is it"',
    ]


def test_a_second_answer_goes_with_all_its_lines():
    lines = ['A.1\t2\t1.0\tt\t\t"two', 'lines"', "A.1\t1\t2.0\tt\t\tfirst"]

    assert repaired(*lines, rules=WRITTEN) == [lines[2]]


HOMES = {str(formula): str(formula % 7) for formula in range(100, 160)}
KNOWN = replace(
    FORMULAS,
    topics=(),
    limit=20,
    formulas=pl.DataFrame(
        {"formula_id": list(HOMES), "post_id": list(HOMES.values()), "visual_id": list(HOMES)}
    ),
    complete=True,
)


def formula_run(wrong: set[int], size: int = 40) -> bytes:
    """Return a run of two topics in which these rows (from 0) name a wrong post."""
    rows = [
        f"A.{1 + row // 20}\t{100 + row}\t{'8' if row in wrong else HOMES[str(100 + row)]}"
        f"\t{1 + row % 20}\t{40 - row}\tt\n"
        for row in range(size)
    ]
    return "".join(rows).encode()


def test_a_few_formulas_with_a_wrong_post_are_omitted_and_named():
    data = formula_run({3, 25})
    [problem] = check_run(data, KNOWN).problems
    assert problem.is_repairable
    assert problem.todo.endswith("Left out: formula 103 (line 4), 125 (line 26).")

    repaired = repaired_run(data, KNOWN)

    report = check_run(repaired, KNOWN)
    assert (report.problems, report.rows) == ((), 38)
    assert report.index.filter(topic="A.1")["item"].to_list() == [
        str(100 + row) for row in range(20) if row != 3
    ]


def test_many_wrong_posts_are_a_fault_of_the_system_that_no_repair_hides():
    data = formula_run(set(range(5)))  # 5 of 40
    [problem] = check_run(data, KNOWN).problems

    assert (problem.kind, problem.count, problem.is_repairable) == ("wrong-post", 5, False)
    assert "Left out" not in problem.todo
    assert repaired_run(data, KNOWN) is None


def test_of_many_omitted_formulas_the_first_are_named():
    data = formula_run(set(range(0, 60, 10)), size=60)
    [problem] = [one for one in check_run(data, KNOWN).problems if one.kind == "wrong-post"]

    assert problem.todo.endswith(
        "Left out: formula 100 (line 1), 110 (line 11), 120 (line 21), 130 (line 31), "
        "140 (line 41) and 1 more."
    )


@pytest.mark.parametrize("order", ["score", "rank"])
@settings(max_examples=40, deadline=None)
@given(st.sets(st.integers(0, 39), max_size=8), st.lists(st.integers(0, 39), max_size=4))
def test_nothing_is_left_to_repair_after_wrong_posts_were_omitted(order, wrong, repeated):
    lines = formula_run(wrong).splitlines(keepends=True)
    data = b"".join([*lines, *(lines[row] for row in repeated)])

    assert_repairs(data, replace(KNOWN, order=order))
