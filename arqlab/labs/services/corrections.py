"""Corrections of the texts that a lab shows: stored beside the collection, audited, reversible."""

import hashlib
from datetime import datetime

from django.db import transaction

from arqkit.texts.html.sanitizer import clean_post
from arqkit.texts.maths.typesetting import typeset
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError, require_text
from arqlab.core.models import Correction, Lab, User
from arqlab.labs.services.archiving import require_unarchived
from arqlab.labs.services.topic_pages import renew_topics

LONGEST_CORRECTION = 100_000
"""The longest value in characters; the longest post of the labs' collections has 60,000."""


@transaction.atomic
def save_correction(
    *, lab: Lab, kind: str, key: str, value: str, at: datetime, by: User
) -> Correction:
    """Store a correction, in place of one with its key. Raise `UserError` if it cannot be shown."""
    require_unarchived(lab)
    require_shown(kind, value)
    # Lock the correction: the log must record the text that this one replaces.
    stored = Correction.objects.select_for_update().filter(lab=lab, kind=kind, digest=_digest(key))
    before = stored.values_list("value", flat=True).first()
    correction, _ = Correction.objects.update_or_create(
        lab=lab,
        kind=kind,
        digest=_digest(key),
        defaults={"key": key, "value": value, "made_by": by, "made_at": at},
    )
    _record("correction.save", correction, by, before=before, after=value)
    return correction


@transaction.atomic
def undo_correction(*, correction: Correction, by: User) -> None:
    """Show the collection's own text again. The audit log keeps the correction."""
    require_unarchived(correction.lab)
    if Correction.objects.filter(pk=correction.pk).delete()[0]:
        _record("correction.undo", correction, by, before=correction.value, after=None)


def require_shown(kind: str, value: str) -> None:
    """Raise `UserError` if a page could not show the correction."""
    todo = "Write what the lab should show."
    require_text(value, "The correction", most=LONGEST_CORRECTION, todo=todo)
    if kind == Correction.Kind.FORMULA and typeset(value, display=False).mathml is None:
        raise UserError(
            "This LaTeX cannot be typeset either. Correct it and look at the preview again.",
            code="not-typeset",
        )
    if kind == Correction.Kind.TEXT and not clean_post(value, prefix="p").html.strip():
        raise UserError(
            "None of this HTML can be shown. Use paragraphs, lists, links and formulas.",
            code="nothing-left",
        )


def _record(verb: str, correction: Correction, by: User, **detail: str | None) -> None:
    """Record the change, and typeset the topics that contain the formula again."""
    record_event(verb, correction, by, kind=correction.kind, key=correction.key, **detail)
    if correction.kind == Correction.Kind.FORMULA:
        renew_topics(correction.lab, correction.key)


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()
