"""Copies of guidelines: for another task, and as data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import transaction

from arqlab.core.models import Task, User
from assessment.guidelines.selectors.entries import entries_of
from assessment.guidelines.selectors.versions import current_guideline
from assessment.guidelines.services.versions import write_guideline
from assessment.models import GuidelineEntry

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
