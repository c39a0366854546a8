"""The reason of a release, and lists of the adjudication."""

from __future__ import annotations

from typing import ClassVar

from django import forms

from arqlab.core.forms.lists import FrameListForm


class ReleaseForm(forms.Form):
    """What everyone is told about a release."""

    reason = forms.CharField(
        label="Reason for this version",
        required=False,
        max_length=300,
        help_text="Such as: labels of A.12 corrected. Everyone who sees the leaderboard reads it "
        "in the list of its versions.",
    )


class AdjudicationListForm(FrameListForm):
    """The disagreements of official and second judgments."""

    searched = ("topic", "doc_id")
    filters: ClassVar = {
        "topic": ("Topic", "topic"),
        "state": ("State", "state"),
        "size": ("Difference", "spread"),
    }
    orders: ClassVar = {"topic": "topic", "size": "spread", "effect": "effect"}
    default_order = "-size"
