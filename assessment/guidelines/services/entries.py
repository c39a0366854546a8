"""Collecting examples and cases for the next version of the guidelines."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction

from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.services.audit import record_event
from assessment.guidelines.selectors.entries import version_of
from assessment.guidelines.selectors.versions import current_guideline
from assessment.guidelines.services.entry_items import EntryItem
from assessment.models import GuidelineEntry
from assessment.qrels.selectors.drafts import task_scale

LONGEST_ENTRY = 10_000  # characters of each text
NO_ITEM = EntryItem()


class Decision(NamedTuple):
    """The decision of a case: its text, the label if one was decided, the reason, and where.

    `place` describes the meeting, adjudication or ticket, such as "Training round 2".
    """

    text: str
    label: int | None = None
    reason: str = ""
    origin: str = GuidelineEntry.Origin.GUIDELINES
    place: str = ""


def record_case(
    *,
    task: Task,
    question: str,
    decision: Decision,
    item: EntryItem = NO_ITEM,
    at: datetime,
    by: User | None,
) -> GuidelineEntry:
    """Collect a decided case for the next version of a task's guidelines.

    `question` is the question of interpretation; for the item of a pool, use `item_of_instance`.
    Assessors see the case when organizers publish the version. Raise `UserError` for an empty or
    too long text (`empty`, `too-long`), and for a label that the task does not have (`bad-label`).
    """
    if not question.strip() or not decision.text.strip():
        raise UserError("Write the question that was decided, and the decision.", code="empty")
    return _collect(
        task,
        kind=GuidelineEntry.Kind.CASE,
        question=question,
        decision=decision.text,
        label=decision.label,
        reason=decision.reason,
        origin=decision.origin,
        place=decision.place[:200],
        decided_at=at,
        decided_by=by,
        **item._asdict(),
    )


def add_example(
    *, task: Task, item: EntryItem, label: int, reason: str, at: datetime, by: User | None
) -> GuidelineEntry:
    """Collect an example of a label for the next version of a task's guidelines.

    Raise `UserError` as `record_case` does, and without an item (`empty`).
    """
    if not item.item or not reason.strip():
        raise UserError("Choose an item, and write the reason for its label.", code="empty")
    return _collect(
        task,
        kind=GuidelineEntry.Kind.EXAMPLE,
        label=label,
        reason=reason,
        decided_at=at,
        decided_by=by,
        **item._asdict(),
    )


@transaction.atomic
def remove_entry(*, entry: GuidelineEntry, by: User | None) -> None:
    """Leave an entry out of the next version, or delete it if no version has it yet."""
    newest = _locked_version(entry.task)
    if entry.since > newest:
        entry.delete()
    else:
        GuidelineEntry.objects.filter(pk=entry.pk, until=None).update(until=newest + 1)
    _record(entry, "guideline.remove-entry", by)


@transaction.atomic
def keep_entry(*, entry: GuidelineEntry, by: User | None) -> None:
    """Keep an entry that the next version would leave out."""
    newest = _locked_version(entry.task)
    if GuidelineEntry.objects.filter(pk=entry.pk, until__gt=newest).update(until=None):
        _record(entry, "guideline.keep-entry", by)


@transaction.atomic
def _collect(task: Task, **fields: Any) -> GuidelineEntry:
    label = fields["label"]
    if label is not None and label not in task_scale(task).values:
        raise UserError(f"Unknown label {label}. Choose a label of the task.", code="bad-label")
    texts = ("question", "decision", "reason")
    if any(len(fields.get(name, "")) > LONGEST_ENTRY for name in texts):
        raise UserError(
            f"Shorten each text to at most {LONGEST_ENTRY:,} characters.", code="too-long"
        )
    entry = GuidelineEntry.objects.create(task=task, since=_locked_version(task) + 1, **fields)
    _record(entry, f"guideline.add-{entry.kind}", entry.decided_by)
    return entry


def _locked_version(task: Task) -> int:
    """Return the newest version. No version is published until the transaction ends."""
    Task.objects.select_for_update().get(pk=task.pk)
    return version_of(current_guideline(task))


def _record(entry: GuidelineEntry, verb: str, by: User | None) -> None:
    record_event(
        verb=verb,
        target=entry.task,
        lab=entry.task.lab,
        actor=by,
        kind=entry.kind,
        topic=entry.topic,
        item=entry.item,
        label=entry.label,
        question=entry.question,
        decision=entry.decision,
        reason=entry.reason,
        place=entry.place,
    )
