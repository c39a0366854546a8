"""Check a run file by all rules of its task (protocol §4), and index it."""

from collections.abc import Iterator
from dataclasses import replace

import polars as pl
from polars import selectors as cs

from arqkit.formats.runs.formats import RunTable, read_rows
from arqkit.formats.runs.items import check_items
from arqkit.formats.runs.layouts import taken_formats, wanted_formats
from arqkit.formats.runs.limits import check_repeats
from arqkit.formats.runs.lines import RunText, decode_run, line_end_findings
from arqkit.formats.runs.mixups import check_lists, check_runs, has_mixed_tags
from arqkit.formats.runs.ranks import check_ranks, check_scores, check_ties
from arqkit.formats.runs.report import (
    Finding,
    RunReport,
    RunRules,
    describe,
    find_rows,
    listed,
    named_list,
    sort_problems,
)
from arqkit.ids import meant_topics
from arqkit.ranking import with_order
from arqkit.records import ItemKind

_SCORES_NOTHING = "A topic without rows scores 0 in every mean."
_UNANSWERED = "Means are over the topics that the run answers."
INDEX_COLUMNS = ("topic", "item", "post", "rank", "score", "order", "answer", "sources")


def check_run(data: bytes, rules: RunRules, *, items: ItemKind | None = None) -> RunReport:
    """Check an unpacked run file by all rules of its task, and index it if it has no error.

    `items` overrides the kind of the items in a TREC file. Every problem is reported with its line,
    counted from 1 over all lines of the file.
    """
    text = decode_run(data)
    lines = text.data.count(b"\n") + (text.data[-1:] not in (b"\n", b""))
    table = read_rows(text.data, rules)
    kind = table.layout.items or items or rules.items
    findings = [*line_end_findings(text.data, lines), *_file_findings(text, table, rules)]
    findings += row_findings(table, rules, kind)
    size, topics = table.rows.height, table.rows["topic"].n_unique()
    tags = tuple(table.rows["tag"].unique(maintain_order=True).to_list())
    layout, format_name, can_rewrite = table.layout.format, table.format_name, table.can_rewrite
    rows = table.rows.select(cs.exclude("tag", "rank_text"))
    del table  # half the memory of the largest run, and sorting needs it
    ordered = with_order(rows, by=rules.order)
    del rows
    findings += check_ties(ordered, rules)
    can_repair = text.can_repair and can_rewrite
    problems = sort_problems(describe(finding, can_repair=can_repair) for finding in findings)
    report = RunReport(
        format=layout,
        format_name=format_name,
        items=kind,
        lines=lines,
        rows=size,
        topics=topics,
        run_tags=tags,
        problems=problems,
    )
    return replace(report, index=_index(ordered)) if report.is_valid else report


def _index(ordered: pl.DataFrame) -> pl.DataFrame:
    return ordered.select(cs.by_name(*INDEX_COLUMNS, require_all=False))


def _file_findings(text: RunText, table: RunTable, rules: RunRules) -> Iterator[Finding]:
    """Yield findings on the whole file: how it reads, no rows, a format of other tasks."""
    yield from text.findings
    yield from table.findings
    if text.is_text and not table.rows.height and not table.lost.len():
        yield Finding("empty-file", listed([(None, None, "no row", "one row or more")]))
    if _is_other_format(table, rules):
        place = (None, None, str(table.layout), wanted_formats(rules))
        yield Finding("wrong-format", listed([place]), {"format": place[2], "wanted": place[3]})


def _is_other_format(table: RunTable, rules: RunRules) -> bool:
    """Return whether the file is in a format for other tasks only."""
    return bool(table.layout.kinds) and table.layout not in taken_formats(rules)


