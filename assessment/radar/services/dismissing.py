"""Dismissing findings with a note, and reopening them."""

from __future__ import annotations

from datetime import datetime

from django.db import IntegrityError, transaction

from arqkit.judgments.findings import RadarFinding
from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.services.audit import record_event
from assessment.models import DismissedFinding
from assessment.qrels.selectors.drafts import task_scale
from assessment.radar.selectors.findings import summary_of

LONGEST_NOTE = 2_000  # characters


def dismiss_finding(
    *, task: Task, finding: RadarFinding, note: str, at: datetime, by: User
) -> DismissedFinding:
    """Dismiss a finding with a note.

    Raise `UserError` if the note is empty or too long, or if someone else dismissed the finding.
    """
    if not note.strip():
        raise UserError("The note is empty. Write what you found out or agreed on.", code="empty")
    if len(note) > LONGEST_NOTE:
        raise UserError(
            f"The note has {len(note):,} characters. Shorten it to at most {LONGEST_NOTE:,}.",
            code="too-long",
        )
    try:
        with transaction.atomic():
            made = DismissedFinding.objects.create(
                task=task,
                key=finding.key,
                kind=finding.kind.value,
                assessor_id=finding.assessor,
                topic=finding.topic or "",
                summary=summary_of(finding, scale=task_scale(task)),
                note=note.strip(),
                dismissed_by=by,
                dismissed_at=at,
            )
            _record("radar.dismiss", made, by, note=made.note)
    except IntegrityError as error:
        raise UserError(
            "Someone else has already dismissed this finding. Their note is below.",
            code="dismissed-meanwhile",
        ) from error
    return made


@transaction.atomic
def reopen_finding(*, task: Task, key: str, at: datetime, by: User) -> bool:
    """Reopen a dismissed finding; its note is kept. Return False if it was not dismissed."""
    found = DismissedFinding.objects.filter(task=task, key=key, reopened_at=None)
    one = found.select_related("task__lab", "assessor").first()
    if one is None or not found.update(reopened_at=at):
        return False
    _record("radar.reopen", one, by)
    return True


def _record(verb: str, finding: DismissedFinding, by: User, **detail: str) -> None:
    record_event(
        verb=verb,
        target=finding.task,
        lab=finding.task.lab,
        actor=by,
        kind=finding.kind,
        assessor=finding.assessor.get_username(),
        finding=finding.summary,
        **detail,
    )
