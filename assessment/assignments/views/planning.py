"""The page of the plan of a task's assignments."""

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from arqkit.judgments.assignment_plan import AssignmentPlan, plan_of
from arqlab.core.models import Task
from arqlab.core.views import refused, signed_in
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import TASK, Column, Pages, Table, cells, counted
from assessment.assignments.forms import PlanForm, read_choices, read_edits, write_proposal
from assessment.assignments.selectors.planning import (
    PersonPlan,
    TaskPlanning,
    people_in_plan,
    plan_with_edits,
    task_planning,
)
from assessment.assignments.services.planning import apply_plan
from assessment.assignments.views.roster import bid_columns

pages = Pages(TASK, section="judging")


@pages.form("assignments/plan/", "assignment-plan", access=organized_task_or_404)
def assignment_plan(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the input of a plan; propose a plan, compute it again after edits, or apply it."""
    now, action = timezone.now(), request.POST.get("action", "")
    form = PlanForm(request.POST if action else None, task=task)
    planning = task_planning(task, **form.settings, at=now)
    context: dict[str, Any] = {"form": form, "planning": planning}
    if action and form.is_valid():
        with refused(form):
            context |= _plan(request, action, planning)
            context |= _shown(planning, context["plan"])
            if action == "apply":
                return _applied(request, planning, context["plan"], at=now)
    is_part = "HX-Request" in request.headers and "plan" in context
    page = "_plan_totals.html" if is_part else "assignment_plan.html"
    status = 422 if form.errors else 200
    return render(request, f"assessment/{page}", context, status=status)


def _plan(request: HttpRequest, action: str, planning: TaskPlanning) -> dict[str, Any]:
    """Return the proposal, or the plan that the page sent back, with what was proposed."""
    if action == "propose":
        edits = read_edits(request.POST, planning)
        plan = plan_with_edits(planning, edits)
        edit_count = sum(map(len, edits))
        return {"plan": plan, "kept": edit_count, "proposed": write_proposal(planning, plan, edits)}
    first, second = (read_choices(request.POST, part, planning) for part in ("first", "second"))
    plan = plan_of(planning.open_problem, first, second)
    return {"plan": plan, "proposed": request.POST.get("proposed", "")}


def _shown(planning: TaskPlanning, plan: AssignmentPlan) -> dict[str, Any]:
    people = people_in_plan(planning, plan)
    bids: list[Column[PersonPlan]] = bid_columns(lambda person: person.counts)
    gladly, if_needed, no = bids
    columns: list[Column[PersonPlan]] = [
        Column("Assessor", lambda row: row.row.person.name, is_head=True),
        Column("Hours", lambda row: row.hours, cells.TENTHS),
        Column("Offered", lambda row: row.row.hours, cells.NUMBER),
        Column("Topics now", lambda row: row.row.topics, cells.COUNT),
        Column("New", lambda person: len(person.first), cells.COUNT),
        Column("Second", lambda person: len(person.second), cells.COUNT),
        *(gladly, if_needed),
        Column("No mark", lambda person: person.counts.get("", 0), cells.COUNT),
        no,
    ]
    return {
        "plan_people": Table[PersonPlan]("plan-people", columns, people),
        "over": [person for person in people if person.over > 0.05],
        "declined": [person for person in people if person.declined],
        "unchecked": [planning.names[key] for key in plan.unchecked],
        "not_checking": [planning.names[key] for key in plan.not_checking],
    }


def _applied(
    request: HttpRequest, planning: TaskPlanning, plan: AssignmentPlan, *, at: datetime
) -> HttpResponse:
    task = planning.task
    topics = {row.topic.query_id: row.topic for row in planning.topics}
    people = {str(row.person.pk): row.person for row in planning.people}
    assigned, seconds = apply_plan(
        task=task,
        first=[(topics[name], people[key]) for name, key in plan.first.items()],
        second={topics[name]: people[key] for name, key in plan.second.items()},
        at=at,
        by=signed_in(request),
    )
    changed = f"{counted(seconds, 'second assessor')} changed"
    messages.success(request, f"{counted(assigned, 'topic')} assigned, {changed}.")
    return redirect("assessment:assignment-list", lab=task.lab.slug, task=task.slug)
