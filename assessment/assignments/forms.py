"""Forms to assign topics: from the table or from a file."""

import json
from collections.abc import Mapping
from typing import Unpack, cast

from django import forms
from django.db.models import Q

from arqkit.judgments.assignment_plan import AssignmentPlan
from arqlab.core.errors import UserError
from arqlab.core.forms.typed import FormOptions, field_of
from arqlab.core.forms.versions import VersionedForm
from arqlab.core.models import Task, Topic, User
from arqlab.labs.forms.people import NamedChoicesField
from arqlab.web import json_of
from assessment.assignments.selectors.grid import judging_staff
from assessment.assignments.selectors.left_out import judged_topics_of
from assessment.assignments.selectors.planning import PlanEdits, TaskPlanning, expects_items
from assessment.assignments.services.assigning import Pairs
from assessment.models import Assignment, RosterEntry
from assessment.qrels.selectors.drafts import LabelSource

ACTIONS = ("assign", "reassign", "take", "review", "unreview", "set-aside", "resume")
MAX_BYTES, MAX_HOURS = 2**20, 10_000

PARTS = ("first", "second")
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

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        *,
        task: Task,
        **options: Unpack[FormOptions],
    ) -> None:
        """Offer the task's topics, the lab's assessors and everyone who still has a topic."""
        super().__init__(data, **options)
        having = Q(assignments__topic__task=task, assignments__ended_at=None)
        people = User.objects.filter(
            Q(pk__in=judging_staff(task.lab).values("pk")) | having
        ).distinct()
        topics = task.topics.only("query_id", "task_id").order_by("position")
        field_of(self, "topics", forms.ModelMultipleChoiceField).queryset = topics
        field_of(self, "person", forms.ModelChoiceField).queryset = people

    def clean(self) -> dict[str, object]:
        """Require an assessor to assign topics, and one or all assessors to unassign them."""
        cleaned = super().clean() or {}
        action, person, is_all = (cleaned.get(name) for name in ("action", "person", "everybody"))
        problem = ""
        if action in ("assign", "reassign") and not person:
            problem = "No assessor selected. Choose who should judge the topics."
        elif action == "take" and not person and not is_all:
            problem = "No assessor selected. Choose an assessor, or tick “from all assessors”."
        elif action == "take" and person and is_all:
            problem = f"Unassign from {person.name} or from all assessors? Choose one of the two."
        if problem and "person" not in self.errors:
            self.add_error("person", problem)
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

    def clean_file(self) -> object:
        """Reject a file that is too large."""
        file = self.cleaned_data["file"]
        if file.size > MAX_BYTES:
            raise forms.ValidationError(
                f"The file is {file.size:,} bytes; the limit is {MAX_BYTES:,} bytes. Upload a "
                "file with assignments only."
            )
        return file


class RosterForm(forms.Form):
    """Assessors of the lab to add to the roster of a task."""

    people = NamedChoicesField(
        User.objects.none(),
        label="Assessors",
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": "No assessor selected. Tick the assessors to add.",
            "invalid_choice": "%(value)s cannot be added. Reload the page.",
        },
    )
    invites = forms.BooleanField(
        label="Invite them to mark topics",
        required=False,
        initial=True,
        help_text="They get a notice with a link to the page where they mark topics.",
    )

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        *,
        task: Task,
        **options: Unpack[FormOptions],
    ) -> None:
        super().__init__(data, **options)
        assigned = Assignment.objects.filter(topic__task=task, ended_at=None)
        listed = Q(pk__in=task.roster.values("user")) | Q(pk__in=assigned.values("assessor"))
        people = field_of(self, "people", NamedChoicesField)
        people.queryset = judging_staff(task.lab).exclude(listed)


class HoursForm(VersionedForm):
    """The hours that an assessor offers for a task."""

    hours = forms.FloatField(
        label="Hours you can offer",
        required=False,
        min_value=0,
        max_value=MAX_HOURS,
        widget=forms.NumberInput(attrs={"class": "short", "step": "any", "inputmode": "decimal"}),
        help_text="For all topics of this task together. Leave it empty if you do not want to set "
        "a limit.",
        error_messages={
            "invalid": "The hours are not a number. Enter a number such as 40.",
            "min_value": "The hours are below 0. Enter 0 or more.",
            "max_value": f"The hours are above {MAX_HOURS:,}. Enter the hours for this task only.",
        },
    )

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        *,
        entry: RosterEntry | None,
        **options: Unpack[FormOptions],
    ) -> None:
        super().__init__(data, **options)
        self.initial = (
            {"hours": entry.hours, "note": entry.note, "group": entry.group} if entry else {}
        )


