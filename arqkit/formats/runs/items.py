"""Check the items of a run: empty ids, and what the collection knows of the others."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from arqkit.formats.runs.report import Finding, RunRules, find_rows, listed, named_list
from arqkit.ids import plain_id, visible
from arqkit.records import ItemKind, Severity, TaskKind
from arqkit.words import ITEM_WORDS

HASHES = 2**22  # a power of two, well above the number of items of a run
HINTED = 100  # ids whose spelling is looked at
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
    columns = ("line", "topic", "item", "post", "rank_text")
    return rows.select(columns).join(known, on="item", how="left")


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
    if items is ItemKind.DOCUMENTS and posts is not None and _has_documents(posts):
        yield from _check_documents(named, rules, posts)
    elif items is ItemKind.POSTS and posts is not None:
        yield from _check_posts(named, rules, posts)
    elif items is ItemKind.FORMULA_IDS and formulas is not None:
        yield from _check_formulas(named, rules, formulas)
    elif items is ItemKind.VISUAL_IDS and formulas is not None:
        yield from _check_visual_ids(named, rules, formulas)
    elif rules.knows and rules.knows(items, named["item"].unique(maintain_order=True)) is False:
        yield _no_known_item(named, items, "known to this task from its qrels, pools or other runs")


def _check_posts(
    rows: pl.DataFrame, rules: RunRules, posts: pl.DataFrame | pl.LazyFrame
) -> Iterator[Finding]:
    """Find posts that are not in the collection, and questions where the task asks for answers."""
    known = looked_up(posts.select(item="post_id", type="type"), rows)
    joined = rows.select("line", "topic", "item", "rank_text").join(known, on="item", how="left")
    ids = posts.select(item="post_id")
    yield from _unknown_items(joined, joined["type"].is_null(), rules, ItemKind.POSTS, ids=ids)
    if rules.kind is TaskKind.ANSWERS:
        # An error in a sample too, because what a sample has is certain.
        questions = joined.filter(pl.col("type") != "answer")
        actual = pl.format("{}, a {}", "item", "type")
        yield from find_rows("wrong-type", questions, actual, "an answer")


def _has_documents(posts: pl.DataFrame | pl.LazyFrame) -> bool:
    return not _documents(posts).lazy().limit(1).collect().is_empty()


def _documents(posts: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame | pl.LazyFrame:
    return posts.filter(pl.col("type") == "document").select(item="post_id")


def _check_documents(
    rows: pl.DataFrame, rules: RunRules, posts: pl.DataFrame | pl.LazyFrame
) -> Iterator[Finding]:
    """Find documents that are not in the collection."""
    ids = _documents(posts)
    is_unknown = ~rows["item"].is_in(looked_up(ids, rows)["item"].implode())
    yield from _unknown_items(rows, is_unknown, rules, ItemKind.DOCUMENTS, ids=ids)


def _check_formulas(
    rows: pl.DataFrame, rules: RunRules, formulas: pl.DataFrame | pl.LazyFrame
) -> Iterator[Finding]:
    """Find formulas that are not in the collection, or not in the post that their row names."""
    joined = with_homes(rows, formulas)
    is_unknown, ids = joined["home"].is_null(), formulas.select(item="formula_id")
    yield from _unknown_items(joined, is_unknown, rules, ItemKind.FORMULA_IDS, ids=ids)
    wrong, can_omit = wrong_posts(joined)
    left_out = [f"{item} (line {line:,})" for item, line in wrong["item", "line"].rows()]
    actual = pl.format("formula {} in post {}", "item", "post")
    home = pl.format("post {}", "home")
    for finding in find_rows("wrong-post", wrong, actual, home, left_out=named_list(left_out)):
        yield finding._replace(repairable=can_omit)


def _check_visual_ids(
    rows: pl.DataFrame, rules: RunRules, formulas: pl.DataFrame | pl.LazyFrame
) -> Iterator[Finding]:
    """Find visual ids that no formula has: not certain while some formulas have no visual id."""
    known = looked_up(formulas.select(item="visual_id"), rows)
    is_unknown = ~rows["item"].is_in(known["item"].drop_nulls().implode())
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
    ids: pl.DataFrame | pl.LazyFrame,
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
        yield _no_known_item(rows, items, "known to the collection")


def _meant_items(unknown: pl.DataFrame, ids: pl.DataFrame | pl.LazyFrame) -> dict[str, str]:
    """Return the id of the collection that an unknown one spells in another way."""
    plain = {name: plain_id(name) for name in unknown["item"].unique(maintain_order=True)}
    other = {name: item for name, item in plain.items() if item not in ("", name)}
    if not other:
        return {}
    wanted = pl.DataFrame({"item": list(other.values())})
    known = set(looked_up(ids, wanted)["item"].drop_nulls())
    return {name: item for name, item in other.items() if item in known}


def _no_known_item(rows: pl.DataFrame, items: ItemKind, place: str) -> Finding:
    """Return the finding of a run without any known item, with a hint based on its ids."""
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
