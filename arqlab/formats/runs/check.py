"""Run files (protocol §4): every problem of one, and the index that everything else is computed
from.
"""

from collections.abc import Iterator

import polars as pl
from polars import selectors as cs

from arqlab.formats.runs.diff import repair_diff
from arqlab.formats.runs.layouts import TWO_COLUMNS, UNKNOWN, WANTED, RunTable, wanted_formats
from arqlab.formats.runs.problems import describe, sort_problems
from arqlab.formats.runs.ranks import check_ranks, check_scores, check_ties, fits_limit, kept_rows
from arqlab.formats.runs.repair import repaired_run
from arqlab.formats.runs.report import Finding, ProblemGroup, RunReport, RunRules, listed
from arqlab.formats.runs.rows import item_kind_of, read_rows
from arqlab.formats.runs.rules import (
    check_answers,
    check_duplicates,
    check_items,
    check_limit,
    check_tags,
    check_topics,
)
from arqlab.formats.runs.text import decode_run, line_end_findings
from arqlab.ir.polars_errors import panics_as_errors
from arqlab.ir.ranking import with_order
from arqlab.ir.records import ItemKind, Severity

__all__ = ["ProblemGroup", "RunReport", "RunRules", "check_run", "repair_diff", "repaired_run"]

INDEX_COLUMNS = ("topic", "item", "post", "rank", "score", "order")
ANSWER_COLUMNS = ("answer", "sources")


@panics_as_errors()
def check_run(data: bytes, rules: RunRules, *, items: ItemKind | None = None) -> RunReport:
    """Check one unpacked run file by all rules of its task, and index it when it has no error.

    `items` says what the items of a TREC file of six columns are, when it is not what the rules
    say. Every problem is reported with its line, counted from 1 over all lines of the file. Raises
    EngineFailedError for a fault of polars.
    """
    text = decode_run(data)
    lines = text.data.count(b"\n") + (text.data[-1:] not in (b"\n", b""))
    table = read_rows(text.data, rules)
    kind = item_kind_of(table, rules, items)
    findings = [*text.findings, *line_end_findings(text.data, lines), *table.findings]
    findings += [
        *_format_findings(table, rules, is_text=text.is_text),
        *_row_findings(table, rules, kind),
    ]
    size, topics = table.rows.height, table.rows["topic"].n_unique()
    tags = tuple(table.rows["tag"].unique(maintain_order=True).to_list())
    layout, format_name = table.layout.format, table.format_name
    rows = table.rows.select(cs.exclude("tag", "rank_text"))
    del table  # half of what a run of the largest size takes; sorting needs the room
    ordered = with_order(rows, by=rules.order)
    del rows
    findings += check_ties(ordered, rules)
    problems = sort_problems(describe(finding, can_repair=text.can_repair) for finding in findings)
    is_valid = all(group.severity is not Severity.ERROR for group in problems)
    return RunReport(
        format=layout,
        format_name=format_name,
        items=kind,
        lines=lines,
        rows=size,
        topics=topics,
        run_tags=tags,
        problems=problems,
        index=_index(ordered) if is_valid else None,
    )


def _format_findings(table: RunTable, rules: RunRules, *, is_text: bool) -> Iterator[Finding]:
    """Return that there is no row at all, or that the format is not one that the task takes."""
    if is_text and not table.rows.height and not table.lost.len():
        yield Finding("empty-file", listed([(None, None, "no row", "one row or more")]))
    if _is_other_format(table, rules):
        place = (None, None, str(table.layout), wanted_formats(rules.kind))
        yield Finding("wrong-format", listed([place]), {"format": place[2], "wanted": place[3]})


def _is_other_format(table: RunTable, rules: RunRules) -> bool:
    return table.layout not in (*WANTED[rules.kind], TWO_COLUMNS, UNKNOWN)


def _row_findings(table: RunTable, rules: RunRules, kind: ItemKind) -> Iterator[Finding]:
    """Run every check of rows. Items of another task's format are not looked up: each would be
    unknown.
    """
    rows = table.rows
    if not rows.height:
        return
    yield from check_topics(rows, rules)
    if not _is_other_format(table, rules):
        yield from check_items(rows, rules, kind)
    if "answer" in rows.columns:
        yield from check_answers(rows, rules)
    else:
        yield from check_duplicates(rows, rules)
    if not fits_limit(rows, rules):
        yield from check_limit(rows, kept_rows(rows, rules)[1], rules)
    yield from check_ranks(rows, table.lost, rules)
    yield from check_scores(rows)
    yield from check_tags(rows)


def _index(ordered: pl.DataFrame) -> pl.DataFrame:
    answers = [name for name in ANSWER_COLUMNS if name in ordered.columns]
    return ordered.select(*INDEX_COLUMNS, *answers)
