"""What makes the instructions for assessors, and shows them."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.services.audit import record_event
from arqlab.core.services.formulas import typeset_formulas
from arqlab.texts.html.rendering import SafeHtml, compose, keys_of, read_text
from arqlab.texts.html.sanitizer import clean_post
from assessment.guidelines.selectors import current_guideline, guideline_text
from assessment.models import Guideline

LONGEST = 50_000  # characters


def guideline_html(text: str) -> SafeHtml:
    """Return instructions as the HTML of a page: sanitized and typeset as posts are. The highest
    heading is h3.
    """
    read = read_text(clean_post(text, prefix="guideline").html)
    return compose(read, formulas=typeset_formulas(keys_of([read])), top=3)


@transaction.atomic
def write_guideline(
    *, task: Task, text: str, at: datetime, by: User | None, after: int | None = None
) -> Guideline:
    """Make the next version of a task's instructions; the versions before stay as they are.

    `after` is the version that the writer had before their eyes, 0 for the text that ArqLab comes
    with; None asks for nothing. Raises `UserError` for a text that is empty, too long or the
    current one, and when somebody else wrote a version meanwhile (code `changed-meanwhile`).
    """
    Task.objects.select_for_update().get(
        pk=task.pk
    )  # of two organizers who save at once, one must see the other's
    newest = current_guideline(task)
    number = newest.version if newest else 0
    if after is not None and after != number:
        raise UserError(
            f"Somebody else wrote version {number} since you opened this page. Nothing was saved: compare it with yours "
            "below, then save again.",
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
        raise UserError("The guidelines are empty. Write what assessors shall go by.", code="empty")
    if len(text) > LONGEST:
        raise UserError(
            f"The guidelines have {len(text):,} characters; {LONGEST:,} are allowed. Shorten them.",
            code="too-long",
        )
    if text == current:
        raise UserError(
            "Nothing was changed: these are the current guidelines. Change the text, or leave the page.",
            code="same",
        )
