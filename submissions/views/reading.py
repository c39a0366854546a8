"""The pages and downloads that show runs."""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TypedDict

import polars as pl
from django.core.files.base import ContentFile
from django.db.models.functions import Lower
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone

from arqlab.core.models import Task
from arqlab.labs.permissions import may_organize, organized_task_or_404
from arqlab.web import (
    FILE,
    TASK,
    Column,
    Empty,
    Filter,
    Pages,
    Tab,
    Table,
    answer,
    cells,
    submitters,
    table_response,
    task_url,
)
from submissions.models import Run, RunQuerySet
from submissions.permissions import run_or_404, runs_task_or_404, teams_to_submit_for
from submissions.selectors import (
    Quota,
    identical_runs,
    quotas_of,
    run_bytes,
    run_map,
    run_occurrences,
    runs_visible_to,
)
from submissions.services.storage import CHECKS_KEPT, lab_budget

pages = Pages(f"{TASK}runs/", run_or_404, section="runs", sign_in=True)

STATES = {**dict(Run.Status.choices), "withdrawn": "Withdrawn"}
WAITING = {Run.Status.UPLOADED, Run.Status.VALIDATING}


class SubmissionState(TypedDict):
    """What pages say about submitting: whether the user may, and how many runs."""

    state: str
    is_post_hoc: bool
    organizes: bool
    quotas: Sequence[Quota]


@pages.read(
    "",
    "run-list",
    tabs=(Tab("task", "Runs", 30, submitters, "team.html"),),
    access=runs_task_or_404,
)
def run_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the runs of the user's teams, or of all teams for organizers."""
    runs, state = runs_visible_to(request.user, task).for_lists(), submission_state(request, task)
    organizes = state["organizes"]
    context = {
        **state,
        "identical": identical_runs(task) if organizes else [],
        "budget": lab_budget(task.lab) if organizes else None,
        "kept": CHECKS_KEPT.days,
    }
    empty = _empty_list(task, state)
    submitted = _runs_table(request, task, runs, organizes=organizes, empty=empty)
    checked = Table[Run]("checked", _run_columns(task, "Checked"), runs.filter(check_only=True))
    return answer(request, "submissions/run_list.html", context, submitted, checked)


def submission_state(request: HttpRequest, task: Task) -> SubmissionState:
    """Return what pages say about submitting: whether the user may, and how many runs."""
    organizes, now = may_organize(request.user, task.lab), timezone.now()
    is_post_hoc = task.takes_post_hoc(now) and not organizes
    teams = teams_to_submit_for(request.user, task)
    return {
        "state": task.state(now),
        "is_post_hoc": is_post_hoc,
        "organizes": organizes,
        "quotas": quotas_of(teams, task, post_hoc=is_post_hoc),
    }


def _runs_table(
    request: HttpRequest, task: Task, runs: RunQuerySet, *, organizes: bool, empty: Empty
) -> Table[Run]:
    teams = runs.order_by("team__name").values_list("team__name", "team__name").distinct()
    searched = ("tag", "identifier", "team__name", "upload__name", "member", "description")
    filters = [
        Filter("team", "Team", "team__name", teams),
        Filter("state", "State", "shown_state", STATES.items()),
    ]
    return Table[Run](
        "runs",
        _run_columns(task, "Submitted"),
        runs.submitted(),
        asked=request.GET,
        order="-submitted",
        searched=searched if organizes else (),
        filters=filters if organizes else (),
        file=f"{task.lab.slug}-{task.slug}-runs" if organizes else "",
        empty=empty,
    )


def _run_columns(task: Task, at: str) -> list[Column[Run]]:
    return [
        Column(
            "Run",
            lambda row: row.tag,
            template="submissions/_run_name.html",
            by=Lower("tag"),
            is_head=True,
        ),
        Column("", lambda row: row.standing.key, name="Standing"),
        Column("Team", lambda row: row.team.name, by=Lower("team__name")),
        Column(
            "State",
            lambda row: row.state,
            cells.CellKind(lambda state: cells.chip(state, STATES[state])),
            by="shown_state",
        ),
        Column("Rows", lambda run: run.report.get("rows"), cells.COUNT),
        Column("Errors", lambda row: row.errors, cells.COUNT, by="errors"),
        Column("Warnings", lambda row: row.warnings, cells.COUNT, by="warnings"),
        Column(at, lambda row: row.submitted_at, cells.TIME, order="submitted", by="submitted_at"),
        Column("File", lambda row: row.file_name, cells.ID, css="file-cell"),
    ]


def _empty_list(task: Task, context: SubmissionState) -> Empty:
    upload = task_url("submissions:run-upload", task)
    if not context["quotas"]:
        return Empty(
            "You are not in a team of this lab",
            "The runs of your team will appear here. Create a team, or open the invitation link of "
            "your team.",
            reverse("teams:team-create", args=[task.lab.slug]),
            "Create team",
        )
    if context["state"] == "open" or context["organizes"] or context["is_post_hoc"]:
        return Empty(
            "No runs yet",
            "Submitted runs appear here with their state and report. Upload a run file to start.",
            upload,
            "Upload runs",
        )
    return Empty(
        "No runs",
        "Runs can be submitted while the task is open. You can check a file at any time.",
        upload,
        "Check file",
    )


@pages.read("map.csv", "run-map", api=FILE, access=organized_task_or_404, sign_in=False)
def run_map_csv(request: HttpRequest, task: Task) -> HttpResponse:
    """Return the run map as CSV, for organizers."""
    return table_response(run_map(task), f"runs-{task.lab.slug}-{task.slug}.csv")


@pages.read("<number:run>/problems.tsv", "run-problems", api=FILE)
def run_problems(request: HttpRequest, run: Run) -> HttpResponse:
    """Return every problem of a run as TSV."""
    if not run.occurrences:
        raise Http404
    occurrences = run_occurrences(run).with_columns(
        pl.col(pl.String).str.replace_all(r"[\t\r\n]", " ")
    )
    return table_response(occurrences, f"problems-of-run-{run.pk}.tsv")


@pages.read("<number:run>/file/", "run-file", api=FILE)
def run_file(request: HttpRequest, run: Run) -> FileResponse:
    """Return the uploaded file unchanged; of an archive with other teams' runs, only the run."""
    kind = "application/octet-stream"
    others = run.upload.runs.exclude(team=run.team_id)
    if others.exists() and not may_organize(request.user, run.task.lab):
        name = PurePosixPath(run.file_name).name
        file = ContentFile(run_bytes(run), name=name)
        return FileResponse(file, as_attachment=True, filename=name, content_type=kind)
    return FileResponse(
        run.upload.file.open("rb"), as_attachment=True, filename=run.upload.name, content_type=kind
    )
