"""The results of a round of special questions (004 §6.4.3).

Nothing is stored. Of the labels of an item with several instances, the one counts that the qrels
have.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import polars as pl
from django.db.models import Count

from analyses.services.contests import index_facts
from arqkit.judgments.questions import AnswerShare, answer_shares
from arqkit.labels import ScaleLabel
from arqkit.measures.names import parse_measures
from arqlab.core.caches import cached_value, key_of
from arqlab.core.models import Task
from assessment.models import PoolItem, QrelSet, Round
from assessment.qrels.selectors.drafts import host_of, task_scale
from assessment.qrels.selectors.versions import qrels_named
from assessment.rounds.selectors.items import question_labels
from assessment.rounds.selectors.votes import round_votes
from evaluation.models import RunScore, TopicScore
from evaluation.services.scoring import comparable_indexes, scoring_work
from submissions.models import Run

MEASURES = ("AR", "P@1")
_ITEM = ["topic", "item"]


class RunMeans(NamedTuple):
    """The scores of a run by the current qrels, None where it has none, and over how many topics.

    For Task 3, these are the topics that the run answered.
    """

    values: tuple[float | None, ...] = (None,) * len(MEASURES)
    topics: int | None = None


class RunAnswers(NamedTuple):
    """A run in the table of results; `items` of its items have an answer, `shares` are of them."""

    run: Run
    means: RunMeans
    items: int
    shares: list[AnswerShare]


class QuestionAnswers(NamedTuple):
    """The answers to a question.

    - labels: the number of items by answer.
    - counted, every: of the items with the counted answer and of all items with an answer, the
      percentage whose label that counts is not relevant.
    """

    share: AnswerShare
    labels: list[tuple[ScaleLabel, int]]
    counted: float | None
    every: float | None


class RoundAnswers(NamedTuple):
    """The results of a round of special questions."""

    runs: list[RunAnswers]
    questions: list[QuestionAnswers]
    is_scored: bool


def round_answers(round_: Round) -> RoundAnswers:
    """Return the results of a round of special questions from the answers so far.

    Labels that are not judgments are no answers. Runs are those with an item among the answers,
    baselines first, then teams by their best AR (protocol §4).
    """
    scale = round_.pool.label_scale
    votes = round_votes(round_.pool).filter(scale.is_judged())
    answers = votes.select(*_ITEM, "label", question="doc_id")
    runs = [row for task in _tasks(round_) for row in _run_rows(task, answers, round_)]
    lowest = round_.task.protocol.relevant_in(task_scale(round_.task))
    relevant = question_labels(round_).select(*_ITEM, relevant=pl.col("label") >= lowest)
    questions = [
        _question(share, answers, relevant, scale.judgments)
        for share in answer_shares(answers, round_.questions)
    ]
    return RoundAnswers(_ordered(runs), questions, any(row.means.topics for row in runs))


def _tasks(round_: Round) -> list[Task]:
    """Return the tasks whose runs brought the items: Task 3 for answers in the pool of Task 1."""
    kinds = set(round_.pool.items.order_by().values_list("kind", flat=True).distinct())
    written = Task.objects.filter(lab=round_.task.lab_id, kind=Task.Kind.GENERATED_ANSWERS)
    guests = [task for task in written.select_related("lab") if host_of(task) == round_.task]
    return [*guests, *([round_.task] if not guests or kinds - {PoolItem.Kind.ANSWERS} else [])]


def _run_rows(task: Task, answers: pl.DataFrame, round_: Round) -> list[RunAnswers]:
    valid = task.runs.valid().select_related("team")
    runs = {run.pk: run for run in valid.order_by("pk")}
    means = _means_of_questions(task)
    rows = []
    for key, numbers in _answers_by_run(task, list(runs.values()), answers).items():
        mine = answers[numbers]
        shares = answer_shares(mine, round_.questions)
        items = mine.select(_ITEM).n_unique()
        rows.append(RunAnswers(runs[key], means.get(key, RunMeans()), items, shares))
    return rows


def _answers_by_run(task: Task, runs: Sequence[Run], answers: pl.DataFrame) -> dict[int, list[int]]:
    """Return the rows of the answers about items of each run that has any, cached."""

    def compute() -> dict[int, list[int]]:
        numbered = answers.with_row_index("number")
        like = QrelSet(task=task, name="answers", items=task.trec_items)
        return {
            run.pk: rows
            for run, index in comparable_indexes(runs, like, answers)
            if (rows := numbered.join(index, on=_ITEM, how="semi")["number"].to_list())
        }

    key = key_of("special-questions", task.pk, index_facts(runs), answers.write_csv())
    return cached_value(key, compute, work=scoring_work(runs))


def _means_of_questions(task: Task) -> dict[int, RunMeans]:
    """Return the scores of a task's runs by its current qrels, by run."""
    qrels = qrels_named(task)
    if qrels is None:
        return {}
    names = [rating.name for rating in parse_measures(MEASURES, relevant_from=qrels.relevant_from)]
    values: dict[int, dict[str, float]] = {}
    scores = RunScore.objects.filter(qrel_set=qrels, measure__in=names)
    for run, measure, value in scores.values_list("run", "measure", "value"):
        values.setdefault(run, {})[measure] = value
    topics = TopicScore.objects.filter(qrel_set=qrels, measure=names[0]).order_by().values("run")
    counts = dict(topics.annotate(count=Count("pk")).values_list("run", "count"))
    return {
        run: RunMeans(tuple(run_values.get(name) for name in names), counts.get(run))
        for run, run_values in values.items()
    }


def _question(
    share: AnswerShare, answers: pl.DataFrame, relevant: pl.DataFrame, labels: Iterable[ScaleLabel]
) -> QuestionAnswers:
    mine = answers.filter(pl.col("question") == share.question.key)
    judged = mine.join(relevant, on=_ITEM)
    counted = judged.filter(pl.col("label") == share.question.counted)
    return QuestionAnswers(
        share,
        [(label, mine.filter(pl.col("label") == label.value).height) for label in labels],
        _not_relevant(counted),
        _not_relevant(judged),
    )


def _not_relevant(judged: pl.DataFrame) -> float | None:
    others = judged.filter(~pl.col("relevant")).height
    return 100 * others / judged.height if judged.height else None


def _ordered(rows: list[RunAnswers]) -> list[RunAnswers]:
    best: dict[int, float] = {}
    for row in rows:
        team = row.run.team_id
        best[team] = max(best.get(team, 0.0), row.means.values[0] or 0.0)

    def place(row: RunAnswers) -> tuple[object, ...]:
        run, mean = row.run, row.means.values[0] or 0.0
        team = () if run.is_baseline else (-best[run.team_id], run.team.name)
        return (not run.standing.counts, not run.is_baseline, team, -mean, run.tag)

    return sorted(rows, key=place)
