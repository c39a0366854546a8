"""The radar: contradictions and very fast series among the judgments of assessors, and drift.

The functions read a frame of current labels that are judgments, in the order in which they were
given, with the columns of `RADAR_SCHEMA`. `item` is what an assessor sees at once, `instance` gets
one label.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from math import erfc, sqrt
from typing import Any

import polars as pl

from arqkit.comparison.families import holm

RADAR_SCHEMA = {
    "assessor": pl.Int64,
    "topic": pl.String,
    "pool": pl.Int64,
    "item": pl.Int64,
    "instance": pl.Int64,
    "label": pl.Int64,
    "active_ms": pl.Int64,
    "is_imported": pl.Boolean,
    "visual_id": pl.String,
    "post": pl.String,
    "text": pl.String,
}
"""The columns of the judgments. Of formulas, `visual_id` and `post` are known; of other items,
`text` is a group of posts with the same text, or null. The order and the times of imported
judgments are unknown."""

ENOUGH_ITEMS = 100
"""The number of items of an assessor from which drift is tested."""

FALSE_ALARMS = 0.01
"""The probability that drift is found in a task without drift (Holm 1979, Scand. J. Stat. 6)."""

SMALL_EFFECT = 0.1
"""The smallest correlation that is worth a conversation (Cohen 1988). With thousands of items, much
weaker ones are significant."""

READING_MS = 2_000
"""Nobody reads an item faster: it is time for eight words (Brysbaert 2019, J. Mem. Lang. 109)."""

HURRY = 0.25
"""The part of their own median time below which an item is very fast for an assessor."""

SERIES = 10
"""The number of very fast items in a row that make a series."""

ENOUGH_TIMED = 20
"""The number of timed items from which an assessor's median time is known."""


class FindingKind(StrEnum):
    """What a finding is about."""

    VISUAL_ID = "visual-id"
    DUPLICATES = "duplicates"
    SERVED_TWICE = "served-twice"
    FAST_SERIES = "fast-series"
    LABEL_DRIFT = "label-drift"
    PACE_DRIFT = "pace-drift"


DRIFTS = (FindingKind.LABEL_DRIFT, FindingKind.PACE_DRIFT)
"""The kinds of findings that are about all judgments of an assessor."""


