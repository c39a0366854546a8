"""Forms to assign topics: from the table or from a file."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.db.models import Q

from arqlab.core.errors import UserError
from arqlab.core.models import Task, Topic, User
from assessment.assignments.selectors.grid import judging_staff
from assessment.assignments.services.assigning import Pairs

ASSIGN, REASSIGN, TAKE, REVIEW, UNREVIEW = "assign", "reassign", "take", "review", "unreview"
SET_ASIDE, RESUME = "set-aside", "resume"
ACTIONS = (ASSIGN, REASSIGN, TAKE, REVIEW, UNREVIEW, SET_ASIDE, RESUME)
MAX_BYTES = 2**20
INCOMPLETE = "The form is incomplete, so nothing was changed. Reload the page and try again."


class ChosenTopicsForm(forms.Form):
    """The selected topics, an assessor and the action."""

    topics = forms.ModelMultipleChoiceField(
        Topic.objects.none(),
        to_field_name="query_id",
        error_messages={
            "required": "No topics selected. Select topics in the table first.",
            "invalid_choice": "%(value)s is not a topic of this task. Reload the page.",
        },
    )
    person = forms.ModelChoiceField(
        User.objects.none(),
        required=False,
        error_messages={
            "invalid_choice": "This person is no longer an assessor in this lab. Reload the page."
        },
    )
    everybody = forms.BooleanField(required=False)  # unassigns the topics from all assessors
    action = forms.ChoiceField(choices=[(name, name) for name in ACTIONS])

    def __init__(self, *args: Any, task: Task, **kwargs: Any) -> None:
        """Offer the task's topics, the lab's assessors and everyone who still has a topic."""
        super().__init__(*args, **kwargs)
        having = Q(assignments__topic__task=task, assignments__ended_at=None)
        people = User.objects.filter(
            Q(pk__in=judging_staff(task.lab).values("pk")) | having
        ).distinct()
        topics = task.topics.only("query_id", "task_id").order_by("position")
        self.fields["topics"].queryset = topics  # type: ignore[attr-defined]
        self.fields["person"].queryset = people  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Require an assessor to assign topics, and one or all assessors to unassign them."""
        cleaned: dict[str, Any] = super().clean() or {}
        action, person, is_all = (cleaned.get(name) for name in ("action", "person", "everybody"))
        if "person" in self.errors:
            return cleaned
        if action in (ASSIGN, REASSIGN) and not person:
            self.add_error("person", "No assessor selected. Choose who should judge the topics.")
        if action == TAKE and not person and not is_all:
            self.add_error(
                "person",
                "No assessor selected. Choose an assessor, or tick “from all assessors”.",
            )
        if action == TAKE and person and is_all:
            self.add_error(
                "person",
                f"Unassign from {person.name} or from all assessors? Choose one of the two.",
            )
        return cleaned


class AssignmentFileForm(forms.Form):
    """Upload a file of assignments."""

    file = forms.FileField(
        label="CSV or TSV file",
        help_text="One line per topic and assessor: <code>A.1,ann@example.org</code>. "
        "Use the assessor's email address or user name. "
        "You can preview the changes before they apply.",
        error_messages={
            "required": "Choose an assignments file.",
            "empty": "The file is empty. Choose an assignments file.",
        },
    )
    replaces = forms.BooleanField(
        label="Unassign the topics in the file from all other assessors",
        required=False,
        help_text="Otherwise, current and new assessors share the topics. Labels are never "
        "deleted.",
    )

    def clean_file(self) -> Any:
        """Reject a file that is too large."""
        file = self.cleaned_data["file"]
        if file.size > MAX_BYTES:
            raise forms.ValidationError(
                f"The file is {file.size:,} bytes; the limit is {MAX_BYTES:,} bytes. Upload a "
                "file with assignments only."
            )
        return file


def write_pairs(pairs: Pairs) -> str:
    """Serialize assignments for a page to send back."""
    return json.dumps([(topic.query_id, person.pk) for topic, person in pairs])


def read_pairs(text: str, *, task: Task) -> Pairs:
    """Read assignments that a page sent back.

    Raises `UserError` if they are malformed or name a topic or person that no longer exists.
    """
    topics = {topic.query_id: topic for topic in task.topics.only("query_id", "task_id")}
    people = {person.pk: person for person in judging_staff(task.lab)}
    try:
        return [(topics[query_id], people[person]) for query_id, person in json.loads(text)]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UserError(INCOMPLETE, code="incomplete") from error
