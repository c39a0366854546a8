"""Scoring of runs.

The database shows which runs lack scores: scoring twice changes nothing, and workers may die.
"""

import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from typing import NamedTuple, Protocol

import polars as pl
from django.conf import settings
from django.db import transaction
from django.db.models import F

from arqkit.formulas.visual_ids import distinct_visual
from arqkit.measures.contextual import answer_model, model_content, vectors_f1
from arqkit.measures.names import CONTEXTUAL_SIMILARITY, Measure, MeasureFailedError
from arqkit.measures.overlap import BestReference, Reference, lexical_overlap
from arqkit.measures.scoring import Scorer, means
from arqkit.records import ItemKind
from arqlab.core.faults import NOTIFIED_AFTER, reason_of
from arqlab.core.models import Task
from arqlab.core.services.storing import insert_rows
from arqlab.core.turns import in_turns
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import judged_frame
from collection.selectors.collections import visual_ids
from evaluation.models import RunScore, Scoring, ScoringFault, TopicScore
from evaluation.selectors.pending_scores import (
    formulas_index_of,
    item_identity,
    measures_of,
    pending_scores,
    scoring_obstacle,
)
from evaluation.selectors.references import (
    answers_qrels,
    is_by_model,
    named_answers,
    post_references,
    references_key,
    runs_known,
    text_measures,
    written_answers,
)
from submissions.models import Run
from submissions.selectors import ordered_index, readable, run_items
from submissions.services.reminders import notify_of_fault

UNREADABLE = "its index cannot be read, or a measure fails, as the log says"
SCORES = {"topic": pl.String, "measure": pl.String, "value": pl.Float64}

log = logging.getLogger(__name__)

RUNS_AT_ONCE = 20
"""The number of runs scored before their scores are stored: what a dying worker loses at most."""

OPENING, READING, ROWS = 0.003, 2e-6, 1_000
"""The seconds to open the index of a run and to read and score a row, and the rows of a run whose
report has no number."""


class _Comparison(Protocol):
    """The references of a task, and how similar the answers of a team are to them."""

    def values(self, answers: Mapping[str, str], *, team: int) -> dict[str, float]:
        """Return the value of each topic that has one."""


class TextScorer:
    """The measures of a task that compare texts, with their references, for many runs."""

    def __init__(self, qrel_set: QrelSet, judged: pl.DataFrame) -> None:
        self.measures: Sequence[Measure] = text_measures(qrel_set)
        self._topics = judged["topic"].unique()
        references = _references(qrel_set, judged) if self.measures else {}
        self._compared = {
            measure: _comparison(measure, qrel_set.task, references) for measure in self.measures
        }

    def score(self, run: Run) -> pl.DataFrame:
        """Return topic, measure and value; topics without a reference have no rows."""
        if not self.measures:
            return pl.DataFrame(schema=SCORES)
        answers = written_answers(run).filter(pl.col("topic").is_in(self._topics.to_list()))
        texts = dict(answers.select("topic", "answer").iter_rows())
        rows = [
            (topic, measure.name, value)
            for measure, compared in self._compared.items()
            for topic, value in compared.values(texts, team=run.team_id).items()
        ]
        return pl.DataFrame(rows, schema=SCORES, orient="row")


def _comparison(
    measure: Measure, task: Task, references: Mapping[str, Collection[Reference]]
) -> _Comparison:
    """Return what compares answers by a measure, which loads the model if it needs it."""
    if not is_by_model(measure, task):
        return lexical_overlap(references)
    folder = settings.ANSWER_MODEL
    model = answer_model(folder, model_content(folder))
    if measure is CONTEXTUAL_SIMILARITY:
        return BestReference(references, model.vectors, vectors_f1)
    return lexical_overlap(references, model.tokens)


def _references(qrel_set: QrelSet, judged: pl.DataFrame) -> dict[str, list[Reference]]:
    references: dict[str, list[Reference]] = defaultdict(list)
    relevant = judged.filter(pl.col("label") >= qrel_set.relevant_from)
    for run in runs_known(qrel_set.task):
        named = named_answers(written_answers(run), run, judged)
        answers = named.join(relevant, on=["topic", "item"], how="semi")
        for topic, text in answers.select("topic", "answer").iter_rows():
            references[topic].append(Reference(text, frozenset([run.team_id])))
    first = answers_qrels(qrel_set.task)
    longest = qrel_set.task.protocol.max_characters
    for topic, posts in (post_references(first, longest=longest) if first else {}).items():
        references[topic] += posts
    return references


def scoring_work(runs: Iterable[Run], *, times: float = 1) -> float:
    """Return about how many seconds it takes to score runs, a number of times."""
    return sum(OPENING + times * READING * (run.report.get("rows") or ROWS) for run in runs)


