"""The page that uploads runs, and what it guesses from the names of the files."""

from collections.abc import Sequence

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone

from arqlab.core.errors import ConfirmationError, UserError
from arqlab.core.models import Task, Team
from arqlab.core.views import sent_to, signed_in, wants_json
from arqlab.labs.permissions import may_organize
from arqlab.teams.selectors import team_key
from arqlab.teams.services import lab_team
from arqlab.web import TASK, Pages, counted
from submissions.forms import RunMetadataForm, UploadForm, metadata_forms, metadata_prefixes
from submissions.models import Run
from submissions.permissions import run_or_404, runs_task_or_404, teams_to_submit_for
from submissions.selectors import file_limits, runs_page
from submissions.services.rules import Sender, require_named_team
from submissions.services.run_metadata import RunMetadata, lab_teams_in_names, name_advice
from submissions.services.uploads import run_names, take_uploads
from submissions.tasks import validate_after_commit
from submissions.views.reading import submission_state

pages = Pages(f"{TASK}runs/", run_or_404, section="runs", sign_in=True)


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
    by_name = {
        form.cleaned_data["name"]: form.entered(RunMetadata(form.cleaned_data["tag"]))
        for form in metadata
    }
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


def _page(
    request: HttpRequest,
    task: Task,
    form: UploadForm,
    *,
    errors: Sequence[str] = (),
    question: str = "",
    status: int = 200,
) -> HttpResponse:
    context = {
        "form": form,
        "run_bytes": file_limits(task).max_run_bytes,
        "zip_bytes": settings.RUN_MAX_BYTES,
        **submission_state(request, task),
        "errors": errors,
        "question": question,
    }
    return render(request, "submissions/run_upload.html", context, status=status)


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
