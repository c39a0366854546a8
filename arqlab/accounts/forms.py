"""Forms for accounts: their names, signing up and signing in."""

from allauth.account.forms import LoginForm, SignupForm
from django import forms
from django.contrib.auth.hashers import make_password
from django.http import HttpRequest, HttpResponse

from arqlab.core.forms.versions import VersionedForm
from arqlab.core.models import User


class AccountForm(VersionedForm):
    """The user's own name."""

    first_name = forms.CharField(label="First name", max_length=150, required=False)
    last_name = forms.CharField(
        label="Last name",
        max_length=150,
        required=False,
        help_text="Team members and organizers see this name, or your user name if it is empty.",
    )


class SignInForm(LoginForm):
    """Sign in with an email address or user name, which allauth calls "Login"."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = "Email address or user name"


class SignUpForm(SignupForm):
    """Sign up, with the field labels of the other pages."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].label, self.fields["username"].label = "Email address", "User name"

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """Return the new user, or the same answer for an address that has an account, as late."""
        if self.account_already_exists:
            make_password(self.cleaned_data["password1"])
        user, answer = super().try_save(request)
        return user, answer
