"""The settings that an organizer chooses for a pool, and the runs that can be pooled."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from django.db import connection
from django.db.models import Q, QuerySet

from arqkit.formats.runs.formats import TASK3_IDS
from arqkit.protocols.presets import PoolProtocol, RunKind
from arqkit.records import ItemKind, TaskKind
from arqlab.core.models import Task
from assessment.models import Pool
from assessment.qrels.selectors.drafts import host_of, own_pools_task
from submissions.models import Run, RunQuerySet
from submissions.selectors import run_items

POOL_KINDS = {
    TaskKind.ANSWERS: ItemKind.POSTS,
    TaskKind.FORMULAS: ItemKind.VISUAL_IDS,
    TaskKind.GENERATED_ANSWERS: ItemKind.ANSWERS,
    TaskKind.DOCUMENTS: ItemKind.DOCUMENTS,
}
"""The type of the items that assessors judge, by task."""
WRITTEN = "written"
"""The kind in `Pool.runs` of a run of Task 3 whose answers are mixed into Task 1's pool."""

EMPTY: Mapping[int, str] = MappingProxyType({})


def _setting(name: str, vendor: str) -> str:
    """Return the SQL of a setting of a pool that is true or false."""
    if vendor == "postgresql":
        return f"COALESCE((pool.settings -> '{name}')::boolean, FALSE)"
    return f"COALESCE(json_extract(pool.settings, '$.{name}'), 0)"


def hides_threads_sql(vendor: str) -> str:
    """Return the SQL of `hides_threads`, a condition on the parameter `topic`."""
    return f"""({shows_alone_sql(vendor)} OR EXISTS (
    SELECT 1 FROM core_topic topic
    JOIN core_task task ON task.id = topic.task_id
    JOIN core_task other ON other.lab_id = task.lab_id AND other.kind = 'written-answers'
    JOIN assessment_pool pool ON pool.task_id = task.id
    WHERE topic.id = %(topic)s AND {_setting("includes_generated_answers", vendor)}
        AND NOT {_setting("shows_threads", vendor)}
))"""  # noqa: S608  # our words


def shows_alone_sql(vendor: str) -> str:
    """Return the SQL of `shows_alone`, a condition on the parameter `topic`."""
    return f"""EXISTS (
    SELECT 1 FROM core_topic topic
    JOIN assessment_pool pool ON pool.task_id = topic.task_id
    WHERE topic.id = %(topic)s AND {_setting("shows_formulas_alone", vendor)}
)"""  # noqa: S608  # our words


def hides_threads(topic_id: int) -> bool:
    """Return whether the threads of a topic's answers are hidden from those who judge them.

    They are if generated answers, which have no thread, are judged among the posts of the task,
    unless the organizers chose to keep the links (`PoolProtocol.shows_threads`), and if formulas
    are judged without their documents (`shows_alone`).
    """
    return _holds(hides_threads_sql(connection.vendor), topic_id)


def shows_alone(topic_id: int) -> bool:
    """Return whether the formulas of a topic are judged without the documents that have them.

    A pool of its task decides (`PoolProtocol.shows_formulas_alone`), for all pools and rounds.
    """
    return _holds(shows_alone_sql(connection.vendor), topic_id)


