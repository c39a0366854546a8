"""What systems return: rankings or answers, with the seconds that each topic took (000 Table 3)."""

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import NamedTuple

import polars as pl

from arqkit.records import TopicRecord
from arqkit.retrieval.rankings import RANKING
from contrib.retrieval.services.indexes import Progress

DIGITS = 6


class Ranked(NamedTuple):
    """A ranking (topic, item, score), or answers (topic, answer), and the seconds by topic."""

    rows: pl.DataFrame
    seconds: Mapping[str, float]


def ranked_by_topic(
    topics: Sequence[TopicRecord],
    progress: Progress,
    search: Callable[[TopicRecord], pl.DataFrame | None],
) -> Ranked:
    """Return the rankings of topics, searched and timed one by one; None leaves a topic out.

    The first topic is searched once before, so that no time has the loading of a model or the
    compilation of the search in it.
    """
    rankings, seconds = [pl.DataFrame(schema=RANKING)], dict[str, float]()
    for done, topic in enumerate(topics):
        progress(done, len(topics))
        if not seconds:
            search(topic)
        start = perf_counter()
        ranking = search(topic)
        if ranking is not None:
            seconds[topic.query_id] = round(perf_counter() - start, DIGITS)
            rankings.append(ranking)
    return Ranked(pl.concat(rankings), seconds)
