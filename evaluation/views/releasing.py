"""The pages that release and hide a leaderboard, and of look-alike runs."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from arqkit.comparison.look_alikes import PURITY, SUSPICIOUS
from arqlab.core.models import Task
from arqlab.core.oddities import Ceremony, is_preview, with_left_out
from arqlab.core.permissions import organized_task_or_404, signed_in
from arqlab.core.views.answers import refused, told
from arqlab.core.views.jobs import page_of_job, requested
from arqlab.web.pages import TASK, Pages
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import qrels_named
from evaluation.forms import ReleaseForm
from evaluation.selectors.boards import live_scores, released_leaderboard
from evaluation.selectors.oddities import release_oddities
from evaluation.services.look_alikes import look_alikes, replays
from evaluation.services.releasing import hide_leaderboard, hide_version, release_leaderboard
from submissions.forms import LeftOutRunsForm
from submissions.models import Run
from submissions.services.left_out import out_of_competition

pages = Pages(TASK, organized_task_or_404, section="leaderboard")

SHOWN_TOPICS = 5
"""The topics that are listed at once; the others open with a click."""


@pages.form("runs/look-alikes/", "look-alike-list", section="runs", in_archive=True)
def look_alike_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show organizers copied runs of different teams, and runs that replay the qrels."""
    if request.method == "POST":
        return requested(request, "look-alikes", task.pk, task)
    qrel_set, pairs, replaying = qrels_named(task), look_alikes(task), replays(task)
    context = {
        "pairs": pairs,
        "qrel_set": qrel_set,
        "replays": replaying,
        "is_ready": pairs is not None and replaying is not None,
        "shown_topics": SHOWN_TOPICS,
        "percent": {"topics": round(100 * SUSPICIOUS), "relevant": round(100 * PURITY)},
    }
    return page_of_job(request, "evaluation/look_alike_list.html", context, "look-alikes", task.pk)


@pages.form("leaderboard/release/", "leaderboard-release")
def leaderboard_release(request: HttpRequest, task: Task) -> HttpResponse:
    """List what is odd about the board of the chosen qrels, and release it."""
    qrel_set = qrels_named(task, (request.POST or request.GET).get("qrels", ""))
    if qrel_set is None:
        raise Http404
    data = with_left_out(request.POST) if request.POST else None
    runs = Run.objects.valid().filter(task=task)
    form = LeftOutRunsForm(data, runs=runs, recorded=out_of_competition(runs))
    release = ReleaseForm(data)
    ceremony = Ceremony(release_oddities(qrel_set, at=timezone.now()), form.entered)
    is_sent = request.method == "POST" and not is_preview(request.POST)
    if is_sent and form.is_valid() and release.is_valid():
        with refused(form):
            ceremony.require_acknowledged(request.POST)
            return _released(request, qrel_set, form.run_reasons, release.cleaned_data["reason"])
    context = {
        "qrel_set": qrel_set,
        "ceremony": ceremony,
        "runs": len(live_scores(qrel_set)),
        "released": released_leaderboard(task),
        "form": form,
        "release": release,
    }
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
    if version := request.POST.get("version", ""):
        return _hide_version(request, task, version)
    with told(request):
        hide_leaderboard(task=task, by=signed_in(request), at=timezone.now())
        text = "The leaderboard is hidden. Only organizers can see it until it is released again."
        if task.threads == Task.Threads.OPEN:
            text += " The threads of the topics stay open, because people may have read them."
        messages.success(request, text)
        return _back_to_board(task)
    return _back_to_board(task)


def _hide_version(request: HttpRequest, task: Task, version: str) -> HttpResponse:
    number = int(version) if version.isdecimal() else 0
    with told(request):
        hide_version(task=task, version=number, by=signed_in(request), at=timezone.now())
        messages.success(request, f"Version {number} is hidden.")
    return _back_to_board(task)


def _back_to_board(task: Task, *, live: QrelSet | None = None) -> HttpResponse:
    address = reverse("evaluation:leaderboard", args=[task.lab.slug, task.slug])
    return redirect(f"{address}?live=1&qrels={live.name}" if live else address)
