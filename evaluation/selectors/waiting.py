"""Which runs can be scored against which qrels, and which of these still wait."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from django.db.models import CharField, OuterRef, Subquery, Value
from django.db.models.functions import Coalesce

from arqlab.core.models import Task
from arqlab.ir.measures.names import Measure, parse_measures
from arqlab.ir.records import ItemKind
from assessment.models import QrelSet
from collection.models import Collection, VisualMap
from evaluation.models import Scoring
from submissions.models import Run
from submissions.selectors import run_items

FORMULAS_INDEX = Coalesce(
    Subquery(
        VisualMap.objects.filter(collection__labs=OuterRef("task__lab"))
        .order_by("-version")
        .values("mapping")[:1]
    ),
    Subquery(Collection.objects.filter(labs=OuterRef("task__lab")).values("formulas_index")[:1]),
    Value(""),
    output_field=CharField(),
)
"""The columns that give the visual ids of formulas in the lab of some qrels: those of the newest
version, before the first one the formula index; empty where there is none."""


def measures_of(qrel_set: QrelSet) -> tuple[Measure, ...]:
    """Return the measures that runs are scored with against these qrels, the main one first."""
    return parse_measures(qrel_set.task.protocol.measures, relevant_from=qrel_set.relevant_from)


def identity_of(run: Run, qrel_set: QrelSet, *, formulas_index: str) -> str:
    """Return what the items of a run are joined with those of qrels by, where the ids in its file do
    not say it alone.

    Qrels know a written answer by the run's tag. Formula ids become visual ids by the collection's
    index, whose name differs with its content. When this changes, the scores that were made with it
    do not stand any more.
    """
    if qrel_set.items == ItemKind.ANSWERS:
        return run.tag
    is_joined = (
        qrel_set.items == ItemKind.VISUAL_IDS
        and run_items(run, qrel_set.task) == ItemKind.FORMULA_IDS
    )
    return formulas_index if is_joined else ""


def obstacle(run: Run, qrel_set: QrelSet, *, joins_formulas: bool) -> str:
    """Return in a sentence why a run cannot be scored against qrels; nothing when it can.

    Instances become visual ids by the lab's collection, if it joins them; a visual id names no
    instance, so there is no way back.
    """
    items = run_items(run, qrel_set.task)
    if items == qrel_set.items:
        return ""
    if items == ItemKind.VISUAL_IDS and qrel_set.items == ItemKind.FORMULA_IDS:
        return f"It names visual ids, and the qrels {qrel_set.name} judge formula ids: use qrels by visual ids."
    if items == ItemKind.FORMULA_IDS and qrel_set.items == ItemKind.VISUAL_IDS:
        if joins_formulas:
            return ""
        return f"It names formula ids, the qrels {qrel_set.name} visual ids, and the lab's collection does not join them."
    return f"It names {Task.Items(items).label}, and the qrels {qrel_set.name} judge {Task.Items(qrel_set.items).label}."


def waiting_scores(task: Task | None = None) -> list[tuple[QrelSet, list[Run]]]:
    """Return the valid runs that lack scores, by the qrels that they lack them for; all tasks, or
    one.

    Three queries, however many labs: the beat asks this every few seconds.
    """
    qrel_sets = (
        QrelSet.objects.select_related("task__lab")
        .annotate(formulas_index=FORMULAS_INDEX)
        .order_by("pk")
    )
    runs = Run.objects.valid().filter(task__qrel_sets__isnull=False).distinct().order_by("pk")
    scorings = Scoring.objects.filter(run__in=Run.objects.valid())
    if task is not None:
        qrel_sets, runs = qrel_sets.filter(task=task), runs.filter(task=task)
        scorings = scorings.filter(qrel_set__task=task)
    by_task: dict[int, list[Run]] = defaultdict(list)
    for run in runs:
        by_task[run.task_id].append(run)
    scored = {(scoring.run_id, scoring.qrel_set_id): scoring for scoring in scorings}
    waiting: list[tuple[QrelSet, list[Run]]] = []
    for qrel_set in qrel_sets:
        possible = [
            run
            for run in by_task[qrel_set.task_id]
            if not obstacle(run, qrel_set, joins_formulas=bool(qrel_set.formulas_index))
        ]
        if lacking := _lacking(possible, qrel_set, scored, formulas_index=qrel_set.formulas_index):
            waiting.append((qrel_set, lacking))
    return waiting


def unscored_runs(qrel_set: QrelSet, scored: Iterable[int]) -> list[tuple[Run, str]]:
    """Return the valid runs that are on no board of these qrels, each with the reason; without one it
    only waits.
    """
    joins = bool(formulas_index_of(qrel_set))
    runs = (
        Run.objects.valid()
        .filter(task=qrel_set.task_id)
        .exclude(pk__in=list(scored))
        .select_related("team")
    )
    return [(run, obstacle(run, qrel_set, joins_formulas=joins)) for run in runs]


def formulas_index_of(qrel_set: QrelSet) -> str:
    """Return the name of the index by which formula ids become the visual ids of these qrels; empty
    without one.
    """
    return str(QrelSet.objects.filter(pk=qrel_set.pk).values_list(FORMULAS_INDEX, flat=True).get())


def _lacking(
    runs: list[Run],
    qrel_set: QrelSet,
    scored: Mapping[tuple[int, int], Scoring],
    *,
    formulas_index: str,
) -> list[Run]:
    if not runs:
        return []
    names, order = [measure.name for measure in measures_of(qrel_set)], qrel_set.task.protocol.order

    def lacks(run: Run) -> bool:
        scoring = scored.get((run.pk, qrel_set.pk))
        identity = identity_of(run, qrel_set, formulas_index=formulas_index)
        return scoring is None or not scoring.covers(names, order, identity)

    return [run for run in runs if lacks(run)]
