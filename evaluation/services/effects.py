"""What rounds say about runs: the effect of other labels, and special questions (004 §6.4.3).

Nothing is stored. Runs are scored against the draft of the qrels as it is and with other labels. Of
the labels of an item with several instances, the one counts that the qrels have.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

import polars as pl
from django.db.models import Count

from arqkit.comparison.correlation import RankingEffect, ranking_effects
from arqkit.judgments.qrels import JudgedTopic, Level
from arqkit.judgments.questions import AnswerShare, answer_shares
from arqkit.labels import ScaleLabel
from arqkit.measures.names import Measure, MeasureFailedError, parse_measures
from arqlab.core.caches import cached_value, key_of, recent_value
from arqlab.core.models import Task
from assessment.models import PoolItem, QrelSet, Round
from assessment.qrels.selectors.drafts import (
    Draft,
    LabelSource,
    draft_of,
    draft_topics,
    host_of,
    items_at,
    task_scale,
)
from assessment.qrels.selectors.versions import qrels_named
from assessment.rounds.selectors.items import question_labels
from assessment.rounds.selectors.votes import round_votes
from evaluation.models import RunScore, TopicScore
from evaluation.selectors.pending_scores import measures_of
from evaluation.services.scoring import comparable_indexes, scorer_of, scoring_work
from submissions.models import Run

MEASURES = ("AR", "P@1")
_ITEM = ["topic", "item"]

log = logging.getLogger(__name__)

MOST_CHANGES = 1000
"""The number of changed labels whose effect is computed at a time."""


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

    key = key_of("special-questions", task.pk, _facts(runs), answers.write_csv())
    return cached_value(key, compute, work=scoring_work(runs))


def _facts(runs: Iterable[Run]) -> list[tuple[object, ...]]:
    """Return what the items of runs depend on: for keys of caches."""
    return [(run.pk, run.index.name, run.identifier, run.answer_ids) for run in runs]


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


class MeasureEffect(NamedTuple):
    """How the rankings by official and second labels compare, by all topics and by those with
    second labels.
    """

    measure: Measure
    all_topics: RankingEffect
    judged_again: RankingEffect


class SecondEffect(NamedTuple):
    """The effect of the second labels of a round on the leaderboard.

    - measures: the effect by measure, the main one first.
    - topics, again: the number of topics of the qrels, and of those with second labels.
    - means: run, measure, first and second (the means over all topics), first_again and
      second_again (the means over topics with second labels).
    """

    measures: list[MeasureEffect]
    topics: int
    again: int
    means: pl.DataFrame

    @property
    def rows(self) -> list[dict[str, object]]:
        """Return the means of each run by measure, with the measure's heading."""
        headings = {effect.measure.name: effect.measure.heading for effect in self.measures}
        return [row | {"heading": headings[row["measure"]]} for row in self.means.to_dicts()]


class DraftScores(NamedTuple):
    """The topics of a draft, the measures, and the scores of runs: run, topic, measure and value.

    `scores` is None if they are not computed. `as_of` is the time of their labels if others have
    followed.
    """

    topics: list[JudgedTopic]
    measures: Sequence[Measure]
    scores: pl.DataFrame | None
    as_of: datetime | None


@dataclass(frozen=True)
class _Contest:
    """The runs of a task that can be scored against its draft, and how.

    The effect of a label is its effect on the draft of one assessor, where two are added.
    """

    task: Task
    adds: bool
    level: Level
    like: QrelSet
    measures: tuple[Measure, ...]
    runs: Sequence[Run]

    @cached_property
    def draft(self) -> Draft:
        """Return the draft, which reads every label."""
        return draft_of(self.task, adds=self.adds)

    def qrels(self, judged: pl.DataFrame, *, with_dropped: bool = False) -> pl.DataFrame:
        draft = replace(self.draft, judged=judged)
        return draft.qrels(self.level, complete=False, with_dropped=with_dropped)

    def key(self, name: str, *frames: pl.DataFrame) -> str:
        """Return the key under which a result is cached: it changes with everything it is from."""
        rules = (self.like.items, self.like.relevant_from, self.measures)
        return key_of(
            name, self.task.pk, _facts(self.runs), rules, *(frame.write_csv() for frame in frames)
        )


