"""Rows are read in the format that a file is in, and what their items are is known."""

from arqlab.formats.runs.report import RunRules
from arqlab.formats.runs.rows import item_kind_of, read_rows
from arqlab.ir.records import ItemKind, TaskKind

FORMULAS = RunRules(TaskKind.FORMULAS, ("B.1",), items=ItemKind.FORMULA_IDS)
WRITTEN = RunRules(TaskKind.WRITTEN_ANSWERS, ("A.1",))


def test_ranks_and_scores_are_numbers_or_nothing():
    rows = read_rows(b"A.1\t1\t2\t2.5\tt\nA.1\t1\tx\t0,5\tt\n", RunRules(TaskKind.ANSWERS)).rows

    assert rows.select("rank", "score").rows() == [(2, 2.5), (None, None)]


def test_the_items_of_a_trec_file_are_what_the_caller_or_the_rules_say():
    table = read_rows(b"B.1 Q0 7 1 2.5 t\n", FORMULAS)

    assert item_kind_of(table, FORMULAS, None) is ItemKind.FORMULA_IDS
    assert item_kind_of(table, FORMULAS, ItemKind.VISUAL_IDS) is ItemKind.VISUAL_IDS


def test_the_items_of_a_file_with_posts_are_formula_ids():
    assert (
        item_kind_of(read_rows(b"B.1\t70\t9\t1\t2.5\tt\n", FORMULAS), FORMULAS, ItemKind.VISUAL_IDS)
        is ItemKind.FORMULA_IDS
    )


def test_the_items_of_written_answers_are_answers():
    for data in (b"A.1\t1\t1.0\tt\t\tx\n", b"A.1\tx\n"):
        assert item_kind_of(read_rows(data, WRITTEN), WRITTEN, None) is ItemKind.ANSWERS
