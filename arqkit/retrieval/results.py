"""Tables of results: measures of rankings with their intervals, and differences with theirs.

On a sample of a collection, few answers of a topic are judged, and any order scores high. So a
table has controls beside the systems (`arqkit.retrieval.controls`), qrels restricted to the items
that could be found, and the number of judged pairs.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import polars as pl

from arqkit.comparison.differences import bootstrap_intervals
from arqkit.measures.columns import Reals
from arqkit.measures.scoring import Scorer
from arqkit.protocols.presets import PRIMES
from arqkit.ranking import with_order


def results_table(
    rankings: Mapping[str, pl.DataFrame],
    qrels: pl.DataFrame,
    *,
    items: Iterable[str] | None = None,
    against: str | None = None,
    measures: Iterable[str] = PRIMES,
) -> pl.DataFrame:
    """Return a row for each system and measure, in their order.

    `rankings` have the columns topic, item and score, `qrels` topic, item and label. With `items`,
    only judgments of these items count. The columns are:

    - system, measure
    - mean, low, high: the mean over the topics of the qrels, and its 95% bootstrap interval over
      topics.
    - difference, difference_low, difference_high: the same of the difference from the system
      `against`; null without one, and in its own rows.
    - judged: the number of judged pairs that the ranking lists; topics: the number of topics.
    """
    if items is not None:
        qrels = qrels.filter(pl.col("item").is_in(list(items)))
    judged = qrels.drop_nulls("label")
    scorer = Scorer(judged, measures)
    names = [measure.name for measure in scorer.measures]
    shape = len(names), len(scorer.topics)
    scores = {
        system: scorer.score(with_order(ranking))["value"].to_numpy().reshape(shape)
        for system, ranking in rankings.items()
    }
    parts = []
    for system, values in scores.items():
        listed = judged.join(rankings[system], on=["topic", "item"], how="semi").height
        part = {"system": system, "measure": names, **_with_intervals("", values)}
        if against is not None and system != against:
            part |= _with_intervals("difference", values - scores[against])
        parts.append(pl.DataFrame(part).with_columns(judged=listed, topics=shape[1]))
    return pl.concat(parts, how="diagonal").select(
        pl.exclude("judged", "topics"), "judged", "topics"
    )


def _with_intervals(name: str, values: Reals) -> dict[str, Reals]:
    """Return the means of rows over topics and the ends of their intervals, as columns."""
    ends = bootstrap_intervals(np.ascontiguousarray(values))
    prefix = f"{name}_" if name else ""
    return {
        name or "mean": values.mean(axis=1),
        f"{prefix}low": ends[:, 0],
        f"{prefix}high": ends[:, 1],
    }
