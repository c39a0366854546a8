"""The scores of several runs by topic, as a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arqkit.measures.columns import Reals
from arqkit.topics import natural_key
from assessment.models import QrelSet
from evaluation.models import TopicScore


class TopicMatrix(NamedTuple):
    """Scores of runs (rows) by topic (columns) in one measure; a missing score is NaN."""

    topics: list[str]
    scores: Reals


def topic_matrix(*, runs: Sequence[int], qrel_set: QrelSet, measure: str) -> TopicMatrix:
    """Return the scores of runs, in their order, for all topics for which any of them has one."""
    found = TopicScore.objects.filter(qrel_set=qrel_set, measure=measure, run__in=runs)
    rows = list(found.values_list("run", "query_id", "value"))
    topics = sorted({query_id for _, query_id, _ in rows}, key=natural_key)
    row_of = {run: place for place, run in enumerate(runs)}
    column_of = {query_id: place for place, query_id in enumerate(topics)}
    scores = np.full((len(runs), len(topics)), np.nan)
    for run, query_id, value in rows:
        scores[row_of[run], column_of[query_id]] = value
    return TopicMatrix(topics, scores)
