"""The pages that change a run."""

from collections.abc import Callable
from dataclasses import asdict

from django.contrib import messages
from django.db import transaction
from django.forms import Form
from django.forms.models import model_to_dict
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils import timezone

from arqkit.formats.archives.uploads import UploadRefusedError
from arqlab.core.views import edited, refused, signed_in, told
from arqlab.core.views.editing import F
from arqlab.labs.permissions import may_organize
from arqlab.web import FILE, TASK, Pages, answer, exact_response, url_of
from submissions.forms import MoveForm, RunEditForm, RunPublicationForm, SystemForm, WithdrawForm
from submissions.models import Run
from submissions.permissions import linkable_runs, run_or_404
from submissions.selectors import quotas_of, repaired_file
from submissions.services.changing import (
    correct_run,
    link_runs,
    mark_primary,
    metadata_of,
    move_run,
    publish_run,
    retry_run,
    submit_checked_run,
    take_repaired,
    withdraw_run,
)
from submissions.services.renewal import check_again
from submissions.tasks import validate_after_commit

pages = Pages(TASK, run_or_404, section="runs", sign_in=True)


@pages.form("runs/<number:run>/edit/", "run-edit")
def run_edit(request: HttpRequest, run: Run) -> HttpResponse:
    """Edit the details of a run."""
    by, organizes = signed_in(request), may_organize(request.user, run.task.lab)

    def make(data: QueryDict | None) -> RunEditForm:
        initial = asdict(metadata_of(run))
        return RunEditForm(data, initial=initial, run=run, organizes=organizes)

    def save(form: RunEditForm) -> str:
        metadata = form.entered(metadata_of(run))
        reason = form.cleaned_data.get("reason", "")
        if correct_run(run=run, metadata=metadata, by=by, at=timezone.now(), reason=reason):
            validate_after_commit([run])
        return "Run details saved."

    return _edit(request, "run_edit", run, make, save, verb="run.correct")


@pages.form("runs/<number:run>/publication/", "run-publish")
def run_publish(request: HttpRequest, run: Run) -> HttpResponse:
    """Edit the paper, code and citation of a run, also after the deadline."""
    by, at = signed_in(request), timezone.now()

    def make(data: QueryDict | None) -> RunPublicationForm:
        return RunPublicationForm(data, run=run, initial=model_to_dict(run))

    def save(form: RunPublicationForm) -> str:
        publish_run(run=run, publication=form.cleaned_data, by=by, at=at)
        return "Publication saved."

    return _edit(request, "run_publish", run, make, save, verb="run.publish")


@pages.form("runs/<number:run>/progress/", "run-system")
def run_system(request: HttpRequest, run: Run) -> HttpResponse:
    """Link a run with the runs of the same system in other tasks."""
    if run.check_only or run.status != Run.Status.VALID or run.withdrawn_at:
        raise Http404
    by, at = signed_in(request), timezone.now()

    def make(data: QueryDict | None) -> SystemForm:
        return SystemForm(data, run=run, others=list(linkable_runs(request.user, run)))

    def save(form: SystemForm) -> str:
        link_runs(run=run, links=form.links() or {run.pk: False}, by=by, at=at)
        return "Links of the run saved."

    return _edit(request, "run_system", run, make, save, verb="run.link")


def _edit(
    request: HttpRequest,
    page: str,
    run: Run,
    make: Callable[[QueryDict | None], F],
    save: Callable[[F], str],
    *,
    verb: str,
) -> HttpResponse:
    """Return the page of a form that edits a run, or store it; `save` returns the message."""

    def store(form: F) -> HttpResponse:
        messages.success(request, save(form))
        return _to(run)

    events = run.task.lab.audit_events.filter(verb=verb, detail__run=run.pk)
    form, response = edited(request, run, make, store, events=events)
    return response or _page(request, page, run, form)


