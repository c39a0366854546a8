"""The list of labs and the page of a lab."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from arqlab.core.permissions import lab_or_404, labs_visible_to, tasks_visible_to
from arqlab.core.selectors import lab_row, lab_rows, roles_in
from desk.selectors import labs_overview, with_phases
from desk.services.exports import lab_exports


@require_safe
def lab_list(request: HttpRequest) -> HttpResponse:
    """Show all labs the person may see, open labs first."""
    tasks = tasks_visible_to(request.user)
    labs = lab_rows(labs_visible_to(request.user), tasks=tasks, at=timezone.now())
    overview = with_phases(labs_overview([], request.user, at=timezone.now()), labs)
    return render(request, "desk/lab_list.html", {"labs": labs, "overview": overview})


@require_safe
def lab_detail(request: HttpRequest, lab: str) -> HttpResponse:
    """Show a lab: its state, tasks and deadlines, the person's role and next steps."""
    found = lab_or_404(request.user, lab)
    now = timezone.now()
    row = lab_row(found, tasks=tasks_visible_to(request.user), at=now)
    standing = roles_in(request.user, found)
    overview = labs_overview([(row.lab, standing)], request.user, at=now)
    context = {"row": row, "lab": row.lab, "standing": standing, "overview": overview}
    context["downloads"] = lab_exports(organizes=standing.organizes)
    return render(request, "desk/lab_detail.html", context)