def row_findings(table: RunTable, rules: RunRules, kind: ItemKind) -> Iterator[Finding]:
    """Run every check of rows.

    Items in another task's format are not looked up, because all of them would be unknown.
    """
    rows = table.rows
    if not rows.height:
        return
    yield from check_topics(rows, rules)
    if not _is_other_format(table, rules):
        yield from check_items(rows, rules, kind)
    if "answer" in rows.columns:
        yield from check_answers(rows, rules)
    yield from check_scores(rows)
    if runs := list(check_runs(rows)):
        yield from runs  # their ranks and items repeat, which is no other fault
        return
    yield from check_tags(rows)
    yield from (lists := list(check_lists(rows)))
    is_mixed = bool(lists) or has_mixed_tags(rows)
    for finding in (*check_repeats(rows, rules), *check_ranks(rows, table.lost, rules)):
        yield finding._replace(repairable=finding.repairable and not is_mixed)


def check_topics(rows: pl.DataFrame, rules: RunRules) -> Iterator[Finding]:
    """Find unknown topics, topics without rows, and topics whose rows are not together."""
    blocks = rows.select("line", "topic").filter(
        pl.col("topic").ne_missing(pl.col("topic").shift())
    )
    again = blocks.filter(pl.col("topic").is_first_distinct().not_())
    yield from find_rows("topics-apart", again, "topic", "the rows of a topic together")
    if not rules.topics:
        return
    known = pl.Series(rules.topics, dtype=pl.String)
    others = rows.filter(pl.col("topic").is_in(known.implode()).not_())
    meant = meant_topics(others["topic"].unique(maintain_order=True).to_list(), rules.topics)
    is_meant = pl.col("topic").is_in(list(meant))
    unknown = others.filter(~is_meant)
    names = [f"`{name}`" for name in unknown["topic"].unique(maintain_order=True)]
    expected = "a topic of the task"
    yield from find_rows("unknown-topic", unknown, "topic", expected, unknown=named_list(names))
    spelled = [f"`{name}` for `{topic}`" for name, topic in meant.items()]
    topic = pl.col("topic").replace_strict(meant, default=None, return_dtype=pl.String)
    misspelled = others.filter(is_meant)
    yield from find_rows("topic-spelling", misspelled, "topic", topic, spelled=named_list(spelled))
    named = {*rows["topic"].unique(), *meant.values()}
    missing = known.filter(~known.is_in(list(named)))
    places = pl.DataFrame(
        {"line": None, "topic": missing}, schema={"line": pl.Int64, "topic": pl.String}
    )
    effect = _UNANSWERED if rules.answered_only else _SCORES_NOTHING
    yield from find_rows("missing-topic", places, pl.lit("no row"), "one or more", effect=effect)


def check_tags(rows: pl.DataFrame) -> Iterator[Finding]:
    """Find rows with an empty run tag, or with a tag that differs from that of most rows."""
    empty = rows.filter(pl.col("tag") == "")
    yield from find_rows("empty-tag", empty, pl.lit("an empty cell"), "a run tag")
    named = rows["tag"].value_counts(sort=True).filter(pl.col("tag") != "")
    if named.height > 1:
        tag = named["tag"][0]
        others = rows.filter((pl.col("tag") != tag) & (pl.col("tag") != ""))
        yield from find_rows("several-tags", others, "tag", tag, tag=tag)


def check_answers(rows: pl.DataFrame, rules: RunRules) -> Iterator[Finding]:
    """Find answers that are empty, too long, or have an odd number of dollar signs."""
    dollars = pl.col("answer").str.replace_all(r"\\.", "").str.count_matches("$", literal=True)
    measured = rows.with_columns(size=pl.col("answer").str.len_chars(), dollars=dollars)
    most = f"{rules.max_characters:,}"
    long = measured.filter(pl.col("size") > rules.max_characters)
    actual = pl.format("{} characters", "size")
    yield from find_rows("long-answer", long, actual, f"at most {most}", max_characters=most)
    empty = measured.filter(pl.col("answer").str.strip_chars() == "")
    yield from find_rows("empty-answer", empty, pl.lit("an empty answer"), "an answer")
    odd = measured.filter(pl.col("dollars") % 2 == 1)
    yield from find_rows("odd-dollars", odd, pl.format("{} `$`", "dollars"), "an even number")
