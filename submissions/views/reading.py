"""The pages and downloads that show runs, and the page that uploads them."""

from pathlib import PurePosixPath
from typing import Any

import polars as pl
from django.conf import settings
from django.contrib import messages
from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models.functions import Lower
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from arqlab.core.errors import ConfirmationError, UserError
from arqlab.core.models import Task, Team
from arqlab.core.oddities import counted, task_url
from arqlab.core.permissions import may_organize, organized_task_or_404, signed_in
from arqlab.core.selectors import team_key
from arqlab.core.services.teams import lab_team
from arqlab.core.views.answers import sent_to, wants_json
from arqlab.web.cells import COUNT, ID, TIME, CellKind, chip
from arqlab.web.downloads import table_response
from arqlab.web.lists import Filter
from arqlab.web.pages import FILE, TASK, Pages
from arqlab.web.tables import Column, Empty, Table, answer
from arqlab.web.tabs import Tab, submitters
from submissions.forms import RunMetadataForm, UploadForm, metadata_forms, metadata_prefixes
from submissions.models import Run, RunQuerySet
from submissions.permissions import run_or_404, runs_task_or_404, teams_to_submit_for
from submissions.selectors import (
    file_limits,
    identical_runs,
    quotas_left,
    run_bytes,
    run_map,
    run_occurrences,
    runs_page,
    runs_visible_to,
)
from submissions.services.rules import Sender, require_named_team
from submissions.services.run_metadata import RunMetadata, lab_teams_in_names, name_advice
from submissions.services.storage import CHECKS_KEPT, lab_budget
from submissions.services.uploads import run_names, take_uploads
from submissions.tasks import validate_after_commit

pages = Pages(f"{TASK}runs/", run_or_404, section="runs", sign_in=True)

STATES = {**dict(Run.Status.choices), "withdrawn": "Withdrawn"}
WAITING = {Run.Status.UPLOADED, Run.Status.VALIDATING}


@pages.read("", "run-list", tabs=(Tab("task", "Runs", 30, submitters),), access=runs_task_or_404)
def run_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the runs of the user's teams, or of all teams for organizers."""
    runs, context = runs_visible_to(request.user, task).for_lists(), submission_state(request, task)
    organizes = context["organizes"]
    context["identical"] = identical_runs(task) if organizes else []
    context["budget"] = lab_budget(task.lab) if organizes else None
    context["kept"] = CHECKS_KEPT.days
    empty = _empty_list(task, context)
    submitted = _runs_table(request, task, runs, organizes=organizes, empty=empty)
    checked = Table("checked", _run_columns(task, "Checked"), runs.filter(check_only=True))
    return answer(request, "submissions/run_list.html", context, submitted, checked)


def submission_state(request: HttpRequest, task: Task) -> dict[str, Any]:
    """Return what pages say about submitting: whether the user may, and how many runs."""
    organizes, now = may_organize(request.user, task.lab), timezone.now()
    is_post_hoc = task.takes_post_hoc(now) and not organizes
    teams = teams_to_submit_for(request.user, task)
    return {
        "state": task.state(now),
        "is_post_hoc": is_post_hoc,
        "organizes": organizes,
        "places": quotas_left(teams, task, post_hoc=is_post_hoc),
    }


