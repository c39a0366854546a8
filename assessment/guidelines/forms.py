"""The form to write guidelines for assessors."""

from __future__ import annotations

from django import forms


class GuidelineForm(forms.Form):
    """A new version of the guidelines, and the version it is based on."""

    text = forms.CharField(
        label="Guidelines",
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "true", "class": "id"}),
        strip=False,
        help_text="HTML as in posts (paragraphs, lists, tables, headings), with LaTeX between "
        "dollar signs. Every version is kept, and every judgment records the version "
        "the assessor followed.",
        error_messages={"required": "The guidelines are empty. Write how assessors should judge."},
    )
    after = forms.IntegerField(widget=forms.HiddenInput, min_value=0, max_value=32_767)
