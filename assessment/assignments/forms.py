"""Who is to judge which topics: chosen in the table, or as a file."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.db.models import Q

from arqlab.core.errors import UserError
from arqlab.core.models import Task, Topic, User
from assessment.assignments.selectors import judging_staff
from assessment.assignments.services import Pairs

ASSIGN, REASSIGN, TAKE, REVIEW, UNREVIEW = "assign", "reassign", "take", "review", "unreview"
MOST_BYTES = 2**20
INCOMPLETE = (
    "The assignments did not come whole, and nothing was changed. Reload the page and try again."
)


class ChosenTopicsForm(forms.Form):
    """Topics of a task, a person, and what is to be done."""

    topics = forms.ModelMultipleChoiceField(
        Topic.objects.none(),
        to_field_name="query_id",
        error_messages={
            "required": "No topic was chosen. Tick topics in the table first.",
            "invalid_choice": "%(value)s is no topic of this task any more. Reload the page.",
        },
    )
    person = forms.ModelChoiceField(
        User.objects.none(),
        required=False,
        error_messages={
            "invalid_choice": "This person may not judge here any more. Reload the page."
        },
    )
    everybody = forms.BooleanField(required=False)  # has the topics taken from all who have them
    action = forms.ChoiceField(
        choices=[(name, name) for name in (ASSIGN, REASSIGN, TAKE, REVIEW, UNREVIEW)]
    )

    def __init__(self, *args: Any, task: Task, **kwargs: Any) -> None:
        """Offer the task's topics, and those who judge in the lab or have a topic still."""
        super().__init__(*args, **kwargs)
        having = Q(assignments__topic__task=task, assignments__ended_at=None)
        people = User.objects.filter(
            Q(pk__in=judging_staff(task.lab).values("pk")) | having
        ).distinct()
        topics = task.topics.only("query_id", "task_id").order_by("position")
        self.fields["topics"].queryset = topics  # type: ignore[attr-defined]
        self.fields["person"].queryset = people  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Ask for a person where topics are given to one or taken from one, and for one or all
        where they are taken.
        """
        cleaned: dict[str, Any] = super().clean() or {}
        action, person, is_all = (cleaned.get(name) for name in ("action", "person", "everybody"))
        if "person" in self.errors:
            return cleaned
        if action in (ASSIGN, REASSIGN) and not person:
            self.add_error("person", "Nobody was chosen. Choose who is to judge the topics.")
        if action == TAKE and not person and not is_all:
            self.add_error(
                "person",
                "Nobody was chosen. Choose whose assignments shall end, or tick “from everybody”.",
            )
        if action == TAKE and person and is_all:
            self.add_error(
                "person",
                f"Take the topics from {person.name} or from everybody? Choose one of the two.",
            )
        return cleaned


class AssignmentFileForm(forms.Form):
    """A file of assignments."""

    file = forms.FileField(
        label="CSV or TSV file",
        help_text="One line for each topic and assessor: <code>A.1,ann@example.org</code>. Assessors are named by their "
        "e-mail address or user name. You see what would change before anything does.",
        error_messages={
            "required": "Choose the file with the assignments.",
            "empty": "The file is empty. Choose the file with the assignments.",
        },
    )
    replaces = forms.BooleanField(
        label="The topics in the file are taken from everybody else",
        required=False,
        help_text="Otherwise those who have them share them with the new ones. Labels stay in any case.",
    )

    def clean_file(self) -> Any:
        """Refuse what is too large to be such a file."""
        file = self.cleaned_data["file"]
        if file.size > MOST_BYTES:
            raise forms.ValidationError(
                f"The file has {file.size:,} bytes; at most {MOST_BYTES:,} are read. Upload the assignments alone."
            )
        return file


def write_pairs(pairs: Pairs) -> str:
    """Write assignments for a page to send back."""
    return json.dumps([(topic.query_id, person.pk) for topic, person in pairs])


def read_pairs(text: str, *, task: Task) -> Pairs:
    """Read assignments that a page sent back. Raises `UserError` for what no page of ours wrote, or
    is gone.
    """
    topics = {topic.query_id: topic for topic in task.topics.only("query_id", "task_id")}
    people = {person.pk: person for person in judging_staff(task.lab)}
    try:
        return [(topics[query_id], people[person]) for query_id, person in json.loads(text)]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UserError(INCOMPLETE, code="incomplete") from error
