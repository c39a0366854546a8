"""The forms of rounds."""

from __future__ import annotations

from typing import Any

from django import forms

from arqkit.labels import LabelScale
from arqkit.pooling.depths import LARGEST_SEED
from arqlab.core.forms.topics import TopicsField
from arqlab.core.models import Task, User
from assessment.assignments.selectors.grid import judging_staff
from assessment.guidelines.services.entries import LONGEST_ENTRY
from assessment.models import QrelSet, Round
from assessment.rounds.selectors.training_items import (
    drawn_from_pool,
    drawn_from_qrels,
    gold_topics,
    pooled_topics,
)
from assessment.rounds.services.making import RoundPlan

MOST_ITEMS = 200


class PeopleField(forms.ModelMultipleChoiceField):
    """People to choose from, by name."""

    def label_from_instance(self, obj: Any) -> str:
        """Return the name of a person."""
        return str(obj.name)


class DrawnItemsForm(forms.Form):
    """The title of a round, and its items: topics, items per topic, and the seed."""

    title = forms.CharField(
        max_length=100,
        required=False,
        help_text="Such as “First training”. If empty, the round is numbered.",
    )
    note = forms.CharField(
        label="Note to the assessors",
        widget=forms.Textarea(attrs={"rows": 2}),
        max_length=LONGEST_ENTRY,
        required=False,
    )
    topics = TopicsField(
        help_text="ARQMath trained with four to eight topics.",
        error_messages={"required": "Choose at least one topic."},
    )
    count = forms.IntegerField(
        label="Items per topic", min_value=1, max_value=MOST_ITEMS, initial=6
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        help_text="The seed determines which items are drawn, and their order.",
    )

    def __init__(self, *args: Any, task: Task, gold: QrelSet | None = None, **kwargs: Any) -> None:
        """Offer the topics of the official pool, or of the qrels that are gold."""
        super().__init__(*args, **kwargs)
        self.task, self.gold = task, gold
        topics = gold_topics(gold) if gold else pooled_topics(task)
        self.fields["topics"].queryset = topics  # type: ignore[attr-defined]

    def plan(self, kind: Round.Kind, people: list[User]) -> RoundPlan:
        """Return the plan of a round in which some people judge the drawn items."""
        given = self.cleaned_data
        settings = {"count": given["count"], "seed": given["seed"]}
        if self.gold:
            copies = drawn_from_qrels(self.gold, self.task.lab, given["topics"], **settings)
        else:
            copies = drawn_from_pool(self.task, given["topics"], **settings)
        source = settings | {
            "items_from": str(self.gold) if self.gold else "pool",
            "topics": [topic.query_id for topic in given["topics"]],
        }
        return RoundPlan(
            kind,
            {person.pk: copies for person in people},
            title=given["title"],
            note=given["note"],
            source=source,
            gold=self.gold,
        )


class TrainingForm(DrawnItemsForm):
    """A training round: its items and its assessors."""

    people = PeopleField(
        User.objects.none(),
        label="Assessors",
        widget=forms.CheckboxSelectMultiple,
        help_text="Each gets the same items and sees no labels of the others until the reveal.",
        error_messages={"required": "Choose at least one assessor."},
    )

    def __init__(self, *args: Any, task: Task, **kwargs: Any) -> None:
        """Offer the people who may judge in the lab, with those on the roster chosen."""
        super().__init__(*args, task=task, **kwargs)
        staff = judging_staff(task.lab)
        self.fields["people"].queryset = staff  # type: ignore[attr-defined]
        self.initial.setdefault("people", staff.filter(pk__in=task.roster.values("user")))


class DecisionForm(forms.Form):
    """The decision of the expert about an item on which assessors disagree."""

    question = forms.CharField(
        label="Question of interpretation",
        widget=forms.Textarea(attrs={"rows": 2}),
        max_length=LONGEST_ENTRY,
        help_text="Such as: does an answer that only restates the question count?",
    )
    decision = forms.CharField(widget=forms.Textarea(attrs={"rows": 2}), max_length=LONGEST_ENTRY)
    label = forms.TypedChoiceField(coerce=int, empty_value=None, required=False)
    reason = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 2}), max_length=LONGEST_ENTRY, required=False
    )

    def __init__(self, *args: Any, scale: LabelScale, **kwargs: Any) -> None:
        """Offer the labels of the round."""
        super().__init__(*args, **kwargs)
        labels = [("", "no label"), *((label.value, label.word) for label in scale)]
        self.fields["label"].choices = labels  # type: ignore[attr-defined]