class _ScoredRun(NamedTuple):
    run: Run
    identity: str  # see `item_identity`
    topics: pl.DataFrame  # rows of `TopicScore`
    means: pl.DataFrame  # rows of `RunScore`


def score_waiting(*, at: datetime, task: Task | None = None) -> int:
    """Score the valid runs that lack scores, of all tasks or of one. Return their number.

    After a fault of the server, those of all tasks are tried again with growing pauses. Whoever
    names a task is waiting for it.
    """
    return sum(
        _score_or_wait(in_turns((run, run.team_id) for run in runs), qrel_set, at)
        for qrel_set, runs in pending_scores(task, due_at=None if task else at)
    )


def _score_or_wait(runs: Sequence[Run], qrel_set: QrelSet, at: datetime) -> int:
    """Score runs, or leave them to a later sweep if the server cannot read what it needs."""
    try:
        return score_runs(runs=runs, qrel_set=qrel_set, at=at)
    except OSError as error:
        log.error("Runs of %s wait for their scores: %s", qrel_set.task, error)
        _put_off(runs, qrel_set, reason_of(error), at=at)
        return 0


def _put_off(runs: Sequence[Run], qrel_set: QrelSet, reason: str, *, at: datetime) -> None:
    """Count a failed attempt at scoring runs, and notify the organizers of the third."""
    if not runs:
        return
    new = [ScoringFault(run=run, qrel_set=qrel_set, failed_at=at) for run in runs]
    # A fault of an earlier attempt stays, and is counted below.
    ScoringFault.objects.bulk_create(new, ignore_conflicts=True)
    faults = ScoringFault.objects.filter(run__in=runs, qrel_set=qrel_set)
    faults.update(attempts=F("attempts") + 1, failed_at=at)
    if late := faults.filter(attempts=NOTIFIED_AFTER).select_related("run").first():
        notify_of_fault(late.run, reason, at=at, work="score")


def score_runs(*, runs: Sequence[Run], qrel_set: QrelSet, at: datetime) -> int:
    """Score runs of one task against qrels. Return how many were scored.

    Uses the measures and the order of the task; `qrel_set` comes with its task and lab. Scores that
    are still valid are kept. A run whose index cannot be read is skipped and logged, so that the
    others are scored.
    """
    judged = judged_frame(qrel_set)
    scorer = scorer_of(qrel_set, judged, measures_of(qrel_set))
    # Read the name before the columns: if they change in between, the scores carry the old name,
    # and the next call replaces them.
    formulas_index, references = formulas_index_of(qrel_set), references_key(qrel_set)
    texts = TextScorer(qrel_set, judged)
    names = [measure.name for measure in (*scorer.measures, *texts.measures)]
    done = 0
    for start in range(0, len(runs), RUNS_AT_ONCE):
        part = runs[start : start + RUNS_AT_ONCE]
        identities = {
            run.pk: item_identity(
                run, qrel_set, formulas_index=formulas_index, references=references
            )
            for run in part
        }
        indexes = comparable_indexes(part, qrel_set, judged)
        scored = [
            _scored_run(run, identities[run.pk], qrel_set, topics, _means(topics, scorer, texts))
            for run, topics in _scored(indexes, scorer, texts)
        ]
        well = {each.run for each in scored}
        _put_off([run for run in part if run not in well], qrel_set, UNREADABLE, at=at)
        done += sum(_store(each, qrel_set=qrel_set, measures=names, at=at) for each in scored)
        ScoringFault.objects.filter(qrel_set=qrel_set, run__in=well).delete()
    if done:
        log.info("Scored runs of %s with qrels %s: %s.", qrel_set.task, qrel_set.name, done)
    return done


def _scored(
    indexes: Iterable[tuple[Run, pl.DataFrame]], scorer: Scorer, texts: TextScorer
) -> Iterator[tuple[Run, pl.DataFrame]]:
    """Yield each run that can be scored with its scores by topic: topic, measure, value."""
    with ThreadPoolExecutor(2) as pool:  # scores runs while the indexes of others are read
        waiting = [(run, pool.submit(scorer.score, index)) for run, index in indexes]
    for run, future in waiting:
        try:
            scores = readable(run, lambda: pl.concat([future.result(), texts.score(run)]))  # noqa: B023
        except MeasureFailedError:
            log.exception("A measure of run %s (%s) fails; it is not scored.", run.pk, run.tag)
        else:
            if scores is not None:
                yield run, scores.select("topic", "measure", "value")


