"""The rows of a run, whichever of the formats it is in, with their numbers read."""

from arqlab.formats.runs.answers import holds_answers, read_answers
from arqlab.formats.runs.layouts import TASK1, TASK2, TASK3, RunTable, read_ranked_list
from arqlab.formats.runs.ranks import with_numbers
from arqlab.formats.runs.report import RunRules
from arqlab.formats.runs.text import split_lines
from arqlab.ir.records import ItemKind, TaskKind

ITEMS_OF_FORMAT = {
    TASK1.format: ItemKind.POSTS,
    TASK2.format: ItemKind.FORMULA_IDS,
    TASK3.format: ItemKind.ANSWERS,
}


def read_rows(data: bytes, rules: RunRules) -> RunTable:
    """Read the rows of a run in the format that its first lines tell.

    `data` is what `runtext.read_text` gives. The rows get rank (Int64) and score (Float64), null
    where they cannot be read.
    """
    is_written = holds_answers(data, rules.kind)
    table = read_answers(data, rules) if is_written else read_ranked_list(split_lines(data), rules)
    return table._replace(rows=with_numbers(table.rows))


def item_kind_of(table: RunTable, rules: RunRules, items: ItemKind | None) -> ItemKind:
    """Return what the items are: the format tells, but for TREC's, where the caller says or the rules
    do.
    """
    if rules.kind is TaskKind.WRITTEN_ANSWERS and table.layout.columns[-1:] == ("answer",):
        return ItemKind.ANSWERS
    return ITEMS_OF_FORMAT.get(table.layout.format, items or rules.items)
