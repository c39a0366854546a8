"""The reason of a release."""

from __future__ import annotations

from django import forms


class ReleaseForm(forms.Form):
    """What everyone is told about a release."""

    reason = forms.CharField(
        label="Reason for this version",
        required=False,
        max_length=300,
        help_text="Such as: labels of A.12 corrected. Everyone who sees the leaderboard reads it "
        "in the list of its versions.",
    )
