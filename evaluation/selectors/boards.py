"""Leaderboards, live from the current scores or as they were released, and scores by topic."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, median, pstdev
from typing import NamedTuple

import numpy as np
from django.db.models import JSONField, QuerySet, TextField

from arqkit.comparison.families import SIGNIFICANT, mean_intervals, p_values_against
from arqkit.leaderboard import Board, BoardRun, by_mean, family_of, with_runs
from arqkit.measures.columns import Reals
from arqkit.measures.names import Measure, parse_measures
from arqkit.measures.scoring import ceilings
from arqkit.topics import natural_key
from arqlab.core.caches import cached_value, key_of
from arqlab.core.models import Lab, Task, Topic
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import TopicJudgments, judged_frame, topic_judgments
from evaluation.models import Leaderboard, RunScore
from evaluation.selectors.errata import errata_of, erratum_marks
from evaluation.selectors.pending_scores import measures_of
from evaluation.selectors.records import (
    board_topics,
    listed_run,
    recorded_qrels,
    released_runs,
    run_facts,
    score_rows,
)
from submissions.models import Run, standings_of

READING = 3e-6
"""The seconds to read a score from the database."""
BOOTSTRAP = 3e-6
"""The seconds that the interval of a mean takes for a topic of a run."""

_FIELDS = {
    field.attname: isinstance(field, JSONField | TextField) for field in Run._meta.concrete_fields
}
_LONG = [name for name, is_long in _FIELDS.items() if is_long]
_RUN_FACTS = ["team__name", *(name for name, is_long in _FIELDS.items() if not is_long)]


class RunValue(NamedTuple):
    """A run of a board with the value of a measure for a topic."""

    run: BoardRun
    value: float


class Spread(NamedTuple):
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

    The runs that do not count follow the others. Runs without a value, such as those that did not
    answer the topic (Task 3), are left out.
    """
    runs = {row.run.key: row.run for row in board.rows}
    names = [measure.name]
    rows = score_rows(qrel_set, board.release, runs=runs, measures=names, query_id=query_id)
    values = [RunValue(runs[run], value) for run, _, _, value in rows]
    return sorted(
        values, key=lambda row: (not row.run.counts, -row.value, row.run.team, row.run.tag)
    )


def spread_of(values: Iterable[RunValue]) -> Spread | None:
    """Return the spread of the values of the runs that compete, or None without any.

    The deviation is that of a population: the runs of the board are all there are.
    """
    competing = [run_value.value for run_value in values if run_value.run.counts]
    if not competing:
        return None
    best, worst = max(competing), min(competing)
    return Spread(
        len(competing), best, median(competing), fmean(competing), worst, pstdev(competing)
    )


class TopicScoreRow(NamedTuple):
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


def topic_rows(board: Board, *, run: int, qrel_set: QrelSet, measure: str) -> list[TopicScoreRow]:
    """Return one row per topic of the qrels for a run (its key), in topic order.

    Median and best are those of the runs of the board that count.
    """
    runs, (names, scores) = board_matrix(board, qrel_set=qrel_set, measure=measure)
    judgments = topic_judgments(qrel_set)
    topics = board_topics(qrel_set.task, board.release)
    peers = scores[[peer.counts for peer in runs]]
    values = {
        topic: column[~np.isnan(column)].tolist()
        for topic, column in zip(names, peers.T, strict=True)
    }
    [mine] = scores[[peer.key == run for peer in runs]].tolist() or [[]]
    run_values = {topic: number_or_none(value) for topic, value in zip(names, mine, strict=False)}
    return [
        TopicScoreRow(
            query_id=query_id,
            topic=topics.get(query_id),
            own=run_values.get(query_id),
            median=median(values[query_id]) if values.get(query_id) else None,
            best=max(values.get(query_id, ()), default=None),
            judgments=judgments[query_id],
        )
        for query_id in sorted(judgments, key=natural_key)
    ]


def scores_by_topic(
    board: Board, *, runs: Iterable[int], qrel_set: QrelSet, query_id: str = ""
) -> dict[int, dict[str, dict[str, float]]]:
    """Return the scores of runs of a board, by key of the run, topic and label of the measure.

    They are those of all topics, or only of one.
    """
    labels = {measure.name: measure.label for measure in board.measures}
    scores: dict[int, dict[str, dict[str, float]]] = {run: defaultdict(dict) for run in runs}
    rows = score_rows(qrel_set, board.release, runs=scores, measures=labels, query_id=query_id)
    for run, topic, measure, value in rows:
        scores[run][topic][labels[measure]] = value
    return scores


class TopicMatrix(NamedTuple):
    """Scores of runs (rows) by topic (columns) in one measure; a missing score is NaN."""

    topics: list[str]
    scores: Reals


