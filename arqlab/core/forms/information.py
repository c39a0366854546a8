"""Forms to edit the topic information of a task: as a table or from a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from django import forms

from arqkit.records import TaskKind
from arqkit.topics import InfoChange, heading, info_fields, normalized_value
from arqlab.core.errors import UserError
from arqlab.core.models import Task, Topic
from arqlab.core.selectors import info_values

INCOMPLETE = "The form is incomplete, so nothing was saved. Reload the page and try again."


@dataclass(frozen=True)
class FactCell:
    """One value of the topic information: the value, its options and the folder's value."""

    field: str
    heading: str
    name: str
    label: str
    is_free: bool
    value: str
    options: tuple[str, ...]
    folder: str
    now: str

    @property
    def is_edited(self) -> bool:
        """Return whether organizers changed the folder's value."""
        return self.now != self.folder


class InformationForm:
    """The information of all topics of a task as one table.

    This is not a Django form, which would need hundreds of fields. `was` holds the values the page
    showed, so that only changed values are written and nobody else's change is overwritten.
    """

    def __init__(self, task: Task, data: Mapping[str, str] | None = None) -> None:
        self.fields = info_fields(TaskKind(task.kind))
        self.topics = list(task.topics.order_by("position").defer("body", "body_html"))
        self.data = data
        self.headings = [(name, heading(name)) for name in self.fields]
        self.free = [name for name, usual in self.fields.items() if not usual]
        self.values = {
            name: tuple(
                dict.fromkeys([*usual, *info_values(self.topics, name), *self._folder(name)])
            )
            for name, usual in self.fields.items()
        }

    @property
    def facts(self) -> dict[str, dict[str, str]]:
        """Return the current values by topic and field."""
        return {
            topic.query_id: {name: topic.facts.get(name, "") for name in self.fields}
            for topic in self.topics
        }

    @property
    def was(self) -> str:
        """Return the current values as JSON, for the page to send back."""
        return json.dumps(self.facts)

    @property
    def rows(self) -> list[tuple[Topic, list[FactCell]]]:
        """Return the topics with their cells; submitted values take precedence."""
        return [(topic, [self._cell(topic, name) for name in self.fields]) for topic in self.topics]

    def changes(self) -> list[InfoChange]:
        """Return the changed values. Raises `UserError` for an incomplete form."""
        data = self.data or {}
        was = _shown_values(data.get("was", ""))
        return [
            InfoChange(query_id, name, seen[name], value)
            for query_id, seen in was.items()
            for name in self.fields
            if name in seen
            and (value := normalized_value(name, data.get(f"{name}:{query_id}", seen[name])))
            != seen[name]
        ]

    def _folder(self, name: str) -> list[str]:
        """Return the folder's values, so that an edit can be undone."""
        return sorted({topic.info[name] for topic in self.topics if topic.info.get(name)})

    def _cell(self, topic: Topic, name: str) -> FactCell:
        key, now = f"{name}:{topic.query_id}", topic.facts.get(name, "")
        value = now if self.data is None else normalized_value(name, self.data.get(key, now))
        options = (
            self.values[name] if value in ("", *self.values[name]) else (*self.values[name], value)
        )
        return FactCell(
            field=name,
            heading=heading(name),
            name=key,
            label=f"{heading(name)} of {topic.query_id}",
            is_free=not self.fields[name],
            value=value,
            options=options,
            folder=topic.info.get(name, ""),
            now=now,
        )


class InformationFileForm(forms.Form):
    """Upload a file of topic information."""

    file = forms.FileField(
        label="CSV or JSON file",
        help_text="Use the columns of the ARQMath topic information files. "
        "You can preview the changes before they apply.",
        error_messages={
            "required": "Choose a topic information file.",
            "empty": "The file is empty. Choose a topic information file.",
        },
    )


def read_changes(text: str) -> list[InfoChange]:
    """Read changes that a page sent back. Raises `UserError` if they are malformed."""
    try:
        rows = json.loads(text)
        if all(len(row) == 4 and all(isinstance(part, str) for part in row) for row in rows):
            return [InfoChange(*row) for row in rows]
    except (ValueError, TypeError):
        pass
    raise UserError(INCOMPLETE, code="incomplete")


def _shown_values(text: str) -> dict[str, dict[str, str]]:
    """Read the values that the page showed."""
    try:
        was = json.loads(text)
        if all(isinstance(value, str) for seen in was.values() for value in seen.values()):
            return dict(was)
    except (ValueError, AttributeError):
        pass
    raise UserError(INCOMPLETE, code="incomplete")
