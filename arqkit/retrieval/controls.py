"""Rankings beside which a system's scores mean something: random order, a bag of symbols, the ideal
order, and answers of linked posts.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from zlib import crc32

import numpy as np
import polars as pl

from arqkit.formats.runs.writing import MOST_ITEMS
from arqkit.retrieval.rankings import RANKING, best_of, ranking_of_scores


def shuffled_items(
    topics: Iterable[str], items: pl.Series, *, seed: int, limit: int = MOST_ITEMS
) -> pl.DataFrame:
    """Return a ranking of items in random order, the same for the same seed, topic and items."""
    rows = [pl.DataFrame(schema=RANKING)]
    for topic in topics:
        chance = np.random.default_rng([seed, crc32(topic.encode())])
        drawn = chance.choice(len(items), size=min(limit, len(items)), replace=False)
        scores = np.arange(len(drawn), 0, -1, dtype=np.float64)
        rows.append(pl.DataFrame({"topic": topic, "item": items.gather(drawn), "score": scores}))
    return pl.concat(rows)


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


def linked_answers_by_votes(
    threads: Mapping[str, str], duplicates: Iterable[tuple[str, str]], answers: pl.DataFrame
) -> pl.DataFrame:
    """Return the answers of threads that are duplicates of topics, by vote score (000 §4.3).

    - threads: the thread of each topic, where it is known.
    - duplicates: the links between threads that moderators marked as duplicates, in any direction.
    - answers: the columns thread, item (String) and score, the vote score. An answer without votes
      has 0.

    Every answer of a linked thread is listed, down to the limit of a run. The topic's own thread is
    not linked to itself.
    """
    columns = {"thread": pl.String, "linked": pl.String}
    pairs = pl.DataFrame(list(duplicates), schema=columns, orient="row")
    both = pl.concat([pairs, pairs.select(thread="linked", linked="thread")])
    linked = both.filter(pl.col("thread") != pl.col("linked")).unique()
    topics = pl.DataFrame(
        list(threads.items()), schema={"topic": pl.String, "thread": pl.String}, orient="row"
    )
    of_topics = topics.join(linked, on="thread").select("topic", thread="linked")
    votes = pl.col("score").fill_null(0).cast(pl.Float64)
    return best_of(of_topics.join(answers.with_columns(votes), on="thread"))
