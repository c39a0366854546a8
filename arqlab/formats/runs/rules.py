"""What a run's topics, items, tags and answers have to keep to (protocol §4). Each check gives what
it found.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from arqlab.formats.runs.ranks import repeated_items
from arqlab.formats.runs.report import Finding, RunRules, occurrences
from arqlab.ir.records import ItemKind, Severity, TaskKind

LISTED = 5  # topics that are named in a sentence
HASHES = 2**22  # a power of two, well above the items of a run
SAMPLE = "the sample of the collection that this lab has"
SOME_VISUAL_IDS = "the visual ids that are known, and some formulas of the collection have none yet"
ITEM_NAMES = {
    ItemKind.POSTS: "a post id",
    ItemKind.FORMULA_IDS: "a formula id",
    ItemKind.VISUAL_IDS: "a visual id",
    ItemKind.ANSWERS: "an answer",
}


def check_topics(rows: pl.DataFrame, rules: RunRules) -> Iterator[Finding]:
    """Find unknown topics, topics without rows, and topics whose rows do not stand together."""
    blocks = rows.select("line", "topic").filter(
        pl.col("topic").ne_missing(pl.col("topic").shift())
    )
    again = blocks.filter(pl.col("topic").is_first_distinct().not_())
    if again.height:
        yield Finding(
            "topics-apart",
            occurrences(again, found="topic", expected=pl.lit("the rows of a topic side by side")),
        )
    if not rules.topics:
        return
    known = pl.Series(rules.topics, dtype=pl.String)
    unknown = rows.filter(pl.col("topic").is_in(known.implode()).not_())
    if unknown.height:
        names = unknown["topic"].unique(maintain_order=True)
        more = f" and {names.len() - LISTED:,} more" if names.len() > LISTED else ""
        facts = {"unknown": ", ".join(f"`{name}`" for name in names.head(LISTED)) + more}
        yield Finding(
            "unknown-topic",
            occurrences(unknown, found="topic", expected=pl.lit("a topic of the task")),
            facts,
        )
    missing = known.filter(known.is_in(rows["topic"].unique().implode()).not_())
    if missing.len() and rows.height:
        places = pl.DataFrame(
            {"line": None, "topic": missing}, schema={"line": pl.Int64, "topic": pl.String}
        )
        yield Finding(
            "missing-topic",
            occurrences(places, found=pl.lit("no row"), expected=pl.lit("one or more")),
        )


def check_items(rows: pl.DataFrame, rules: RunRules, items: ItemKind) -> Iterator[Finding]:
    """Find ids that are empty, and look the others up in the collection when it is given."""
    is_empty = (pl.col("item") == "") | (pl.col("post") == "")
    empty = rows.filter(is_empty.fill_null(pl.col("item") == ""))
    if empty.height:
        yield Finding(
            "empty-item",
            occurrences(empty, found=pl.lit("an empty cell"), expected=pl.lit("an id")),
        )
    named = rows.filter(pl.col("item") != "")
    if items is ItemKind.POSTS and rules.posts is not None:
        yield from _check_posts(named, rules, rules.posts)
    elif items is ItemKind.FORMULA_IDS and rules.formulas is not None:
        yield from _check_formulas(named, rules, rules.formulas)
    elif items is ItemKind.VISUAL_IDS and rules.formulas is not None:
        yield from _check_visual_ids(named, rules, rules.formulas)


def check_duplicates(rows: pl.DataFrame, rules: RunRules) -> Iterator[Finding]:
    """Find items that stand again for their topic, at their later lines."""
    repeated = repeated_items(rows)
    if not repeated.height:
        return
    first = pl.col("line").first().over("topic", "item")
    again = repeated.with_columns(first=first).filter(pl.col("line") != pl.col("first"))
    best = "highest score" if rules.order == "score" else "best rank"
    expected = pl.format("the item once; it stands on line {} already", "first")
    yield Finding(
        "duplicate-item", occurrences(again, found="item", expected=expected), {"best": best}
    )


def check_limit(rows: pl.DataFrame, beyond: pl.DataFrame, rules: RunRules) -> Iterator[Finding]:
    """Report the rows beyond the limit of their topic, which `runranks.kept_rows` found; for Task 3
    further answers.
    """
    if not beyond.height:
        return
    sizes = rows.group_by("topic").len("size")
    places = occurrences(
        beyond.join(sizes, on="topic"),
        found=pl.format("{} items in the topic", "size"),
        expected=pl.lit(f"at most {rules.limit:,}"),
    )
    order = "score" if rules.order == "score" else "submitted rank"
    facts = {
        "limit": f"{rules.limit:,}",
        "limit_answers": "one answer" if rules.limit == 1 else f"{rules.limit:,} answers",
        "order": order,
    }
    yield Finding(
        "two-answers" if rules.kind is TaskKind.WRITTEN_ANSWERS else "over-limit", places, facts
    )


def check_tags(rows: pl.DataFrame) -> Iterator[Finding]:
    """Find rows whose run tag is empty or is not the one that most rows have."""
    tags = rows["tag"].value_counts(sort=True)
    empty = rows.filter(pl.col("tag") == "")
    if empty.height:
        yield Finding(
            "empty-tag",
            occurrences(empty, found=pl.lit("an empty cell"), expected=pl.lit("a run tag")),
        )
    named = tags.filter(pl.col("tag") != "")
    if named.height > 1:
        tag = named["tag"][0]
        others = rows.filter((pl.col("tag") != tag) & (pl.col("tag") != ""))
        yield Finding(
            "several-tags", occurrences(others, found="tag", expected=pl.lit(tag)), {"tag": tag}
        )


def check_answers(rows: pl.DataFrame, rules: RunRules) -> Iterator[Finding]:
    """Find answers that are too long (in Unicode characters), empty, or have an odd number of
    dollar signs.
    """
    size = pl.col("answer").str.len_chars()
    dollars = pl.col("answer").str.replace_all(r"\\.", "").str.count_matches("$", literal=True)
    measured = rows.with_columns(size=size, dollars=dollars)
    long = measured.filter(pl.col("size") > rules.max_characters)
    empty = measured.filter(pl.col("answer").str.strip_chars() == "")
    odd = measured.filter(pl.col("dollars") % 2 == 1)
    at_most = pl.lit(f"at most {rules.max_characters:,}")
    most = {"max_characters": f"{rules.max_characters:,}"}
    if long.height:
        yield Finding(
            "long-answer",
            occurrences(long, found=pl.format("{} characters", "size"), expected=at_most),
            most,
        )
    if empty.height:
        yield Finding(
            "empty-answer",
            occurrences(empty, found=pl.lit("an empty answer"), expected=pl.lit("an answer")),
        )
    if odd.height:
        yield Finding(
            "odd-dollars",
            occurrences(
                odd, found=pl.format("{} `$`", "dollars"), expected=pl.lit("an even number")
            ),
        )


def _check_posts(
    rows: pl.DataFrame, rules: RunRules, posts: pl.DataFrame | pl.LazyFrame
) -> Iterator[Finding]:
    """Find posts that are not in the collection, and questions where answers are due."""
    known = _looked_up(posts.select(item="post_id", type="type"), rows)
    found = rows.select("line", "topic", "item").join(known, on="item", how="left")
    yield from _unknown_items(found.filter(pl.col("type").is_null()), rules, ItemKind.POSTS)
    if rules.kind is TaskKind.ANSWERS:
        questions = found.filter(pl.col("type") != "answer")
        yield from _mismatch(
            "wrong-type", questions, pl.format("{}, a {}", "item", "type"), pl.lit("an answer")
        )


def _check_formulas(
    rows: pl.DataFrame, rules: RunRules, formulas: pl.DataFrame | pl.LazyFrame
) -> Iterator[Finding]:
    """Find formulas that are not in the collection, and formulas that stand in another post than
    the row says.
    """
    known = _looked_up(formulas.select(item="formula_id", home="post_id"), rows)
    found = rows.select("line", "topic", "item", "post").join(known, on="item", how="left")
    yield from _unknown_items(found.filter(pl.col("home").is_null()), rules, ItemKind.FORMULA_IDS)
    elsewhere = found.filter((pl.col("post") != pl.col("home")) & (pl.col("post") != ""))
    shown = pl.format("formula {} in post {}", "item", "post")
    yield from _mismatch("wrong-post", elsewhere, shown, pl.format("post {}", "home"))


def _check_visual_ids(
    rows: pl.DataFrame, rules: RunRules, formulas: pl.DataFrame | pl.LazyFrame
) -> Iterator[Finding]:
    """Find visual ids that no formula of the collection has; some formulas may have none yet, which
    tells nothing.
    """
    known = _looked_up(formulas.select(item="visual_id"), rows)
    unknown = rows.join(known, on="item", how="anti")
    if unknown.height:
        some_lack = formulas.lazy().select(pl.col("visual_id").is_null().any()).collect().item()
        yield from _unknown_items(unknown, rules, ItemKind.VISUAL_IDS, sure=not some_lack)


def _looked_up(entries: pl.DataFrame | pl.LazyFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the entries of the collection that the run may name: all those that it names, and a few
    more.
    """
    if isinstance(entries, pl.LazyFrame):
        return entries.join(
            rows.lazy().select(pl.col("item").unique()), on="item", how="semi"
        ).collect()
    # A join would hash a million ids into a table; looking at the last bits of their hashes takes a
    # fifth of that.
    is_named = np.zeros(HASHES, dtype=np.bool_)
    is_named[rows["item"].hash().to_numpy() & (HASHES - 1)] = True
    return entries.filter(is_named[entries["item"].hash().to_numpy() & (HASHES - 1)])


def _unknown_items(
    unknown: pl.DataFrame, rules: RunRules, items: ItemKind, *, sure: bool = True
) -> Iterator[Finding]:
    if unknown.height:
        places = occurrences(
            unknown, found="item", expected=pl.lit(f"{ITEM_NAMES[items]} of the collection")
        )
        severity = Severity.ERROR if rules.complete and sure else Severity.NOTE
        part = SAMPLE if not rules.complete else SOME_VISUAL_IDS
        yield Finding("unknown-item", places, {"item": ITEM_NAMES[items], "part": part}, severity)


def _mismatch(
    kind: str, rows: pl.DataFrame, found: pl.Expr, expected: pl.Expr
) -> Iterator[Finding]:
    """Report what contradicts the collection. It is an error in a sample too: what a sample holds
    is certain.
    """
    if rows.height:
        yield Finding(kind, occurrences(rows, found=found, expected=expected))
