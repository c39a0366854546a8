"""What all forms of rounds share, the forms of rounds with drawn items, and that of a meeting."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

from django import forms
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from arqkit.labels import LabelScale
from arqkit.pooling.pools import LARGEST_SEED
from arqlab.core.forms.typed import field_of
from arqlab.core.models import Task, Topic, User
from arqlab.labs.forms.people import NamedChoiceField, NamedChoicesField
from arqlab.labs.forms.topics import TopicsField
from assessment.assignments.selectors.grid import judging_staff
from assessment.guidelines.services.versions import LONGEST_ENTRY
from assessment.models import QrelSet
from assessment.models.kinds import RoundKind
from assessment.rounds.selectors.items import (
    drawn_from_pool,
    drawn_from_qrels,
    gold_choices,
    gold_topics,
    pooled_topics,
)
from assessment.rounds.selectors.rounds import CopiedItem
from assessment.rounds.services.rounds import RoundPlan

MOST_ITEMS = 200


class RoundForm(forms.Form):
    """A round: its title, the topics of its items, the seed, and its assessors.

    A form that `previews` shows its plan first.
    """

    previews = False
    people_help: ClassVar[str] = ""
    topics_help: ClassVar[str] = ""

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
    topics = TopicsField(error_messages={"required": "Choose at least one topic."})
    seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        help_text="The seed determines which items are drawn, and their order.",
    )
    people = NamedChoicesField(
        User.objects.none(),
        label="Assessors",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one assessor."},
    )

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        *,
        kind: RoundKind,
        task: Task,
        by: User,
        gold: str = "",
    ) -> None:
        """Offer the topics with items, and those who may judge, with those on the roster chosen.

        `gold` is the key of the qrels that the items come from, where they may.
        """
        super().__init__(data)
        self.kind, self.task, self.organizer, self.wanted_gold = kind, task, by, gold
        self.initial["seed"] = f"{timezone.now():%Y%m%d}"
        topics = field_of(self, "topics", TopicsField)
        topics.queryset = self.offered_topics()
        topics.help_text = self.topics_help
        # A field for several people is one for a person, too.
        name = "people" if "people" in self.fields else "expert"
        people = field_of(self, name, NamedChoiceField)
        people.queryset = staff = judging_staff(task.lab)
        people.help_text = self.people_help
        self.initial["people"] = staff.filter(pk__in=task.roster.values("user"))
        self.adapt()

    def adapt(self) -> None:
        """Fit the fields to the kind of round, and suggest values."""

    def offered_topics(self) -> QuerySet[Topic]:
        """Return the topics that have items, in their order."""
        return pooled_topics(self.task)

    @property
    def no_items(self) -> dict[str, str] | None:
        """Return why no round can be made and what to do, as `components/empty.html` shows it, or
        None if one can.
        """
        return None if self.offered_topics().exists() else self.why_no_items()

    def why_no_items(self) -> dict[str, str]:
        """Return what to do when there are no topics with items."""
        plan = reverse("assessment:pool-plan", args=[self.task.lab.slug, self.task.slug])
        text = "The items come from the official pool."
        return {"title": "No pool yet", "text": text, "url": plan, "action": "Plan pool"}

    @abstractmethod
    def round_items(self) -> Mapping[int, Sequence[CopiedItem]]:
        """Return the items of each assessor, by key; the form is valid."""

    def source(self) -> dict[str, object]:
        """Return how the items are chosen, as the round stores it."""
        return {"topics": [topic.query_id for topic in self.cleaned_data["topics"]]}

    @property
    def plan(self) -> RoundPlan:
        """Return the plan of the round."""
        fields = self.cleaned_data
        return RoundPlan(
            self.kind.key,
            self.round_items(),
            title=fields["title"],
            note=fields["note"],
            source={"seed": fields["seed"], **self.source()},
        )


class DrawnRoundForm(RoundForm):
    """A round in which all judge the same items, drawn from the official pool or from qrels."""

    topics_help = "ARQMath trained with four to eight topics."
    people_help = "Each gets the same items and sees no labels of the others until the reveal."
    count = forms.IntegerField(
        label="Items per topic", min_value=1, max_value=MOST_ITEMS, initial=6
    )
    field_order = ("title", "note", "topics", "count", "seed", "people")

    @cached_property
    def golds(self) -> list[QrelSet]:
        """Return the versions of qrels of earlier labs that the items may come from."""
        return gold_choices(self.task, self.organizer)

    @cached_property
    def gold(self) -> QrelSet | None:
        """Return the chosen version."""
        return next((gold for gold in self.golds if str(gold.pk) == self.wanted_gold), None)

    def offered_topics(self) -> QuerySet[Topic]:
        """Return the topics of the official pool, or of the qrels."""
        return gold_topics(self.gold) if self.gold else super().offered_topics()

    def why_no_items(self) -> dict[str, str]:
        """Return what to do when there are no topics."""
        text = "None of the topics of these qrels are in their task. Choose another version."
        return {"title": "No topics", "text": text} if self.gold else super().why_no_items()

    def round_items(self) -> Mapping[int, list[CopiedItem]]:
        """Return the drawn items, the same for each."""
        fields = self.cleaned_data
        settings = {"count": fields["count"], "seed": fields["seed"]}
        if self.gold:
            copies = drawn_from_qrels(self.gold, self.task.lab, fields["topics"], **settings)
        else:
            copies = drawn_from_pool(self.task, fields["topics"], **settings)
        return {person.pk: copies for person in fields.get("people") or [fields["expert"]]}

    def source(self) -> dict[str, object]:
        """Return the topics, the items per topic, and where they come from."""
        items_from = str(self.gold) if self.gold else "pool"
        return super().source() | {"items_from": items_from, "count": self.cleaned_data["count"]}

    @property
    def plan(self) -> RoundPlan:
        """Return the plan of the round, with its gold labels."""
        return replace(super().plan, gold=self.gold)


class SampleRoundForm(DrawnRoundForm):
    """A sample task: its items and its expert; applicants get copies later."""

    topics_help = "ARQMath-3 had three samples."
    people_help = "Judges the same samples, and scores the applicants."
    golds = ()  # type: ignore[assignment]
    people = None  # type: ignore[assignment]
    expert = NamedChoiceField(User.objects.none(), empty_label=None)
    field_order = ("title", "note", "topics", "count", "seed", "expert")

    def adapt(self) -> None:
        """Speak of samples and applicants, and suggest the organizer as the expert."""
        self.fields["note"].label = "Note to the applicants"
        self.fields["count"].label = "Samples per topic"
        self.initial.update(count=3, expert=self.organizer.pk)

    def source(self) -> dict[str, object]:
        """Return how the items are chosen, and the expert."""
        return super().source() | {"expert": self.cleaned_data["expert"].pk}


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

    def __init__(self, data: Mapping[str, object] | None = None, *, scale: LabelScale) -> None:
        """Offer the labels of the round."""
        super().__init__(data)
        labels = [("", "no label"), *((label.value, label.word) for label in scale)]
        field_of(self, "label", forms.TypedChoiceField).choices = labels
