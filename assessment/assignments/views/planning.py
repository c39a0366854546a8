"""The page that plans assignments: a proposal, edits by hand, and applying it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from arqkit.judgments.assignment_plan import AssignmentPlan, plan_of
from arqlab.core.errors import UserError
from arqlab.core.permissions import organized_task_or_404, signed_in
from assessment.assignments.forms import PlanForm, read_choices, read_edits, write_proposal
from assessment.assignments.selectors.planning import (
    TaskPlanning,
    people_in_plan,
    plan_with_edits,
    task_planning,
)
from assessment.assignments.services.planning import apply_plan


@require_http_methods(["GET", "HEAD", "POST"])
def assignment_plan(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show what a plan is made from; propose one, compute it after edits, or apply it."""
    found = organized_task_or_404(request.user, lab, task)
    now = timezone.now()
    action = request.POST.get("action", "")
    form = PlanForm(request.POST if action else None, task=found)
    planning = task_planning(found, **form.settings, at=now)
    context: dict[str, Any] = {"lab": found.lab, "task": found, "form": form}
    context["planning"] = planning
    if action and form.is_valid():
        try:
            context |= _plan(request, action, planning)
            context |= _shown(planning, context["plan"])
            if action == "apply":
                return _applied(request, planning, context["plan"], at=now)
        except UserError as error:
            form.add_error(None, error.message)
    is_part = "HX-Request" in request.headers and "plan" in context
    page = "_plan_totals.html" if is_part else "assignment_plan.html"
    status = 422 if form.errors else 200
    return render(request, f"assessment/{page}", context, status=status)


def _plan(request: HttpRequest, action: str, planning: TaskPlanning) -> dict[str, Any]:
    """Return the proposal, or the plan that the page sent back, with what was proposed."""
    if action == "propose":
        edits = read_edits(request.POST, planning)
        plan = plan_with_edits(planning, edits)
        kept = len(edits.first) + len(edits.second)
        return {"plan": plan, "kept": kept, "proposed": write_proposal(planning, plan, edits)}
    first, second = (read_choices(request.POST, part, planning) for part in ("first", "second"))
    plan = plan_of(planning.open_problem, first, second)
    return {"plan": plan, "proposed": request.POST.get("proposed", "")}


def _shown(planning: TaskPlanning, plan: AssignmentPlan) -> dict[str, Any]:
    people = people_in_plan(planning, plan)
    return {
        "people": people,
        "over": [one for one in people if one.over > 0.05],
        "declined": [one for one in people if one.declined],
        "unchecked": [planning.names[key] for key in plan.unchecked],
        "not_checking": [planning.names[key] for key in plan.not_checking],
    }


def _applied(
    request: HttpRequest, planning: TaskPlanning, plan: AssignmentPlan, *, at: datetime
) -> HttpResponse:
    """Apply the plan, and redirect to the assignments."""
    task = planning.task
    topics = {row.topic.query_id: row.topic for row in planning.topics}
    people = {str(row.person.pk): row.person for row in planning.people}
    made, seconds = apply_plan(
        task=task,
        first=[(topics[name], people[key]) for name, key in plan.first.items()],
        second={topics[name]: people[key] for name, key in plan.second.items()},
        at=at,
        by=signed_in(request),
    )
    messages.success(
        request,
        f"{made} topic{'s' * (made != 1)} assigned, {seconds} second "
        f"assessor{'s' * (seconds != 1)} changed.",
    )
    return redirect("assessment:assignment-list", lab=task.lab.slug, task=task.slug)
