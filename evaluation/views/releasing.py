"""The page that releases a leaderboard, and its undo."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from arqlab.core.errors import UserError
from arqlab.core.models import Task
from arqlab.core.oddities import CHANGED, oddities_digest
from arqlab.core.permissions import organized_task_or_404, signed_in
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import qrels_named
from evaluation.forms import ReleaseForm
from evaluation.selectors.boards import live_scores, released_leaderboard
from evaluation.selectors.oddities import release_oddities
from evaluation.services.releasing import hide_leaderboard, hide_version, release_leaderboard
from submissions.forms import LeftOutRunsForm
from submissions.models import Run
from submissions.services.left_out import out_of_competition


@require_http_methods(["GET", "HEAD", "POST"])
def leaderboard_release(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """List what is odd about the board of the chosen qrels, and release it."""
    found = organized_task_or_404(request.user, lab, task)
    qrel_set = qrels_named(found, (request.POST or request.GET).get("qrels", ""))
    if qrel_set is None:
        raise Http404
    oddities = release_oddities(qrel_set, at=timezone.now())
    digest, data = oddities_digest(oddities), request.POST or None
    runs = Run.objects.valid().filter(task=found)
    form = LeftOutRunsForm(data, runs=runs, recorded=out_of_competition(runs))
    release = ReleaseForm(data)
    has_seen = request.POST.get("seen") == digest
    if request.method == "POST" and has_seen and form.is_valid() and release.is_valid():
        return _released(request, qrel_set, form.run_reasons, release.cleaned_data["reason"])
    context = {
        "task": found,
        "lab": found.lab,
        "qrel_set": qrel_set,
        "oddities": oddities,
        "digest": digest,
        "runs": len(live_scores(qrel_set)),
        "released": released_leaderboard(found),
        "form": form,
        "release": release,
        "refusals": [CHANGED] if request.method == "POST" and not has_seen else [],
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "evaluation/leaderboard_release.html", context, status=status)


def _released(
    request: HttpRequest, qrel_set: QrelSet, apart: dict[int, str], reason: str
) -> HttpResponse:
    by, at = signed_in(request), timezone.now()
    try:
        board = release_leaderboard(qrel_set=qrel_set, by=by, at=at, apart=apart, reason=reason)
    except UserError as refused:
        messages.error(request, refused.message)
        return _back_to_board(qrel_set.task, live=qrel_set)
    messages.success(
        request,
        f"Version {board.version} is released. Everyone who can see the lab can now see it.",
    )
    return _back_to_board(qrel_set.task)


@require_POST
def leaderboard_hide(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Hide the released leaderboard with all versions, or only an earlier `version`."""
    found = organized_task_or_404(request.user, lab, task)
    if version := request.POST.get("version", ""):
        return _hide_version(request, found, version)
    try:
        hide_leaderboard(task=found, by=signed_in(request), at=timezone.now())
    except UserError as refused:
        messages.error(request, refused.message)
        return _back_to_board(found)
    text = "The leaderboard is hidden. Only organizers can see it until it is released again."
    if found.threads == Task.Threads.OPEN:
        text += " The threads of the topics stay open, because people may have read them."
    messages.success(request, text)
    return _back_to_board(found)


def _hide_version(request: HttpRequest, task: Task, version: str) -> HttpResponse:
    number = int(version) if version.isdecimal() else 0
    try:
        hide_version(task=task, version=number, by=signed_in(request), at=timezone.now())
    except UserError as refused:
        messages.error(request, refused.message)
    else:
        messages.success(request, f"Version {number} is hidden.")
    return _back_to_board(task)


def _back_to_board(task: Task, *, live: QrelSet | None = None) -> HttpResponse:
    address = reverse("evaluation:leaderboard", args=[task.lab.slug, task.slug])
    return redirect(f"{address}?live=1&qrels={live.name}" if live else address)
