"""Forms for the roles of people in a lab."""

from django import forms

from arqlab.core.errors import UserError
from arqlab.core.models import Role, Task, Team, User
from arqlab.labs.selectors import person_named


class NamedChoiceField(forms.ModelChoiceField):
    """A choice of users, teams or tasks by name."""

    def label_from_instance(self, obj: User | Team | Task) -> str:
        """Return the name of a choice."""
        return str(obj.name)


class NamedChoicesField(NamedChoiceField, forms.ModelMultipleChoiceField):
    """Choices of users, teams or tasks by name."""


class RoleForm(forms.Form):
    """Grant a role. `question` asks whether a team member is meant to judge."""

    question, error_fields = "", {"": "person"}
    person = forms.CharField(
        label="Email address or user name",
        max_length=254,
        help_text="The person must have an account.",
        error_messages={"required": "Enter an email address or a user name."},
    )
    role = forms.ChoiceField(
        label="Role", choices=[(role.value, role.label) for role in Role.granted()]
    )

    def clean_person(self) -> User:
        """Return the user with this email address or user name."""
        try:
            return person_named(self.cleaned_data["person"])
        except UserError as error:
            raise forms.ValidationError(error.message) from error


class RevokeForm(forms.Form):
    """Revoke a role."""

    person = forms.ModelChoiceField(User.objects.all())
    role = forms.ChoiceField(choices=Role.choices)
