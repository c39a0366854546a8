"""The release of a leaderboard, with the checks before it, and the hiding of released ones."""

from dataclasses import dataclass

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from arqlab.core.models import Task
from arqlab.core.views import refused, signed_in, told
from arqlab.labs.oddities import Ceremony, is_preview, with_left_out
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import TASK, Pages, context_of, number_of, task_url
from assessment.models import QrelSet
from evaluation.services.releasing import (
    hide_leaderboard,
    hide_version,
    release_draft,
    release_leaderboard,
)
from submissions.forms import LeftOutRunsForm

pages = Pages(TASK, organized_task_or_404, section="leaderboard")


class ReleaseForm(forms.Form):
    """What everyone is told about a release."""

    reason = forms.CharField(
        label="Reason for this version",
        required=False,
        max_length=300,
        help_text="Such as: labels of A.12 corrected. Everyone who sees the leaderboard reads it "
        "in the list of its versions.",
    )


@dataclass(frozen=True, kw_only=True)
class ReleasePage:
    """The checks before a release, and its forms."""

    ceremony: Ceremony
    form: LeftOutRunsForm
    release: ReleaseForm


@pages.form("leaderboard/release/", "leaderboard-release")
def leaderboard_release(request: HttpRequest, task: Task) -> HttpResponse:
    """List what is odd about the board of the chosen qrels, and release it."""
    draft = release_draft(task, (request.POST or request.GET).get("qrels", ""), at=timezone.now())
    if draft is None:
        raise Http404
    data = with_left_out(request.POST) if request.POST else None
    form = LeftOutRunsForm(data, runs=draft.valid_runs, recorded=draft.out_of_competition)
    release = ReleaseForm(data)
    ceremony = Ceremony(draft.checks, form.entered)
    is_sent = request.method == "POST" and not is_preview(request.POST)
    if is_sent and form.is_valid() and release.is_valid():
        with refused(form):
            ceremony.require_acknowledged(request.POST)
            reason = release.cleaned_data["reason"]
            return _released(request, draft.qrel_set, form.run_reasons, reason)
    context = context_of(draft, ReleasePage(ceremony=ceremony, form=form, release=release))
    status = 422 if is_sent else 200
    return render(request, "evaluation/leaderboard_release.html", context, status=status)


def _released(
    request: HttpRequest, qrel_set: QrelSet, apart: dict[int, str], reason: str
) -> HttpResponse:
    by, at = signed_in(request), timezone.now()
    with told(request):
        board = release_leaderboard(qrel_set=qrel_set, by=by, at=at, apart=apart, reason=reason)
        messages.success(
            request,
            f"Version {board.version} is released. Everyone who can see the lab can now see it.",
        )
        return _back_to_board(qrel_set.task)
    return _back_to_board(qrel_set.task, live=qrel_set)


@pages.action("leaderboard/hide/", "leaderboard-hide")
def leaderboard_hide(request: HttpRequest, task: Task) -> HttpResponse:
    """Hide the released leaderboard with all versions, or only an earlier `version`."""
    by, at, version = signed_in(request), timezone.now(), request.POST.get("version", "")
    with told(request):
        if version:
            number = number_of(version) or 0
            hide_version(task=task, version=number, by=by, at=at)
            text = f"Version {number} is hidden."
        else:
            hide_leaderboard(task=task, by=by, at=at)
            text = (
                "The leaderboard is hidden. Only organizers can see it until it is released again."
            )
            if task.threads == Task.Threads.OPEN:
                text += " The threads of the topics stay open, because people may have read them."
        messages.success(request, text)
    return _back_to_board(task)


def _back_to_board(task: Task, *, live: QrelSet | None = None) -> HttpResponse:
    address = task_url("evaluation:leaderboard", task)
    return redirect(f"{address}?live=1&qrels={live.name}" if live else address)
