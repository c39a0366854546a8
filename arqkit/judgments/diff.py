"""Differences between two versions of qrels."""

from typing import NamedTuple

import polars as pl

from arqkit.topics import natural_key, topic_order


class QrelDiff(NamedTuple):
    """The lines that differ between two qrels, and the topics that only one of them has.

    `rows` has the columns topic, item, change (added, removed or changed), before and after. The
    last two are labels, or null on the side where the line is missing. Rows are sorted by topic and
    item.
    """

    rows: pl.DataFrame
    topics_added: list[str]
    topics_removed: list[str]

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of added, removed and changed lines."""
        counted = dict(self.rows.group_by("change").len().iter_rows())
        return {change: counted.get(change, 0) for change in ("added", "removed", "changed")}

    @property
    def steps(self) -> dict[tuple[int | None, int | None], int]:
        """Return the number of lines for each pair of labels (before, after).

        None stands for a missing line.
        """
        counted = self.rows.group_by("before", "after").len().iter_rows()
        return {(before, after): count for before, after, count in counted}


def diff_qrels(before: pl.DataFrame, after: pl.DataFrame) -> QrelDiff:
    """Return the differences between two qrels (topic, item, label) with the same kind of items."""
    both = before.rename({"label": "before"}).join(
        after.rename({"label": "after"}), on=["topic", "item"], how="full", coalesce=True
    )
    differs = both.filter(pl.col("before").ne_missing(pl.col("after")))
    change = (
        pl.when(pl.col("before").is_null())
        .then(pl.lit("added"))
        .when(pl.col("after").is_null())
        .then(pl.lit("removed"))
        .otherwise(pl.lit("changed"))
        .alias("change")
    )
    ordered = differs.sort(pl.col("topic").cast(topic_order(differs["topic"].unique())), "item")
    rows = ordered.select("topic", "item", change, "before", "after")
    old, new = set(before["topic"]), set(after["topic"])
    return QrelDiff(rows, sorted(new - old, key=natural_key), sorted(old - new, key=natural_key))
