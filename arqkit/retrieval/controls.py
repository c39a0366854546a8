"""Rankings beside which a system's scores mean something: random order, answers of linked posts."""

from collections.abc import Iterable, Mapping
from zlib import crc32

import numpy as np
import polars as pl

from arqkit.formats.runs.writing import MOST_ITEMS
from arqkit.retrieval.rankings import RANKING, best_of


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
