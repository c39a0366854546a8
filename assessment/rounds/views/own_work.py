"""The page on which assessors see their own work."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from arqlab.core.models import Lab, User
from arqlab.core.permissions import lab_or_404, may_look_up, signed_in
from assessment.judging.selectors.own_hours import own_hours
from assessment.rounds.selectors.own_agreement import own_agreements
from assessment.tickets.selectors import own_answered_tickets, own_open_tickets
from assessment.timesheets.forms import zone_words
from assessment.timesheets.selectors.figures import SheetPart
from assessment.timesheets.selectors.sheets import time_sheet_of
from assessment.timesheets.views import sheet_response


@require_safe
@login_required
def your_work(request: HttpRequest, lab: str) -> HttpResponse:
    """Show the user's own progress, pace, hours, agreement and answered tickets."""
    found, user = _own_lab_or_404(request, lab)
    hours = own_hours(found, user, at=timezone.now())
    context = {
        "lab": found,
        "hours": hours,
        "own": {one.topic.pk for task in hours.tasks for one in task.topics if one.row},
        "zone": zone_words(hours.sheet.rule.time_zone),
        "agreements": own_agreements(found, user),
        "tickets": own_answered_tickets(found, user),
        "open_tickets": own_open_tickets(found, user).count(),
        "is_own": True,
    }
    return render(request, "assessment/your_work.html", context)


@require_safe
@login_required
def your_work_csv(request: HttpRequest, lab: str) -> HttpResponseBase:
    """Return the user's own time sheet as CSV."""
    found, user = _own_lab_or_404(request, lab)
    sheet = time_sheet_of(found, person=user).part(SheetPart())
    return sheet_response(sheet, f"{found.slug}-own-time-sheet.csv")


def _own_lab_or_404(request: HttpRequest, slug: str) -> tuple[Lab, User]:
    """Return a lab that the user judges in or organizes, and the user; raise 404 otherwise."""
    found, user = lab_or_404(request.user, slug), signed_in(request)
    if not may_look_up(user, found):
        raise Http404
    return found, user
