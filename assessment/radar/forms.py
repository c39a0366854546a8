"""The lists of the radar, and the note on a finding."""

from __future__ import annotations

from typing import ClassVar

from django import forms

from arqlab.core.forms.lists import FrameListForm, ListForm
from assessment.radar.services.dismissing import LONGEST_NOTE


class FindingListForm(FrameListForm):
    """The open findings of a task."""

    searched = ("kind", "assessor", "topic", "summary")
    filters: ClassVar = {
        "kind": ("Kind", "kind"),
        "assessor": ("Assessor", "assessor"),
        "topic": ("Topic", "topic"),
    }
    orders: ClassVar = {
        "weight": "place",
        "kind": "kind",
        "assessor": "assessor",
        "topic": "topic",
        "judgments": "judgments",
    }
    default_order = "weight"


class DismissedListForm(ListForm):
    """The dismissed findings of a task."""

    searched = ("summary", "note", "topic", "assessor__username", "assessor__first_name")
    filters: ClassVar = {}
    orders: ClassVar = {
        "topic": "topic",
        "assessor": "assessor__username",
        "dismissed": "dismissed_at",
    }
    default_order = "-dismissed"


class FindingJudgmentListForm(ListForm):
    """The judgments of a finding."""

    searched = ("instance__doc_id", "instance__item__topic__query_id", "comment")
    filters: ClassVar = {}
    orders: ClassVar = {
        "order": "pk",
        "topic": "instance__item__topic__position",
        "label": "label",
        "seconds": "active_ms",
    }
    default_order = "order"


class NoteForm(forms.Form):
    """The note with which a finding is dismissed."""

    note = forms.CharField(
        label="Note",
        widget=forms.Textarea(attrs={"rows": 4}),
        max_length=LONGEST_NOTE,
        help_text="For example what you talked about. Organizers see it; assessors do not.",
        error_messages={"required": "Write what you found out or agreed on."},
    )
