"""Forms for teams, and for what they publish."""

from django import forms

from arqlab.core.forms.versions import VersionedForm
from arqlab.core.models import Team


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
