"""The page that plans a round of second judgments, and its reveal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from arqkit.agreement.second_judging import RejudgingPlan, SecondItem
from arqlab.core.models import User
from arqlab.core.permissions import organized_task_or_404, signed_in
from assessment.rounds.forms.second import SecondRoundForm
from assessment.rounds.selectors.second_items import open_second_items
from assessment.rounds.services.second import make_second_round


class PlanTable(NamedTuple):
    """How many items each person (row) judges again of each first assessor (column).

    - unchecked: the names of first assessors without such an item.
    """

    columns: list[str]
    rows: list[tuple[str, int, list[int]]]
    items: int
    unassigned: int
    unchecked: list[str]


@require_http_methods(["GET", "HEAD", "POST"])
def second_plan(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show the plan of a round of second judgments, and with `start` make the round."""
    found = organized_task_or_404(request.user, lab, task)
    items = open_second_items(found)
    form = SecondRoundForm(request.POST or None, task=found, items=items)
    context: dict[str, Any] = {"task": found, "lab": found.lab, "form": form, "count": items.height}
    if form.is_bound and form.is_valid():
        plan = form.plan
        if "start" in request.POST and any(plan.items.values()):
            by, at = signed_in(request), timezone.now()
            made = make_second_round(task=found, plan=plan, source=form.source, by=by, at=at)
            messages.success(request, f"{made} is open. Its assessors can judge now.")
            return redirect("evaluation:second-detail", lab, task, made.number)
        context["plan"] = _table(plan, form.items)
    status = 422 if form.errors else 200
    return render(request, "assessment/rounds/second_plan.html", context, status=status)


def _table(plan: RejudgingPlan, items: list[SecondItem]) -> PlanTable:
    firsts = {judge for item in items for judge in item.judges}
    names = _names(firsts | plan.items.keys())
    pairs = plan.pairs()
    columns = [person for person in names if person in firsts]
    checked = {first for first, second in pairs if first != second}
    return PlanTable(
        [names[person] for person in columns],
        [
            (names[person], len(plan.items[person]), [pairs[first, person] for first in columns])
            for person in names
            if person in plan.items
        ],
        sum(map(len, plan.items.values())),
        len(plan.unassigned),
        [names[person] for person in columns if person not in checked],
    )


def _names(people: set[int]) -> Mapping[int, str]:
    """Return the names of users by key, in their order."""
    found = User.objects.filter(pk__in=people).order_by("first_name", "last_name", "username")
    return {person.pk: person.name for person in found}
