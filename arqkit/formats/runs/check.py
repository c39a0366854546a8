"""Check a run file by all rules of its task (protocol §4), and index it."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl
from polars import selectors as cs

from arqkit.formats.runs.formats import RunTable, read_rows, taken_formats, wanted_formats
from arqkit.formats.runs.lines import RunText, decode_run, line_end_findings
from arqkit.formats.runs.ranks import (
    check_lists,
    check_ranks,
    check_runs,
    check_scores,
    check_ties,
    has_mixed_tags,
)
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
from arqkit.formats.runs.score_order import check_score_order
from arqkit.ranking import AS_TREC_EVAL_READS_IT, Frame, with_order
from arqkit.records import ITEM_WORDS, ItemKind, Severity, TaskKind
from arqkit.topics import meant_topics, plain_id, visible

HASHES = 2**22  # a power of two, well above the number of items of a run
HINTED = 100  # ids whose spelling is looked at
OMITTED = 0.1
"""The largest part of the rows that a repair omits: more is a fault of the system, not a slip."""
SAMPLE = "the items of this lab's sample of the collection"
SOME_VISUAL_IDS = "the known visual ids (some formulas of the collection have none yet)"

COMPARED = "known to this task from its qrels, pools or other runs"

_SCORES_NOTHING = "A topic without rows scores 0 in every mean."
_UNANSWERED = "Means are over the topics that the run answers."
INDEX_COLUMNS = ("topic", "item", "post", "rank", "score", "order", "answer", "sources")


def check_repeats(rows: pl.DataFrame, rules: RunRules) -> Iterator[Finding]:
    """Find the lines that repeat an item of their topic, and those beyond the topic's limit.

    The repair drops these lines, unless it is unclear which line of an item to keep.
    """
    can_drop = True
    if "answer" in rows.columns:
        key = pl.col("rank") if rules.order == "rank" else AS_TREC_EVAL_READS_IT
        can_drop &= not rows.select(pl.struct("topic", key).is_duplicated().any()).item()
    elif (repeated := repeated_items(rows)).height:
        first_rows = kept_rows(repeated, replace(rules, limit=repeated.height))[0]
        again = repeated.join(
            first_rows.select("topic", "item", kept="line", top="score", first="rank"),
            on=["topic", "item"],
        ).filter(pl.col("line") != pl.col("kept"))
        is_no_better = (pl.col("score") <= pl.col("top")) & (pl.col("rank") >= pl.col("first"))
        can_drop &= again.select(is_no_better.fill_null(value=False).all()).item()
        expected = pl.format("the item once; it is already on line {}", "kept")
        for finding in find_rows("duplicate-item", again, "item", expected):
            yield finding._replace(repairable=can_drop)
    for finding in _check_limit(rows, rules):
        yield finding._replace(repairable=can_drop)


def _check_limit(rows: pl.DataFrame, rules: RunRules) -> Iterator[Finding]:
    if fits_limit(rows, rules):
        return
    beyond = kept_rows(rows, rules)[1].join(rows.group_by("topic").len("size"), on="topic")
    yield from find_rows(
        "two-answers" if rules.kind is TaskKind.GENERATED_ANSWERS else "over-limit",
        beyond,
        pl.format("{} items in the topic", "size"),
        f"at most {rules.limit:,}",
        limit=f"{rules.limit:,}",
        limit_answers="one answer" if rules.limit == 1 else f"{rules.limit:,} answers",
        order="score" if rules.order == "score" else "submitted rank",
    )


def fits_limit(rows: pl.DataFrame, rules: RunRules) -> bool:
    """Return whether no topic has more rows than the limit."""
    return bool((rows["topic"].value_counts()["count"] <= rules.limit).all())


def repeated_items(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows whose item appears more than once in its topic."""
    # Comparing hashes first takes half the time and a tenth of the memory of comparing all pairs.
    pairs = rows["topic"].hash(seed=1) ^ rows["item"].hash()
    if pairs.n_unique() == rows.height:
        return rows.clear()
    alike = rows.filter(pairs.is_duplicated())
    return alike.filter(pl.struct("topic", "item").is_duplicated())


