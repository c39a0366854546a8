"""The runs that can be scored against qrels, and those that still lack scores."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from hashlib import sha256

from django.db.models import CharField, Exists, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce

from arqkit.measures.names import Measure, parse_measures
from arqkit.records import ItemKind
from arqlab.core.faults import due
from arqlab.core.models import Task
from assessment.models import QrelSet
from collection.models import Collection, VisualMap
from collection.selectors.collections import visual_ids_file
from evaluation.models import Scoring, ScoringFault
from evaluation.selectors.references import references_key, text_measures
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
"""The name of the file with the visual ids of formulas in the lab of the qrels: the newest version,
else the formula index, else empty."""


_MAPPING_RULES = 2
"""The version of the rules by which formula ids become visual ids (`distinct_visual`). Increase it
with every change of the rules, so that existing scores are recomputed."""


def measures_of(qrel_set: QrelSet) -> tuple[Measure, ...]:
    """Return the measures of the task with the relevance threshold of the qrels, main one first."""
    return parse_measures(qrel_set.task.protocol.measures, relevant_from=qrel_set.relevant_from)


def item_identity(run: Run, qrel_set: QrelSet, *, formulas_index: str, references: str = "") -> str:
    """Return what links the items of a run to those of qrels, apart from the ids in its file.

    Qrels identify an answer (Task 3) by the run's identifier, or by its own id if it was published
    with one. Formula ids are mapped to visual ids by the collection's formula index, whose file
    name changes with its content, under rules that have a version. Texts of answers are compared
    with `references` (their digest). Scores are invalid when this value changes. It is empty if the
    ids are the same.
    """
    if qrel_set.items == ItemKind.ANSWERS:
        digest = sha256(repr(sorted(run.answer_ids.items())).encode()).hexdigest()
        run_identity = f"{run.identifier} {digest[:16]}" if run.answer_ids else run.identifier
        return (
            sha256(f"{run_identity} {references}".encode()).hexdigest()
            if references
            else run_identity
        )
    is_joined = (
        qrel_set.items == ItemKind.VISUAL_IDS
        and run_items(run, qrel_set.task) == ItemKind.FORMULA_IDS
    )
    return f"{formulas_index} {_MAPPING_RULES}" if is_joined else ""


def item_facts(runs: Iterable[Run], qrel_set: QrelSet) -> list[tuple[object, ...]]:
    """Return for each run what its items, as qrels identify them, depend on: for keys of caches."""
    index = formulas_index_of(qrel_set)
    return [
        (run.pk, run.index.name, item_identity(run, qrel_set, formulas_index=index)) for run in runs
    ]


def qrels_rules(qrel_set: QrelSet) -> tuple[object, ...]:
    """Return what scores by qrels depend on beside runs and measures: for keys of caches."""
    scale, protocol = qrel_set.label_scale.unjudged, qrel_set.task.protocol
    labels = qrel_set.items, qrel_set.relevant_from, scale
    return (qrel_set.pk, qrel_set.sha256, *labels, protocol.order, protocol.answered_only)


def scoring_obstacle(run: Run, qrel_set: QrelSet, *, joins_formulas: bool) -> str:
    """Return the reason why a run cannot be scored against qrels, or an empty string.

    The lab's collection may map formula ids to visual ids (`joins_formulas`), but not the reverse.
    """
    items = run_items(run, qrel_set.task)
    if items == qrel_set.items:
        return ""
    if items == ItemKind.VISUAL_IDS and qrel_set.items == ItemKind.FORMULA_IDS:
        return (
            f"The run has visual ids, but the qrels {qrel_set.name} have formula ids. "
            "Use qrels with visual ids."
        )
    if items == ItemKind.FORMULA_IDS and qrel_set.items == ItemKind.VISUAL_IDS:
        if joins_formulas:
            return ""
        return (
            f"The run has formula ids and the qrels {qrel_set.name} have visual ids, "
            "but the lab's collection does not map one to the other."
        )
    return (
        f"The run has {Task.Items(items).label}, "
        f"but the qrels {qrel_set.name} have {Task.Items(qrel_set.items).label}."
    )


def pending_scores(
    task: Task | None = None, *, due_at: datetime | None = None
) -> list[tuple[QrelSet, list[Run]]]:
    """Return the valid runs that lack scores for each of the qrels, of all tasks or of one.

    At a time (`due_at`), those are left out that failed and whose next attempt is later.
    Celery beat calls it every few seconds, so the database says what may lack scores, with three
    queries whatever the number of labs, and only these runs are read.
    """
    sets = QrelSet.objects.select_related("task__lab").annotate(formulas_index=FORMULAS_INDEX)
    qrel_sets = list((sets if task is None else sets.filter(task=task)).order_by("pk"))
    scorable = Run.objects.scorable()
    suspects = Q(pk__in=_unscored(qrel_sets)) | Q(task__in=_tasks_with_stale_scores(qrel_sets))
    runs = list(scorable.filter(suspects).order_by("pk"))
    if not runs:
        return []
    scorings = Scoring.objects.filter(run__in=runs, qrel_set__in=qrel_sets)
    by_task: dict[int, list[Run]] = defaultdict(list)
    for run in runs:
        by_task[run.task_id].append(run)
    scored = {(scoring.run_id, scoring.qrel_set_id): scoring for scoring in scorings}
    failed = ScoringFault.objects.exclude(due("failed_at", due_at)) if due_at else ()
    later = {(fault.run_id, fault.qrel_set_id) for fault in failed}
    waiting: list[tuple[QrelSet, list[Run]]] = []
    for qrel_set in qrel_sets:
        possible = [
            run
            for run in by_task[qrel_set.task_id]
            if (run.pk, qrel_set.pk) not in later
            and not scoring_obstacle(run, qrel_set, joins_formulas=bool(qrel_set.formulas_index))
        ]
        lacking = _lacking(possible, qrel_set, scored, formulas_index=qrel_set.formulas_index)
        if lacking:
            waiting.append((qrel_set, lacking))
    return waiting


def _unscored(qrel_sets: Iterable[QrelSet]) -> list[int]:
    """Return the runs (keys) that were never scored against some of their qrels."""
    runs = Run.objects.scorable().filter(task__qrel_sets__in=qrel_sets)
    scorings = Scoring.objects.filter(run=OuterRef("pk"), qrel_set=OuterRef("task__qrel_sets"))
    return list(runs.filter(~Exists(scorings)).order_by().values_list("pk", flat=True).distinct())


def _tasks_with_stale_scores(qrel_sets: Iterable[QrelSet]) -> set[int]:
    """Return the tasks (keys) with scores that are not valid any more.

    Scores of one task have few kinds, except those of Task 3, which are all looked at.
    """
    by_key = {qrel_set.pk: qrel_set for qrel_set in qrel_sets}
    is_text = {key for key, one in by_key.items() if one.items == ItemKind.ANSWERS}
    scorings = Scoring.objects.filter(run__in=Run.objects.scorable(), qrel_set__in=by_key)
    facts = ("qrel_set", "measures", "order", "identity", "run__items", "run__report__items")
    kinds = scorings.exclude(qrel_set__in=is_text).order_by().values_list(*facts).distinct()
    stale = {by_key[key].task_id for key in is_text}
    for key, measures, order, identity, items, report_items in kinds:
        qrel_set, scoring = by_key[key], Scoring(measures=measures, order=order, identity=identity)
        like = Run(items=items, report={"items": report_items})
        index = vars(qrel_set)["formulas_index"]  # annotated
        if _lacking([like], qrel_set, {(like.pk, key): scoring}, formulas_index=index):
            stale.add(qrel_set.task_id)
    return stale


def unscored_runs(qrel_set: QrelSet, scored: Iterable[int]) -> list[tuple[Run, str]]:
    """Return the valid runs that are not `scored`, with the reasons.

    The reason is empty for a run that is only waiting.
    """
    joins = bool(formulas_index_of(qrel_set))
    runs = (
        Run.objects.valid()
        .filter(task=qrel_set.task_id)
        .exclude(pk__in=list(scored))
        .select_related("team")
    )
    return [(run, scoring_obstacle(run, qrel_set, joins_formulas=joins)) for run in runs]


def formulas_index_of(qrel_set: QrelSet) -> str:
    """Return the name of the file that maps formula ids to visual ids for these qrels, or ""."""
    if qrel_set.visual_version is not None:
        return visual_ids_file(qrel_set.task.lab, qrel_set.visual_version)
    # Nothing is found if an organizer has just deleted the version.
    names = QrelSet.objects.filter(pk=qrel_set.pk).values_list(FORMULAS_INDEX, flat=True)
    return str(names.first() or "")


def _lacking(
    runs: list[Run],
    qrel_set: QrelSet,
    scored: Mapping[tuple[int, int], Scoring],
    *,
    formulas_index: str,
) -> list[Run]:
    if not runs:
        return []
    order, references = qrel_set.task.protocol.order, references_key(qrel_set)
    texts = text_measures(qrel_set)
    names = [m.name for m in measures_of(qrel_set) if not m.needs_texts or m in texts]

    def lacks(run: Run) -> bool:
        scoring = scored.get((run.pk, qrel_set.pk))
        identity = item_identity(
            run, qrel_set, formulas_index=formulas_index, references=references
        )
        return scoring is None or not scoring.covers(names, order, identity)

    return [run for run in runs if lacks(run)]
