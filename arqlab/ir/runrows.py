"""The rows of a run, whichever of the formats it is in, with their numbers read."""

import polars as pl

from arqlab.ir.records import ItemKind, TaskKind
from arqlab.ir.runanswers import holds_answers, read_answers
from arqlab.ir.runformat import TASK1, TASK2, TASK3, RunTable, read_ranked_list
from arqlab.ir.runranks import with_numbers
from arqlab.ir.runreport import RunRules

ITEMS_OF_FORMAT = {
    TASK1.format: ItemKind.POSTS,
    TASK2.format: ItemKind.FORMULA_IDS,
    TASK3.format: ItemKind.ANSWERS,
}


def read_rows(text: str, lines: pl.Series, rules: RunRules) -> RunTable:
    """Read the rows of a run in the format that its first lines tell; rank (Int64) and score (Float64) may be null."""
    table = read_answers(text, rules) if holds_answers(lines, rules.kind) else read_ranked_list(lines, rules)
    return table._replace(rows=with_numbers(table.rows))


def items_of(table: RunTable, rules: RunRules, items: ItemKind | None) -> ItemKind:
    """Say what the items are: the format tells, but for TREC's, where the caller says or the rules do."""
    if rules.kind is TaskKind.WRITTEN_ANSWERS and table.layout.columns[-1:] == ("answer",):
        return ItemKind.ANSWERS
    return ITEMS_OF_FORMAT.get(table.layout.format, items or rules.items)
