"""The picker of topics, for forms that choose topics or leave them out with a reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from arqlab.core.forms.lists import ReasonsForm
from arqlab.core.models import Topic


class TopicPicker(forms.CheckboxSelectMultiple):
    """A table of topics with a box each, which can be searched and chosen by range."""

    def render(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None
    ) -> SafeString:
        """Return the table; without scripts it has boxes only."""
        rows = [
            {
                "topic": option["value"].instance,
                "value": option["value"],
                "is_chosen": option["selected"],
            }
            for _, [option], _ in self.optgroups(name, self.format_value(value))
        ]
        return render_to_string("components/topic_picker.html", {"name": name, "rows": rows})


class TopicsField(forms.ModelMultipleChoiceField):
    """Topics to choose from, by their ids."""

    widget = TopicPicker

    def __init__(self, **kwargs: Any) -> None:
        """Offer no topics until the form sets its `queryset`."""
        super().__init__(Topic.objects.none(), **kwargs)


class LeftOutTopicsForm(ReasonsForm):
    """Topics, each with a reason to leave it out."""

    def __init__(
        self,
        data: Mapping[str, Any] | None,
        *,
        topics: Iterable[Topic],
        reasons: Mapping[str, str] | None = None,
    ) -> None:
        """Fill in the reasons of an earlier version."""
        self.topics = list(topics)
        names = {topic.query_id: topic.query_id for topic in self.topics}
        super().__init__(data, kind="topics", names=names, reasons=reasons)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the picker, each with the field of its reason."""
        return [
            {"topic": topic, "value": topic.query_id, "field": self[topic.query_id]}
            for topic in self.topics
        ]
