"""A repaired run has none of the problems that were called repairable, and is otherwise the run."""

from hypothesis import given, settings
from hypothesis import strategies as st

from arqlab.ir.records import ItemKind, TaskKind
from arqlab.ir.runfile import RunRules, check_run, repaired_run

RULES = RunRules(TaskKind.ANSWERS, ("A.1", "A.2", "A.3"), limit=4)
FORMULAS = RunRules(TaskKind.FORMULAS, ("A.1", "A.2", "A.3"), limit=4, items=ItemKind.FORMULA_IDS)
BY_RANK = RunRules(TaskKind.ANSWERS, ("A.1", "A.2", "A.3"), limit=4, order="rank")
WRITTEN = RunRules(TaskKind.WRITTEN_ANSWERS, ("A.1", "A.2", "A.3"), limit=1)

CELLS = {
    "topic": st.sampled_from(["A.1", "A.2", "A.3", "A.9", "Query_Id", "", " A.1"]),
    "item": st.sampled_from([*"123456789", "10", "", "Post_Id", "ü"]),
    "rank": st.sampled_from([*"1234567", "0", "-1", "1.5", "x", "+3", "007", "", " 2"]),
    "score": st.sampled_from(["1", "2.5", "2,5", "0,9", "nan", "inf", "1e39", "x", "", "-3", "0.1", "0.1000000001"]),
    "tag": st.sampled_from(["t", "t", "u", "", "a b"]),
    "answer": st.sampled_from(["x", "$a$ b", '"quoted"', 'a "b" c', '"open', "$", "", "z" * 1300, '"two\nlines"']),
}
LAYOUTS = {
    "task1": ("topic", "item", "rank", "score", "tag"),
    "task2": ("topic", "item", "item", "rank", "score", "tag"),
    "trec": ("topic", "tag", "item", "rank", "score", "tag"),
    "task3": ("topic", "rank", "score", "tag", "item", "answer"),
    "pair": ("topic", "answer"),
}
ODD_LINES = st.sampled_from(["", "  ", "\t\t", "A.1\t2", "# a comment", "A.1 Q0 3 1 0.5 t", "a\rb", "topic\trank"])


def lines_of(layout: str, separator: str = "\t") -> st.SearchStrategy[str]:
    return st.tuples(*(CELLS[name] for name in LAYOUTS[layout])).map(separator.join)


@st.composite
def files(draw, layouts=("task1", "task2", "trec")):
    separator = draw(st.sampled_from("\t\t "))
    line = st.one_of(lines_of(draw(st.sampled_from(layouts)), separator), ODD_LINES, st.just("A.1\t1\t1\t1\tt"))
    lines = draw(st.lists(line, max_size=14))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    last = draw(st.sampled_from([end, ""]))
    return (draw(st.sampled_from(["", "\ufeff"])) + end.join(lines) + last).encode()


def problems(data: bytes, rules: RunRules) -> dict[str, bool]:
    return {group.kind: group.repairable for group in check_run(data, rules).problems}


def assert_repairs(data: bytes, rules: RunRules) -> None:
    repairable = {kind for kind, is_repairable in problems(data, rules).items() if is_repairable}
    repaired = repaired_run(data, rules)
    if repaired is None:
        assert not repairable
        return
    left = problems(repaired, rules)
    assert not {kind for kind, is_repairable in left.items() if is_repairable}, (data, repaired, left)
    assert repaired_run(repaired, rules) is None


@settings(max_examples=400, deadline=None)
@given(files(), st.sampled_from([RULES, FORMULAS, BY_RANK]))
def test_a_repaired_run_has_nothing_left_to_repair(data, rules):
    assert_repairs(data, rules)


@settings(max_examples=300, deadline=None)
@given(files(("task3", "pair")))
def test_a_repaired_run_of_written_answers_has_nothing_left_to_repair(data):
    assert_repairs(data, WRITTEN)