def kept_rows(rows: pl.DataFrame, rules: RunRules) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows that a repair keeps, and those beyond the limit of their topic.

    Of an item that appears several times, the row with the highest score is kept (with the best
    rank where ranks count), then the first line. The limit cuts in the same order.
    """
    by_line = ["rank", "line"] if rules.order == "rank" else ["score", "rank", "line"]
    is_answers = "answer" in rows.columns
    if fits_limit(rows, rules) and (is_answers or not repeated_items(rows).height):
        return rows, rows.clear()
    descending = [name == "score" for name in by_line]
    best = rows.sort(by_line, descending=descending, nulls_last=True)
    if not is_answers:
        best = best.unique(["topic", "item"], keep="first", maintain_order=True)
    ordered = with_order(best, by=rules.order)
    is_within = pl.col("order") <= rules.limit
    return ordered.filter(is_within).drop("order").sort("line"), ordered.filter(~is_within).sort(
        "line"
    )


def looked_up(entries: Frame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the entries of the collection that the run names, and possibly a few more."""
    if isinstance(entries, pl.LazyFrame):
        return entries.join(
            rows.lazy().select(pl.col("item").unique()), on="item", how="semi"
        ).collect()
    # A join would build a table of a million hashes. Comparing their last bits takes a fifth of it.
    is_named = np.zeros(HASHES, dtype=np.bool_)
    is_named[rows["item"].hash().to_numpy() & (HASHES - 1)] = True
    return entries.filter(is_named[entries["item"].hash().to_numpy() & (HASHES - 1)])


def with_homes(rows: pl.DataFrame, formulas: Frame) -> pl.DataFrame:
    """Return the rows with `home`, the post of their formula, which is null for unknown ones."""
    homes = looked_up(formulas.select(item="formula_id", home="post_id"), rows)
    columns = ("line", "topic", "item", "post", "rank_text")
    return rows.select(columns).join(homes, on="item", how="left")


