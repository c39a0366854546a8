"""The page that makes a round of special questions."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from arqkit.judgments.questions import MOST_ANSWERS, SpecialQuestion, answer_scale
from arqkit.labels import LONGEST_WORD, LabelScale
from arqlab.core.models import Task, User
from arqlab.core.permissions import organized_task_or_404, signed_in
from arqlab.core.views.answers import refused
from arqlab.web.pages import TASK, Pages
from assessment.assignments.selectors.grid import judging_staff
from assessment.models import PoolItem, Round
from assessment.qrels.selectors.drafts import host_of, task_scale
from assessment.rounds.forms.training import MOST_ITEMS, DrawnItemsForm, PeopleField
from assessment.rounds.selectors.question_items import (
    QuestionSample,
    assessors_of,
    drawn_for_questions,
    question_kinds,
    shared_topics,
)
from assessment.rounds.services.making import RoundPlan, make_question_round

pages = Pages(f"{TASK}rounds/questions/new/", organized_task_or_404, section="rounds")

LONGEST_QUESTION, LONGEST_KEY = 200, 12
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


class SpecialQuestionsForm(DrawnItemsForm):
    """A round of special questions: the questions, their answers, the sample and the assessors."""

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
    people = PeopleField(
        User.objects.none(),
        label="Assessors",
        widget=forms.CheckboxSelectMultiple,
        help_text="Each gets the topics that they judged. The other topics are spread evenly.",
        error_messages={"required": "Choose at least one assessor."},
    )

    def __init__(self, *args: Any, task: Task, **kwargs: Any) -> None:
        """Offer judged topics, and who may judge; suggest the questions of ARQMath-3."""
        super().__init__(*args, task=task, **kwargs)
        kinds, staff = question_kinds(task), judging_staff(task.lab)
        topics = task.topics.filter(pk__in=kinds).order_by("position")
        fields: dict[str, Any] = self.fields
        fields["topics"].queryset, fields["people"].queryset = topics, staff
        fields["title"].help_text = "Such as “MG and UI”. If empty, the round is numbered."
        fields["topics"].help_text = "ARQMath-3 asked about 73 of its 78 topics."
        every = set().union(*kinds.values())
        if PoolItem.Kind.ANSWERS not in every:
            del fields["answers"]
            fields["count"].label = "Items per topic"
        elif len(every) == 1:
            del fields["count"]
        for number in QUESTION_FIELDS:
            fields |= _question_fields(number)
        names = [name for number in QUESTION_FIELDS for name in _question_fields(number)]
        self.order_fields(["title", "note", *names, "words", "topics", "answers", "count", "seed"])
        suggested = {
            "topics": topics,
            "people": staff.filter(pk__in=task.roster.values("user")),
            "count": 0 if "answers" in fields else 5,
            **USUAL,
        }
        for name, value in suggested.items():
            self.initial.setdefault(name, value)

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

    def clean(self) -> dict[str, Any]:
        """Require a question, and a measure of its own for each."""
        given: dict[str, Any] = super().clean() or {}
        seen: set[str] = set()
        for number in QUESTION_FIELDS:
            text, key = given.get(f"text_{number}", ""), given.get(f"key_{number}", "")
            if text and not key and f"key_{number}" not in self.errors:
                self.add_error(f"key_{number}", "Name the measure of the question, such as MG.")
            elif key and not text and f"text_{number}" not in self.errors:
                self.add_error(f"text_{number}", f"Enter the question of {key}.")
            elif key and key.casefold() in seen:
                self.add_error(f"key_{number}", f"{key} is the measure of another question.")
            seen.add(key.casefold())
        if not self.errors and not self.questions:
            self.add_error("text_1", "Enter a question.")
        return given

    @property
    def scale(self) -> LabelScale:
        """Return the answers as labels, with those that report an item."""
        return answer_scale(self.cleaned_data["words"], task_scale(self.task).reports)

    @property
    def questions(self) -> list[SpecialQuestion]:
        """Return the questions; the first answer counts."""
        given, counted = self.cleaned_data, self.scale.values[0]
        return [
            SpecialQuestion(
                given[f"key_{number}"], given[f"text_{number}"], given[f"help_{number}"], counted
            )
            for number in QUESTION_FIELDS
            if given[f"text_{number}"]
        ]

    @property
    def question_plan(self) -> RoundPlan:
        """Return the plan of the round."""
        given, questions = self.cleaned_data, self.questions
        sample = QuestionSample(given.get("count", 0), given.get("answers"), given["seed"])
        keys = [question.key for question in questions]
        drawn = drawn_for_questions(self.task, given["topics"], sample, keys=keys)
        people = [person.pk for person in given["people"]]
        source = sample._asdict() | {
            "topics": [topic.query_id for topic in given["topics"]],
            "questions": [question._asdict() for question in questions],
        }
        return RoundPlan(
            Round.Kind.QUESTIONS,
            shared_topics(drawn, people, assessors_of(self.task, drawn)),
            title=given["title"],
            note=given["note"],
            source=source,
            scale=self.scale,
        )


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


@pages.form("", "questions-create")
def questions_create(request: HttpRequest, task: Task) -> HttpResponse:
    """Make a round of special questions about judged items.

    Generated answers in the pool of another task are asked about there.
    """
    user = signed_in(request)
    initial = {"seed": f"{timezone.now():%Y%m%d}"}
    form = SpecialQuestionsForm(request.POST or None, task=task, initial=initial)
    if request.method == "POST" and form.is_valid():
        with refused(form):
            plan = form.question_plan
            round_ = make_question_round(task=task, plan=plan, by=user, at=timezone.now())
            messages.success(request, f"{round_} is open. Its assessors are notified.")
            return redirect("evaluation:questions-detail", task.lab.slug, task.slug, round_.number)
    context = {"task": task, "lab": task.lab, "form": form, "host": host_of(task)}
    status = 422 if form.errors else 200
    return render(request, "assessment/rounds/questions_create.html", context, status=status)
