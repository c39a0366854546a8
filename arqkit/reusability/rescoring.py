"""Means of many runs against many parts of the same qrels.

Each run is joined with the qrels once. A part of the qrels is a mask over their lines: judged items
that it leaves out become unjudged. So scoring the runs against a part takes no reading, no joining
and no sorting.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arqkit.measures.columns import Integers, JudgedRanking, Reals, column_values, ratio, sums
from arqkit.measures.names import Measure
from arqkit.topics import topic_order

Mask = NDArray[np.bool_]
DIGITS_COMPARED = 12
"""Decimals of means: beyond them, equal values may differ by the order of their sums."""


class _Joined(NamedTuple):
    """The judged items of a run, best first in each topic.

    `line` has their lines in the qrels, `top` the number of items among the first ones of a topic,
    judged or not.
    """

    ranking: JudgedRanking
    line: Integers
    top: Reals


class Rescorer:
    """Qrels and runs, prepared once for many parts of the qrels.

    `qrels` has the columns topic, item and label; lines with a null label are unjudged. A part
    (`Mask`) has a value for each line of `judged`. Every topic of the qrels counts for each part: a
    topic that has lost its judged items has 0. The measures are columnar.
    """

    def __init__(self, qrels: pl.DataFrame, measures: Iterable[Measure], *, cutoff: int = 10):
        self.measures = tuple(measures)
        self.cutoff = cutoff
        self.runs: list[str] = []
        topics = topic_order(qrels["topic"].unique())
        self.topics = len(topics.categories)
        # Highest labels first, as the ideal ranking needs them.
        self.judged = (
            qrels.drop_nulls("label")
            .select(
                "topic",
                "item",
                pl.col("label").cast(pl.Int64),
                code=pl.col("topic").cast(topics).to_physical().cast(pl.Int64),
            )
            .sort("code", "label", "item", descending=[False, True, False])
        )
        self._codes = self.judged.select("topic", "code").unique()
        self._lines = self.judged.select("topic", "item", "code", "label").with_row_index("line")
        self._joined: list[_Joined] = []

    @cached_property
    def everything(self) -> Mask:
        """Return the mask of the whole qrels."""
        return np.ones(self.judged.height, dtype=np.bool_)

    def add(self, run: str, index: pl.DataFrame) -> None:
        """Add a run by its name and its index (topic, item, order)."""
        rows = index.select("topic", "item", "order")
        lines = rows.join(self._lines, on=["topic", "item"]).sort("code", "order")
        names = ("code", "label", "order", "line")
        topic, label, order, line = (lines[name].cast(pl.Int64).to_numpy() for name in names)
        first = rows.filter(pl.col("order") <= self.cutoff).join(self._codes, on="topic")
        code = first["code"].to_numpy()
        self.runs.append(run)
        self._joined.append(
            _Joined(
                JudgedRanking(topic, label, order),
                line,
                sums(code, np.ones(len(code)), self.topics),
            )
        )

    def means(self, part: Mask) -> Reals:
        """Return the mean of each measure over all topics: a row per run, a column per measure."""
        ideal = JudgedRanking(
            *(self.judged[name].to_numpy()[part] for name in ("code", "label", "code"))
        ).without_unjudged()
        means = np.zeros((len(self.runs), len(self.measures)))
        for row, joined in enumerate(self._joined):
            run = _restricted(joined, part)
            prime = run.without_unjudged()
            for column, measure in enumerate(self.measures):
                ranking = prime if measure.judged_only else run
                values = column_values(measure, ranking, ideal, self.topics)
                means[row, column] = values.mean()
        return means.round(DIGITS_COMPARED)

    def unjudged(self, part: Mask) -> Reals:
        """Return the % of unjudged items among the first items of each run, the mean over topics.

        Topics that a run does not answer are left out; a run without any has 0.
        """
        percentages = []
        for joined in self._joined:
            run = _restricted(joined, part)
            topic = run.topic[run.position <= self.cutoff]
            judged = sums(topic, np.ones(len(topic)), self.topics)
            answered = joined.top > 0
            shares = 1 - ratio(judged[answered], joined.top[answered])
            percentages.append(100 * float(shares.mean()) if answered.any() else 0.0)
        return np.array(percentages)


def _restricted(joined: _Joined, part: Mask) -> JudgedRanking:
    """Return the judged ranking of a run without the items that a part leaves out."""
    kept = part[joined.line]
    ranking = joined.ranking
    return JudgedRanking(ranking.topic[kept], ranking.label[kept], ranking.position[kept])
