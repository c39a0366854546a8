"""The page that freezes the draft of the qrels, without what is left out by hand."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone

from arqlab.core.models import Task
from arqlab.core.views import refused, signed_in
from arqlab.labs.forms.topics import LeftOutTopicsForm
from arqlab.labs.oddities import Ceremony, is_preview, with_left_out
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import TASK, Pages
from assessment.qrels.forms import FreezeForm
from assessment.qrels.selectors.drafts import DraftTopics, draft_topics
from assessment.qrels.selectors.oddities import freeze_oddities
from assessment.qrels.services.versions import QrelsChoice, freeze_qrels
from submissions.forms import LeftOutRunsForm
from submissions.models import Run
from submissions.services.left_out import out_of_competition

pages = Pages(f"{TASK}qrels/", organized_task_or_404, section="qrels")


@pages.form("freeze/", "qrels-freeze")
def qrels_freeze(request: HttpRequest, task: Task) -> HttpResponse:
    """List what is odd about the draft, and freeze it without the topics and runs left out."""
    is_sent = request.method == "POST" and not is_preview(request.POST)
    forms = _forms(with_left_out(request.POST) if request.POST else None, task)
    checks = freeze_oddities(task, at=timezone.now())
    ceremony = Ceremony(checks, forms.topics.entered | forms.runs.entered)
    if is_sent and forms.are_valid:
        with refused(forms.version):
            ceremony.require_acknowledged(request.POST)
            return _frozen(request, task, forms.choice)
    context: dict[str, object] = {"ceremony": ceremony}
    refusals = [*forms.topics.messages, *forms.runs.messages]
    context |= {"refusals": refusals, "draft": forms.draft, "form": forms.version}
    context |= {"topics_form": forms.topics, "runs_form": forms.runs}
    status = 422 if is_sent else 200
    return render(request, "assessment/qrels_freeze.html", context, status=status)


@dataclass(frozen=True)
class _Forms:
    """The forms of the page: the version, and the topics and runs left out."""

    draft: DraftTopics
    version: FreezeForm
    topics: LeftOutTopicsForm
    runs: LeftOutRunsForm

    @property
    def are_valid(self) -> bool:
        return all(form.is_valid() for form in (self.version, self.topics, self.runs))

    @property
    def choice(self) -> QrelsChoice:
        return self.version.choice(topics=self.topics.reasons, runs=self.runs.run_reasons)


def _forms(data: QueryDict | None, task: Task) -> _Forms:
    """Return the forms as sent, or with what the last version left out."""
    draft, last = draft_topics(task), task.qrel_sets.order_by("-version").first()
    dropped = last.dropped if last else ()
    reasons = {row["topic"]: row["reason"] for row in dropped if row.get("by_hand")}
    runs, names = Run.objects.valid().filter(task=task), [row.topic for row in draft.topics]
    topics = task.topics.filter(query_id__in=names)
    return _Forms(
        draft,
        FreezeForm(data, task=task),
        LeftOutTopicsForm(data, topics=topics, reasons=reasons),
        LeftOutRunsForm(data, runs=runs, recorded=out_of_competition(runs)),
    )


def _frozen(request: HttpRequest, task: Task, choice: QrelsChoice) -> HttpResponse:
    qrel_set = freeze_qrels(task=task, choice=choice, by=signed_in(request), at=timezone.now())
    messages.success(
        request,
        f"{qrel_set.name} is frozen as version {qrel_set.version}. Runs are being scored against "
        "it. Leaderboards use it when you make it current.",
    )
    return redirect("assessment:qrels-detail", task.lab.slug, task.slug, qrel_set.version)
