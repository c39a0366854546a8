"""The form to repair the item of a ticket."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.utils.html import escape

from arqlab.core.errors import UserError
from arqlab.core.forms.versions import VersionedForm
from arqlab.core.services.corrections import LONGEST_CORRECTION
from assessment.tickets.services.items import TicketItem
from assessment.tickets.services.repairs import RepairDraft, RepairKind

SOURCE = {"spellcheck": "false", "class": "source"}


class RepairForm(VersionedForm):
    """What the lab shows from now on. Repairs that need no input have no field."""

    LABELS: ClassVar = {
        RepairKind.FORMULA: (
            "LaTeX",
            "Without dollars. The lab shows it wherever it would show exactly this formula.",
        ),
        RepairKind.TEXT: (
            "HTML of the text",
            'Formulas are elements like <span class="math-container">$x^2$</span>{judged}. What '
            "posts may not contain is removed.",
        ),
        RepairKind.THREAD: ("Id of the question", "The answer appears in this question's thread."),
    }

    def __init__(self, *args: Any, draft: RepairDraft, item: TicketItem, **kwargs: Any) -> None:
        """Ask for the value of a correction."""
        super().__init__(*args, **kwargs)
        self.draft = draft
        if not draft.kind.is_correction:
            return
        label, text = self.LABELS[draft.kind]
        judged = f', that to judge with id="{item.instance.doc_id}"' if item.is_formula else ""
        is_line = draft.kind == RepairKind.THREAD
        self.fields["value"] = forms.CharField(
            label=label,
            initial=draft.value,
            max_length=LONGEST_CORRECTION,
            widget=forms.TextInput() if is_line else forms.Textarea(attrs=SOURCE),
            help_text=escape(text.replace("{judged}", judged)),
            error_messages={"required": "Write what the lab should show."},
        )
        self.fields["key"] = forms.CharField(
            initial=draft.key, required=False, widget=forms.HiddenInput()
        )

    def clean_key(self) -> str:
        """Require that the place in the address still has the formula that the page showed."""
        key = str(self.cleaned_data["key"])
        if key and key.split() != self.draft.key.split():
            raise forms.ValidationError("The item has changed. Choose the formula again.")
        return key

    def refuse(self, error: UserError) -> None:
        """Show why the item cannot be repaired like this."""
        self.add_error("value" if "value" in self.fields else None, error.message)

    @property
    def edited(self) -> RepairDraft:
        """Return the repair with the valid input."""
        return self.draft._replace(value=self.cleaned_data.get("value", ""))
