"""Forms for messages, invitations and texts."""

import re
from typing import Any
from uuid import uuid4

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from arqlab.core.forms.labs import ParagraphsField
from arqlab.core.forms.versions import VersionedForm
from arqlab.core.models import Lab, Role, Team
from arqlab.notices.models import Message

MAX_INVITED = 500
NEW_TEAM = "new-team"
MAX_LENGTH = 254  # of an email address


class MessageForm(forms.Form):
    """A message to teams or assessors."""

    audience = forms.ChoiceField(label="Recipients", choices=Message.Audience.choices)
    subject = forms.CharField(
        label="Subject", max_length=200, error_messages={"required": "Enter a subject."}
    )
    text = ParagraphsField(
        label="Message",
        help_text="Plain text. Separate paragraphs with blank lines. Addresses of web pages become "
        "links.",
        missing="Enter a message.",
    )
    key = forms.UUIDField(initial=uuid4, widget=forms.HiddenInput)


class TextForm(VersionedForm):
    """The subject and text of a kind of notice."""

    error_fields = {"unknown-placeholder": "text"}
    subject = forms.CharField(
        label="Subject", max_length=200, error_messages={"required": "Enter a subject."}
    )
    text = ParagraphsField(
        label="Text",
        help_text="Plain text. Separate paragraphs with blank lines. The link to the page is added "
        "below.",
        rows=12,
        missing="Enter a text.",
    )


class InvitationForm(forms.Form):
    """Addresses to invite, and the role or team they are invited to.

    `question` asks whether the name of a new team, which is like another team's, is meant.
    """

    question, error_fields = "", {"": "team_name"}
    addresses = forms.CharField(
        label="Email addresses",
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
        help_text="Separated by spaces, commas or new lines. Names are allowed: "
        "Ada Lovelace &lt;ada@example.org&gt;.",
        error_messages={"required": "Enter at least one email address."},
    )
    role = forms.ChoiceField(label="Invite as")
    team_name = forms.CharField(
        label="Team name",
        max_length=80,
        required=False,
        help_text="Only for a new team. It is created without members; you do not join it.",
    )

    def __init__(self, *args: Any, lab: Lab, **kwargs: Any) -> None:
        """Offer the roles of the lab and its teams."""
        super().__init__(*args, **kwargs)
        self.teams = {f"team-{team.pk}": team for team in lab.teams.participating()}
        teams = [(key, team.name) for key, team in self.teams.items()]
        granted = sorted(Role.granted(), key=lambda role: role.rights.organizes)
        roles: list[Any] = [(role.value, role.label) for role in granted]
        roles.append((NEW_TEAM, "Member of a new team"))
        if teams:
            roles.append(("Member of a team", teams))
        self.fields["role"].choices = roles  # type: ignore[attr-defined]

    def clean_addresses(self) -> list[str]:
        """Return the addresses, or list all that are invalid."""
        addresses = addresses_in(self.cleaned_data["addresses"])
        wrong = [address for address in addresses if not _is_address(address)]
        if wrong:
            raise forms.ValidationError(
                f"Not an email address: {', '.join(wrong[:10])}. Correct or remove it, and invite "
                "again. Nobody was invited."
            )
        if len(addresses) > MAX_INVITED:
            raise forms.ValidationError(
                f"{len(addresses):,} addresses are too many. Invite at most {MAX_INVITED} at once."
            )
        return addresses

    def clean(self) -> dict[str, Any]:
        """Check that a new team has a name, and that only a new team has one."""
        cleaned = super().clean() or self.cleaned_data
        has_name, role = bool(cleaned.get("team_name")), cleaned.get("role")
        if role == NEW_TEAM and not has_name and "team_name" not in self.errors:
            self.add_error("team_name", "Enter a name for the new team.")
        if role and role != NEW_TEAM and has_name:
            self.add_error(
                "team_name", 'Choose "Member of a new team" above, or clear the team name.'
            )
        return cleaned

    @property
    def place(self) -> tuple[str, Team | None]:
        """Return the role and, for a member, the team."""
        chosen = self.cleaned_data["role"]
        team = self.teams.get(chosen)
        return (Role.MEMBER if team else chosen), team


def addresses_in(text: str) -> list[str]:
    """Return the addresses in pasted text, each once.

    If a line has addresses in angle brackets, as mail programs write them, its other words are
    names.
    """
    addresses: list[str] = []
    for line in re.split(r"[\r\n;]+", text):
        bracketed = re.findall(r"<\s*([^<>]*?)\s*>", line)
        addresses += bracketed or re.split(r"[\s,]+", line)
    return [address for address in dict.fromkeys(addresses) if address]


def _is_address(text: str) -> bool:
    try:
        validate_email(text)
    except ValidationError:
        return False
    return len(text) <= MAX_LENGTH
