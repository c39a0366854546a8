"""Queries on runs, their reports and files, and the rules of their tasks."""

import json
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from hashlib import sha256
from pathlib import PurePosixPath
from typing import BinaryIO, NamedTuple, cast

import polars as pl
from django.conf import settings
from django.core.files.base import ContentFile
from django.db.models import Count, Q

from arqkit import __version__
from arqkit.formats.archives.uploads import MAX_RUN_BYTES
from arqkit.formats.runs.packs import FileLimits, TaskPack
from arqkit.formats.runs.repair import repaired_run
from arqkit.formats.runs.report import RunRules
from arqkit.polars_errors import EngineFailedError, panics_as_errors
from arqkit.ranking import OrderBy, with_order
from arqkit.records import ItemKind, TaskKind
from arqlab.core.models import Lab, Task, Team, Visitor
from arqlab.labs.permissions import may_organize
from arqlab.labs.selectors import LabRoles, topic_ids
from arqlab.web import task_url
from collection.selectors.collections import (
    collection_of,
    formula_files,
    formulas_frame,
    formulas_scan,
    posts_frame,
    posts_scan,
    scan_columns,
)
from submissions.models import Run, RunProblem, RunQuerySet

RUN_MAP = ("run_id", "team", "tag", "file", "kind", "type", "data", "standing", "withdrawn")

log = logging.getLogger(__name__)
MIN_LINE_LIMIT = 100_000
"""The smallest limit on the lines of a run file: an answer (Task 3) may take several lines."""
BYTES_PER_LINE = 80
"""The average length allowed for the lines of a long run; ids and tags take about 40 bytes."""


def run_map(task: Task) -> pl.DataFrame:
    """Return the runs that took part, including withdrawn ones: ids, teams, tags, files, marks.

    Labs publish it with their qrels, which name the answers of Task 3 by `run_id`.
    """
    runs = Run.objects.filter(task=task).exclude(identifier="").select_related("team", "upload")
    rows = [
        {
            "run_id": run.identifier,
            "team": run.team.name,
            "tag": run.tag,
            "file": run.file_name,
            "kind": _kind(run),
            "type": "manual" if run.is_manual else "automatic",
            "data": run.data_used,
            "standing": run.standing.key,
            "withdrawn": f"{run.withdrawn_at:%Y-%m-%d}" if run.withdrawn_at else "",
        }
        for run in runs.order_by("team__name", "identifier")
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(RUN_MAP, pl.String))


def _kind(run: Run) -> str:
    if run.is_post_hoc:
        return "post-hoc"
    return "baseline" if run.is_baseline else "primary" if run.is_primary else "alternate"


class Quota(NamedTuple):
    """How many runs a team may submit to a task at most, and how many of them are left."""

    team: Team
    most: int
    left: int


class TaskRuns(NamedTuple):
    """Counts of a task's submitted runs by state, and the quota of each team of the user."""

    waiting: int
    valid: int
    invalid: int
    quotas: tuple[Quota, ...]


def task_pack(task: Task, *, lazily: bool = False) -> TaskPack:
    """Return everything needed to check a run of a task: rules, ids of the collection, and limits.

    The collection's columns are cached in the process, or are lazy scans.
    """
    protocol, collection, kind = task.protocol, collection_of(task.lab), TaskKind(task.kind)
    posts, formulas = (posts_scan, formulas_scan) if lazily else (posts_frame, formulas_frame)
    rules = RunRules(
        kind=kind,
        topics=topic_ids(task),
        limit=protocol.limit,
        max_characters=protocol.max_characters,
        order=protocol.order,
        pooling_order=protocol.pooling_order,
        items=ItemKind(task.trec_items),
        posts=posts(task.lab),
        formulas=formulas(task.lab),
        complete=bool(collection and collection.is_complete),
        trec_only=protocol.trec_only,
        answered_only=protocol.answered_only,
        has_answer_ids=kind is TaskKind.GENERATED_ANSWERS and task.answer_ids.exists(),
    )
    limits = file_limits(task, topics=len(rules.topics))
    return TaskPack(f"{task.lab.slug}/{task.slug}", rules, limits)


