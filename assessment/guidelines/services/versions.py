"""Writing and rendering the guidelines for assessors."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.services.audit import record_event
from arqlab.core.services.formulas import typeset_formulas
from arqlab.texts.html.rendering import SafeHtml, compose, keys_of, read_text
from arqlab.texts.html.sanitizer import clean_post
from assessment.guidelines.selectors.versions import current_guideline, guideline_text
from assessment.models import Guideline

LONGEST = 50_000  # characters


def guideline_html(text: str) -> SafeHtml:
    """Return guidelines as HTML, sanitized and typeset like posts, with headings from h3."""
    read = read_text(clean_post(text, prefix="guideline").html)
    return compose(read, formulas=typeset_formulas(keys_of([read])), top=3)


@transaction.atomic
def write_guideline(
    *, task: Task, text: str, at: datetime, by: User | None, after: int | None = None
) -> Guideline:
    """Store a new version of a task's guidelines. Earlier versions do not change.

    `after` is the version that the writer edited (0 for the default text, None to skip the check).
    Raise `UserError` for a text that is empty, too long or unchanged, and if someone else wrote a
    version since (code `changed-meanwhile`).
    """
    # Lock the task: of two organizers who save at once, the second must see the first's version.
    Task.objects.select_for_update().get(pk=task.pk)
    newest = current_guideline(task)
    number = newest.version if newest else 0
    if after is not None and after != number:
        raise UserError(
            f"Someone else wrote version {number} since you opened this page. Nothing was saved. "
            "Compare it with yours below, then save again.",
            code="changed-meanwhile",
        )
    text = text.replace("\r\n", "\n").strip() + "\n"
    _refuse(text, guideline_text(task, newest))
    made = Guideline.objects.create(
        task=task, version=number + 1, text=text, written_by=by, written_at=at
    )
    record_event(verb="guideline.write", target=task, lab=task.lab, actor=by, version=made.version)
    return made


def _refuse(text: str, current: str) -> None:
    if not text.strip():
        raise UserError("The guidelines are empty. Write guidelines for assessors.", code="empty")
    if len(text) > LONGEST:
        raise UserError(
            f"The guidelines have {len(text):,} characters. Shorten them to at most {LONGEST:,}.",
            code="too-long",
        )
    if text == current:
        raise UserError(
            "Nothing was changed: these are the current guidelines. "
            "Edit the text, or leave the page.",
            code="same",
        )