class RosterRowForm(HoursForm):
    """What organizers enter about an assessor: the hours, and the group to compare with others."""

    group = forms.CharField(
        required=False,
        max_length=40,
        error_messages={"max_length": "The group has more than 40 characters. Shorten it."},
    )


class OfferForm(HoursForm):
    """The hours and the note of an assessor."""

    note = forms.CharField(
        label="Note to the organizers",
        required=False,
        max_length=2000,
        widget=forms.Textarea,
        help_text="For example, when you are away. Only the organizers see it.",
    )


def _number_field(label: str, help_text: str, *, required: str, what: str) -> forms.IntegerField:
    return forms.IntegerField(
        label=label,
        min_value=0,
        max_value=100_000,
        widget=forms.NumberInput(attrs={"class": "short"}),
        help_text=help_text,
        error_messages={
            "required": required,
            "invalid": f"The number of {what} is not a whole number.",
        },
    )


class PlanForm(forms.Form):
    """The wanted overlap of a plan, and the size of topics without items."""

    overlap = _number_field(
        "Topics with a second assessor",
        "They judge these topics again, in a round of second judgments. The plan lets everyone "
        "check others and be checked.",
        required="Enter how many topics get a second assessor, or 0.",
        what="topics with a second assessor",
    )
    expected_labels = _number_field(
        "Labels expected per topic",
        "For the topics that have no items yet. A formula takes one for each instance.",
        required="Enter how many labels you expect per topic.",
        what="expected labels",
    )

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        *,
        task: Task,
        **options: Unpack[FormOptions],
    ) -> None:
        """Offer one second judgment for each assessor, or for each topic if labels are added."""
        super().__init__(data, **options)
        topics = judged_topics_of(task).count()
        overlap = topics if LabelSource(task).adds else min(topics, task.roster.count())
        self.initial = {"overlap": overlap, "expected_labels": 0}
        if not expects_items(task):
            del self.fields["expected_labels"]

    @property
    def settings(self) -> dict[str, int]:
        """Return the values of the form if it is valid, or else its initial values."""
        return {**self.initial, **(self.cleaned_data if self.is_valid() else {})}


def read_choices(data: Mapping[str, str], part: str, planning: TaskPlanning) -> dict[str, str]:
    """Return the chosen assessor by topic in a part. Raise `UserError` for an unknown one."""
    assigned = {topic.name for topic in planning.problem.topics if topic.assessors}
    choices = {
        row.topic.query_id: data.get(f"{part}-{row.topic.pk}", "")
        for row in planning.topics
        if part == "second" or row.topic.query_id not in assigned
    }
    if not {*choices.values()} <= {"", *planning.names}:
        raise UserError(INCOMPLETE, code="incomplete")
    return {topic: key for topic, key in choices.items() if key}


def write_proposal(planning: TaskPlanning, plan: AssignmentPlan, edits: PlanEdits) -> str:
    """Serialize the proposal of a plan, without the edits, for the page to send back."""
    parts = zip(PARTS, (plan.first, plan.second), edits, strict=True)
    return json.dumps(
        {
            f"{part}-{row.topic.pk}": assessors.get(row.topic.query_id, "")
            for part, assessors, edited in parts
            for row in planning.topics
            if row.topic.query_id not in edited
        }
    )


def read_edits(data: Mapping[str, str], planning: TaskPlanning) -> PlanEdits:
    """Return the choices that differ from a page's proposal. Raise `UserError` for unknown ones."""
    if "proposed" not in data:
        return {}, {}
    proposed = json_of(data["proposed"])
    if not isinstance(proposed, dict):
        raise UserError(INCOMPLETE, code="incomplete")

    def edits(part: str) -> dict[str, str]:
        choices = read_choices(data, part, planning)
        names = {f"{part}-{row.topic.pk}": row.topic.query_id for row in planning.topics}
        return {
            topic: choices.get(topic, "")
            for name, topic in names.items()
            if name in data and proposed.get(name) != choices.get(topic, "")
        }

    return edits("first"), edits("second")


def read_pairs(text: str, *, task: Task) -> Pairs:
    """Read assignments that a page sent back. Raise `UserError` if they are malformed or old."""
    topics = {topic.query_id: topic for topic in task.topics.only("query_id", "task_id")}
    people = {person.pk: person for person in judging_staff(task.lab)}
    try:
        pairs = cast("list[tuple[str, int]]", json_of(text))
        return [(topics[query_id], people[person]) for query_id, person in pairs]
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(INCOMPLETE, code="incomplete") from error
