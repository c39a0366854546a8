"""Forms for messages, invitations and texts."""

from collections.abc import Mapping
from uuid import uuid4

from django import forms

from arqlab.core.forms.versions import VersionedForm
from arqlab.core.models import Lab, Role, Team
from arqlab.labs.forms.labs import ParagraphsField
from arqlab.notices.addresses import PastedAddress, pasted_addresses, without_repeated
from arqlab.notices.models import Message

MAX_INVITED = 500
NEW_TEAM = "new-team"


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

    def __init__(self, data: Mapping[str, object] | None = None, *, lab: Lab) -> None:
        """Offer the roles of the lab and its teams."""
        super().__init__(data)
        self.repeated: list[PastedAddress] = []
        self.teams = {f"team-{team.pk}": team for team in lab.teams.participating()}
        teams = [(key, team.name) for key, team in self.teams.items()]
        granted = sorted(Role.granted(), key=lambda role: role.rights.organizes)
        roles: list[tuple[str, str | list[tuple[str, str]]]] = [
            (role.value, role.label) for role in granted
        ]
        roles.append((NEW_TEAM, "Member of a new team"))
        if teams:
            roles.append(("Member of a team", teams))
        self.fields["role"].choices = roles  # type: ignore[attr-defined]

    def clean_addresses(self) -> list[str]:
        """Return the addresses, each once, or list all that are invalid with their lines."""
        pasted = pasted_addresses(self.cleaned_data["addresses"])
        if wrong := [address for address in pasted if not address.is_valid]:
            listed = ", ".join(f"{address.text} (line {address.line})" for address in wrong[:10])
            others = f" and {len(wrong) - 10:,} others" if len(wrong) > 10 else ""
            raise forms.ValidationError(
                f"Not an email address: {listed}{others}. Correct or remove it, and invite again."
                " Nobody was invited."
            )
        addresses, self.repeated = without_repeated(pasted)
        if len(addresses) > MAX_INVITED:
            raise forms.ValidationError(
                f"{len(addresses):,} addresses are too many. Invite at most {MAX_INVITED} at once."
            )
        return addresses

    def clean(self) -> dict[str, object]:
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
        choice = self.cleaned_data["role"]
        team = self.teams.get(choice)
        return (Role.MEMBER if team else choice), team
