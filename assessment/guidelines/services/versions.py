"""Writing versions of the guidelines for assessors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.services.audit import record_event
from assessment.guidelines.selectors.versions import (
    current_guideline,
    entries_of,
    guideline_text,
    has_waiting_entries,
)
from assessment.models import Guideline, GuidelineEntry

_ENTRY_FIELDS = ("topic", "item", "label", "question", "decision", "reason", "origin", "place")


@transaction.atomic
def copy_guidelines(*, source: Task, to: Task, at: datetime, by: User | None) -> None:
    """Make the current guidelines of a task, with examples and cases, the first of another task."""
    guideline = current_guideline(source)
    if guideline is None:
        return
    entries = list(entries_of(source, guideline.version))
    for entry in entries:
        entry.pk, entry.task, entry.since, entry.until = None, to, 1, None
    GuidelineEntry.objects.bulk_create(entries)
    definitions = guideline.definitions
    write_guideline(task=to, text=guideline.text, definitions=definitions, at=at, by=by)


def guidelines_json(task: Task) -> Iterator[bytes]:
    """Yield all versions of a task's guidelines, with examples and cases, as JSON."""
    versions = [
        {
            "version": guideline.version,
            "saved": guideline.written_at.isoformat(),
            "text": guideline.text,
            "definitions": guideline.definitions,
            "entries": [_row(entry) for entry in entries_of(task, guideline.version)],
        }
        for guideline in task.guidelines.order_by("version")
    ]
    yield (json.dumps(versions, indent=2, ensure_ascii=False) + "\n").encode()


def _row(entry: GuidelineEntry) -> dict[str, Any]:
    fields = {name: getattr(entry, name) for name in _ENTRY_FIELDS}
    return {"entry": entry.pk, "kind": entry.kind, **fields, "at": entry.decided_at.isoformat()}


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

    `definitions` has the meanings of labels by value (None to keep those of the newest version),
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
    guideline = Guideline.objects.create(
        task=task,
        version=number + 1,
        text=text,
        definitions=definitions,
        written_by=by,
        written_at=at,
    )
    record_event(
        verb="guideline.write", target=task, lab=task.lab, actor=by, version=guideline.version
    )
    return guideline


def _refuse(text: str) -> None:
    if not text.strip():
        raise UserError("The guidelines are empty. Write guidelines for assessors.", code="empty")
    if len(text) > LONGEST:
        raise UserError(
            f"The guidelines have {len(text):,} characters. Shorten them to at most {LONGEST:,}.",
            code="too-long",
        )
