"""Forms that edit stored values, and notice if these changed after the page was opened."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import NamedTuple, cast

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.http import QueryDict

from arqlab.web import json_of

KEEP = "keep-"
"""The prefix of the choice between two values on the page of a stale form."""
THEIRS = "theirs"
_EMPTY = "(empty)"


class Conflict(NamedTuple):
    """A field whose stored value changed since the page was opened, and what the user entered.

    A value that the user did not edit is the one that the page showed.
    """

    name: str
    label: str
    entered: str
    stored: str
    is_edited: bool


class VersionedForm(forms.Form):
    """A form that edits stored values, which it gets as `initial`.

    Its hidden field `version` has a digest of each value that the page showed. Where a stored value
    has another digest by now, saving would undo what someone else saved: see `conflicts`. Render
    the hidden field, and save with `arqlab.core.views.editing.edited`.
    """

    version = forms.CharField(required=False, widget=forms.HiddenInput)

    def get_initial_for_field(self, field: forms.Field, field_name: str) -> object:
        """Return a stored value, or the version of all."""
        if field_name == "version":
            return self.stored_version
        return super().get_initial_for_field(field, field_name)

    @property
    def stored_version(self) -> str:
        """Return the digests of the stored values by field."""
        return json.dumps({name: _digest(self._stored(name)) for name in self._edited_fields()})

    def full_clean(self) -> None:
        """Clean the fields, with the stored values where the user chose them."""
        if self.is_bound:
            self.data = self._with_chosen_values()
        super().full_clean()
        if self.is_bound:
            self.cleaned_data.pop("version", None)

    @property
    def conflicts(self) -> list[Conflict]:
        """Return the fields of a valid form that would undo another change."""
        digests, conflicts = self._seen_version(), []
        if digests is None:
            return []
        for name in self._edited_fields():
            entered, stored = self._entered(name), self._stored(name)
            if digests.get(name) != _digest(stored) and entered != stored:
                field, label = self.fields[name], str(self[name].label)
                is_edited = digests.get(name) != _digest(entered)
                words = _words(field, entered), _words(field, stored)
                conflicts.append(Conflict(name, label, *words, is_edited=is_edited))
        return conflicts

    def _edited_fields(self) -> Iterator[str]:
        return (name for name, field in self.fields.items() if not field.widget.is_hidden)

    def _seen_version(self) -> dict[str, str] | None:
        """Return the digests that the page had, or None for a program that opened no page."""
        if "version" not in self.data:
            return None
        digests = json_of(self.data["version"])
        return digests if isinstance(digests, dict) else {}

    def _stored(self, name: str) -> str:
        field = self.fields[name]
        return _text(field, self.get_initial_for_field(field, name))

    def _entered(self, name: str) -> str:
        try:
            return _text(self.fields[name], self.fields[name].clean(self[name].data))
        except ValidationError:
            return ""

    def _with_chosen_values(self) -> Mapping[str, object]:
        """Return the input with the stored value of each field for which the user chose it."""
        names = self._edited_fields()
        stored_names = [name for name in names if self.data.get(f"{KEEP}{name}") == THEIRS]
        if not stored_names:
            return self.data
        data = cast("QueryDict", self.data).copy()
        for name in stored_names:
            field = self.fields[name]
            value = field.prepare_value(self.get_initial_for_field(field, name))
            for key, texts in _inputs(field.widget, self.add_prefix(name), value).items():
                data.setlist(key, texts)
        return data


def _inputs(widget: forms.Widget, name: str, value: object) -> dict[str, list[str]]:
    """Return what a browser sends for a value of a widget."""
    if isinstance(widget, forms.MultiWidget):
        names = widget.widgets_names  # type: ignore[attr-defined]
        parts = zip(widget.widgets, names, widget.decompress(value) or (), strict=True)
        return {
            key: sent
            for part, suffix, text in parts
            for key, sent in _inputs(part, f"{name}{suffix}", text).items()
        }
    if isinstance(widget, forms.CheckboxInput):
        return {name: ["on"] if value else []}
    formatted = widget.format_value(value)
    return {name: list(formatted) if isinstance(formatted, list | tuple) else [formatted or ""]}


def _text(field: forms.Field, value: object) -> str:
    """Return a value as a text, the same for the stored and the cleaned value."""
    if isinstance(field, forms.BooleanField):
        return str(bool(value))
    if value is None:
        return ""
    if isinstance(value, Model):
        return str(value.pk)
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    return str(value).replace("\r\n", "\n")


def _words(field: forms.Field, text: str) -> str:
    """Return a value in the words of its field."""
    if isinstance(field, forms.BooleanField):
        return "yes" if text == "True" else "no"
    choices = dict(getattr(field.widget, "choices", ()))
    words_of = {str(getattr(value, "value", value)): str(label) for value, label in choices.items()}
    return words_of.get(text, text) or _EMPTY


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]