def rules_digest(task: Task) -> str:
    """Return a digest of all that the check of a run rests on: the rules of its task, the files of
    the collection, and the checks of this version.
    """
    rules = task_pack(task, lazily=True).rules
    plain = {
        field.name: str(getattr(rules, field.name))
        for field in fields(rules)
        if field.name not in ("posts", "formulas", "knows")
    }
    collection = collection_of(task.lab)
    files = [str(collection.posts_index), formula_files(task.lab)] if collection else []
    return sha256(json.dumps([__version__, plain, files], sort_keys=True).encode()).hexdigest()


def quota_of(team: Team, task: Task, *, counting: int) -> Quota:
    """Return the quota of a team in a task, of whose runs so many count."""
    most = task.protocol.quota
    return Quota(team, most, max(0, most - counting))


def quotas_of(teams: Iterable[Team], task: Task, *, post_hoc: bool = False) -> list[Quota]:
    """Return the quota of each team for runs (or post-hoc runs), in one query.

    Runs being checked count as used.
    """
    runs = Run.objects.counting(post_hoc=post_hoc).filter(task=task).order_by()
    counts = dict(runs.values_list("team").annotate(runs=Count("pk")))
    return [quota_of(team, task, counting=counts.get(team.pk, 0)) for team in teams]


def run_counts(standings: Iterable[tuple[Lab, LabRoles]]) -> dict[int, TaskRuns]:
    """Return the counts of the runs a user may see in the tasks of labs, by the task's key.

    Organizers see all runs, others those of their teams. Takes one query and that for the tasks.
    """
    standings = list(standings)
    visible = Q(pk__in=[])
    for lab, standing in standings:
        visible |= (
            Q(task__lab=lab) if standing.organizes else Q(task__lab=lab, team__in=standing.teams)
        )
    runs = Run.objects.submitted().filter(visible, withdrawn_at=None, is_post_hoc=False).order_by()
    states: Counter[tuple[int, str]] = Counter()
    counting: Counter[tuple[int, int]] = Counter()
    groups = runs.values_list("task", "team", "status", "is_baseline").annotate(runs=Count("pk"))
    for task, team, status, is_baseline, count in groups:
        states[task, status] += count
        counting[task, team] += count if status != Run.Status.INVALID and not is_baseline else 0
    return {
        task.pk: TaskRuns(
            waiting=states[task.pk, "uploaded"] + states[task.pk, "validating"],
            valid=states[task.pk, "valid"],
            invalid=states[task.pk, "invalid"],
            quotas=tuple(
                quota_of(team, task, counting=counting[task.pk, team.pk]) for team in standing.teams
            ),
        )
        for lab, standing in standings
        for task in lab.tasks.all()
    }


def runs_visible_to(user: Visitor, task: Task) -> RunQuerySet:
    """Return the task's runs that a user may see: organizers all, others their teams'."""
    runs = Run.objects.filter(task=task).select_related("team", "upload", "submitted_by")
    if may_organize(user, task.lab):
        return runs
    if not user.is_authenticated:
        return runs.none()
    return runs.filter(team__memberships__user=user)


def identical_runs(task: Task) -> list[list[Run]]:
    """Return the groups of valid runs of a task, of any team, whose files have the same bytes."""
    valid = Run.objects.scorable().filter(task=task).exclude(sha256="").select_related("team")
    groups: dict[str, list[Run]] = defaultdict(list)
    for run in valid.order_by("submitted_at", "pk"):
        groups[run.sha256].append(run)
    return [runs for runs in groups.values() if len(runs) > 1]


