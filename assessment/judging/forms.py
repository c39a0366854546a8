"""The list of an assessor's judgments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from django.db.models import QuerySet

from arqlab.core.forms.lists import ListForm
from arqlab.core.models import Lab
from assessment.judging.services.judged_list import judgments_with
from assessment.models import Judgment


class JudgmentListForm(ListForm):
    """An assessor's own judgments of a topic. The search reads what the assessor saw."""

    filters: ClassVar = {}
    orders: ClassVar = {
        "position": "instance__item__position",
        "label": "label",
        "seconds": "active_ms",
        "judged": "judged_at",
    }
    default_order = "-judged"

    def __init__(self, data: Mapping[str, Any], *, lab: Lab) -> None:
        """Read the address; `lab` has the texts."""
        self.lab = lab
        super().__init__(data)

    def matching(self, rows: QuerySet[Judgment], words: Iterable[str]) -> QuerySet[Judgment]:
        """Return the judgments with all words in heading, text, comment or reason."""
        return rows.filter(pk__in=judgments_with(words, rows, lab=self.lab))
