"""The form to answer a ticket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.db.models import QuerySet
from django.utils.text import Truncator

from arqlab.core.forms.lists import ListForm
from arqlab.core.forms.versions import VersionedForm
from arqlab.core.models import Lab
from assessment.models import Pool, Ticket
from assessment.tickets.services.answers import LONGEST_ANSWER


def _shortened(text: str) -> str:
    """Return the beginning of a text on one line."""
    return Truncator(" ".join(text.split())).chars(80)


class AnswerForm(forms.Form):
    """The answer to the assessor, and whether they should judge the item again."""

    answer = forms.CharField(
        label="Your answer",
        widget=forms.Textarea(attrs={"rows": 5}),
        max_length=LONGEST_ANSWER,
        help_text="The assessor sees the answer on their topics page.",
        error_messages={
            "required": "Write an answer: what the assessor should do, or what you have done."
        },
    )
    reused = forms.TypedChoiceField(
        label="Or send an earlier answer", required=False, coerce=int, empty_value=None
    )
    returns_item = forms.BooleanField(
        label="Return the item for another judgment",
        required=False,
        help_text="The item returns to the open items of its topic. The earlier label stays in "
        "the history but no longer counts.",
    )

    def __init__(self, *args: Any, answers: Mapping[int, str], **kwargs: Any) -> None:
        """Offer earlier answers of the lab by their ids, if there are any."""
        super().__init__(*args, **kwargs)
        self._answers = answers
        shown = [(pk, _shortened(text)) for pk, text in answers.items()]
        self.fields["reused"].choices = [("", "none"), *shown]  # type: ignore[attr-defined]
        self.fields["answer"].required = not self.data.get("reused")

    def clean(self) -> dict[str, Any]:
        """Take the earlier answer if no text was written."""
        given = {**self.cleaned_data}
        earlier = self._answers.get(given.pop("reused", None), "")
        return {**given, "answer": given.get("answer") or earlier}


class TicketAnswerForm(VersionedForm, AnswerForm):
    """The stored answer of one ticket."""


class TicketListForm(ListForm):
    """The tickets of a lab."""

    searched = (
        "judgment__comment",
        "answer",
        "judgment__instance__item__topic__query_id",
        "judgment__instance__item__topic__title",
    )
    filters: ClassVar = {
        "task": ("Task", "judgment__instance__item__topic__task__slug"),
        "label": ("Label", "judgment__label"),
        "assessor": ("Assessor", "judgment__assessor__username"),
    }
    orders: ClassVar = {
        "ticket": "pk",
        "topic": "judgment__instance__item__topic__position",
        "label": "judgment__label",
        "assessor": "judgment__assessor__username",
        "opened": "raised_at",
        "answered": "answered_at",
    }
    default_order = "opened"

    def __init__(self, data: Mapping[str, Any], *, lab: Lab) -> None:
        """Offer the tasks and assessors that have tickets, and the labels that open them."""
        tickets = Ticket.objects.filter(judgment__instance__item__topic__task__lab=lab).order_by()
        task, assessor = self.filters["task"][1], self.filters["assessor"][1]
        labels = {
            str(label.value): label.word
            for pool in Pool.objects.filter(task__lab=lab).only("scale")
            for label in pool.label_scale.labels
            if not label.is_judgment
        }
        super().__init__(
            data,
            task=tickets.values_list(task, task.replace("slug", "name")).distinct(),
            label=labels.items(),
            assessor=((name, name) for [name] in tickets.values_list(assessor).distinct() if name),
        )


class BulkAnswerForm(AnswerForm):
    """One answer to several tickets of a list."""

    def __init__(self, *args: Any, tickets: QuerySet[Ticket], **kwargs: Any) -> None:
        """Take the tickets that may be answered."""
        super().__init__(*args, **kwargs)
        self.fields["tickets"] = forms.ModelMultipleChoiceField(
            queryset=tickets,
            error_messages={"required": "Select the tickets to answer."},
        )
