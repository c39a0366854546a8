"""What people fill in about themselves, their teams, labs and tasks."""

from __future__ import annotations

from typing import Any

from allauth.account.forms import LoginForm, SignupForm
from django import forms

from arqlab.core.errors import UserError
from arqlab.core.models import Membership, Task, User
from arqlab.core.selectors import person_named
from arqlab.ir.measures.names import parse_measures
from arqlab.ir.measures.providers import MeasureRefusedError

OWN_FIELDS = ("name", "description", "opens_at", "deadline", "shows_own_scores")
PROTOCOL_FIELDS = ("limit", "max_characters", "quota", "order", "measures")


class TeamForm(forms.Form):
    """The name of a new team."""

    name = forms.CharField(
        label="Name of the team",
        max_length=80,
        help_text="As it will stand on the leaderboard, and in the names of your run files.",
        error_messages={"required": "Enter a name for the team."},
    )


class AccountForm(forms.Form):
    """A person's own name."""

    first_name = forms.CharField(label="First name", max_length=150, required=False)
    last_name = forms.CharField(
        label="Last name",
        max_length=150,
        required=False,
        help_text="Team members and organizers see your name; without one, your user name.",
    )


class ParagraphsField(forms.CharField):
    """A longer text that may be empty."""

    def __init__(self, *, label: str, help_text: str) -> None:
        super().__init__(
            label=label,
            help_text=help_text,
            required=False,
            widget=forms.Textarea(attrs={"rows": 8}),
        )

    def to_python(self, value: Any) -> str | None:
        """Return the text with the line ends it had: browsers send CRLF, and nothing was changed by
        that.
        """
        text = super().to_python(value)
        return text.replace("\r\n", "\n") if text else text


class LabForm(forms.Form):
    """What visitors read about a lab."""

    name = forms.CharField(
        label="Name", max_length=200, error_messages={"required": "Enter the name of the lab."}
    )
    description = ParagraphsField(
        label="Description",
        help_text="Who runs it, what it asks for, where the data is. Blank lines part paragraphs.",
    )
    is_public = forms.BooleanField(label="Everybody may see this lab", required=False)


class RoleForm(forms.Form):
    """Somebody who becomes organizer or assessor."""

    person = forms.CharField(
        label="E-mail address or user name",
        max_length=254,
        help_text="They need an account first.",
        error_messages={"required": "Enter an e-mail address or a user name."},
    )
    role = forms.ChoiceField(
        label="Role",
        choices=[
            (role.value, role.label)
            for role in (Membership.Role.ORGANIZER, Membership.Role.ASSESSOR)
        ],
    )

    def clean_person(self) -> User:
        """Return the person of that address or name."""
        try:
            return person_named(self.cleaned_data["person"])
        except UserError as error:
            raise forms.ValidationError(error.message) from error


class RevokeForm(forms.Form):
    """Somebody who is organizer or assessor no longer."""

    person = forms.ModelChoiceField(User.objects.all())
    role = forms.ChoiceField(choices=Membership.Role.choices)


class MomentInput(forms.DateTimeInput):
    """A moment in the browser's own picker, to the second: a deadline of 23:59:59 stays what it is."""

    input_type = "datetime-local"

    def __init__(self) -> None:
        super().__init__(format="%Y-%m-%dT%H:%M:%S", attrs={"class": "short", "step": "1"})


class CountField(forms.IntegerField):
    """A limit: a whole number from 1, or empty for the preset's."""

    def __init__(self, what: str) -> None:
        sentence = (
            f"Enter a whole number from 1 for {what[0].lower()}{what[1:]}, or leave it empty."
        )
        errors = {"invalid": sentence, "min_value": sentence}
        super().__init__(
            label=f"{what}, at most", min_value=1, required=False, error_messages=errors
        )


class TaskForm(forms.Form):
    """The rules of a task. A field of the protocol that is left empty is as the lab's preset says."""

    name = forms.CharField(
        label="Name", max_length=200, error_messages={"required": "Enter the name of the task."}
    )
    description = ParagraphsField(
        label="Description",
        help_text="What it asks for. Blank lines part paragraphs.",
    )
    opens_at = forms.DateTimeField(
        label="Opens, in UTC",
        required=False,
        widget=MomentInput,
        help_text="Empty: the task is open already.",
    )
    deadline = forms.DateTimeField(
        label="Deadline, in UTC",
        required=False,
        widget=MomentInput,
        help_text="Empty: no deadline. Anywhere on earth is 12 hours behind UTC: "
        "for the end of 5 June there, enter 6 June, 12:00.",
    )
    shows_own_scores = forms.BooleanField(
        label="A team sees the scores of its own runs before the leaderboard is released",
        required=False,
    )
    limit = CountField("Items a topic")
    max_characters = CountField("Characters of an answer")
    quota = CountField("Runs a team")
    order = forms.ChoiceField(
        label="Order of the items",
        choices=[
            ("score", "by score, ties by item, both descending (trec_eval)"),
            ("rank", "by submitted rank"),
        ],
        required=False,
    )
    measures = forms.CharField(
        label="Measures",
        widget=forms.Textarea(attrs={"rows": 9, "spellcheck": "false", "class": "id"}),
        required=False,
    )

    def __init__(self, *args: Any, task: Task, **kwargs: Any) -> None:
        """Show the values that hold, and beside each of the protocol what the preset says."""
        super().__init__(*args, **kwargs)
        self.task = task
        self.initial = {**{name: getattr(task, name) for name in OWN_FIELDS}, **self.initial}
        for name in PROTOCOL_FIELDS:
            self.initial[name] = _shown(name, getattr(task.protocol, name))
            preset = _shown(name, getattr(task.preset, name)).replace("\n", ", ")
            self.fields[
                name
            ].help_text = f"{_HELP.get(name, '')}The preset {task.lab.protocol} says: {preset}."
        if task.kind != Task.Kind.WRITTEN_ANSWERS:
            del self.fields["max_characters"]

    def clean_measures(self) -> list[str]:
        """Return the measures, one a line, blank lines left out; refuse what is none with the
        kernel's sentence.
        """
        measures = [
            line.strip() for line in self.cleaned_data["measures"].splitlines() if line.strip()
        ]
        try:
            parse_measures(measures)
        except MeasureRefusedError as error:
            raise forms.ValidationError(str(error)) from error
        return measures

    @property
    def protocol(self) -> dict[str, Any]:
        """Return the fields of the protocol as filled in; an empty one has the preset's value."""
        preset, cleaned = self.task.preset, self.cleaned_data
        return {
            name: cleaned.get(name) or getattr(preset, name)
            for name in PROTOCOL_FIELDS
            if name in self.fields
        }

    @property
    def changes(self) -> dict[str, Any]:
        """Return the task's own fields as filled in."""
        return {name: self.cleaned_data[name] for name in OWN_FIELDS}


_HELP = {
    "measures": "One a line as ir_measures writes it, the main one first; it orders the leaderboard. ",
    "order": "Submitted ranks are kept and checked in any case. ",
}


def _shown(name: str, value: Any) -> str:
    return "\n".join(value) if name == "measures" else str(value)


class SignInForm(LoginForm):
    """Sign in by e-mail address or user name; allauth calls that "Login"."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = "E-mail address or user name"


class SignUpForm(SignupForm):
    """Sign up, in the words of the other pages."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].label, self.fields["username"].label = "E-mail address", "User name"