def _runs_table(
    request: HttpRequest, task: Task, runs: RunQuerySet, *, organizes: bool, empty: Empty
) -> Table:
    teams = runs.order_by("team__name").values_list("team__name", "team__name").distinct()
    searched = ("tag", "identifier", "team__name", "upload__name", "member", "description")
    filters = [
        Filter("team", "Team", "team__name", teams),
        Filter("state", "State", "shown_state", STATES.items()),
    ]
    return Table(
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


def _run_columns(task: Task, at: str) -> list[Column]:
    return [
        Column("Run", "tag", template="submissions/_run_name.html", by=Lower("tag"), is_head=True),
        Column("", "standing.key", name="Standing"),
        Column("Team", "team.name", by=Lower("team__name")),
        Column(
            "State", "state", CellKind(lambda state: chip(state, STATES[state])), by="shown_state"
        ),
        Column("Rows", lambda run: run.report.get("rows"), COUNT),
        Column("Errors", "errors", COUNT, by="errors"),
        Column("Warnings", "warnings", COUNT, by="warnings"),
        Column(at, "submitted_at", TIME, order="submitted", by="submitted_at"),
        Column("File", "file_name", ID, css="file-cell"),
    ]


def _empty_list(task: Task, context: dict[str, Any]) -> Empty:
    upload = task_url("submissions:run-upload", task)
    if not context["places"]:
        return Empty(
            "You are not in a team of this lab",
            "The runs of your team will appear here. Create a team, or open the invitation link of "
            "your team.",
            reverse("core:team-create", args=[task.lab.slug]),
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
    cells = run_occurrences(run).with_columns(pl.col(pl.String).str.replace_all(r"[\t\r\n]", " "))
    return table_response(cells, f"problems-of-run-{run.pk}.tsv")


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


@pages.form("upload/", "run-upload", access=runs_task_or_404)
def run_upload(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the upload form with the rules of the task, and submit or check run files."""
    form = UploadForm(
        request.POST or None,
        request.FILES or None,
        teams=teams_to_submit_for(request.user, task),
        organizes=may_organize(request.user, task.lab),
    )
    if request.method != "POST":
        return _page(request, task, form)
    organizes = may_organize(request.user, task.lab)
    metadata = [
        RunMetadataForm(request.POST, prefix=prefix, task=task, organizes=organizes)
        for prefix in metadata_prefixes(request.POST)
    ]
    if not form.is_valid() or not all(filled.is_valid() for filled in metadata):
        problems = [errors for sent in [form, *metadata] for errors in sent.errors.values()]
        sentences = [str(message) for errors in problems for message in errors]
        return _refuse(request, task, form, sentences)
    try:
        runs = _take(request, task, form, metadata)
    except UserError as refused:
        question = refused.question if isinstance(refused, ConfirmationError) else ""
        status = 422 if refused.code == "no-team" else 409
        return _refuse(request, task, form, [refused.message], status=status, question=question)
    location = runs_page(task, runs)
    return sent_to(request, location)


@pages.action("guess/", "run-guess", access=runs_task_or_404)
def run_guess(request: HttpRequest, task: Task) -> HttpResponse:
    """Return a form with the run details read from each file name, as an HTML fragment."""
    names = [
        name
        for name in dict.fromkeys(request.POST.getlist("names"))
        if not name.lower().endswith(".zip")
    ][:50]
    organizes = may_organize(request.user, task.lab)
    forms = metadata_forms(request.POST, names=names, task=task, organizes=organizes)
    context = {
        "forms": [(form, name_advice(form.initial["name"], task)) for form in forms],
        "named": lab_teams_in_names(task.lab, names),
        "team": _named_team(request, task, names),
    }
    return render(request, "submissions/run_guess.html", context)


def _named_team(request: HttpRequest, task: Task, names: list[str]) -> Team | None:
    """Return the only team of the lab in the file names, if the user may submit for it."""
    keys = {team_key(name) for name in lab_teams_in_names(task.lab, names)}
    teams = [team for team in task.lab.teams.all() if keys == {team_key(team.name)}]
    if len(teams) != 1:
        return None
    return teams_to_submit_for(request.user, task).filter(pk=teams[0].pk).first()


def _take(
    request: HttpRequest, task: Task, form: UploadForm, metadata: list[RunMetadataForm]
) -> list[Run]:
    by_name = {filled.cleaned_data["name"]: RunMetadata(**filled.filled()) for filled in metadata}
    team, files = form.cleaned_data["team"], form.cleaned_data["file"]
    names = [name for file in files for name in run_names(file)]
    if is_lab := team is None or team.is_lab:
        if not all(name in by_name and by_name[name].is_baseline for name in names):
            raise UserError("Choose the team of the runs.", code="no-team")
        team = lab_team(task.lab)
    if not is_lab:
        require_named_team(team, names=names, confirmed=request.POST.get("confirm", ""))
    sender = Sender(task, team, signed_in(request), timezone.now())
    only = "check" in request.POST
    with transaction.atomic():
        runs = take_uploads(files=files, sender=sender, metadata=by_name, check_only=only)
        validate_after_commit(runs)
    words = counted(len(runs), "run was", "runs were")
    # Not "submitted": a run is submitted only if its report is valid.
    messages.success(request, f"{words} uploaded{' for checking only' * only}.")
    return runs


def _page(request: HttpRequest, task: Task, form: UploadForm, **extra: Any) -> HttpResponse:
    context = {
        "form": form,
        "run_bytes": file_limits(task).max_run_bytes,
        "zip_bytes": settings.RUN_MAX_BYTES,
        **submission_state(request, task),
        **extra,
    }
    return render(request, "submissions/run_upload.html", context, status=extra.get("status", 200))


def _refuse(
    request: HttpRequest,
    task: Task,
    form: UploadForm,
    errors: list[str],
    *,
    status: int = 422,
    question: str = "",
) -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"errors": errors, "question": question}, status=status)
    return _page(request, task, form, errors=errors, status=status, question=question)
