"""The page that plans a round of second judgments, and its reveal."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import polars as pl
from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from arqkit.agreement.second_judging import (
    RejudgingPlan,
    SecondItem,
    draw_items,
    draw_own,
    plan_second,
    with_own,
)
from arqkit.pooling.depths import LARGEST_SEED
from arqlab.core.forms.topics import TopicsField
from arqlab.core.models import Membership, Task, User
from arqlab.core.permissions import organized_task_or_404, signed_in
from arqlab.web.pages import TASK, Pages
from assessment.assignments.selectors.grid import judging_staff
from assessment.assignments.selectors.roster import planned_seconds
from assessment.rounds.forms.training import PeopleField
from assessment.rounds.selectors.second_items import open_second_items, second_items
from assessment.rounds.services.making import make_second_round

pages = Pages(f"{TASK}rounds/second/new/", organized_task_or_404, section="rounds")

SHARE, TOPICS = "share", "topics"


class SecondRoundForm(forms.Form):
    """What is judged again, and by whom."""

    by = forms.ChoiceField(
        label="What to judge again",
        choices=[
            (SHARE, "A random share of the items of each assessor"),
            (TOPICS, "Whole topics"),
        ],
        widget=forms.RadioSelect,
        initial=SHARE,
    )
    share = forms.IntegerField(
        label="Share in %",
        min_value=1,
        max_value=100,
        initial=10,
        help_text="Rounded up for each assessor, so that all are checked. Not for whole topics.",
        error_messages={"required": "Enter the share of the items to judge again."},
    )
    topics = TopicsField(
        to_field_name="query_id",
        required=False,
        help_text="Only for whole topics. One assessor who has judged nothing of a topic judges "
        "it again: the planned one, if chosen below.",
        error_messages={"invalid_choice": "Topic %(value)s has no items to judge again."},
    )
    people = PeopleField(
        User.objects.none(),
        label="Assessors",
        widget=forms.CheckboxSelectMultiple,
        help_text="Nobody gets items that they judged. Everyone gets about the same number.",
        error_messages={"required": "Choose the assessors who judge again."},
    )
    own_share = forms.IntegerField(
        label="Own items served again, in %",
        min_value=0,
        max_value=100,
        initial=0,
        required=False,
        help_text="A random share of what each of these assessors judged alone. They judge it "
        "again among the other items, without being told: you see how consistent they are.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        help_text="The same seed draws the same items from the same judgments.",
    )

    def __init__(self, *args: Any, task: Task, items: pl.DataFrame, **kwargs: Any) -> None:
        """Offer the topics of `open_second_items`, and everyone who judges in the lab.

        Topics with a planned second assessor are selected.
        """
        super().__init__(*args, **kwargs)
        self.task, self.found = task, items
        topics = task.topics.filter(query_id__in=items["topic"].unique().to_list())
        staff = judging_staff(task.lab)
        fields: dict[str, Any] = self.fields
        fields["topics"].queryset = topics.order_by("position")
        if planned := list(topics.filter(pk__in=planned_seconds(task))):
            fields["by"].initial, fields["topics"].initial = TOPICS, planned
        fields["people"].queryset = staff
        fields["people"].initial = [
            person.pk for person in staff if str(vars(person)["role"]) == Membership.Role.ASSESSOR
        ]
        fields["seed"].initial = f"{timezone.now():%Y%m%d}"

    def clean(self) -> dict[str, Any]:
        """Require topics for whole topics."""
        given: dict[str, Any] = super().clean() or {}
        if given.get("by") == TOPICS and not given.get("topics") and "topics" not in self.errors:
            self.add_error("topics", "Choose the topics to judge again.")
        return given

    @cached_property
    def items(self) -> list[SecondItem]:
        """Return the items that can be judged again; a page without a plan does not need them."""
        return second_items(self.found)

    @property
    def plan(self) -> RejudgingPlan:
        """Return who judges which items again."""
        given = self.cleaned_data
        by_topic, seed = given["by"] == TOPICS, given["seed"]
        if by_topic:
            topics = {topic.query_id for topic in given["topics"]}
            drawn = [item for item in self.items if item.topic in topics]
        else:
            drawn = draw_items(self.items, share=given["share"] / 100, seed=seed)
        people = [person.pk for person in given["people"]]
        planned = planned_seconds(self.task) if by_topic else {}
        wanted = {
            topic.query_id: planned[topic.pk].pk for topic in given["topics"] if topic.pk in planned
        }
        plan = plan_second(drawn, people, by_topic=by_topic, seed=seed, wanted=wanted)
        own = draw_own(self.items, people, share=(given["own_share"] or 0) / 100, seed=seed)
        return with_own(plan, own, self.items)

    @property
    def source(self) -> dict[str, Any]:
        """Return how the items are chosen, as the round stores it."""
        given = self.cleaned_data
        if given["by"] == TOPICS:
            chosen: dict[str, Any] = {"topics": [topic.query_id for topic in given["topics"]]}
        else:
            chosen = {"share": given["share"]}
        if given["own_share"]:
            chosen["own_share"] = given["own_share"]
        return {"by": given["by"], "seed": given["seed"], **chosen}


class PlanTable(NamedTuple):
    """How many items each person (row) judges again of each first assessor (column).

    - unchecked: the names of first assessors without such an item.
    """

    columns: list[str]
    rows: list[tuple[str, int, list[int]]]
    items: int
    unassigned: int
    unchecked: list[str]


@pages.form("", "second-plan")
def second_plan(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the plan of a round of second judgments, and with `start` make the round."""
    items = open_second_items(task)
    form = SecondRoundForm(request.POST or None, task=task, items=items)
    context: dict[str, Any] = {"task": task, "lab": task.lab, "form": form, "count": items.height}
    if form.is_bound and form.is_valid():
        plan = form.plan
        if "start" in request.POST and any(plan.items.values()):
            by, at = signed_in(request), timezone.now()
            round_ = make_second_round(task=task, plan=plan, source=form.source, by=by, at=at)
            messages.success(request, f"{round_} is open. Its assessors can judge now.")
            return redirect("evaluation:second-detail", task.lab.slug, task.slug, round_.number)
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
    users = User.objects.filter(pk__in=people).order_by("first_name", "last_name", "username")
    return {person.pk: person.name for person in users}
