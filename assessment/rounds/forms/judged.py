"""The forms of rounds about officially judged items: judged again, or asked about."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import polars as pl
from django import forms
from django.db.models import QuerySet
from django.urls import reverse

from arqkit.agreement.second_judging import (
    RejudgingPlan,
    SecondItem,
    draw_items,
    draw_own,
    plan_second,
    with_own,
)
from arqkit.judgments.questions import MOST_ANSWERS, SpecialQuestion, answer_scale
from arqkit.labels import LONGEST_WORD, LabelScale
from arqlab.core.forms.typed import field_of
from arqlab.core.models import Task, Topic
from arqlab.labs.forms.topics import TopicsField
from assessment.assignments.selectors.grid import assesses, judging_staff
from assessment.assignments.selectors.roster import planned_seconds
from assessment.models import PoolItem
from assessment.qrels.selectors.drafts import LabelSource, host_of, task_scale
from assessment.rounds.forms.drawn import MOST_ITEMS, RoundForm
from assessment.rounds.selectors.items import (
    QuestionSample,
    assessors_of,
    drawn_for_questions,
    question_kinds,
    shared_topics,
)
from assessment.rounds.selectors.rounds import CopiedItem, by_name
from assessment.rounds.selectors.second import copies_of_plan, open_second_items, second_items
from assessment.rounds.services.rounds import RoundPlan

LONGEST_QUESTION, LONGEST_KEY = 200, 12
SHARE, TOPICS = "share", "topics"
QUESTION_FIELDS = ("1", "2", "3")
# The questions of ARQMath-3 (004 §6.4.3).
USUAL = {
    "text_1": "Is the answer machine-generated?",
    "key_1": "MG",
    "text_2": "Does the answer contain information unrelated to the question?",
    "key_2": "UI",
    "help_2": "Background that is related to the question or to the relevant part of the answer "
    "is not unrelated.",
    "words": "Yes\nNo",
}


class QuestionRoundForm(RoundForm):
    """A round of special questions: the questions, their answers, the sample and the assessors.

    Generated answers in the pool of another task are asked about there.
    """

    topics_help = "ARQMath-3 asked about 73 of its 78 topics."
    people_help = "Each gets the topics that they judged. The other topics are spread evenly."
    words = forms.CharField(
        label="Answers",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=f"One per line, 2 to {MOST_ANSWERS}, for all questions of the round. The measure "
        "of a question is the share of items with the first answer.",
    )
    count = forms.IntegerField(label="Posts per topic", min_value=0, max_value=MOST_ITEMS)
    answers = forms.IntegerField(
        label="Generated answers per topic",
        min_value=0,
        max_value=MOST_ITEMS,
        required=False,
        help_text="If empty, all judged ones: then the measures of runs compare the same topics.",
    )

    def adapt(self) -> None:
        """Offer judged topics, and suggest the questions of ARQMath-3."""
        fields = self.fields
        fields["title"].help_text = "Such as “MG and UI”. If empty, the round is numbered."
        every = set().union(*self.kinds.values())
        if PoolItem.Kind.ANSWERS not in every:
            del fields["answers"]
            fields["count"].label = "Items per topic"
        elif len(every) == 1:
            del fields["count"]
        for number in QUESTION_FIELDS:
            fields |= _question_fields(number)
        names = [name for number in QUESTION_FIELDS for name in _question_fields(number)]
        self.order_fields(["title", "note", *names, "words", "topics", "answers", "count", "seed"])
        count = 0 if "answers" in fields else 5
        self.initial.update(topics=self.offered_topics(), count=count, **USUAL)

    @cached_property
    def kinds(self) -> dict[int, set[str]]:
        """Return the kinds of the judged items, by topic."""
        return question_kinds(self.task)

    def offered_topics(self) -> QuerySet[Topic]:
        """Return the topics with judged items."""
        return self.task.topics.filter(pk__in=self.kinds).order_by("position")

    def why_no_items(self) -> dict[str, str]:
        """Return where to ask, or that it is too early."""
        if host := host_of(self.task):
            url = reverse("assessment:round-create", args=[host.lab.slug, host.slug, self.kind.key])
            text = "These answers are judged in the pool of the answer retrieval task. Ask about "
            return {"title": "In another task", "text": f"{text}them there.", "url": url} | {
                "action": "Ask there"
            }
        if self.task.kind == Task.Kind.FORMULAS:
            text = "Special questions are about answers and documents."
            return {"title": "Not for formulas", "text": text}
        text = "The sample is drawn from items with an official label."
        return {"title": "No judged items yet", "text": text}

    def clean_words(self) -> list[str]:
        """Return the answers; refuse too few, too many, or the same answer twice."""
        words = [" ".join(line.split()) for line in self.cleaned_data["words"].splitlines()]
        words = [word for word in words if word]
        if not 2 <= len(words) <= MOST_ANSWERS:
            raise forms.ValidationError(f"Enter 2 to {MOST_ANSWERS} answers, one per line.")
        if len({word.casefold() for word in words}) < len(words):
            raise forms.ValidationError("Two answers are the same. Write each answer once.")
        if long := next((word for word in words if len(word) > LONGEST_WORD), None):
            raise forms.ValidationError(
                f"The answer “{long}” has more than {LONGEST_WORD} characters. Shorten it."
            )
        return words

    def clean(self) -> dict[str, object]:
        """Require a question, and a measure of its own for each."""
        fields = super().clean() or {}
        measures: set[str] = set()
        for number in QUESTION_FIELDS:
            text, key = fields.get(f"text_{number}", ""), fields.get(f"key_{number}", "")
            if text and not key and f"key_{number}" not in self.errors:
                self.add_error(f"key_{number}", "Name the measure of the question, such as MG.")
            elif key and not text and f"text_{number}" not in self.errors:
                self.add_error(f"text_{number}", f"Enter the question of {key}.")
            elif key and key.casefold() in measures:
                self.add_error(f"key_{number}", f"{key} is the measure of another question.")
            measures.add(key.casefold())
        if not self.errors and not self.questions:
            self.add_error("text_1", "Enter a question.")
        return fields

    @property
    def scale(self) -> LabelScale:
        """Return the answers as labels, with those that report an item."""
        return answer_scale(self.cleaned_data["words"], task_scale(self.task).reports)

    @property
    def questions(self) -> list[SpecialQuestion]:
        """Return the questions; the first answer counts."""
        fields, counted = self.cleaned_data, self.scale.values[0]
        return [
            SpecialQuestion(
                fields[f"key_{number}"], fields[f"text_{number}"], fields[f"help_{number}"], counted
            )
            for number in QUESTION_FIELDS
            if fields[f"text_{number}"]
        ]

    @property
    def sample(self) -> QuestionSample:
        """Return how many items of each topic are drawn."""
        fields = self.cleaned_data
        return QuestionSample(fields.get("count", 0), fields.get("answers"), fields["seed"])

    def round_items(self) -> Mapping[int, list[CopiedItem]]:
        """Return the drawn items: each assessor gets the topics that they judged."""
        fields, keys = self.cleaned_data, [question.key for question in self.questions]
        drawn = drawn_for_questions(self.task, fields["topics"], self.sample, keys=keys)
        people = [person.pk for person in fields["people"]]
        return shared_topics(drawn, people, assessors_of(self.task, drawn))

    def source(self) -> dict[str, object]:
        """Return how the items are chosen, and the questions."""
        questions = [question._asdict() for question in self.questions]
        return super().source() | self.sample._asdict() | {"questions": questions}

    @property
    def plan(self) -> RoundPlan:
        """Return the plan of the round, whose labels are the answers."""
        return replace(super().plan, scale=self.scale)


def _question_fields(number: str) -> dict[str, forms.Field]:
    """Return the fields of a question."""
    return {
        f"text_{number}": forms.CharField(
            label=f"Question {number}", max_length=LONGEST_QUESTION, required=False
        ),
        f"key_{number}": forms.RegexField(
            re.compile(r"^[A-Za-z][A-Za-z0-9-]*\Z", re.ASCII),
            label=f"Measure of question {number}",
            max_length=LONGEST_KEY,
            required=False,
            help_text="A short name for the heading of its column, such as MG.",
            error_messages={"invalid": "Use letters, digits and hyphens, with a letter first."},
        ),
        f"help_{number}": forms.CharField(
            label=f"Help for question {number}", max_length=LONGEST_QUESTION, required=False
        ),
    }


class PlanTable(NamedTuple):
    """How many items each person (row) judges again of each first assessor (column).

    - unchecked: the names of first assessors without such an item.
    """

    columns: list[str]
    rows: list[tuple[str, int, list[int]]]
    items: int
    unassigned: int
    unchecked: list[str]


class SecondRoundForm(RoundForm):
    """What is judged again, and by whom; it shows its plan before the round is made."""

    previews = True
    topics_help = (
        "Only for whole topics. One assessor who has judged nothing of a topic judges it again: "
        "the planned one, if chosen below."
    )
    people_help = "Nobody gets items that they judged. Everyone gets about the same number."
    by = forms.ChoiceField(
        label="What to judge again",
        choices=[(SHARE, "A random share of the items of each assessor"), (TOPICS, "Whole topics")],
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
    own_share = forms.IntegerField(
        label="Own items served again, in %",
        min_value=0,
        max_value=100,
        initial=0,
        required=False,
        help_text="A random share of what each of these assessors judged alone. They judge it "
        "again among the other items, without being told: you see how consistent they are.",
    )
    field_order = ("title", "note", "by", "share", "topics", "people", "own_share", "seed")

    def adapt(self) -> None:
        """Offer the topics with items that can be judged again, and everyone who judges in the lab.

        Topics with a planned second assessor are selected, and all if labels are added.
        """
        task = self.task
        topics = field_of(self, "topics", TopicsField)
        topics.required, topics.to_field_name = False, "query_id"
        wrong = "Topic %(value)s has no items to judge again."
        topics.error_messages["invalid_choice"] = wrong
        count = f"{self.open_items.height:,}"
        self.fields["by"].help_text = f"{count} officially judged items can be judged again."
        offered = self.offered_topics()
        planned = (
            offered if LabelSource(task).adds else offered.filter(pk__in=planned_seconds(task))
        )
        if planned:
            self.initial.update(by=TOPICS, topics=list(planned))
        staff = judging_staff(task.lab)
        self.initial["people"] = [person.pk for person in staff if assesses(person)]

    @cached_property
    def open_items(self) -> pl.DataFrame:
        """Return the items that can be judged again."""
        return open_second_items(self.task)

    def offered_topics(self) -> QuerySet[Topic]:
        """Return the topics with items that can be judged again."""
        names = self.open_items["topic"].unique().to_list()
        return self.task.topics.filter(query_id__in=names).order_by("position")

    def why_no_items(self) -> dict[str, str]:
        """Return when there will be items."""
        text = "Items appear here when they are officially judged, and no round judges them again."
        return {"title": "Nothing to judge again", "text": text}

    def clean(self) -> dict[str, object]:
        """Require topics for whole topics."""
        fields = super().clean() or {}
        if fields.get("by") == TOPICS and not fields.get("topics") and "topics" not in self.errors:
            self.add_error("topics", "Choose the topics to judge again.")
        return fields

    @cached_property
    def items(self) -> list[SecondItem]:
        """Return the items that can be judged again; a page without a plan does not need them."""
        return second_items(self.open_items)

    @cached_property
    def rejudging(self) -> RejudgingPlan:
        """Return who judges which items again."""
        fields = self.cleaned_data
        by_topic, seed = fields["by"] == TOPICS, fields["seed"]
        if by_topic:
            topics = {topic.query_id for topic in fields["topics"]}
            drawn = [item for item in self.items if item.topic in topics]
        else:
            drawn = draw_items(self.items, share=fields["share"] / 100, seed=seed)
        people = [person.pk for person in fields["people"]]
        planned = planned_seconds(self.task) if by_topic else {}
        preferred = {
            topic.query_id: planned[topic.pk].pk
            for topic in fields["topics"]
            if topic.pk in planned
        }
        plan = plan_second(drawn, people, by_topic=by_topic, seed=seed, preferred=preferred)
        repeated = draw_own(self.items, people, share=(fields["own_share"] or 0) / 100, seed=seed)
        return with_own(plan, repeated, self.items)

    def round_items(self) -> Mapping[int, list[CopiedItem]]:
        """Return copies of the items that each assessor judges again."""
        return copies_of_plan(self.task, self.rejudging)

    def source(self) -> dict[str, object]:
        """Return how the items are chosen, as the round stores it."""
        fields = self.cleaned_data
        by_topic = fields["by"] == TOPICS
        choice = super().source() if by_topic else {"share": fields["share"]}
        own_share = {"own_share": fields["own_share"]} if fields["own_share"] else {}
        return {"by": fields["by"], **choice, **own_share}

    @property
    def preview(self) -> PlanTable | None:
        """Return the plan as a table of assessors, or None before the form is valid."""
        if not self.is_bound or not self.is_valid():
            return None
        plan = self.rejudging
        firsts = {judge for item in self.items for judge in item.judges}
        names = {person.pk: person.name for person in by_name(firsts | plan.items.keys())}
        pairs = plan.pairs()
        columns = [person for person in names if person in firsts]
        checked = {first for first, second in pairs if first != second}
        return PlanTable(
            [names[person] for person in columns],
            [
                (
                    names[person],
                    len(plan.items[person]),
                    [pairs[first, person] for first in columns],
                )
                for person in names
                if person in plan.items
            ],
            sum(map(len, plan.items.values())),
            len(plan.unassigned),
            [names[person] for person in columns if person not in checked],
        )
