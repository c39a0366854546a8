"""The radar: contradictions and very fast series among the judgments of assessors, and drift.

The functions read a frame of current labels that are judgments, in the order in which they were
given, with the columns of `RADAR_SCHEMA`. `item` is what an assessor sees at once, `instance` gets
one label.
"""

import polars as pl

from arqkit.judgments.drift import drifts
from arqkit.judgments.findings import FindingKind, RadarFinding

READING_MS = 2_000
"""Nobody reads an item faster: it is time for eight words (Brysbaert 2019, J. Mem. Lang. 109)."""

HURRY = 0.25
"""The part of their own median time below which an item is very fast for an assessor."""

SERIES = 10
"""The number of very fast items in a row that make a series."""

ENOUGH_TIMED = 20
"""The number of timed items from which an assessor's median time is known."""


def find_all(judged: pl.DataFrame, *, relevant_from: int) -> list[RadarFinding]:
    """Return all findings in the official judgments of a task, contradictions first."""
    items = judged_items(judged.filter(~pl.col("is_imported")))
    return [
        *contradictions(judged, by="visual_id", kind=FindingKind.VISUAL_ID),
        *contradictions(judged, by="text", kind=FindingKind.DUPLICATES),
        *fast_series(items),
        *drifts(items, relevant_from=relevant_from),
    ]


def repeated_judgments(judged: pl.DataFrame, *, by: str) -> pl.DataFrame:
    """Return what assessors judged several times in a topic, with the lists of its labels.

    What has the same value in the column `by` is the same; null is never the same. The result has
    the columns assessor, topic, `by`, instances, labels, and `same_post`: whether a single post has
    different labels. Where `by` is the id in the qrels, and a frame has both the official judgments
    and those of copies that were served again, the rows compare an assessor with themselves.
    """
    known = judged.drop_nulls(by)
    keys = ["assessor", "topic", by]
    split = (
        known.drop_nulls("post")
        .group_by(*keys, "post")
        .agg(several=pl.col("label").n_unique() > 1)
        .group_by(keys)
        .agg(same_post=pl.col("several").any())
    )
    found = known.group_by(keys, maintain_order=True).agg(instances="instance", labels="label")
    several = found.filter(pl.col("labels").list.len() > 1)
    joined = several.join(split, on=keys, how="left", maintain_order="left")
    return joined.with_columns(pl.col("same_post").fill_null(value=False))


def contradictions(judged: pl.DataFrame, *, by: str, kind: FindingKind) -> list[RadarFinding]:
    """Return where an assessor labelled the same thing differently in a topic, worst first.

    Different labels in one post come first, then large differences. Instances of a formula in
    different posts may rightly have different labels where assessors consider the post (protocol
    §6). They are findings all the same: of 55 formulas of ARQMath-2 and -3 with several judged
    instances whose posts we have, none has two labels.
    """
    found = repeated_judgments(judged, by=by)
    spread = pl.col("labels").list.max() - pl.col("labels").list.min()
    differing = found.with_columns(spread=spread).filter(pl.col("spread") > 0)
    ordered = differing.sort("same_post", "spread", descending=True, maintain_order=True)
    return [
        RadarFinding(
            kind,
            row["assessor"],
            row["topic"],
            tuple(row["instances"]),
            (row[by], *sorted(zip(row["instances"], row["labels"], strict=True))),
            {"what": row[by], "labels": row["labels"], "same_post": row["same_post"]},
        )
        for row in ordered.iter_rows(named=True)
    ]


def judged_items(judged: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each item of an assessor, in the order in which it was completed.

    The label is the highest of its instances, `active_ms` the time of all, null if not measured.
    """
    return (
        judged.with_row_index("order")
        .group_by("assessor", "item", maintain_order=True)
        .agg(
            pl.first("topic", "pool"),
            pl.max("label"),
            pl.max("order"),
            pl.col("active_ms").sum(),
            timed=pl.col("active_ms").is_not_null().any(),
            instances="instance",
        )
        .with_columns(active_ms=pl.when("timed").then("active_ms"))
        .sort("order")
    )


def fast_series(items: pl.DataFrame) -> list[RadarFinding]:
    """Return series of very fast items, longest first.

    An item is very fast if the assessor was faster than anyone can read, or much faster than they
    usually are.
    """
    timed = items.drop_nulls("active_ms").with_columns(
        own=pl.when(pl.len().over("assessor") >= ENOUGH_TIMED).then(
            pl.col("active_ms").median().over("assessor")
        )
    )
    limit = pl.max_horizontal(pl.lit(READING_MS), pl.col("own") * HURRY)
    marked = timed.with_columns(fast=pl.col("active_ms") < limit)
    series = (
        marked.with_columns(series=pl.col("fast").rle_id().over("assessor"))
        .filter("fast")
        .group_by("assessor", "series", maintain_order=True)
        .agg(
            pl.first("topic", "own"),
            topics=pl.col("topic").n_unique(),
            items=pl.len(),
            median=pl.col("active_ms").median(),
            instances=pl.col("instances").explode(),
        )
        .filter(pl.col("items") >= SERIES)
        .sort("items", descending=True, maintain_order=True)
    )
    return [
        RadarFinding(
            FindingKind.FAST_SERIES,
            row["assessor"],
            row["topic"] if row["topics"] == 1 else None,
            tuple(row["instances"]),
            (row["instances"][0],),
            {"items": row["items"], "median": row["median"], "own": row["own"]},
        )
        for row in series.iter_rows(named=True)
    ]
