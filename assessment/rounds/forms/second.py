"""The form that plans a round of second judgments."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import polars as pl
from django import forms
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
from arqlab.core.models import Membership, Task, Topic, User
from assessment.assignments.selectors.grid import judging_staff
from assessment.assignments.selectors.roster import planned_seconds
from assessment.rounds.forms.training import PeopleField, TopicsField
from assessment.rounds.selectors.second_items import second_items

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
        Topic.objects.none(),
        to_field_name="query_id",
        required=False,
        widget=forms.SelectMultiple(attrs={"size": 8}),
        help_text="Only for whole topics. Hold Ctrl or ⌘ to choose several. "
        "One assessor who has judged nothing of a topic judges it again: the planned one, if "
        "chosen below.",
        error_messages={"invalid_choice": "Topic %(value)s has no items to judge again."},
    )
    people = PeopleField(
        User.objects.none(),
        label="Assessors",
        widget=forms.CheckboxSelectMultiple,
        help_text="Nobody gets items that they judged. All get about the same number.",
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
