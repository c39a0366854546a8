"""Lists of the adjudication."""

from __future__ import annotations

from typing import ClassVar

from arqlab.core.forms.lists import FrameListForm


class AdjudicationListForm(FrameListForm):
    """The disagreements of official and second judgments."""

    searched = ("topic", "doc_id")
    filters: ClassVar = {
        "topic": ("Topic", "topic"),
        "state": ("State", "state"),
        "size": ("Difference", "spread"),
    }
    orders: ClassVar = {"topic": "topic", "size": "spread"}
    default_order = "-size"
