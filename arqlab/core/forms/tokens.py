"""The form for a new API token."""

from __future__ import annotations

from django import forms

from arqlab.core.models import ApiToken


class TokenForm(forms.Form):
    """What a token is for, what it may do, and how long."""

    name = forms.CharField(
        label="What is it for?",
        max_length=80,
        help_text="For example the name of the program or machine that will use it.",
        error_messages={"required": "Enter what the token is for."},
    )
    scope = forms.ChoiceField(
        label="Programs may",
        choices=[("read", "read"), ("write", "read, upload runs, judge and make changes")],
        initial=ApiToken.Scope.READ,
        widget=forms.RadioSelect,
    )
    days = forms.TypedChoiceField(
        label="Expires after",
        coerce=int,
        choices=[(30, "30 days"), (90, "90 days"), (365, "a year")],
        initial=90,
    )