def _means(topics: pl.DataFrame, scorer: Scorer, texts: TextScorer) -> dict[str, float]:
    """Return the means of a run. One that answers no topic of the qrels has no mean, but 0."""
    mean_of = means(topics)
    judged_means = {
        measure.name: float(mean_of.get(measure.name) or 0.0) for measure in scorer.measures
    }
    names = (measure.name for measure in texts.measures)
    return judged_means | {name: mean_of[name] for name in names if name in mean_of}


def scorer_of(
    qrel_set: QrelSet,
    judged: pl.DataFrame,
    measures: Sequence[Measure],
    *,
    answered_only: bool | None = None,
) -> Scorer:
    """Return the scorer of measures under the rules of qrels, and of their task unless given."""
    if answered_only is None:
        answered_only = qrel_set.task.protocol.answered_only
    return Scorer(
        judged, measures, relevant_from=qrel_set.relevant_from, answered_only=answered_only
    )


def comparable_indexes(
    runs: Iterable[Run], qrel_set: QrelSet, judged: pl.DataFrame, *, scores: bool = False
) -> Iterator[tuple[Run, pl.DataFrame]]:
    """Yield each run with its items of the type of the qrels; unreadable runs are logged.

    With `scores`, the items have their rank and score.
    """
    is_visual = qrel_set.items == ItemKind.VISUAL_IDS
    mapping = visual_ids(qrel_set.task.lab, qrel_set.visual_version) if is_visual else None
    columns = ("topic", "item", *(("rank", "score") if scores or is_visual else ()))

    def read(run: Run) -> pl.DataFrame:
        index = ordered_index(run, order=qrel_set.task.protocol.order, columns=columns).collect()
        return comparable_items(index, run, qrel_set=qrel_set, judged=judged, mapping=mapping)

    for run in runs:
        if not scoring_obstacle(run, qrel_set, joins_formulas=mapping is not None):
            index = readable(run, partial(read, run))
            if index is not None:
                yield run, index


def comparable_items(
    index: pl.DataFrame,
    run: Run,
    *,
    qrel_set: QrelSet,
    judged: pl.DataFrame,
    mapping: pl.DataFrame | None,
) -> pl.DataFrame:
    """Return rows of the run's index with items of the type that the qrels have."""
    if qrel_set.items == ItemKind.VISUAL_IDS:
        has_formulas = run_items(run, qrel_set.task) == ItemKind.FORMULA_IDS
        order = qrel_set.task.protocol.order
        return distinct_visual(index, mapping if has_formulas else None, by=order)
    return named_answers(index, run, judged) if qrel_set.items == ItemKind.ANSWERS else index


def _scored_run(
    run: Run, identity: str, qrel_set: QrelSet, topics: pl.DataFrame, means: dict[str, float]
) -> _ScoredRun:
    whose = {"run_id": pl.lit(run.pk), "qrel_set_id": pl.lit(qrel_set.pk)}
    rows = pl.DataFrame({"measure": list(means), "value": list(means.values())})
    return _ScoredRun(
        run,
        identity,
        topics.select(**whose, query_id="topic", measure="measure", value="value"),
        rows.select(**whose, measure="measure", value="value"),
    )


@transaction.atomic
def _store(scored: _ScoredRun, *, qrel_set: QrelSet, measures: list[str], at: datetime) -> bool:
    """Store the scores of a run, unless they are stored. Return whether they were.

    It is one run and all is prepared, because SQLite has one writer, for which assessors wait: a
    run of 100 topics takes 5 ms of a core, which goes to pages first, so that it may be 50 ms.
    """
    # Of two workers with the same runs, one waits here and then has nothing left to store.
    # Only this row is locked: the default order joins the task, which a deletion has locked.
    locked = QrelSet.objects.select_for_update(no_key=True, of=("self",))
    if locked.filter(pk=qrel_set.pk).first() is None:
        return False  # An organizer has deleted the version.
    order, whose = qrel_set.task.protocol.order, {"run": scored.run, "qrel_set": qrel_set}
    stored, valid_names = Scoring.objects.filter(**whose).first(), set[str]()
    if stored:
        if stored.covers(measures, order, scored.identity):
            return False
        valid_names = set(stored.measures) if stored.holds(order, scored.identity) else valid_names
        for model in (RunScore, TopicScore):
            stale = model.objects.filter(**whose)
            (stale.filter(measure__in=measures) if valid_names else stale).delete()
    insert_rows(TopicScore, scored.topics)
    insert_rows(RunScore, scored.means)
    Scoring(
        pk=stored.pk if stored else None,  # by which `counted_runs` counts submissions
        **whose,
        measures=sorted(valid_names.union(measures)),
        order=order,
        identity=scored.identity,
        scored_at=at,
    ).save()
    return True
