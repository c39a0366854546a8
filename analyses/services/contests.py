"""The runs of a task against the draft of its qrels, as it is or with other labels."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from arqkit.judgments.qrels import Level
from arqkit.measures.names import Measure, MeasureFailedError
from arqlab.core.caches import key_of
from arqlab.core.models import Task
from assessment.models import QrelSet
from assessment.qrels.selectors.drafts import Draft, LabelSource, draft_of, items_at, task_scale
from assessment.qrels.selectors.versions import qrels_named
from evaluation.selectors.pending_scores import measures_of
from evaluation.services.scoring import comparable_indexes, scorer_of
from submissions.models import Run

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Contest:
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
        """Return the qrels that the draft would be with these judged instances."""
        draft = replace(self.draft, judged=judged)
        return draft.qrels(self.level, complete=False, with_dropped=with_dropped)

    def key(self, name: str, *frames: pl.DataFrame) -> str:
        """Return the key under which a result is cached: it changes with everything it is from."""
        rules = (self.like.items, self.like.relevant_from, self.measures)
        return key_of(
            name,
            self.task.pk,
            index_facts(self.runs),
            rules,
            *(frame.write_csv() for frame in frames),
        )


def contest_of(task: Task, *, adds: bool) -> Contest:
    """Return the competing runs of a task with its draft, at the level of its current qrels.

    With `adds`, labels of two assessors are added where the task does so.
    """
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
    return Contest(task, adds, level, like, tuple(measures), runs)


def contest_scores(contest: Contest, qrels: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the scores of all runs by each of the qrels: run, topic, measure, side, value."""
    scorers = {
        side: scorer_of(contest.like, frame, contest.measures) for side, frame in qrels.items()
    }
    parts = []
    for run, index in comparable_indexes(contest.runs, contest.like, qrels["first"]):
        run_name = pl.lit(str(run)).alias("run")
        try:
            parts += [
                scorer.score(index).with_columns(run_name, side=pl.lit(side))
                for side, scorer in scorers.items()
            ]
        except MeasureFailedError:
            log.exception("A measure of run %s (%s) fails.", run.pk, run.tag)
    schema = {"topic": pl.String, "measure": pl.String, "value": pl.Float64}
    empty = pl.DataFrame(schema=schema | {"run": pl.String, "side": pl.String})
    return pl.concat([empty, *parts])


def index_facts(runs: Iterable[Run]) -> list[tuple[object, ...]]:
    """Return what the items of runs depend on: for keys of caches."""
    return [(run.pk, run.index.name, run.identifier, run.answer_ids) for run in runs]
