"""The home page."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from arqlab.core.models import User
from arqlab.core.permissions import labs_visible_to, tasks_visible_to
from arqlab.core.selectors import lab_rows, own_labs
from arqlab.notices.selectors import unread_notices
from desk.selectors import labs_overview, with_phases

NOTICES = 5


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show a visitor the public labs; show a signed-in person their labs and next steps."""
    now, tasks = timezone.now(), tasks_visible_to(request.user)
    own = own_labs(request.user, tasks=tasks, at=now) if isinstance(request.user, User) else []
    others = (
        labs_visible_to(request.user)
        .filter(archived_at=None)
        .exclude(pk__in=[lab.row.lab.pk for lab in own])
    )
    standings = [(lab.row.lab, lab.standing) for lab in own]
    overview = labs_overview(standings, request.user, at=now)
    labs = lab_rows(others, tasks=tasks, at=now)
    context = {"own_labs": own, "labs": labs, "overview": with_phases(overview, labs)}
    context["notices"] = unread_notices(request.user)[:NOTICES]
    return render(request, "desk/home.html", context)