@pages.form("runs/<number:run>/withdraw/", "run-withdraw")
def run_withdraw(request: HttpRequest, run: Run) -> HttpResponse:
    """Withdraw a run with a reason."""
    form = WithdrawForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        reason = form.cleaned_data["reason"]
        with refused(form):
            withdraw_run(run=run, reason=reason, by=signed_in(request), at=timezone.now())
            messages.success(
                request, f"Run {run.tag} was withdrawn. Its file, report and reason are kept."
            )
            return _to(run)
    return _page(request, "run_withdraw", run, form)


@pages.form("runs/<number:run>/move/", "run-move")
def run_move(request: HttpRequest, run: Run) -> HttpResponse:
    """Move a run to another team, for organizers."""
    if not may_organize(request.user, run.task.lab):
        raise Http404
    teams = run.task.lab.teams.exclude(pk=run.team_id)
    form, before = MoveForm(request.POST or None, run=run, teams=teams), run.team
    if request.method == "POST" and form.is_valid():
        team, by = form.cleaned_data["team"], signed_in(request)
        with refused(form):
            notes = move_run(run=run, by=by, at=timezone.now(), **form.cleaned_data)
            moved = f"Run {run.tag} was moved from team {before.name} to team {team.name}."
            messages.success(request, " ".join([moved, *notes]))
            return _to(run)
    return _page(request, "run_move", run, form, quotas=quotas_of(teams, run.task))


@pages.action("runs/<number:run>/primary/", "run-primary")
def run_primary(request: HttpRequest, run: Run) -> HttpResponse:
    """Make a run the team's primary run."""
    with told(request):
        mark_primary(run=run, by=signed_in(request), at=timezone.now())
        messages.success(request, f"Run {run.tag} is now the primary run of team {run.team.name}.")
    return _to(run)


@pages.action("runs/<number:run>/submit/", "run-submit")
def run_submit(request: HttpRequest, run: Run) -> HttpResponse:
    """Submit a run that was only checked."""
    with told(request):
        submit_checked_run(run=run, by=signed_in(request), at=timezone.now())
        messages.success(request, f"Run {run.tag} was submitted.")
    return _to(run)


@pages.action("runs/<number:run>/retry/", "run-retry")
def run_retry(request: HttpRequest, run: Run) -> HttpResponse:
    """Check a run that waits after a fault of the server."""
    with told(request):
        retry_run(run=run, by=signed_in(request), at=timezone.now())
        validate_after_commit([run])
    return _to(run)


@pages.action("runs/<number:run>/check-again/", "run-recheck")
def run_recheck(request: HttpRequest, run: Run) -> HttpResponse:
    """Check a run with errors again, by the rules of today."""
    with told(request):
        with transaction.atomic():
            check_again(run=run, by=signed_in(request), at=timezone.now())
            validate_after_commit([run])
        messages.success(request, f"Run {run.tag} is being checked again.")
    return _to(run)


@pages.form("runs/<number:run>/repaired/", "run-repaired", api=FILE)
def run_repaired(request: HttpRequest, run: Run) -> HttpResponse:
    """Return the repaired file, or submit or check it as a new run."""
    if request.method != "POST":
        try:
            repaired = repaired_file(run)
        except UploadRefusedError:
            repaired = None
        if repaired is None:
            raise Http404
        return exact_response(repaired.read(), str(repaired.name))
    with told(request):
        with transaction.atomic():
            by, only = signed_in(request), "check" in request.POST
            runs = take_repaired(run=run, by=by, at=timezone.now(), check_only=only)
            validate_after_commit(runs)
        messages.success(request, "The repaired file was uploaded as a new run.")
        return _to(runs[0])
    return _to(run)


def _page(request: HttpRequest, page: str, run: Run, form: Form, **context: object) -> HttpResponse:
    context = {"run": run, "form": form, **context}
    status = 422 if form.errors else 200
    return answer(request, f"submissions/{page}.html", context, status=status)


def _to(run: Run) -> HttpResponse:
    return redirect(url_of("run", run.task.lab.slug, run.task.slug, run.pk))
