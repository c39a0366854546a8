"""The page that freezes a version of the qrels, and its undo."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from arqlab.core.errors import UserError
from arqlab.core.models import Task
from arqlab.core.oddities import CHANGED, oddities_digest
from arqlab.core.permissions import organized_task_or_404, signed_in
from assessment.models import QrelSet
from assessment.qrels.forms import FreezeForm, LeftOutTopicsForm
from assessment.qrels.selectors.drafts import Draft, draft_of
from assessment.qrels.selectors.oddities import freeze_oddities
from assessment.qrels.services.versions import QrelsChoice, delete_qrels, freeze_qrels
from submissions.forms import LeftOutRunsForm
from submissions.models import Run
from submissions.services.left_out import out_of_competition


@require_http_methods(["GET", "HEAD", "POST"])
def qrels_freeze(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """List what is odd about the draft, and freeze it without the topics and runs left out."""
    found = organized_task_or_404(request.user, lab, task)
    forms = _forms(request.POST or None, draft_of(found))
    oddities = freeze_oddities(found, at=timezone.now())
    digest, refusals = oddities_digest(oddities), []
    if request.method == "POST" and forms.are_valid:
        try:
            if request.POST.get("seen") == digest:
                return _frozen(request, found, forms.choice)
            refusals = [CHANGED]
        except UserError as refused:
            refusals = [refused.message]
    context = {"task": found, "lab": found.lab, "oddities": oddities, "digest": digest}
    refusals += [*forms.topics.messages, *forms.runs.messages]
    context |= {"refusals": refusals, "draft": forms.draft, "form": forms.version}
    context |= {"topics_form": forms.topics, "runs_form": forms.runs}
    status = 422 if request.method == "POST" else 200
    return render(request, "assessment/qrels_freeze.html", context, status=status)


@require_POST
def qrels_delete(request: HttpRequest, lab: str, task: str, version: int) -> HttpResponse:
    """Delete a version that nothing uses."""
    found = organized_task_or_404(request.user, lab, task)
    versions = QrelSet.objects.select_related("task__lab")
    chosen = get_object_or_404(versions, task=found, version=version)
    try:
        delete_qrels(qrel_set=chosen, by=signed_in(request))
    except UserError as refused:
        messages.error(request, refused.message)
        return redirect("assessment:qrels-detail", lab, task, version)
    messages.success(request, f"{chosen.name} was deleted. The audit log keeps its hash.")
    return redirect("assessment:qrels-list", lab, task)


@dataclass(frozen=True)
class _Forms:
    """The forms of the page: the version, and the topics and runs left out."""

    draft: Draft
    version: FreezeForm
    topics: LeftOutTopicsForm
    runs: LeftOutRunsForm

    @property
    def are_valid(self) -> bool:
        return all(form.is_valid() for form in (self.version, self.topics, self.runs))

    @property
    def choice(self) -> QrelsChoice:
        return self.version.choice(topics=self.topics.reasons, runs=self.runs.run_reasons)


def _forms(data: QueryDict | None, draft: Draft) -> _Forms:
    """Return the forms as sent, or with what the last version left out."""
    last = draft.task.qrel_sets.order_by("-version").first()
    runs = Run.objects.valid().filter(task=draft.task)
    return _Forms(
        draft,
        FreezeForm(data, task=draft.task),
        LeftOutTopicsForm(data, draft=draft, last=last),
        LeftOutRunsForm(data, runs=runs, recorded=out_of_competition(runs)),
    )


def _frozen(request: HttpRequest, task: Task, choice: QrelsChoice) -> HttpResponse:
    made = freeze_qrels(task=task, choice=choice, by=signed_in(request), at=timezone.now())
    messages.success(
        request,
        f"{made.name} is frozen as version {made.version}. Runs are being scored against it. "
        "Leaderboards use it when you make it current.",
    )
    return redirect("assessment:qrels-detail", task.lab.slug, task.slug, made.version)
