"""Check a run file by all rules of its task (protocol §4), and index it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

import polars as pl
from polars import selectors as cs

from arqlab.formats.runs.formats import RunTable, read_rows
from arqlab.formats.runs.items import looked_up, with_homes, wrong_posts
from arqlab.formats.runs.layouts import taken_formats, wanted_formats
from arqlab.formats.runs.lines import RunText, decode_run, line_end_findings
from arqlab.formats.runs.ranks import (
    check_duplicates,
    check_limit,
    check_ranks,
    check_scores,
    check_ties,
)
from arqlab.formats.runs.report import (
    Finding,
    RunReport,
    RunRules,
    describe,
    find_rows,
    listed,
    sort_problems,
)
from arqlab.ir.ranking import with_order
from arqlab.ir.records import ItemKind, Severity, TaskKind
from arqlab.ir.words import ITEM_WORDS

INDEX_COLUMNS = ("topic", "item", "post", "rank", "score", "order", "answer", "sources")
LISTED = 5  # topics named in a message
SAMPLE = "the items of this lab's sample of the collection"
SOME_VISUAL_IDS = "the known visual ids (some formulas of the collection have none yet)"


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
    findings += _row_findings(table, rules, kind)
    size, topics = table.rows.height, table.rows["topic"].n_unique()
    tags = tuple(table.rows["tag"].unique(maintain_order=True).to_list())
    layout, format_name = table.layout.format, table.format_name
    rows = table.rows.select(cs.exclude("tag", "rank_text"))
    del table  # half the memory of the largest run, and sorting needs it
    ordered = with_order(rows, by=rules.order)
    del rows
    findings += check_ties(ordered, rules)
    problems = sort_problems(describe(finding, can_repair=text.can_repair) for finding in findings)
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
    """Yield the findings of reading the file; find no rows, and a format of other tasks."""
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


def _row_findings(table: RunTable, rules: RunRules, kind: ItemKind) -> Iterator[Finding]:
    """Run every check of rows.

    Items in another task's format are not looked up, because all of them would be unknown.
    """
    rows = table.rows
    if not rows.height:
        return
    yield from check_topics(rows, rules)
    if not _is_other_format(table, rules):
        yield from check_items(rows, rules, kind)
    is_answers = "answer" in rows.columns
    yield from check_answers(rows, rules) if is_answers else check_duplicates(rows, rules)
    yield from check_limit(rows, rules)
    yield from check_ranks(rows, table.lost, rules)
    yield from check_scores(rows)
    yield from check_tags(rows)


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
    yield from find_rows("unknown-topic", unknown, "topic", expected, unknown=_first(names))
    spelled = [f"`{name}` for `{topic}`" for name, topic in meant.items()]
    topic = pl.col("topic").replace_strict(meant, default=None, return_dtype=pl.String)
    misspelled = others.filter(is_meant)
    yield from find_rows("topic-spelling", misspelled, "topic", topic, spelled=_first(spelled))
    named = {*rows["topic"].unique(), *meant.values()}
    missing = known.filter(~known.is_in(list(named)))
    places = pl.DataFrame(
        {"line": None, "topic": missing}, schema={"line": pl.Int64, "topic": pl.String}
    )
    yield from find_rows("missing-topic", places, pl.lit("no row"), "one or more")


def meant_topics(names: Iterable[str], topics: Iterable[str]) -> dict[str, str]:
    """Return the topic that each name means, by the names that mean one.

    A name means the only topic that differs from it in case, punctuation and leading zeros. A
    number alone means the only topic with this number.
    """
    by_key: dict[str, set[str]] = {}
    for topic in topics:
        for key in {_topic_key(topic), _topic_key(re.sub(r"\D", "", topic))} - {""}:
            by_key.setdefault(key, set()).add(topic)
    found = {name: by_key.get(_topic_key(name), set()) for name in names}
    return {name: min(alike) for name, alike in found.items() if len(alike) == 1}


def _topic_key(name: str) -> str:
    return re.sub(r"[\W_]|(?<!\d)0+(?=\d)", "", name).casefold()


def _first(parts: list[str]) -> str:
    more = f" and {len(parts) - LISTED:,} more" if len(parts) > LISTED else ""
    return ", ".join(parts[:LISTED]) + more


def check_items(rows: pl.DataFrame, rules: RunRules, items: ItemKind) -> Iterator[Finding]:
    """Find empty ids, and look the others up in the collection if the rules have one."""
    is_empty = (pl.col("item") == "") | (pl.col("post") == "")
    empty = rows.filter(is_empty.fill_null(pl.col("item") == ""))
    yield from find_rows("empty-item", empty, pl.lit("an empty cell"), "an id")
    named = rows.filter(pl.col("item") != "")
    if items is ItemKind.DOCUMENTS and rules.posts is not None:
        yield from _check_documents(named, rules, rules.posts)
    elif items is ItemKind.POSTS and rules.posts is not None:
        yield from _check_posts(named, rules, rules.posts)
    elif items is ItemKind.FORMULA_IDS and rules.formulas is not None:
        yield from _check_formulas(named, rules, rules.formulas)
    elif items is ItemKind.VISUAL_IDS and rules.formulas is not None:
        yield from _check_visual_ids(named, rules, rules.formulas)


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
    found = pl.format("{} characters", "size")
    yield from find_rows("long-answer", long, found, f"at most {most}", max_characters=most)
    empty = measured.filter(pl.col("answer").str.strip_chars() == "")
    yield from find_rows("empty-answer", empty, pl.lit("an empty answer"), "an answer")
    odd = measured.filter(pl.col("dollars") % 2 == 1)
    yield from find_rows("odd-dollars", odd, pl.format("{} `$`", "dollars"), "an even number")


def _check_posts(
    rows: pl.DataFrame, rules: RunRules, posts: pl.DataFrame | pl.LazyFrame
) -> Iterator[Finding]:
    """Find posts that are not in the collection, and questions where the task asks for answers."""
    known = looked_up(posts.select(item="post_id", type="type"), rows)
    found = rows.select("line", "topic", "item").join(known, on="item", how="left")
    yield from _unknown_items(found, found["type"].is_null(), rules, ItemKind.POSTS)
    if rules.kind is TaskKind.ANSWERS:
        # An error in a sample too, because what a sample has is certain.
        questions = found.filter(pl.col("type") != "answer")
        shown = pl.format("{}, a {}", "item", "type")
        yield from find_rows("wrong-type", questions, shown, "an answer")


def _check_documents(
    rows: pl.DataFrame, rules: RunRules, posts: pl.DataFrame | pl.LazyFrame
) -> Iterator[Finding]:
    """Find documents that are not in the collection, if it has any documents."""
    documents = posts.filter(pl.col("type") == "document").select(item="post_id")
    if documents.lazy().limit(1).collect().is_empty():
        return
    known = looked_up(documents, rows)
    is_unknown = ~rows["item"].is_in(known["item"].implode())
    yield from _unknown_items(rows, is_unknown, rules, ItemKind.DOCUMENTS)


def _check_formulas(
    rows: pl.DataFrame, rules: RunRules, formulas: pl.DataFrame | pl.LazyFrame
) -> Iterator[Finding]:
    """Find formulas that are not in the collection, or not in the post that their row names."""
    found = with_homes(rows, formulas)
    yield from _unknown_items(found, found["home"].is_null(), rules, ItemKind.FORMULA_IDS)
    wrong, can_omit = wrong_posts(found)
    first = [f"{item} (line {line:,})" for item, line in wrong.head(LISTED)["item", "line"].rows()]
    more = f" and {wrong.height - LISTED:,} more" if wrong.height > LISTED else ""
    shown = pl.format("formula {} in post {}", "item", "post")
    home = pl.format("post {}", "home")
    for finding in find_rows("wrong-post", wrong, shown, home, left_out=", ".join(first) + more):
        yield finding._replace(repairable=can_omit)


def _check_visual_ids(
    rows: pl.DataFrame, rules: RunRules, formulas: pl.DataFrame | pl.LazyFrame
) -> Iterator[Finding]:
    """Find visual ids that no formula has: not certain while some formulas have no visual id."""
    known = looked_up(formulas.select(item="visual_id"), rows)
    is_unknown = ~rows["item"].is_in(known["item"].drop_nulls().implode())
    if is_unknown.any():
        some_lack = formulas.lazy().select(pl.col("visual_id").is_null().any()).collect().item()
        yield from _unknown_items(rows, is_unknown, rules, ItemKind.VISUAL_IDS, sure=not some_lack)


def _unknown_items(
    rows: pl.DataFrame,
    is_unknown: pl.Series,
    rules: RunRules,
    items: ItemKind,
    *,
    sure: bool = True,
) -> Iterator[Finding]:
    """Find the rows with an unknown item: a note if it is uncertain, a warning if all are."""
    unknown = rows.filter(is_unknown)
    item = ITEM_WORDS[items].an_id
    part = SAMPLE if not rules.complete else SOME_VISUAL_IDS
    severity = Severity.ERROR if rules.complete and sure else Severity.NOTE
    expected = f"{item} of the collection"
    for finding in find_rows("unknown-item", unknown, "item", expected, item=item, part=part):
        yield finding._replace(severity=severity)
    if rows.height and unknown.height == rows.height and severity is Severity.NOTE:
        place = (None, None, "no known item", f"{item} of the collection in most rows")
        yield Finding("no-known-item", listed([place]), {"item": item})