def second_effect(round_: Round, pairs: pl.DataFrame) -> SecondEffect:
    """Return the effect of the second labels of a round, from the cache if nothing changed.

    The official qrels are compared with the same qrels with the second labels of `pairs`, which
    are judgments (`only_judged_pairs`). An adjudicated label does not count here.
    """
    contest = _contest(round_.task, adds=False)
    judged = contest.draft.judged
    qrels = {
        side: contest.qrels(_relabelled(judged, pairs.select("topic", "doc_id", label=side)))
        for side in ("first", "second")
    }
    again = pairs["topic"].unique().to_list()
    key = contest.key("second-effect", *qrels.values(), pl.DataFrame({"topic": sorted(again)}))
    work = scoring_work(contest.runs, times=2)
    scores = cached_value(key, lambda: _scores(contest, qrels), work=work)
    whole = _means(scores)
    part = _means(scores.filter(pl.col("topic").is_in(again)))
    effects, again_effects = _effects(whole), _effects(part)
    nothing = RankingEffect(0, None, None, ())
    topics = qrels["first"]["topic"].unique()
    return SecondEffect(
        [
            MeasureEffect(measure, effects[measure.name], again_effects.get(measure.name, nothing))
            for measure in contest.measures
            if measure.name in effects
        ],
        len(topics),
        int(topics.is_in(again).sum()),
        whole.join(
            part.rename({"first": "first_again", "second": "second_again"}),
            on=["run", "measure"],
            how="left",
            maintain_order="left",
        ),
    )


def draft_scores(task: Task, *, computes: bool) -> DraftScores:
    """Return the scores of all runs against a task's draft; compute missing ones only if asked."""
    contest, draft = _contest(task, adds=True), draft_topics(task)

    def compute() -> pl.DataFrame:
        qrels = contest.qrels(contest.draft.judged)
        return _scores(contest, {"first": qrels}).drop("side")

    scores = recent_value(
        contest.key("draft-scores"),
        (draft.digest, draft.dropped),
        compute if computes else None,
        work=scoring_work(contest.runs),
    )
    as_of = scores.as_of or draft.as_of
    return DraftScores(draft.topics, contest.measures, scores.value, as_of)


def label_effects(task: Task, changes: pl.DataFrame) -> Mapping[int, float]:
    """Return how much other labels would change the leaderboard, by official instance.

    `changes` has the columns instance, topic, doc_id and label, one row for each other label. The
    effect is the largest change of the mean of a run in the main measure, over the labels of an
    instance and the runs. Only the first `MOST_CHANGES` rows are computed.
    """
    contest, some = _contest(task, adds=False), changes.head(MOST_CHANGES)
    names = pl.format("{}\t{}", "topic", pl.int_range(pl.len()))
    some = some.with_columns(name=names)
    base = contest.qrels(contest.draft.judged)
    some = some.filter(pl.col("topic").is_in(base["topic"].unique().to_list()))
    if some.is_empty() or not contest.measures:
        return {}
    altered = some.select("topic", "name", other_id="doc_id", other="label").join(
        contest.draft.judged, on="topic"
    )
    changed = pl.when(pl.col("doc_id") == pl.col("other_id")).then("other").otherwise("label")
    judged = altered.select(topic="name", item="item", doc_id="doc_id", label=changed)
    qrels = pl.concat([base, contest.qrels(judged, with_dropped=True)])
    key = contest.key("label-effects", qrels)
    copies = some.select("topic", "name")
    work = scoring_work(contest.runs, times=2)
    effects = cached_value(key, lambda: _largest_changes(contest, qrels, copies), work=work)
    effect_of: dict[int, float] = {}
    for instance, name in some.select("instance", "name").iter_rows():
        effect_of[instance] = max(effect_of.get(instance, 0.0), effects.get(name, 0.0))
    return effect_of