def _holds(condition: str, topic_id: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {condition}", {"topic": topic_id})
        return bool(cursor.fetchone()[0])


class PooledTogether(NamedTuple):
    """The task that a task is, or will be, judged with, and a sentence about it for organizers.

    `code` is empty or that of a refusal: `mixed-pool` if the task can have no pool of its own,
    `own-pool` if its pool cannot include the answers of the other task.
    """

    other: Task
    sentence: str
    code: str = ""


def pooled_together(task: Task) -> PooledTogether | None:
    """Return the task that a task is judged with, or None.

    The protocol of Task 1 decides as long as no pool has the answers of Task 3.
    """
    if task.kind == Task.Kind.GENERATED_ANSWERS:
        return _host(task)
    return _guest(task) if task.kind == Task.Kind.ANSWERS else None


def _host(task: Task) -> PooledTogether | None:
    if host := host_of(task):
        return PooledTogether(
            host,
            f"The answers are in the pool of {host.name}. For late answers, freeze a supplement to "
            "that pool.",
            "mixed-pool",
        )
    if Pool.official.filter(task=task).exists():
        return None
    hosts = Task.objects.filter(lab=task.lab_id, kind=Task.Kind.ANSWERS).select_related("lab")
    for host in hosts:
        if host.protocol.pool.includes_generated_answers:
            return PooledTogether(
                host,
                f"The protocol mixes these answers into the pool of {host.name}. Plan that pool. "
                "Once it is frozen with them, this task can have no pool of its own.",
            )
    return None


def _guest(task: Task) -> PooledTogether | None:
    if separate := own_pools_task(task):
        return PooledTogether(
            separate,
            f"The answers of {separate.name} are in a pool of that task. Leave them out of this "
            "pool, or unfreeze that pool while it has no judgments.",
            "own-pool",
        )
    guests = Task.objects.filter(lab=task.lab_id, kind=Task.Kind.GENERATED_ANSWERS)
    for guest in guests.select_related("lab"):
        if host_of(guest) == task:
            return PooledTogether(guest, f"The pool of this task has the answers of {guest.name}.")
        if task.protocol.pool.includes_generated_answers:
            return PooledTogether(
                guest,
                f"The protocol mixes the answers of {guest.name} into the pool of this task. Once "
                "it is frozen with them, that task can have no pool of its own.",
            )
    return None


@dataclass(frozen=True)
class PoolChoice:
    """The settings of a pool: protocol, seed, and runs pooled as another kind than marked.

    `without_runs` and `without_topics` have the reasons of what the organizers leave out by hand.
    """

    protocol: PoolProtocol
    seed: int
    kinds: Mapping[int, RunKind] = field(default_factory=dict)
    without_runs: Mapping[int, str] = field(default_factory=dict)
    without_topics: Mapping[str, str] = field(default_factory=dict)

    def kind_of(self, run: Run) -> RunKind:
        """Return the kind under which a run is pooled."""
        kind = self.kinds.get(run.pk)
        return kind or self.protocol.kind_of(
            is_primary=run.is_primary, is_manual=run.is_manual, is_baseline=run.is_baseline
        )

    def depth_of(self, run: Run) -> int | None:
        """Return the depth to which a run is pooled, or None if it is pooled rank by rank."""
        by_depth = self.protocol.method == "depth"
        return self.protocol.depth_of(self.kind_of(run)) if by_depth else None


def choice_of(pool: Pool) -> PoolChoice:
    """Return the settings with which a pool was frozen."""
    kinds = {run["run"]: run["kind"] for run in pool.runs if run["kind"] != WRITTEN}
    return PoolChoice(
        PoolProtocol(**pool.settings),
        pool.seed,
        kinds,
        without_runs={row["run"]: row["reason"] for row in pool.left_out.get("runs", ())},
        without_topics={row["topic"]: row["reason"] for row in pool.left_out.get("topics", ())},
    )


def mixed_tasks(task: Task, protocol: PoolProtocol) -> QuerySet[Task]:
    """Return the tasks whose answers a pool of the task includes: those of Task 3, or none."""
    if task.kind != Task.Kind.ANSWERS or not protocol.includes_generated_answers:
        return Task.objects.none()
    tasks = Task.objects.filter(lab=task.lab_id, kind=Task.Kind.GENERATED_ANSWERS)
    return tasks.select_related("lab")


def candidate_runs(task: Task) -> RunQuerySet:
    """Return the valid runs that a pool of the task may contain or leave out.

    They include those of Task 3, which may be mixed into the pool of Task 1.
    """
    mixed = Q(task__lab=task.lab_id, task__kind=Task.Kind.GENERATED_ANSWERS)
    is_host = task.kind == Task.Kind.ANSWERS
    return Run.objects.valid().filter(Q(task=task) | mixed if is_host else Q(task=task))


def valid_runs(task: Task, *, with_post_hoc: bool = False, **only: bool) -> list[Run]:
    """Return the valid runs of a task: baselines first, then by team, its primary run first.

    `only` are conditions on fields of the runs.
    """
    runs = Run.objects.scorable() if with_post_hoc else Run.objects.valid()
    valid = runs.filter(task=task, **only).select_related("team")
    return list(valid.order_by("-is_baseline", "team__name", "-is_primary", "tag", "pk"))


def runs_to_choose(task: Task) -> list[Run]:
    """Return the runs for which organizers choose how they are pooled: baselines and controls."""
    runs, _ = poolable_runs(task, offers_controls=True)
    return [run for run in runs if run.is_baseline or run.is_control]


def poolable_runs(
    task: Task, choice: PoolChoice | None = None, *, offers_controls: bool = False, **only: bool
) -> tuple[list[Run], list[tuple[Run, str]]]:
    """Return the valid runs that are pooled, and those that are not, each with the reason.

    The choice has the runs that the organizers leave out, and whether post-hoc runs are pooled. A
    control is pooled only if the choice says how, or with `offers_controls`, if it can be. `only`
    are conditions on fields of the runs.
    """
    runs, left_out = [], []
    late = choice is not None and choice.protocol.includes_post_hoc_runs
    without, kinds = (choice.without_runs, choice.kinds) if choice else (EMPTY, {})
    for run in valid_runs(task, with_post_hoc=late, **only):
        if run.pk in without:
            left_out.append((run, f"You left it out: {without[run.pk]}"))
        elif run.is_control and run.pk not in kinds and not offers_controls:
            left_out.append((run, "It is a control. Choose how it is pooled to include it."))
        elif task.kind == Task.Kind.FORMULAS and run_items(run, task) == ItemKind.VISUAL_IDS:
            left_out.append(
                (run, "It has visual ids, but assessors judge formula instances in posts.")
            )
        elif run.report.get("format") == TASK3_IDS.format:
            left_out.append((run, "Its file has no texts that assessors could judge."))
        else:
            runs.append(run)
    return runs, left_out
