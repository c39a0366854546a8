"""Forms for accounts, teams and roles."""

from typing import Any

from allauth.account.forms import LoginForm, SignupForm
from django import forms
from django.contrib.auth.hashers import make_password
from django.http import HttpRequest, HttpResponse

from arqlab.core.errors import UserError
from arqlab.core.forms.versions import VersionedForm
from arqlab.core.models import Role, Team, User
from arqlab.core.selectors import person_named


class NamedChoiceField(forms.ModelChoiceField):
    """A choice of users, teams or tasks by name."""

    def label_from_instance(self, obj: Any) -> str:
        """Return the name of a choice."""
        return str(obj.name)


class TeamForm(forms.Form):
    """The name of a team. `question` asks whether a name like another team's is meant."""

    question, error_fields = "", {"": "name"}
    name = forms.CharField(
        label="Team name",
        max_length=80,
        help_text="The name on the leaderboard and in the names of your run files.",
        error_messages={"required": "Enter a team name."},
    )


class PublicationForm(forms.Form):
    """Paper, code and citation of a team or a run."""

    paper = forms.URLField(label="Address of the paper", required=False, assume_scheme="https")
    code = forms.URLField(label="Address of the code", required=False, assume_scheme="https")
    citation = forms.CharField(
        label="Citation",
        max_length=2000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="How to cite the paper, for example as BibTeX.",
    )


class TeamEditForm(VersionedForm, TeamForm, PublicationForm):
    """The name of a team, its affiliation and its publication."""

    affiliation = forms.CharField(
        label="Affiliation",
        max_length=200,
        required=False,
        help_text="Institutions and countries, as they should appear in the overview paper.",
    )
    field_order = ("name", *Team.DETAILS)


class AccountForm(VersionedForm):
    """The user's own name."""

    first_name = forms.CharField(label="First name", max_length=150, required=False)
    last_name = forms.CharField(
        label="Last name",
        max_length=150,
        required=False,
        help_text="Team members and organizers see this name, or your user name if it is empty.",
    )


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


class SignInForm(LoginForm):
    """Sign in with an email address or user name, which allauth calls "Login"."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = "Email address or user name"


class SignUpForm(SignupForm):
    """Sign up, with the field labels of the other pages."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].label, self.fields["username"].label = "Email address", "User name"

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """Return the new user, or the same answer for an address that has an account, as late."""
        if self.account_already_exists:
            make_password(self.cleaned_data["password1"])
        user, answer = super().try_save(request)
        return user, answer
