"""What is read about runs, their reports and their tasks' rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any, BinaryIO, cast

import polars as pl
from django.conf import settings
from django.core.files import File
from django.core.files.base import ContentFile
from django.db.models import Count, Q, QuerySet
from django.db.models.fields.files import FieldFile

from arqlab.core.models import Lab, Task, Team, Visitor
from arqlab.core.permissions import may_organize
from arqlab.core.selectors import Standing, topic_ids
from arqlab.formats.archives.run_files import MAX_RUN_BYTES, Unpacked
from arqlab.formats.archives.uploads import unpack
from arqlab.formats.runs.repair import repaired_run
from arqlab.formats.runs.report import RunRules
from arqlab.ir.ranking import with_order
from arqlab.ir.records import ItemKind, TaskKind
from collection.selectors.collections import (
    collection_of,
    formulas_frame,
    posts_frame,
    scan_columns,
)
from submissions.models import Run, RunProblem

FEWEST_LINES = 100_000
"""Lines of a run file that are read whatever the task: a written answer takes several."""
BYTES_OF_A_LINE = 80
"""What a line of a long run may have on average; ids and tags take about 40."""


@dataclass(frozen=True)
class TaskRuns:
    """How many submitted runs of a task wait, are valid, have errors; and the places left to each
    team that asks.
    """

    waiting: int
    valid: int
    invalid: int
    places: tuple[tuple[Team, int], ...]


def rules_for(task: Task) -> RunRules:
    """Return what the task asks of a run; the collection's columns are kept in this process."""
    protocol, collection = task.protocol, collection_of(task.lab)
    return RunRules(
        kind=TaskKind(task.kind),
        topics=topic_ids(task),
        limit=protocol.limit,
        max_characters=protocol.max_characters,
        order="rank" if protocol.order == "rank" else "score",
        items=ItemKind(task.trec_items),
        posts=posts_frame(task.lab),
        formulas=formulas_frame(task.lab),
        complete=bool(collection and collection.is_complete),
    )


def quota_left(*, team: Team, task: Task) -> int:
    """Return how many runs the team may still submit; runs in checking hold their place."""
    used = Run.objects.counting().filter(team=team, task=task).count()
    return max(0, task.protocol.quota - used)


def places_left(teams: Iterable[Team], task: Task) -> list[tuple[Team, int]]:
    """Return how many runs each team may still submit, in one query."""
    counting = (
        Run.objects.counting()
        .filter(task=task)
        .order_by()
        .values("team")
        .annotate(runs=Count("pk"))
    )
    used = {row["team"]: row["runs"] for row in counting}
    return [(team, max(0, task.protocol.quota - used.get(team.pk, 0))) for team in teams]


def run_counts(standings: Iterable[tuple[Lab, Standing]]) -> dict[int, TaskRuns]:
    """Return the counts of runs that a person may know of the tasks of labs, by the task's key.

    An organizer knows those of all teams; anybody else those of the own teams, and the places left
    to them. One query for all labs, beside that of their tasks.
    """
    standings = list(standings)
    known = Q(pk__in=[])
    for lab, standing in standings:
        known |= (
            Q(task__lab=lab) if standing.organizes else Q(task__lab=lab, team__in=standing.teams)
        )
    runs = Run.objects.submitted().filter(known, withdrawn_at=None).order_by()
    found: dict[int, dict[tuple[int, str, bool], int]] = defaultdict(dict)
    for row in runs.values("task", "team", "status", "is_baseline").annotate(runs=Count("pk")):
        found[row["task"]][row["team"], row["status"], row["is_baseline"]] = row["runs"]
    return {
        task.pk: _task_runs(task, standing.teams, found[task.pk])
        for lab, standing in standings
        for task in lab.tasks.all()
    }


def _task_runs(
    task: Task, teams: Iterable[Team], found: Mapping[tuple[int, str, bool], int]
) -> TaskRuns:
    count, used = dict.fromkeys(Run.Status.values, 0), dict.fromkeys((team.pk for team in teams), 0)
    for (team, status, is_baseline), runs in found.items():
        count[status] += runs
        if team in used and status != Run.Status.INVALID and not is_baseline:
            used[team] += runs
    places = tuple((team, max(0, task.protocol.quota - used[team.pk])) for team in teams)
    return TaskRuns(
        count["uploaded"] + count["validating"], count["valid"], count["invalid"], places
    )


def runs_visible_to(user: Visitor, task: Task) -> QuerySet[Run]:
    """Return the task's runs that a person may see: an organizer all, a member the own teams',
    anybody else none.
    """
    runs = Run.objects.filter(task=task).select_related("team", "upload", "submitted_by")
    if may_organize(user, task.lab):
        return runs
    if not user.is_authenticated:
        return runs.none()
    return runs.filter(team__memberships__user=user)


