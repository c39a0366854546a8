"""Tables of results: measures of rankings with their intervals, differences, and controls.

On a sample of a collection, few answers of a topic are judged, and any order scores high. So a
table has controls beside the systems, such as the ideal order and a bag of symbols, qrels
restricted to the items that could be found, and the number of judged pairs.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
import polars as pl

from arqkit.comparison.differences import bootstrap_intervals
from arqkit.formats.runs.writing import MOST_ITEMS
from arqkit.measures.columns import Reals
from arqkit.measures.scoring import Scorer
from arqkit.protocols.presets import PRIMES
from arqkit.ranking import with_order
from arqkit.retrieval.rankings import RANKING, best_of, ranking_of_scores


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


def ideal_order(qrels: pl.DataFrame) -> pl.DataFrame:
    """Return the judged items of qrels (topic, item, label) as a ranking, highest labels first."""
    labels = pl.col("label").cast(pl.Float64)
    return best_of(qrels.drop_nulls("label").with_columns(score=labels), limit=qrels.height)


def bag_of_symbols(
    queries: Mapping[str, Iterable[str]],
    formulas: Iterable[tuple[str, Iterable[str]]],
    *,
    limit: int = MOST_ITEMS,
) -> pl.DataFrame:
    """Return the ranking of formulas by the cosine of their symbol counts (002 §5).

    `queries` are the symbols of each topic's formula, `formulas` items and their symbols, such as
    `layout_symbols`. Where symbols are does not count.
    """
    from scipy.sparse import coo_array

    rows, columns, counts, items = list[int](), list[int](), list[int](), list[str]()
    numbers = dict[str, int]()
    for row, (item, symbols) in enumerate(formulas):
        items.append(item)
        for symbol, count in Counter(symbols).items():
            rows.append(row)
            columns.append(numbers.setdefault(symbol, len(numbers)))
            counts.append(count)
    shape = len(items), len(numbers)
    bags = coo_array((np.array(counts, float), (np.array(rows), np.array(columns))), shape).tocsr()
    lengths = np.maximum(np.sqrt(np.asarray(bags.power(2).sum(axis=1))), 1)
    ids, rankings = pl.Series(items, dtype=pl.String), [pl.DataFrame(schema=RANKING)]
    for topic, symbols in queries.items():
        bag, query = Counter(symbols), np.zeros(len(numbers))
        known = bag.keys() & numbers.keys()
        query[[numbers[symbol] for symbol in known]] = [bag[symbol] for symbol in known]
        length = max(np.sqrt(sum(count**2 for count in bag.values())), 1)
        rankings.append(ranking_of_scores(topic, ids, bags @ query / lengths / length, limit=limit))
    return pl.concat(rankings)
