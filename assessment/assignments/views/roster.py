"""The organizers' page of a task's assessors: who is on the roster, with hours and bids."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.permissions import organized_task_or_404, signed_in
from arqlab.core.views.editing import edited
from assessment.assignments.forms import HoursForm, RosterForm
from assessment.assignments.selectors.roster import (
    RosterRow,
    offer_events,
    roster_entry,
    task_roster,
)
from assessment.assignments.services.roster import (
    add_assessors,
    change_offer,
    invite_to_bid,
    remove_assessor,
)


@require_http_methods(["GET", "HEAD", "POST"])
def assignment_roster(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show the roster with hours and bids, and add assessors to it."""
    found = organized_task_or_404(request.user, lab, task)
    form = RosterForm(request.POST if request.method == "POST" else None, task=found)
    if request.method == "POST" and form.is_valid():
        people, at, by = list(form.cleaned_data["people"]), timezone.now(), signed_in(request)
        if form.cleaned_data["invites"]:
            invite_to_bid(task=found, people=people, at=at, by=by)
        else:
            add_assessors(task=found, people=people, at=at, by=by)
        messages.success(request, f"Added {', '.join(person.name for person in people)}.")
        return redirect("assessment:assignment-roster", lab=lab, task=task)
    rows = task_roster(found)
    context = {
        "lab": found.lab,
        "task": found,
        "form": form,
        "rows": [(row, HoursForm(entry=row.entry, auto_id=False)) for row in rows],
        "silent": _silent(rows),
        "offered": sum(row.hours or 0 for row in rows if row.may_judge),
    }
    return render(request, "assessment/assignment_roster.html", context)


@require_POST
def roster_hours(request: HttpRequest, lab: str, task: str, person: int) -> HttpResponse:
    """Change the hours of an assessor."""
    found, assessor = _person_or_404(request, lab, task, person)
    by, at = signed_in(request), timezone.now()

    def save(form: HoursForm) -> HttpResponse:
        change_offer(task=found, person=assessor, changes=form.cleaned_data, at=at, by=by)
        messages.success(request, f"Saved the hours of {assessor.name}.")
        return redirect("assessment:assignment-roster", lab=lab, task=task)

    form, answer = edited(
        request,
        found,
        lambda data: HoursForm(data, entry=roster_entry(found, assessor)),
        save,
        events=offer_events(found, assessor),
    )
    for errors in form.errors.values():
        messages.error(request, f"{assessor.name}: {errors[0]}")
    return answer or redirect("assessment:assignment-roster", lab=lab, task=task)


@require_POST
def roster_remove(request: HttpRequest, lab: str, task: str, person: int) -> HttpResponse:
    """Remove an assessor from the roster."""
    found, assessor = _person_or_404(request, lab, task, person)
    try:
        remove_assessor(task=found, person=assessor, by=signed_in(request))
    except UserError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"Removed {assessor.name} from the roster.")
    return redirect("assessment:assignment-roster", lab=lab, task=task)


@require_POST
def roster_invite(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Invite the assessors who have not marked topics yet."""
    found = organized_task_or_404(request.user, lab, task)
    people = [row.person for row in _silent(task_roster(found))]
    if people:
        invite_to_bid(task=found, people=people, at=timezone.now(), by=signed_in(request))
    messages.success(request, f"Invited {', '.join(one.name for one in people) or 'nobody'}.")
    return redirect("assessment:assignment-roster", lab=lab, task=task)


def _silent(rows: list[RosterRow]) -> list[RosterRow]:
    """Return the assessors who have marked no topic."""
    return [row for row in rows if row.may_judge and not row.bids]


def _person_or_404(request: HttpRequest, lab: str, task: str, person: int) -> tuple[Task, User]:
    found = organized_task_or_404(request.user, lab, task)
    rows = task_roster(found)
    people = User.objects.filter(pk__in=[row.person.pk for row in rows])
    return found, get_object_or_404(people, pk=person)