def file_limits(task: Task, *, topics: int | None = None) -> FileLimits:
    """Return the limits of the task's run files, given the number of its topics if it is known.

    A run may have twice the lines that the task allows, so that lists that are too long can be
    repaired, but no more than the site's own limit: every line costs time and memory. The site's
    limit applies alone if the task has no topics. Checking takes 15 times a run's bytes as memory.
    The site's limit of bytes applies to a whole archive, too.
    """
    allowed = (task.topics.count() if topics is None else topics) * task.protocol.limit
    lines = max(MIN_LINE_LIMIT, 2 * allowed) if allowed else settings.RUN_MAX_LINES
    lines = min(settings.RUN_MAX_LINES, lines)
    run_bytes = min(settings.RUN_MAX_BYTES, max(MAX_RUN_BYTES, lines * BYTES_PER_LINE))
    return FileLimits(settings.RUN_MAX_BYTES, max_lines=lines, max_run_bytes=run_bytes)


def run_bytes(run: Run) -> bytes:
    """Return the unpacked bytes of the run file.

    Raise `arqkit.formats.archives.uploads.UploadRefusedError` if it cannot be unpacked.
    """
    limits, only = file_limits(run.task), run.member or None
    with run.upload.file.open("rb") as file:
        return limits.unpack(cast(BinaryIO, file), name=run.upload.name, only=only)[0].data


def run_index(run: Run, *, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the index of a valid run, or some of its columns.

    `arqkit.formats.runs.report.RunReport.index` describes the columns.
    """
    return scan_columns(run.index).select(columns or pl.all()).collect()


def readable(run: Run, read: Callable[[], pl.DataFrame]) -> pl.DataFrame | None:
    """Return what a function reads of a run's index, or None, which is logged, if it cannot."""
    try:
        with panics_as_errors():
            return read()
    except (OSError, pl.exceptions.PolarsError, EngineFailedError) as error:
        log.error("The index of run %s (%s) cannot be read: %s", run.pk, run.tag, error)
        return None


def run_items(run: Run, task: Task) -> ItemKind:
    """Return the type of the items in a run: the team's choice, the detected one, or the task's."""
    return ItemKind(run.items or run.report.get("items") or task.trec_items)


def ordered_index(
    run: Run, *, order: OrderBy, columns: Sequence[str] = ("topic", "item")
) -> pl.LazyFrame:
    """Return a lazy scan of a valid run's index: the given columns and `order` by rank or score."""
    index = scan_columns(run.index)
    if run.report.get("order") != order:
        # The task had another order when the run was validated, or the report lacks the order.
        index = with_order(index.collect(), by=order).lazy()
    return index.select(*columns, "order")


def run_occurrences(run: Run) -> pl.DataFrame:
    """Return one row per problem of a checked run: kind, severity, line, topic, found, expected."""
    return scan_columns(run.occurrences).collect()


def repaired_file(run: Run) -> ContentFile | None:
    """Return the run file with the safe repairs applied, or None if there is nothing to repair.

    Raise `arqkit.formats.archives.uploads.UploadRefusedError` if the upload cannot be unpacked.
    """
    repaired = repaired_run(run_bytes(run), task_pack(run.task).rules)
    if repaired is None:
        return None
    path = PurePosixPath(run.file_name.removesuffix(".gz"))
    return ContentFile(
        repaired, name=f"{path.stem.removesuffix('.repaired')}.repaired{path.suffix or '.tsv'}"
    )


def runs_page(task: Task, runs: Sequence[Run]) -> str:
    """Return the address of the page of the only run, or of the list of runs."""
    if len(runs) == 1:
        return task_url("run", task, runs[0].pk)
    return task_url("submissions:run-list", task)


def report_summary(problems: Iterable[RunProblem]) -> dict[str, dict[str, int]]:
    """Return the number of kinds of problems and of affected places for each severity found."""
    summary: dict[str, dict[str, int]] = {}
    for problem in problems:
        counts = summary.setdefault(problem.severity, {"kinds": 0, "places": 0})
        counts["kinds"] += 1
        counts["places"] += problem.count
    return summary
