"""The results of special questions: MG, UI and the like for each run (004 §6.4.3, Table 5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import polars as pl
from django.core.cache import cache

from arqlab.core.models import Task
from arqlab.ir.judgments.questions import AnswerShare, SpecialQuestion, answer_shares
from arqlab.ir.labels import ScaleLabel
from arqlab.ir.measures.names import parse_measures
from arqlab.ir.measures.scoring import means
from assessment.models import PoolItem, Round
from assessment.qrels.selectors.drafts import host_of
from assessment.rounds.selectors.votes import round_votes
from evaluation.services.effects import KEPT, Contest, draft_contest
from submissions.models import Run

MEASURES = ("AR", "P@1")
_ITEM = ["topic", "item"]


class RunAnswers(NamedTuple):
    """A run in the table of results.

    - means: AR and P@1 by the draft of the qrels, over the `topics` that count for the run.
    - items: how many of its items have an answer; `shares` are over these.
    """

    run: Run
    means: tuple[float, ...]
    topics: int
    items: int
    shares: list[AnswerShare]


class QuestionAnswers(NamedTuple):
    """The answers to a question.

    - labels: the number of items by answer.
    - counted, every: of the items with the counted answer and of all items with an answer, the
      percentage that is not relevant by the draft of the qrels.
    """

    share: AnswerShare
    labels: list[tuple[ScaleLabel, int]]
    counted: float | None
    every: float | None


class RoundAnswers(NamedTuple):
    """The results of a round of special questions."""

    runs: list[RunAnswers]
    questions: list[QuestionAnswers]
    items: int


def round_answers(found: Round) -> RoundAnswers:
    """Return the results of a round of special questions from the answers so far.

    Labels that are not judgments are no answers. Runs are those with an item among the answers,
    baselines first, then teams by their best AR (protocol §4).
    """
    scale = found.pool.label_scale
    votes = round_votes(found.pool).filter(scale.is_judged())
    answers = votes.select(*_ITEM, "label", question="doc_id")
    contests = [draft_contest(task) for task in _tasks(found)]
    runs = [row for one in contests for row in _run_rows(one, answers, found.questions)]
    relevant = pl.concat([_relevance(one) for one in contests])
    questions = [
        _question(share, answers, relevant, scale.judgments)
        for share in answer_shares(answers, found.questions)
    ]
    return RoundAnswers(_ordered(runs), questions, answers.select(_ITEM).n_unique())


def _tasks(found: Round) -> list[Task]:
    """Return the tasks whose runs brought the items: Task 3 for answers in the pool of Task 1."""
    kinds = found.pool.items.order_by().values_list("kind", flat=True).distinct()
    written = Task.objects.filter(lab=found.task.lab_id, kind=Task.Kind.GENERATED_ANSWERS)
    guests = [task for task in written.select_related("lab") if host_of(task) == found.task]
    own = [found.task] if not guests or set(kinds) - {PoolItem.Kind.ANSWERS} else []
    return [*own, *guests]


def _run_rows(
    contest: Contest, answers: pl.DataFrame, questions: Sequence[SpecialQuestion]
) -> list[RunAnswers]:
    """Return the rows of a task's runs, from the cache if nothing changed."""
    qrels = contest.qrels(contest.draft.judged)
    key = contest.key("special-questions", qrels, answers)
    rows: list[dict[str, Any]] | None = cache.get(key)
    if rows is None:
        rows = _scored(contest, qrels, answers)
        cache.set(key, rows, timeout=KEPT)
    runs = {run.pk: run for run in contest.runs}
    found = []
    for row in rows:
        mine = pl.DataFrame(row["answers"], schema=answers.schema, orient="row")
        shares = answer_shares(mine, questions)
        items = mine.select(_ITEM).n_unique()
        found.append(RunAnswers(runs[row["run"]], row["means"], row["topics"], items, shares))
    return found


def _scored(contest: Contest, qrels: pl.DataFrame, answers: pl.DataFrame) -> list[dict[str, Any]]:
    measures = parse_measures(MEASURES, relevant_from=contest.like.relevant_from)
    scorer = contest.scorer(qrels, measures)
    rows = []
    for run, index in contest.indexes(qrels):
        mine = answers.join(index, on=_ITEM, how="semi")
        if mine.is_empty():
            continue
        scores = scorer.score(index)
        mean_of = means(scores)
        rows.append(
            {
                "run": run.pk,
                "means": tuple(float(mean_of.get(one.name) or 0.0) for one in measures),
                "topics": scores["topic"].n_unique(),
                "answers": mine.rows(),
            }
        )
    return rows


def _relevance(contest: Contest) -> pl.DataFrame:
    """Return the judged items of a task (topic, item) and whether each is relevant."""
    qrels = contest.qrels(contest.draft.judged, with_dropped=True)
    return qrels.select(*_ITEM, relevant=pl.col("label") >= contest.like.relevant_from)


def _question(
    share: AnswerShare,
    answers: pl.DataFrame,
    relevant: pl.DataFrame,
    labels: Iterable[ScaleLabel],
) -> QuestionAnswers:
    mine = answers.filter(pl.col("question") == share.question.key)
    judged = mine.join(relevant, on=_ITEM)
    counted = judged.filter(pl.col("label") == share.question.counted)
    return QuestionAnswers(
        share,
        [(one, mine.filter(pl.col("label") == one.value).height) for one in labels],
        _not_relevant(counted),
        _not_relevant(judged),
    )


def _not_relevant(judged: pl.DataFrame) -> float | None:
    others = judged.filter(~pl.col("relevant")).height
    return 100 * others / judged.height if judged.height else None


def _ordered(rows: list[RunAnswers]) -> list[RunAnswers]:
    best: dict[int, float] = {}
    for row in rows:
        best[row.run.team_id] = max(best.get(row.run.team_id, 0.0), row.means[0])

    def place(row: RunAnswers) -> tuple[object, ...]:
        run = row.run
        team = () if run.is_baseline else (-best[run.team_id], run.team.name)
        return (not run.is_baseline, team, -row.means[0], run.tag)

    return sorted(rows, key=place)
