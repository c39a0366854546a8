"""The forms that leave things out, each with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

LONGEST_REASON = 300


class ReasonsForm(forms.Form):
    """A field for each thing, such as a topic or a run. Things with a reason are left out."""

    def __init__(
        self,
        data: Mapping[str, Any] | None,
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
