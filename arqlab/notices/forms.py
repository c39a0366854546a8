"""Forms for messages, invitations and texts."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django import forms

from arqlab.core.forms.labs import ParagraphsField
from arqlab.notices.models import Message


class MessageForm(forms.Form):
    """A message to teams or assessors."""

    audience = forms.ChoiceField(label="Recipients", choices=Message.Audience.choices)
    subject = forms.CharField(
        label="Subject", max_length=200, error_messages={"required": "Enter a subject."}
    )
    text = ParagraphsField(
        label="Message",
        help_text="Plain text. Separate paragraphs with blank lines. Addresses of web pages become "
        "links.",
    )
    key = forms.UUIDField(initial=uuid4, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["text"].required = True
        self.fields["text"].error_messages["required"] = "Enter a message."
