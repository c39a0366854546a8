"""The pages and downloads that show runs."""

from __future__ import annotations

from pathlib import PurePosixPath

import polars as pl
from django.contrib.auth.decorators import login_required
from django.core.files.base import ContentFile
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from arqlab.core.permissions import may_organize, organized_task_or_404
from arqlab.core.views.downloads import table_response
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

WAITING = {Run.Status.UPLOADED, Run.Status.VALIDATING}


@login_required
@require_GET
def run_list(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show the runs of the user's teams, or of all teams for organizers."""
    found = runs_task_or_404(request.user, lab, task)
    runs = runs_visible_to(request.user, found).for_lists()
    listing = RunListForm(request.GET, runs=runs)
    organizes, now = may_organize(request.user, found.lab), timezone.now()
    is_post_hoc = found.takes_post_hoc(now) and not organizes
    teams = teams_to_submit_for(request.user, found)
    context = {
        "lab": found.lab,
        "task": found,
        "listing": listing,
        "page": listing.page_of(runs.submitted()),
        "checked": runs.filter(check_only=True),
        "state": found.state(now),
        "is_post_hoc": is_post_hoc,
        "organizes": organizes,
        "identical": identical_runs(found) if organizes else [],
        "places": quotas_left(teams, found, post_hoc=is_post_hoc),
    }
    return render(request, "submissions/run_list.html", context)


@require_GET
def run_map_csv(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Return the run map as CSV, for organizers."""
    found = organized_task_or_404(request.user, lab, task)
    return table_response(run_map(found), f"runs-{lab}-{task}.csv")


@login_required
@require_GET
def run_problems(request: HttpRequest, lab: str, task: str, run: int) -> HttpResponse:
    """Return every problem of a run as TSV."""
    found = run_or_404(request.user, lab, task, run)
    if not found.occurrences:
        raise Http404
    cells = run_occurrences(found).with_columns(pl.col(pl.String).str.replace_all(r"[\t\r\n]", " "))
    return table_response(cells, f"problems-of-run-{found.pk}.tsv")


@login_required
@require_GET
def run_file(request: HttpRequest, lab: str, task: str, run: int) -> FileResponse:
    """Return the uploaded file unchanged; of an archive with other teams' runs, only the run."""
    found = run_or_404(request.user, lab, task, run)
    kind = "application/octet-stream"
    others = found.upload.runs.exclude(team=found.team_id)
    if others.exists() and not may_organize(request.user, found.task.lab):
        name = PurePosixPath(found.file_name).name
        file = ContentFile(run_bytes(found), name=name)
        return FileResponse(file, as_attachment=True, filename=name, content_type=kind)
    return FileResponse(
        found.upload.file.open("rb"),
        as_attachment=True,
        filename=found.upload.name,
        content_type=kind,
    )