def main_measure(task: Task) -> Measure | None:
    """Return the measure by which `label_effects` compares runs."""
    return next(iter(_contest(task, adds=False).measures), None)


def _largest_changes(
    contest: _Contest, qrels: pl.DataFrame, copies: pl.DataFrame
) -> dict[str, float]:
    """Return the largest change of a run's mean for each copy of a topic (topic, name)."""
    measure = contest.measures[0]
    scorer = scorer_of(contest.like, qrels, [measure])
    largest: dict[str, float] = {}
    for _, index in comparable_indexes(contest.runs, contest.like, qrels):
        copied = index.join(copies, on="topic").with_columns(topic="name").select(index.columns)
        scored = scorer.score(pl.concat([index, copied])).select("topic", "value")
        topics = scored.join(copies.select(topic="name"), on="topic", how="anti")
        both = copies.join(topics, on="topic").join(
            scored.rename({"value": "other"}), left_on="name", right_on="topic"
        )
        change = ((pl.col("other") - pl.col("value")).abs() / topics.height).alias("change")
        for name, value in both.select("name", change).iter_rows():
            largest[name] = max(largest.get(name, 0.0), value)
    return largest


def _contest(task: Task, *, adds: bool) -> _Contest:
    current = qrels_named(task)
    choices = LabelSource(task).levels
    levels = {str(items_at(task, level)): level for level in choices}
    level = levels.get(current.items if current else "", choices[-1])
    rules, items = task.protocol, items_at(task, level)
    relevant_from = rules.relevant_from if adds else rules.relevant_in(task_scale(task))
    like = QrelSet(task=task, name="draft", items=items, relevant_from=relevant_from)
    measures = (
        measure for measure in measures_of(like) if measure.is_rating and not measure.needs_texts
    )
    runs = list(task.runs.competing().select_related("team").order_by("pk"))
    return _Contest(task, adds, level, like, tuple(measures), runs)


def _relabelled(judged: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Return judged instances with other labels (topic, doc_id, label) for some of them."""
    other = labels.rename({"label": "other"})
    joined = judged.join(other, on=["topic", "doc_id"], how="left", maintain_order="left")
    return joined.with_columns(label=pl.coalesce("other", "label")).drop("other")


def _scores(contest: _Contest, qrels: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the scores of all runs by each of the qrels: run, topic, measure, side, value."""
    scorers = {
        side: scorer_of(contest.like, frame, contest.measures) for side, frame in qrels.items()
    }
    parts = []
    for run, index in comparable_indexes(contest.runs, contest.like, qrels["first"]):
        named = pl.lit(str(run)).alias("run")
        try:
            parts += [
                scorer.score(index).with_columns(named, side=pl.lit(side))
                for side, scorer in scorers.items()
            ]
        except MeasureFailedError:
            log.exception("A measure of run %s (%s) fails.", run.pk, run.tag)
    schema = {"topic": pl.String, "measure": pl.String, "value": pl.Float64}
    empty = pl.DataFrame(schema=schema | {"run": pl.String, "side": pl.String})
    return pl.concat([empty, *parts])


def _means(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the means over topics: run, measure, first, second."""
    sides = [
        pl.col("value").filter(pl.col("side") == side).mean().alias(side)
        for side in ("first", "second")
    ]
    return scores.group_by("run", "measure", maintain_order=True).agg(sides).drop_nulls()


def _effects(means: pl.DataFrame) -> dict[str, RankingEffect]:
    first, second = (means.select("run", "measure", value=side) for side in ("first", "second"))
    return ranking_effects(first, second)
