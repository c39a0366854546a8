"""The picker of topics, for forms that choose topics or leave them out with a reason."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from django import forms
from django.forms import BoundField
from django.forms.renderers import BaseRenderer
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString

from arqlab.core.models import Topic
from arqlab.web import Column, Row, Table, cells, choice_column

LONGEST_REASON = 300


class ReasonsForm(forms.Form):
    """A field for each thing, such as a topic or a run. Things with a reason are left out."""

    def __init__(
        self,
        data: Mapping[str, object] | None,
        *,
        kind: str,
        names: Mapping[str, str],
        reasons: Mapping[str, str] | None = None,
    ) -> None:
        """Add a field for each key of `names`, filled with its reason in `reasons`."""
        super().__init__(data, prefix=kind)
        self.kind = kind
        for key, name in names.items():
            self.fields[key] = forms.CharField(
                label=name,
                required=False,
                max_length=LONGEST_REASON,
                initial=(reasons or {}).get(key, ""),
                error_messages={
                    "max_length": f"Shorten the reason for {name} to {LONGEST_REASON} characters."
                },
            )

    @property
    def reasons(self) -> dict[str, str]:
        """Return the reasons that were entered, by key."""
        return {key: reason for key, reason in self.cleaned_data.items() if reason}

    @property
    def entered(self) -> dict[str, str]:
        """Return the reason of each field as shown, by the name of the field on the page."""
        return {field.html_name: field.value() or "" for field in self}

    @property
    def messages(self) -> list[str]:
        """Return all error messages."""
        return [str(message) for errors in self.errors.values() for message in errors]

    @property
    def count(self) -> int:
        """Return the number of fields with a reason, as shown."""
        return sum(bool(field.value()) for field in self)


def topic_words(topic: Topic) -> SafeString:
    """Return the query formula, title and tags of a topic."""
    texts = filter(None, (topic.formula_html, topic.title_html))
    html = SafeString("<br>".join(texts))
    if not topic.tags:
        return html
    tags = ", ".join(topic.tags)
    return format_html('{} <span class="muted small topic-tags">{}</span>', html, tags)


def words_column(topic: Callable[[Row], Topic]) -> Column[Row]:
    """Return the column with the words of the topic of a row."""
    return Column("Title and tags", lambda row: topic_words(topic(row)), css="topic-words")


class PickedTopic(NamedTuple):
    """A topic to choose: the value of its box, and the field of the reason, if it has one."""

    topic: Topic
    value: object
    is_chosen: bool = False
    field: BoundField | None = None


def topic_picker(
    name: str, rows: list[PickedTopic], *more: Column[PickedTopic]
) -> Table[PickedTopic]:
    """Return the topics to choose, whose boxes are the field `name` of the form around them."""
    table = f"pick-{name}"
    return Table[PickedTopic](
        table,
        [
            Column("Topic", lambda row: row.topic.query_id, cells.ID, is_head=True, css="nowrap"),
            choice_column(
                *(table, name),
                lambda row: row.value,
                spoken=lambda row: row.topic.query_id,
                is_chosen=lambda row: row.is_chosen,
                form="",
            ),
            words_column(lambda row: row.topic),
            *more,
        ],
        rows,
    )


class TopicPicker(forms.CheckboxSelectMultiple):
    """A table of topics with a box each, which can be searched and chosen by range."""

    def render(
        self,
        name: str,
        value: object,
        attrs: dict[str, object] | None = None,
        renderer: BaseRenderer | None = None,
    ) -> SafeString:
        """Return the table; without scripts it has boxes only."""
        rows = [
            PickedTopic(option["value"].instance, option["value"], option["selected"])
            for _, [option], _ in self.optgroups(name, self.format_value(value))
        ]
        context = {"table": topic_picker(name, rows)}
        return render_to_string("components/topic_picker.html", context)


class TopicsField(forms.ModelMultipleChoiceField):
    """Topics to choose from, by their ids."""

    widget = TopicPicker

    def __init__(self, *, error_messages: dict[str, str]) -> None:
        """Offer no topics until the form sets its `queryset`."""
        super().__init__(Topic.objects.none(), error_messages=error_messages)


class LeftOutTopicsForm(ReasonsForm):
    """Topics, each with a reason to leave it out."""

    def __init__(
        self,
        data: Mapping[str, object] | None,
        *,
        topics: Iterable[Topic],
        reasons: Mapping[str, str] | None = None,
    ) -> None:
        """Fill in the reasons of an earlier version."""
        self.topics = list(topics)
        names = {topic.query_id: topic.query_id for topic in self.topics}
        super().__init__(data, kind="topics", names=names, reasons=reasons)

    @property
    def table(self) -> Table[PickedTopic]:
        """Return the picker, with the field of each reason."""
        rows = [
            PickedTopic(topic, topic.query_id, field=self[topic.query_id]) for topic in self.topics
        ]
        reason = Column[PickedTopic]("Reason", template="components/reason.html", css="reason")
        return topic_picker("picked", rows, reason)