def wrong_posts(with_home: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
    """Return the rows whose formula is in another post, and whether a repair may omit them."""
    wrong = with_home.filter((pl.col("post") != pl.col("home")) & (pl.col("post") != ""))
    return wrong, wrong.height <= OMITTED * with_home.height


def check_items(rows: pl.DataFrame, rules: RunRules, items: ItemKind) -> Iterator[Finding]:
    """Find empty ids, and look the others up in the collection if the rules have one."""
    is_empty = (pl.col("item") == "") | (pl.col("post") == "")
    empty = rows.filter(is_empty.fill_null(pl.col("item") == ""))
    yield from find_rows("empty-item", empty, pl.lit("an empty cell"), "an id")
    named = rows.filter(pl.col("item") != "")
    posts, formulas = rules.posts, rules.formulas
    if (
        items is ItemKind.DOCUMENTS
        and posts is not None
        and _documents(posts).lazy().limit(1).collect().height
    ):
        yield from _check_documents(named, rules, posts)
    elif items is ItemKind.POSTS and posts is not None:
        entries = looked_up(posts.select(item="post_id", type="type"), named)
        columns = ("line", "topic", "item", "rank_text")
        joined = named.select(columns).join(entries, on="item", how="left")
        ids = posts.select(item="post_id")
        yield from _unknown_items(joined, joined["type"].is_null(), rules, ItemKind.POSTS, ids=ids)
        if rules.kind is TaskKind.ANSWERS:
            # An error in a sample too, because what a sample has is certain.
            questions = joined.filter(pl.col("type") != "answer")
            actual = pl.format("{}, a {}", "item", "type")
            yield from find_rows("wrong-type", questions, actual, "an answer")
    elif items is ItemKind.FORMULA_IDS and formulas is not None:
        yield from _check_formulas(named, rules, formulas)
    elif items is ItemKind.VISUAL_IDS and formulas is not None:
        yield from _check_visual_ids(named, rules, formulas)
    elif rules.knows and rules.knows(items, named["item"].unique(maintain_order=True)) is False:
        yield no_known_item(named, items)


def _documents(posts: Frame) -> Frame:
    return posts.filter(pl.col("type") == "document").select(item="post_id")


def _check_documents(rows: pl.DataFrame, rules: RunRules, posts: Frame) -> Iterator[Finding]:
    ids = _documents(posts)
    is_unknown = ~rows["item"].is_in(looked_up(ids, rows)["item"].implode())
    yield from _unknown_items(rows, is_unknown, rules, ItemKind.DOCUMENTS, ids=ids)


def _check_formulas(rows: pl.DataFrame, rules: RunRules, formulas: Frame) -> Iterator[Finding]:
    joined = with_homes(rows, formulas)
    is_unknown, ids = joined["home"].is_null(), formulas.select(item="formula_id")
    yield from _unknown_items(joined, is_unknown, rules, ItemKind.FORMULA_IDS, ids=ids)
    wrong, can_omit = wrong_posts(joined)
    left_out = [f"{item} (line {line:,})" for item, line in wrong["item", "line"].rows()]
    actual = pl.format("formula {} in post {}", "item", "post")
    home = pl.format("post {}", "home")
    for finding in find_rows("wrong-post", wrong, actual, home, left_out=named_list(left_out)):
        yield finding._replace(repairable=can_omit)


def _check_visual_ids(rows: pl.DataFrame, rules: RunRules, formulas: Frame) -> Iterator[Finding]:
    """Find visual ids that no formula has: not certain while some formulas have no visual id."""
    entries = looked_up(formulas.select(item="visual_id"), rows)
    is_unknown = ~rows["item"].is_in(entries["item"].drop_nulls().implode())
    if is_unknown.any():
        some_lack = formulas.lazy().select(pl.col("visual_id").is_null().any()).collect().item()
        ids = formulas.select(item="visual_id")
        yield from _unknown_items(
            rows, is_unknown, rules, ItemKind.VISUAL_IDS, ids=ids, sure=not some_lack
        )


def _unknown_items(
    rows: pl.DataFrame,
    is_unknown: pl.Series,
    rules: RunRules,
    items: ItemKind,
    *,
    ids: Frame,
    sure: bool = True,
) -> Iterator[Finding]:
    """Find the rows with an unknown item: an error if it has another spelling in `ids`.

    Otherwise it is an error too, or a note where the collection may be incomplete. If all items are
    unknown there, a warning follows.
    """
    every = rows.filter(is_unknown)
    meant = _meant_items(every, ids)
    is_meant = pl.col("item").is_in(list(meant))
    unknown = every.filter(~is_meant) if meant else every
    spelled = named_list([f"`{name}` for `{item}`" for name, item in meant.items()])
    item = pl.col("item").replace_strict(meant, default=None, return_dtype=pl.String)
    misspelled = every.filter(is_meant)
    yield from find_rows("item-spelling", misspelled, "item", item, spelled=spelled)
    word = ITEM_WORDS[items].an_id
    part = SAMPLE if not rules.complete else SOME_VISUAL_IDS
    severity = Severity.ERROR if rules.complete and sure else Severity.NOTE
    expected = f"{word} of the collection"
    for finding in find_rows("unknown-item", unknown, "item", expected, item=word, part=part):
        yield finding._replace(severity=severity)
    if rows.height and unknown.height == rows.height and severity is Severity.NOTE:
        yield no_known_item(rows, items, "known to the collection")


def _meant_items(unknown: pl.DataFrame, ids: Frame) -> dict[str, str]:
    plain = {name: plain_id(name) for name in unknown["item"].unique(maintain_order=True)}
    other = {name: item for name, item in plain.items() if item not in ("", name)}
    if not other:
        return {}
    candidates = pl.DataFrame({"item": list(other.values())})
    item_ids = set(looked_up(ids, candidates)["item"].drop_nulls())
    return {name: item for name, item in other.items() if item in item_ids}


def no_known_item(rows: pl.DataFrame, items: ItemKind, place: str = COMPARED) -> Finding:
    """Return the finding of a run whose items are all unknown. `rows` has item and rank_text."""
    item = ITEM_WORDS[items].an_id
    ids = rows["item"].unique(maintain_order=True).head(HINTED).to_list()
    plain = [(name, plain_id(name)) for name in ids if plain_id(name) != name]
    hint = f"The first ids are {named_list([f'`{name}`' for name in ids])}."
    if (rows["item"] == rows["rank_text"]).sum() * 2 > rows.height:
        hint = "The ids are the same numbers as the ranks."
    elif len(plain) * 2 > len(ids):
        hint = f"Is `{visible(plain[0][0])}` meant to be `{plain[0][1]}`?"
    occurrence = listed([(None, None, "no known item", f"{item} in most rows")])
    return Finding("no-known-item", occurrence, {"item": item, "place": place, "hint": hint})


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
    return (
        replace(report, index=ordered.select(cs.by_name(*INDEX_COLUMNS, require_all=False)))
        if report.is_valid
        else report
    )


def _file_findings(text: RunText, table: RunTable, rules: RunRules) -> Iterator[Finding]:
    yield from text.findings
    yield from table.findings
    if text.is_text and not table.rows.height and not table.lost.len():
        yield Finding("empty-file", listed([(None, None, "no row", "one row or more")]))
    if _is_other_format(table, rules):
        place = (None, None, str(table.layout), wanted_formats(rules))
        yield Finding("wrong-format", listed([place]), {"format": place[2], "wanted": place[3]})


def _is_other_format(table: RunTable, rules: RunRules) -> bool:
    return bool(table.layout.kinds) and table.layout not in taken_formats(rules)


def row_findings(table: RunTable, rules: RunRules, kind: ItemKind) -> Iterator[Finding]:
    """Run every check of rows. Items in another task's format are not looked up."""
    rows, rules = table.rows, table.rules(rules)
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
    order = check_score_order(rows, rules)
    yield from order.findings
    for finding in (*check_repeats(rows, rules), *check_ranks(rows, table.lost, rules)):
        if finding.kind == "rank-against-score" and order.explained:
            rest = finding.occurrences.filter(~pl.col("topic").is_in(order.explained))
            finding = finding._replace(occurrences=rest)
        if finding.occurrences.height:
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
    topics = pl.Series(rules.topics, dtype=pl.String)
    others = rows.filter(pl.col("topic").is_in(topics.implode()).not_())
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
    missing = topics.filter(~topics.is_in(list(named)))
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
