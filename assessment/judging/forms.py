"""The list of an assessor's judgments."""

from __future__ import annotations

from typing import ClassVar

from arqlab.core.forms.lists import ListForm


class JudgmentListForm(ListForm):
    """An assessor's own judgments of a topic. Ids are not searched: they tell answers apart."""

    search_label = "Search comments"
    searched = ("comment", "reason")
    filters: ClassVar = {}
    orders: ClassVar = {
        "position": "instance__item__position",
        "label": "label",
        "seconds": "active_ms",
        "judged": "judged_at",
    }
    default_order = "-judged"