def board_matrix(
    board: Board, *, qrel_set: QrelSet, measure: str
) -> tuple[list[BoardRun], TopicMatrix]:
    """Return the runs of a board by their means in a measure, and their scores by topic.

    The scores are cached by the means and the qrels.
    """
    runs = by_mean((row.run for row in board.rows), measure)
    means = [(run.key, run.values[measure]) for run in runs]
    keys = [run.key for run in runs]
    matrix = cached_value(
        key_of("topic-matrix", board.release, qrel_set.pk, qrel_set.sha256, measure, means),
        lambda: topic_matrix(board, runs=keys, qrel_set=qrel_set, measure=measure),
        work=READING * len(keys) * board.topics,
    )
    return runs, matrix


def topic_matrix(
    board: Board, *, runs: Sequence[int], qrel_set: QrelSet, measure: str
) -> TopicMatrix:
    """Return the scores of runs of a board, in their order, for all topics that any of them has."""
    rows = list(score_rows(qrel_set, board.release, runs=runs, measures=[measure]))
    topics = sorted({query_id for _, query_id, _, _ in rows}, key=natural_key)
    row_of = {run: place for place, run in enumerate(runs)}
    column_of = {query_id: place for place, query_id in enumerate(topics)}
    scores = np.full((len(runs), len(topics)), np.nan)
    for run, query_id, _, value in rows:
        scores[row_of[run], column_of[query_id]] = value
    return TopicMatrix(topics, scores)


def number_or_none(value: float) -> float | None:
    """Return a score of a matrix, None for NaN."""
    return None if np.isnan(value) else float(value)


class Certainty(NamedTuple):
    """The 95% interval of a run's mean, and whether the mean is significantly below the best."""

    low: float
    high: float
    is_lower: bool


def certainties(board: Board, *, qrel_set: QrelSet, measure: Measure) -> dict[int, Certainty]:
    """Return the certainty of the means of the runs of a board, by key.

    The intervals are bootstrapped over topics. Each run of the family is compared with the best, by
    paired t tests that Holm corrects; no other run is called lower. The result is cached by the
    means, the family and the qrels.
    """
    runs = by_mean((row.run for row in board.rows), measure.name)
    means = [(run.key, run.values[measure.name]) for run in runs]
    family = [run.key for run in family_of(runs, measure.name)]

    def compute() -> dict[int, Certainty]:
        keys = [run for run, _ in means]
        scores = board_matrix(board, qrel_set=qrel_set, measure=measure.name)[1].scores
        if not scores.size:
            return {}
        lower = _lower_runs(family, scores[[keys.index(key) for key in family]])
        rows = zip(keys, mean_intervals(scores).tolist(), strict=True)
        return {
            run: Certainty(low, high, run in lower)
            for run, (low, high) in rows
            if not np.isnan(low + high)
        }

    facts = board.release, qrel_set.pk, qrel_set.sha256, measure.name, means, family
    work = BOOTSTRAP * len(means) * board.topics
    return cached_value(key_of("certainties", *facts), compute, work=work)


def _lower_runs(family: Sequence[int], scores: Reals) -> set[int]:
    """Return the runs (keys) of a family that are significantly below its first."""
    if not family:
        return set()
    is_below = np.nansum(scores - scores[0], axis=1) < 0
    lower = (p_values_against(scores, 0, "t") < SIGNIFICANT) & is_below
    return {run for run, is_lower in zip(family, lower.tolist(), strict=True) if is_lower}


class QrelsFacts(NamedTuple):
    """The number of topics in qrels, and the ceiling of each measure by name."""

    topics: int
    ceilings: dict[str, float]


def qrels_facts(qrel_set: QrelSet, measures: Iterable[Measure]) -> QrelsFacts:
    """Return the number of topics in qrels and the best possible value of each measure.

    The result is cached for good: qrels never change, and the key has their sha256 and rules.
    """
    names = [measure.name for measure in measures]
    rules = qrel_set.relevant_from, qrel_set.label_scale.unjudged, names

    def compute() -> QrelsFacts:
        frame = judged_frame(qrel_set)
        best = ceilings(frame, names, relevant_from=qrel_set.relevant_from)
        return QrelsFacts(frame["topic"].n_unique(), best)

    return cached_value(
        key_of("qrels-facts", qrel_set.sha256, rules),
        compute,
        work=READING * qrel_set.lines,
        seconds=None,
    )


def live_scores(
    qrel_set: QrelSet, runs: QuerySet[Run] | None = None
) -> dict[int, dict[str, float]]:
    """Return the mean scores of the valid runs, or of `runs`, by run and measure."""
    names = [measure.name for measure in measures_of(qrel_set)]
    scored = Run.objects.valid() if runs is None else runs
    rows = RunScore.objects.filter(qrel_set=qrel_set, run__in=scored, measure__in=names)
    scores: dict[int, dict[str, float]] = defaultdict(dict)
    for run, measure, value in rows.values_list("run", "measure", "value"):
        scores[run][measure] = value
    return dict(scores)


