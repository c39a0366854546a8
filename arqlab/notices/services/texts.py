"""The texts of notices: defaults, the labs' own texts, and their placeholders."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from django.db import transaction

from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError
from arqlab.core.models import Lab, User
from arqlab.notices.models import TEXTS, EditedText, Kind

_PLACEHOLDER = re.compile(r"\{([A-Za-z_]+)\}")


class NoticeText(NamedTuple):
    """The subject and text of a notice, with placeholders such as `{team}`."""

    subject: str
    text: str

    def filled(self, values: Mapping[str, str]) -> NoticeText:
        """Return the text with the values in place of their placeholders."""
        parts = (
            _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), part) for part in self
        )
        return NoticeText(*parts)


DEFAULTS = {
    Kind(kind): NoticeText(found["subject"], found["text"].strip()) for kind, found in TEXTS.items()
}


def text_of(lab: Lab, kind: str) -> NoticeText:
    """Return the lab's own text for a kind of notice, or the default text."""
    edited = EditedText.objects.filter(lab=lab, kind=kind).first()
    return NoticeText(edited.subject, edited.text) if edited else DEFAULTS[Kind(kind)]


def texts_of(lab: Lab) -> dict[Kind, NoticeText]:
    """Return the text of each kind of notice in a lab: its own where it edited one."""
    edited_texts = {
        Kind(edited.kind): NoticeText(edited.subject, edited.text)
        for edited in lab.edited_texts.all()
    }
    return DEFAULTS | edited_texts


def placeholders(kind: str) -> list[str]:
    """Return the placeholders of a kind of notice: those of its default text, and `lab`."""
    return list(dict.fromkeys([*_PLACEHOLDER.findall(" ".join(DEFAULTS[Kind(kind)])), "lab"]))


@transaction.atomic
def edit_text(*, lab: Lab, kind: str, text: NoticeText, by: User) -> None:
    """Store a lab's own text for a kind of notice. The default text restores the default.

    Raise `UserError` for a placeholder that this kind does not have.
    """
    names = placeholders(kind)
    unknown = [name for name in _PLACEHOLDER.findall(" ".join(text)) if name not in names]
    if unknown:
        raise UserError(
            f"Unknown placeholder {{{unknown[0]}}}. Use one of "
            f"{', '.join(f'{{{name}}}' for name in names)}.",
            code="unknown-placeholder",
        )
    before = text_of(lab, kind)
    if text == before:
        return
    if text == DEFAULTS[Kind(kind)]:
        EditedText.objects.filter(lab=lab, kind=kind).delete()
    else:
        EditedText.objects.update_or_create(lab=lab, kind=kind, defaults=text._asdict())
    changes = {name: [getattr(before, name), getattr(text, name)] for name in text._fields}
    record_event("notices.edit-text", Kind(kind).label, by, lab=lab, changes=changes)
