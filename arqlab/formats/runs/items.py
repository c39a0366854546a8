"""Check the items of a run: empty ids, and what the collection knows of the others."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from arqlab.formats.runs.report import Finding, RunRules, find_rows, listed, named_list
from arqlab.ir.records import ItemKind, Severity, TaskKind
from arqlab.ir.words import ITEM_WORDS

HASHES = 2**22  # a power of two, well above the number of items of a run
OMITTED = 0.1
"""The largest part of the rows that a repair omits: more is a fault of the system, not a slip."""
SAMPLE = "the items of this lab's sample of the collection"
SOME_VISUAL_IDS = "the known visual ids (some formulas of the collection have none yet)"


def looked_up(entries: pl.DataFrame | pl.LazyFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the entries of the collection that the run names, and possibly a few more."""
    if isinstance(entries, pl.LazyFrame):
        return entries.join(
            rows.lazy().select(pl.col("item").unique()), on="item", how="semi"
        ).collect()
    # A join would build a table of a million hashes. Comparing their last bits takes a fifth of it.
    is_named = np.zeros(HASHES, dtype=np.bool_)
    is_named[rows["item"].hash().to_numpy() & (HASHES - 1)] = True
    return entries.filter(is_named[entries["item"].hash().to_numpy() & (HASHES - 1)])


def with_homes(rows: pl.DataFrame, formulas: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Return the rows with `home`, the post of their formula, which is null for unknown ones."""
    known = looked_up(formulas.select(item="formula_id", home="post_id"), rows)
    return rows.select("line", "topic", "item", "post").join(known, on="item", how="left")


def wrong_posts(found: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
    """Return the rows whose formula is in another post, and whether a repair may omit them."""
    wrong = found.filter((pl.col("post") != pl.col("home")) & (pl.col("post") != ""))
    return wrong, wrong.height <= OMITTED * found.height


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
    left_out = [f"{item} (line {line:,})" for item, line in wrong["item", "line"].rows()]
    shown = pl.format("formula {} in post {}", "item", "post")
    home = pl.format("post {}", "home")
    for finding in find_rows("wrong-post", wrong, shown, home, left_out=named_list(left_out)):
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
