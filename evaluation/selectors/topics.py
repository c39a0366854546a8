"""The scores of a run by topic, compared with the other runs on a board."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median, pstdev

from arqkit.leaderboard import Board, BoardRun
from arqkit.measures.names import Measure
from arqkit.topics import natural_key
from arqlab.core.models import Topic
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import TopicJudgments, topic_judgments
from evaluation.models import TopicScore
from submissions.models import Run


@dataclass(frozen=True)
class RunValue:
    """A run of a board with the value of a measure for a topic."""

    run: BoardRun
    value: float


@dataclass(frozen=True)
class Spread:
    """The spread of the values of the runs that compete."""

    runs: int
    best: float
    median: float
    mean: float
    worst: float
    deviation: float


def topic_values(
    board: Board, qrel_set: QrelSet, query_id: str, measure: Measure
) -> list[RunValue]:
    """Return the runs of a board with their values for a topic, best first.

    The runs that do not count follow the others.

    Runs without a value, such as those that did not answer the topic (Task 3), are left out.
    """
    runs = {row.run.key: row.run for row in board.rows}
    rows = TopicScore.objects.filter(
        qrel_set=qrel_set, query_id=query_id, measure=measure.name, run__in=runs
    )
    values = [RunValue(runs[key], value) for key, value in rows.values_list("run", "value")]
    return sorted(
        values,
        key=lambda run_value: (
            not run_value.run.counts,
            -run_value.value,
            run_value.run.team,
            run_value.run.tag,
        ),
    )


def spread_of(values: Iterable[RunValue]) -> Spread | None:
    """Return the spread of the values of the runs that compete, or None without any.

    The deviation is that of a population: the runs of the board are all there are.
    """
    known = [run_value.value for run_value in values if run_value.run.counts]
    if not known:
        return None
    best, worst = max(known), min(known)
    return Spread(len(known), best, median(known), fmean(known), worst, pstdev(known))


@dataclass(frozen=True, slots=True)
class TopicScoreRow:
    """One topic of the qrels: the run's score, and the median and best score of its peers.

    A missing score is None. `topic` is None if the qrels have a topic that the lab does not have.
    """

    query_id: str
    topic: Topic | None
    own: float | None
    median: float | None
    best: float | None
    judgments: TopicJudgments

    @property
    def gain(self) -> float | None:
        """Return the run's score minus the median."""
        return None if self.own is None or self.median is None else self.own - self.median


def topic_rows(
    *, run: Run, qrel_set: QrelSet, measure: str, peers: Iterable[int]
) -> list[TopicScoreRow]:
    """Return one row per topic of the qrels, in topic order.

    Median and best are those of its `peers` (keys of runs).
    """
    peers = set(peers)
    judgments = topic_judgments(qrel_set)
    topics = {
        topic.query_id: topic
        for topic in Topic.objects.filter(task=qrel_set.task_id).defer("body", "body_html")
    }
    own: dict[str, float] = {}
    values: dict[str, list[float]] = defaultdict(list)
    scores = TopicScore.objects.filter(qrel_set=qrel_set, measure=measure, run__in={run.pk, *peers})
    for run_id, query_id, value in scores.values_list("run", "query_id", "value"):
        if run_id in peers:
            values[query_id].append(value)
        if run_id == run.pk:
            own[query_id] = value
    return [
        TopicScoreRow(
            query_id=query_id,
            topic=topics.get(query_id),
            own=own.get(query_id),
            median=median(values[query_id]) if values[query_id] else None,
            best=max(values[query_id], default=None),
            judgments=judgments[query_id],
        )
        for query_id in sorted(judgments, key=natural_key)
    ]


def scores_by_topic(
    *, runs: Iterable[int], qrel_set: QrelSet, measures: Sequence[Measure], **only: str
) -> dict[int, dict[str, dict[str, float]]]:
    """Return the scores of runs, by key of the run, topic and label of the measure.

    They are those of all topics, or only of one (`query_id`).
    """
    labels = {measure.name: measure.label for measure in measures}
    scores: dict[int, dict[str, dict[str, float]]] = {run: defaultdict(dict) for run in runs}
    rows = TopicScore.objects.filter(run__in=scores, qrel_set=qrel_set, measure__in=labels, **only)
    columns = rows.order_by("pk").values_list("run", "query_id", "measure", "value")
    for run, query_id, measure, value in columns:
        scores[run][query_id][labels[measure]] = value
    return scores