@dataclass(frozen=True)
class RadarFinding:
    """Judgments of one assessor to talk about; `instances` are in the order of judging.

    `identity` is what the finding is about. It changes if the labels of a contradiction change, so
    that a finding that was dismissed is shown again.
    """

    kind: FindingKind
    assessor: int
    topic: str | None
    instances: tuple[int, ...]
    identity: tuple[object, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Return a name of the finding that other findings do not have."""
        parts = (self.kind.value, self.assessor, self.topic, *self.identity)
        return sha256(repr(parts).encode()).hexdigest()[:20]


def drifts(items: pl.DataFrame, *, relevant_from: int) -> list[RadarFinding]:
    """Return the assessors whose labels or pace changed while they judged, strongest first.

    The items of a topic are judged in random order, so that without drift their labels and times do
    not depend on the order. The test is the correlation of both within topics, summed over topics
    (Mantel 1963, J. Am. Stat. Assoc. 58(303)); that topics differ does not matter. Supplements are
    tested as topics of their own, because their order is random among themselves only.
    """
    relevant = (pl.col("label") >= relevant_from).cast(pl.Float64)
    labels = items.with_columns(value=pl.col("label").cast(pl.Float64), shown=relevant)
    paces = items.drop_nulls("active_ms").with_columns(
        value=pl.col("active_ms").clip(lower_bound=1).log(), shown=pl.col("active_ms") / 1000
    )
    tests = pl.concat(
        [
            _order_tests(labels).with_columns(kind=pl.lit(FindingKind.LABEL_DRIFT.value)),
            _order_tests(paces).with_columns(kind=pl.lit(FindingKind.PACE_DRIFT.value)),
        ]
    )
    rows = tests.to_dicts()
    alarms = holm(tests["p"].to_numpy()) <= FALSE_ALARMS
    drifting = [
        row
        for row, is_alarm in zip(rows, alarms, strict=True)
        if is_alarm and abs(row["correlation"]) >= SMALL_EFFECT
    ]
    return [
        RadarFinding(
            FindingKind(row["kind"]),
            row["assessor"],
            None,
            tuple(row["instances"]),
            (row["correlation"] > 0,),
            {name: row[name] for name in ("correlation", "p", "first", "last")},
        )
        for row in sorted(drifting, key=lambda row: -abs(row["correlation"]))
    ]


def _order_tests(items: pl.DataFrame) -> pl.DataFrame:
    """Return for each assessor how `value` depends on the order of judging within topics.

    `first` and `last` are the means of `shown` in the first and the second half of the topics.
    """
    strata = ["assessor", "topic", "pool"]
    time = pl.int_range(pl.len()).over("assessor").cast(pl.Float64)
    centred = items.with_columns(time=time).with_columns(
        time=pl.col("time") - pl.mean("time").over(strata),
        value=pl.col("value") - pl.mean("value").over(strata),
        half=pl.col("time") > pl.median("time").over(strata),
    )
    sums = centred.group_by(strata, maintain_order=True).agg(
        pl.len(),
        both=(pl.col("time") * pl.col("value")).sum(),
        times=(pl.col("time") ** 2).sum(),
        values=(pl.col("value") ** 2).sum(),
    )
    # The variance over all orders of the values of a topic.
    spread = pl.col("times") * pl.col("values") / (pl.col("len") - 1)
    tests = (
        sums.filter(pl.col("len") > 1)
        .group_by("assessor", maintain_order=True)
        .agg(pl.sum("both", "times", "values"), items=pl.sum("len"), variance=spread.sum())
        .filter((pl.col("items") >= ENOUGH_ITEMS) & (pl.col("variance") > 0))
        .with_columns(
            correlation=pl.col("both") / (pl.col("times") * pl.col("values")).sqrt(),
            z=pl.col("both") / pl.col("variance").sqrt(),
        )
    )
    p = [erfc(abs(z) / sqrt(2)) for z in tests["z"]]
    halves = centred.group_by("assessor").agg(
        first=pl.col("shown").filter(~pl.col("half")).mean(),
        last=pl.col("shown").filter("half").mean(),
        instances=pl.col("instances").explode(),
    )
    return tests.with_columns(p=pl.Series(p, dtype=pl.Float64)).join(
        halves, on="assessor", how="left", maintain_order="left"
    )


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

    Rows with the same value in the column `by` are judgments of the same thing; null matches
    nothing. The result has the columns assessor, topic, `by`, instances, labels, and `same_post`:
    whether a single post has different labels. Where `by` is the id in the qrels, and a frame has
    both the official judgments and those of copies that were served again, the rows compare an
    assessor with themselves.
    """
    identified = judged.drop_nulls(by)
    keys = ["assessor", "topic", by]
    split = (
        identified.drop_nulls("post")
        .group_by(*keys, "post")
        .agg(several=pl.col("label").n_unique() > 1)
        .group_by(keys)
        .agg(same_post=pl.col("several").any())
    )
    judgments = identified.group_by(keys, maintain_order=True).agg(
        instances="instance", labels="label"
    )
    several = judgments.filter(pl.col("labels").list.len() > 1)
    joined = several.join(split, on=keys, how="left", maintain_order="left")
    return joined.with_columns(pl.col("same_post").fill_null(value=False))


def contradictions(judged: pl.DataFrame, *, by: str, kind: FindingKind) -> list[RadarFinding]:
    """Return where an assessor labelled the same thing differently in a topic, worst first.

    Different labels in one post come first, then large differences. Instances of a formula in
    different posts may rightly have different labels where assessors consider the post (protocol
    §6). They are findings all the same: of 55 formulas of ARQMath-2 and -3 with several judged
    instances whose posts we have, none has two labels.
    """
    repeated = repeated_judgments(judged, by=by)
    spread = pl.col("labels").list.max() - pl.col("labels").list.min()
    differing = repeated.with_columns(spread=spread).filter(pl.col("spread") > 0)
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
