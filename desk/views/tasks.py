"""The page of a task."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from arqlab.core.permissions import task_or_404
from arqlab.core.selectors import roles_in
from assessment.pools.selectors.together import pooled_together
from desk.selectors import labs_overview
from desk.services.exports import task_exports
from submissions.selectors import file_limits


@require_safe
def task_detail(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show a task: its state, topics, runs, judging, leaderboard and rules."""
    found = task_or_404(request.user, lab, task)
    now = timezone.now()
    standing = roles_in(request.user, found.lab)
    overview = labs_overview([(found.lab, standing)], request.user, at=now)
    context = {
        "task": found,
        "lab": found.lab,
        "run_bytes": file_limits(found).max_run_bytes,
        "zip_bytes": settings.RUN_MAX_BYTES,
        "state": found.state(now),
        "standing": standing,
        "topics": found.topics.count(),
        "together": pooled_together(found) if standing.organizes else None,
        "overview": overview,
        "downloads": task_exports(found, organizes=standing.organizes),
        "next_topic": overview.next_topic(found),
    }
    return render(request, "desk/task_detail.html", context)
