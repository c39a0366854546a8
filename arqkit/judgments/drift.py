"""Tests of whether an assessor's labels or pace changed while they judged."""

from collections.abc import Iterable
from math import erfc, sqrt

import polars as pl

from arqkit.judgments.findings import FindingKind, RadarFinding

ENOUGH_ITEMS = 100
"""The number of items of an assessor from which drift is tested."""

FALSE_ALARMS = 0.01
"""The probability that drift is found in a task without drift (Holm 1979, Scand. J. Stat. 6)."""

SMALL_EFFECT = 0.1
"""The smallest correlation that is worth a conversation (Cohen 1988). With thousands of items, much
weaker ones are significant."""


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
    alarms = holm_rejected([row["p"] for row in rows], level=FALSE_ALARMS)
    found = [
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
        for row in sorted(found, key=lambda row: -abs(row["correlation"]))
    ]


def holm_rejected(ps: Iterable[float], *, level: float) -> list[bool]:
    """Return which hypotheses Holm's procedure rejects at a level for all of them together."""
    known = list(ps)
    rejected = [False] * len(known)
    for rank, place in enumerate(sorted(range(len(known)), key=known.__getitem__)):
        if known[place] > level / (len(known) - rank):
            break
        rejected[place] = True
    return rejected


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
