"""The pages that edit, withdraw, submit and repair a run."""

from __future__ import annotations

from dataclasses import replace

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models import QuerySet
from django.forms import Form
from django.forms.models import model_to_dict
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from arqkit.formats.archives.uploads import UploadRefusedError
from arqlab.core.errors import UserError
from arqlab.core.models import AuditEvent
from arqlab.core.oddities import CHANGED, oddities_digest
from arqlab.core.permissions import may_organize, organized_task_or_404, signed_in
from arqlab.core.services.labs import close_task, reopen_task
from arqlab.core.views.downloads import exact_response
from arqlab.core.views.editing import edited
from submissions.forms import (
    MoveForm,
    RunEditForm,
    RunPublicationForm,
    SystemForm,
    WithdrawForm,
)
from submissions.models import Run
from submissions.oddities import closing_oddities
from submissions.permissions import linkable_runs, run_or_404
from submissions.selectors import quotas_left, repaired_file
from submissions.services.changing import (
    correct_run,
    link_runs,
    mark_primary,
    metadata_of,
    move_run,
    publish_run,
    submit_checked_run,
    withdraw_run,
)
from submissions.services.uploads import check_upload, submit_upload
from submissions.tasks import validate_after_commit


@require_http_methods(["GET", "HEAD", "POST"])
def task_close(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """List what is odd about closing a task, and close it for submission."""
    found, at = organized_task_or_404(request.user, lab, task), timezone.now()
    oddities = closing_oddities(found, at=at)
    digest, refusals = oddities_digest(oddities), []
    if request.method == "POST":
        try:
            if request.POST.get("seen") == digest or found.state(at) == "closed":
                close_task(task=found, by=signed_in(request), at=at)
                messages.success(request, "The task is closed. Teams can no longer submit runs.")
                return redirect("desk:task-detail", lab, task)
            refusals = [CHANGED]
        except UserError as refused:
            messages.error(request, refused.message)
            return redirect("desk:task-detail", lab, task)
    context = {"task": found, "lab": found.lab, "oddities": oddities, "digest": digest}
    context |= {"refusals": refusals, "state": found.state(at)}
    context["runs"] = Run.objects.valid().filter(task=found).count()
    status = 422 if refusals else 200
    return render(request, "submissions/task_close.html", context, status=status)


@require_POST
def task_reopen(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Reopen a task that an organizer closed."""
    found, at = organized_task_or_404(request.user, lab, task), timezone.now()
    try:
        reopened = reopen_task(task=found, by=signed_in(request))
    except UserError as refused:
        messages.error(request, refused.message)
    else:
        if reopened.state(at) == "closed":
            messages.warning(
                request, "The deadline has passed, so the task stays closed. Set a later deadline."
            )
        else:
            messages.success(request, "The task is open again.")
    return redirect("desk:task-detail", lab, task)


@login_required
@require_http_methods(["GET", "POST"])
def run_edit(request: HttpRequest, lab: str, task: str, run: int) -> HttpResponse:
    """Edit the details of a run."""
    found = run_or_404(request.user, lab, task, run)
    by, organizes = signed_in(request), may_organize(request.user, found.task.lab)

    def make(data: QueryDict | None) -> RunEditForm:
        initial = metadata_of(found).as_fields()
        return RunEditForm(data, initial=initial, task=found.task, organizes=organizes)

    def save(form: RunEditForm) -> HttpResponse:
        metadata = replace(metadata_of(found), **form.filled())
        if correct_run(run=found, metadata=metadata, by=by, at=timezone.now()):
            validate_after_commit([found])
        messages.success(request, "Run details saved.")
        return _to(found)

    form, answer = edited(request, found, make, save, events=_events(found, "run.correct"))
    return answer or _page(request, "run_edit", found, form)


@login_required
@require_http_methods(["GET", "POST"])
def run_publish(request: HttpRequest, lab: str, task: str, run: int) -> HttpResponse:
    """Edit the paper, code and citation of a run, also after the deadline."""
    found = run_or_404(request.user, lab, task, run)
    by, at = signed_in(request), timezone.now()

    def save(form: RunPublicationForm) -> HttpResponse:
        publish_run(run=found, publication=form.cleaned_data, by=by, at=at)
        messages.success(request, "Publication saved.")
        return _to(found)

    form, answer = edited(
        request,
        found,
        lambda data: RunPublicationForm(data, initial=model_to_dict(found)),
        save,
        events=_events(found, "run.publish"),
    )
    return answer or _page(request, "run_publish", found, form)


@login_required
@require_http_methods(["GET", "POST"])
def run_system(request: HttpRequest, lab: str, task: str, run: int) -> HttpResponse:
    """Link a run with the runs of the same system in other tasks."""
    found = run_or_404(request.user, lab, task, run)
    if found.check_only or found.status != Run.Status.VALID or found.withdrawn_at:
        raise Http404
    by, at = signed_in(request), timezone.now()

    def make(data: QueryDict | None) -> SystemForm:
        return SystemForm(data, run=found, others=list(linkable_runs(request.user, found)))

    def save(form: SystemForm) -> HttpResponse:
        link_runs(run=found, links=form.links() or {found.pk: False}, by=by, at=at)
        messages.success(request, "Links of the run saved.")
        return _to(found)

    form, answer = edited(request, found, make, save, events=_events(found, "run.link"))
    return answer or _page(request, "run_system", found, form)


@login_required
@require_http_methods(["GET", "POST"])
def run_withdraw(request: HttpRequest, lab: str, task: str, run: int) -> HttpResponse:
    """Withdraw a run with a reason."""
    found = run_or_404(request.user, lab, task, run)
    form = WithdrawForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        reason = form.cleaned_data["reason"]
        try:
            withdraw_run(run=found, reason=reason, by=signed_in(request), at=timezone.now())
        except UserError as refused:
            form.add_error(None, refused.message)
        else:
            messages.success(
                request, f"Run {found.tag} was withdrawn. Its file, report and reason are kept."
            )
            return _to(found)
    return _page(request, "run_withdraw", found, form)


@login_required
@require_http_methods(["GET", "POST"])
def run_move(request: HttpRequest, lab: str, task: str, run: int) -> HttpResponse:
    """Move a run to another team, for organizers."""
    found = run_or_404(request.user, lab, task, run)
    if not may_organize(request.user, found.task.lab):
        raise Http404
    teams = found.task.lab.teams.exclude(pk=found.team_id)
    form, before = MoveForm(request.POST or None, teams=teams), found.team
    if request.method == "POST" and form.is_valid():
        team = form.cleaned_data["team"]
        try:
            notes = move_run(run=found, team=team, by=signed_in(request), at=timezone.now())
        except UserError as refused:
            form.add_error(None, refused.message)
        else:
            moved = f"Run {found.tag} was moved from team {before.name} to team {team.name}."
            messages.success(request, " ".join([moved, *notes]))
            return _to(found)
    return _page(request, "run_move", found, form, places=quotas_left(teams, found.task))


@login_required
@require_POST
def run_primary(request: HttpRequest, lab: str, task: str, run: int) -> HttpResponse:
    """Make a run the team's primary run."""
    found = run_or_404(request.user, lab, task, run)
    try:
        mark_primary(run=found, by=signed_in(request), at=timezone.now())
    except UserError as refused:
        messages.error(request, refused.message)
    else:
        messages.success(
            request, f"Run {found.tag} is now the primary run of team {found.team.name}."
        )
    return _to(found)


@login_required
@require_POST
def run_submit(request: HttpRequest, lab: str, task: str, run: int) -> HttpResponse:
    """Submit a run that was only checked."""
    found = run_or_404(request.user, lab, task, run)
    try:
        submit_checked_run(run=found, by=signed_in(request), at=timezone.now())
    except UserError as refused:
        messages.error(request, refused.message)
    else:
        messages.success(request, f"Run {found.tag} was submitted.")
    return _to(found)


@login_required
@require_http_methods(["GET", "POST"])
def run_repaired(request: HttpRequest, lab: str, task: str, run: int) -> HttpResponse:
    """Return the repaired file, or submit or check it as a new run."""
    found = run_or_404(request.user, lab, task, run)
    repaired = _repaired_or_404(found)
    if request.method == "GET":
        return exact_response(repaired.read(), str(repaired.name))
    take = check_upload if "check" in request.POST else submit_upload
    metadata = {str(repaired.name): metadata_of(found)}
    try:
        with transaction.atomic():
            runs = take(
                file=repaired,
                task=found.task,
                team=found.team,
                by=signed_in(request),
                at=timezone.now(),
                metadata=metadata,
            )
            validate_after_commit(runs)
    except UserError as refused:
        messages.error(request, refused.message)
        return _to(found)
    messages.success(request, "The repaired file was uploaded as a new run.")
    return _to(runs[0])


def _repaired_or_404(run: Run) -> ContentFile:
    try:
        repaired = repaired_file(run)
    except UploadRefusedError as refused:
        raise Http404 from refused
    if repaired is None:
        raise Http404
    return repaired


def _page(request: HttpRequest, page: str, run: Run, form: Form, **context: object) -> HttpResponse:
    context |= {"lab": run.task.lab, "task": run.task, "run": run, "form": form}
    status = 422 if form.errors else 200
    return render(request, f"submissions/{page}.html", context, status=status)


def _events(run: Run, verb: str) -> QuerySet[AuditEvent]:
    return run.task.lab.audit_events.filter(verb=verb, detail__run=run.pk)


def _to(run: Run) -> HttpResponse:
    return redirect("desk:run-detail", run.task.lab.slug, run.task.slug, run.pk)
