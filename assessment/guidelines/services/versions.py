"""Writing versions of the guidelines for assessors."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.services.audit import record_event
from assessment.guidelines.selectors.entries import has_waiting_entries
from assessment.guidelines.selectors.versions import current_guideline, guideline_text
from assessment.models import Guideline

LONGEST = 50_000  # characters


@transaction.atomic
def write_guideline(
    *,
    task: Task,
    text: str,
    at: datetime,
    by: User | None,
    definitions: Mapping[str, str] | None = None,
    after: int | None = None,
) -> Guideline:
    """Store a new version of a task's guidelines. Earlier versions do not change.

    `definitions` has what labels mean by their values (None to keep those of the newest version),
    `after` is the version that the writer edited (0 for the default text, None to skip the check).
    The version has the examples and cases collected for it; with these, its text may be the same.
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
    _refuse(text)
    known = newest.definitions if newest else {}
    definitions = known if definitions is None else dict(definitions)
    is_same = text == guideline_text(task, newest) and definitions == known
    if is_same and not has_waiting_entries(task, number):
        raise UserError(
            "Nothing was changed: these are the current guidelines. "
            "Edit the text, or leave the page.",
            code="same",
        )
    made = Guideline.objects.create(
        task=task,
        version=number + 1,
        text=text,
        definitions=definitions,
        written_by=by,
        written_at=at,
    )
    record_event(verb="guideline.write", target=task, lab=task.lab, actor=by, version=made.version)
    return made


def _refuse(text: str) -> None:
    if not text.strip():
        raise UserError("The guidelines are empty. Write guidelines for assessors.", code="empty")
    if len(text) > LONGEST:
        raise UserError(
            f"The guidelines have {len(text):,} characters. Shorten them to at most {LONGEST:,}.",
            code="too-long",
        )
