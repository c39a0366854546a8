"""The instructions for assessors, as an organizer writes them."""

from __future__ import annotations

from django import forms


class GuidelineForm(forms.Form):
    """A new version, and the one that the writer began with."""

    text = forms.CharField(
        label="Guidelines",
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "true", "class": "id"}),
        strip=False,
        help_text="HTML as posts have it (paragraphs, lists, tables, headings), with LaTeX between dollars. "
        "Each version is kept, and every judgment names the one it was made by.",
        error_messages={"required": "The guidelines are empty. Write what assessors shall go by."},
    )
    after = forms.IntegerField(widget=forms.HiddenInput, min_value=0, max_value=32_767)