def live_board(qrel_set: QrelSet, runs: QuerySet[Run] | None = None) -> Board:
    """Return the board of the scored valid runs, or of `runs`, with the task's current measures."""
    scores, measures = live_scores(qrel_set, runs), measures_of(qrel_set)
    scored = Run.objects.filter(pk__in=list(scores))
    return _kept_board(qrel_set, measures, scored, scores)


def released_leaderboard(task: Task) -> Leaderboard | None:
    """Return the newest version that is not hidden, with its qrels, or None."""
    released = Leaderboard.objects.filter(task=task, hidden_at=None).order_by("-version")
    return released.select_related("qrel_set", "task__lab").first()


def release_of(qrel_set: QrelSet) -> Leaderboard | None:
    """Return the released leaderboard of a task if these are its qrels, or None.

    What is made from qrels and runs, such as a paper kit, then reads its record.
    """
    released = released_leaderboard(qrel_set.task)
    return released if released and released.qrel_set_id == qrel_set.pk else None


def board_states(labs: Iterable[Lab]) -> dict[int, str]:
    """Return the state of each task's leaderboard by the task's key, in two queries.

    The state is `released`, `hidden` (qrels but no released version) or `waiting` (no qrels).
    """
    labs = list(labs)
    states = dict.fromkeys((task.pk for lab in labs for task in lab.tasks.all()), "waiting")
    judged = QrelSet.objects.filter(task__lab__in=labs).order_by().values_list("task", flat=True)
    boards = Leaderboard.objects.filter(task__lab__in=labs, hidden_at=None).order_by()
    released = boards.values_list("task", flat=True)
    return states | dict.fromkeys(judged, "hidden") | dict.fromkeys(released, "released")


def released_board(leaderboard: Leaderboard) -> Board:
    """Return a board as it was released. It never changes: what did since is in errata beside it.

    A run that an erratum is about has its mark.
    """
    qrel_set, runs = recorded_qrels(leaderboard), released_runs(leaderboard)
    marks = erratum_marks(errata_of(leaderboard, runs))
    version = leaderboard.pk, leaderboard.released_at, leaderboard.recorded_at
    names = str(qrel_set.task), qrel_set.name, qrel_set.sha256

    def compute() -> Board:
        measures = parse_measures(leaderboard.measures)
        board = replace(_empty_board(qrel_set, measures), release=leaderboard.pk)
        scores = {int(run): values for run, values in leaderboard.scores.items()}
        return with_runs(
            board,
            [
                listed_run(key, run.facts, scores[key], erratum=marks.get(key, ""))
                for run in runs
                for key in [run.run_id]
            ],
        )

    key = key_of("released-board", *version, names, sorted(marks.items()))
    return cached_value(key, compute, work=1e-4 * len(leaderboard.scores))


def _kept_board(
    qrel_set: QrelSet,
    measures: tuple[Measure, ...],
    runs: QuerySet[Run],
    scores: Mapping[int, Mapping[str, float]],
) -> Board:
    """Return a board of the current scores from the cache."""
    rules = (
        *(str(qrel_set.task), qrel_set.name, qrel_set.sha256, qrel_set.relevant_from),
        qrel_set.task.protocol.printed,
    )
    facts = list(runs.order_by("pk").values_list(*_RUN_FACTS))
    key = key_of("board", rules, qrel_set.scale, measures, scores, facts)

    def compute() -> Board:
        read = runs.select_related("team").defer(*_LONG)
        return board_of(qrel_set, measures, read, scores)

    return cached_value(key, compute, work=1e-4 * len(facts))


def with_post_hoc(board: Board, qrel_set: QrelSet, runs: QuerySet[Run]) -> Board:
    """Return a board with some scored post-hoc runs below its own, which keep their scores.

    Post-hoc runs are scored by the task's current measures.
    """
    scores = live_scores(qrel_set, runs)
    scored = runs.filter(pk__in=list(scores)).select_related("team")
    added = [board_run(run, scores[run.pk]) for run in scored]
    return with_runs(board, [*(row.run for row in board.rows), *added]) if added else board


def board_of(
    qrel_set: QrelSet,
    measures: tuple[Measure, ...],
    runs: Iterable[Run],
    scores: Mapping[int, Mapping[str, float]],
) -> Board:
    """Return a board of runs and their mean scores."""
    board = _empty_board(qrel_set, measures)
    return with_runs(board, [board_run(run, scores.get(run.pk, {})) for run in runs])


def _empty_board(qrel_set: QrelSet, measures: tuple[Measure, ...]) -> Board:
    """Return the board of a version of the qrels, without runs."""
    facts = qrels_facts(qrel_set, measures)
    return Board(
        str(qrel_set.task),
        qrel_set.name,
        facts.topics,
        measures,
        facts.ceilings,
        printed=qrel_set.task.protocol.printed,
    )


def board_run(run: Run, values: Mapping[str, float]) -> BoardRun:
    """Return a run with its values, as a board lists it."""
    return listed_run(run.pk, run_facts(run, standings_of(run)), values)
