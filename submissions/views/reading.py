"""The pages and downloads that show runs."""

from __future__ import annotations

from pathlib import PurePosixPath

import polars as pl
from django.core.files.base import ContentFile
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from arqlab.core.models import Task
from arqlab.core.permissions import may_organize, organized_task_or_404
from arqlab.web.downloads import table_response
from arqlab.web.pages import TASK, Pages
from submissions.forms import RunListForm
from submissions.models import Run
from submissions.permissions import run_or_404, runs_task_or_404, teams_to_submit_for
from submissions.run_map import run_map
from submissions.selectors import (
    identical_runs,
    quotas_left,
    run_bytes,
    run_occurrences,
    runs_visible_to,
)

pages = Pages(f"{TASK}runs/", run_or_404, section="runs", sign_in=True)

WAITING = {Run.Status.UPLOADED, Run.Status.VALIDATING}


@pages.read("", "run-list", access=runs_task_or_404)
def run_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the runs of the user's teams, or of all teams for organizers."""
    runs = runs_visible_to(request.user, task).for_lists()
    listing = RunListForm(request.GET, runs=runs)
    organizes, now = may_organize(request.user, task.lab), timezone.now()
    is_post_hoc = task.takes_post_hoc(now) and not organizes
    teams = teams_to_submit_for(request.user, task)
    context = {
        "lab": task.lab,
        "task": task,
        "listing": listing,
        "page": listing.page_of(runs.submitted()),
        "checked": runs.filter(check_only=True),
        "state": task.state(now),
        "is_post_hoc": is_post_hoc,
        "organizes": organizes,
        "identical": identical_runs(task) if organizes else [],
        "places": quotas_left(teams, task, post_hoc=is_post_hoc),
    }
    return render(request, "submissions/run_list.html", context)


@pages.read("map.csv", "run-map", access=organized_task_or_404, sign_in=False)
def run_map_csv(request: HttpRequest, task: Task) -> HttpResponse:
    """Return the run map as CSV, for organizers."""
    return table_response(run_map(task), f"runs-{task.lab.slug}-{task.slug}.csv")


@pages.read("<int:run>/problems.tsv", "run-problems")
def run_problems(request: HttpRequest, run: Run) -> HttpResponse:
    """Return every problem of a run as TSV."""
    if not run.occurrences:
        raise Http404
    cells = run_occurrences(run).with_columns(pl.col(pl.String).str.replace_all(r"[\t\r\n]", " "))
    return table_response(cells, f"problems-of-run-{run.pk}.tsv")


@pages.read("<int:run>/file/", "run-file")
def run_file(request: HttpRequest, run: Run) -> FileResponse:
    """Return the uploaded file unchanged; of an archive with other teams' runs, only the run."""
    kind = "application/octet-stream"
    others = run.upload.runs.exclude(team=run.team_id)
    if others.exists() and not may_organize(request.user, run.task.lab):
        name = PurePosixPath(run.file_name).name
        file = ContentFile(run_bytes(run), name=name)
        return FileResponse(file, as_attachment=True, filename=name, content_type=kind)
    return FileResponse(
        run.upload.file.open("rb"),
        as_attachment=True,
        filename=run.upload.name,
        content_type=kind,
    )