def with_problem_counts(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Return the runs with `errors` and `warnings`: how many kinds of either were found."""
    return runs.annotate(
        errors=Count("problems", filter=Q(problems__severity="error")),
        warnings=Count("problems", filter=Q(problems__severity="warning")),
    ).order_by("-submitted_at", "-pk")


def most_lines(task: Task) -> int:
    """Return how many lines of a run file are read: twice what the task takes, so that a list too
    long can be repaired.

    Checking takes time and memory with every line. Where the topics are not known, this site's own
    limit holds.
    """
    taken = len(topic_ids(task)) * task.protocol.limit
    return (
        min(settings.RUN_MAX_LINES, max(FEWEST_LINES, 2 * taken))
        if taken
        else settings.RUN_MAX_LINES
    )


def unpack_runs(file: File, *, name: str, task: Task, only: str | None = None) -> list[Unpacked]:
    """Return the run files of an upload within the limits of this site and task, of a zip perhaps one
    member only.

    Raises `arqlab.formats.archives.uploads.UploadRefusedError` when the file cannot be unpacked.
    """
    lines = most_lines(task)
    return unpack(
        cast(BinaryIO, file),
        name=name,
        max_bytes=settings.RUN_MAX_BYTES,
        max_lines=lines,
        max_run_bytes=max(MAX_RUN_BYTES, lines * BYTES_OF_A_LINE),
        only=only,
    )


def run_bytes(run: Run) -> bytes:
    """Return the unpacked bytes of the run file.

    Raises `arqlab.formats.archives.uploads.UploadRefusedError` when the file cannot be unpacked.
    """
    with run.upload.file.open("rb") as file:
        return unpack_runs(file, name=run.upload.name, task=run.task, only=run.member or None)[
            0
        ].data


def run_index(run: Run, *, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the index of a valid run (columns of `arqlab.formats.runs.report.RunReport.index`), or
    some columns of it.
    """
    return _read_parquet(run.index, columns)


def run_items(run: Run, task: Task) -> ItemKind:
    """Return what the items of a run are: as its team says, else as they were found, else as the task
    has them.
    """
    return ItemKind(run.items or run.report.get("items") or task.trec_items)


def ordered_index(
    run: Run, *, order: str, columns: Sequence[str] = ("topic", "item")
) -> pl.LazyFrame:
    """Return columns of a valid run's index, and `order`, in the order that its task asks for now;
    read when collected.
    """
    index = scan_columns(run.index)
    if run.report.get("order") != order:
        # Validated when the task had another order, or before reports said which.
        index = with_order(index.collect(), by="rank" if order == "rank" else "score").lazy()
    return index.select(*columns, "order")


def run_occurrences(run: Run) -> pl.DataFrame:
    """Return every problem of a checked run: kind, severity, line, topic, found, expected."""
    return _read_parquet(run.occurrences, None)


def repaired_file(run: Run) -> ContentFile | None:
    """Return the run file with the safe repairs applied; None when there is nothing to repair.

    Raises `arqlab.formats.archives.uploads.UploadRefusedError` when the upload cannot be unpacked.
    """
    repaired = repaired_run(run_bytes(run), rules_for(run.task))
    if repaired is None:
        return None
    path = PurePosixPath(run.file_name.removesuffix(".gz"))
    return ContentFile(
        repaired, name=f"{path.stem.removesuffix('.repaired')}.repaired{path.suffix or '.tsv'}"
    )


def report_summary(problems: Iterable[RunProblem]) -> dict[str, dict[str, int]]:
    """Count the kinds of problems, and the lines that they are on, for each severity that was
    found.
    """
    summary: dict[str, dict[str, int]] = {}
    for problem in problems:
        counts = summary.setdefault(problem.severity, {"kinds": 0, "places": 0})
        counts["kinds"] += 1
        counts["places"] += problem.count
    return summary


def report_data(
    *, facts: Mapping[str, Any], problems: Iterable[RunProblem], is_valid: bool
) -> dict[str, Any]:
    """Return a report as plain data, as the API and the commands write it."""
    return {
        "valid": is_valid,
        **{key: value for key, value in facts.items() if key != "repair"},
        "problems": [
            {
                "kind": problem.kind,
                "severity": problem.severity,
                "count": problem.count,
                "message": problem.message,
                "todo": problem.todo,
                "repairable": problem.is_repairable,
                "first": problem.first,
            }
            for problem in problems
        ],
    }


def _read_parquet(stored: FieldFile, columns: Sequence[str] | None) -> pl.DataFrame:
    with stored.open("rb") as file:
        return pl.read_parquet(
            BytesIO(file.read()), columns=None if columns is None else list(columns)
        )
