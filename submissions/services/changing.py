"""Changing a run after it was sent: its primary mark, what is said of it, its withdrawal, a check
that is submitted.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from arqlab.core.errors import UserError
from arqlab.core.models import User
from arqlab.core.services.audit import record_event
from submissions.models import Run
from submissions.services.primary import demote_primary_run
from submissions.services.rules import (
    Sender,
    require_change,
    require_free_tags,
    require_quota,
    require_role,
    require_submission,
    require_tags,
)
from submissions.services.run_metadata import RunMetadata


@transaction.atomic
def mark_primary(*, run: Run, by: User | None, at: datetime) -> None:
    """Make a valid run the team's primary one; the earlier primary run becomes an alternate one.

    Raises `UserError` after the deadline, for a stranger, and for a run that takes no part.
    """
    require_change(_sender(run, by, at))
    if not run.is_baseline:
        demote_primary_run(run, by=by)
    if not Run.objects.valid().filter(pk=run.pk).update(is_primary=True):
        raise UserError(
            f"Run {run.tag} takes no part as it is {run.state}. Mark a valid, submitted run as primary.",
            code="state",
        )
    _record("run.primary", run, by)


@transaction.atomic
def correct_run(*, run: Run, metadata: RunMetadata, by: User | None, at: datetime) -> bool:
    """Change what is said of a run. Gives whether it waits to be validated anew, as other items of
    a refused run do.

    Raises `UserError` after the deadline, for a stranger, for a withdrawn run, for a tag that the
    team uses already, and for other items of a valid run: its index and scores were made with them.
    """
    sender = _sender(run, by, at)
    _require_correctable(sender, run, metadata)
    changed = {
        name: value for name, value in metadata.as_fields().items() if value != getattr(run, name)
    }
    if (
        metadata.is_primary
        and run.status == Run.Status.VALID
        and not (run.check_only or metadata.is_baseline)
    ):
        demote_primary_run(run, by=by)
    Run.objects.filter(pk=run.pk).update(**changed)
    if changed:
        _record("run.correct", run, by, fields=sorted(changed))
    return "items" in changed and _wait_again(sender, run, metadata)


@transaction.atomic
def withdraw_run(*, run: Run, reason: str, by: User | None, at: datetime) -> None:
    """Take a run out of pools and leaderboards, at any time. File, report and reason stay.

    Raises `UserError` without a reason, for a stranger, and when the run was withdrawn or only
    checked.
    """
    require_role(_sender(run, by, at))
    if not reason.strip():
        raise UserError("Give the reason of the withdrawal; it stays with the run.", code="reason")
    submitted = Run.objects.submitted().filter(pk=run.pk, withdrawn_at=None)
    if not submitted.update(withdrawn_at=at, withdrawn_by=by, withdrawal_reason=reason.strip()):
        raise UserError(
            f"Run {run.tag} takes no part any more or never did; nothing is to be withdrawn.",
            code="state",
        )
    _record("run.withdraw", run, by, reason=reason.strip())


@transaction.atomic
def submit_checked_run(*, run: Run, by: User | None, at: datetime) -> None:
    """Make a submission of a run that was only checked, under the rules of any submission and
    without a new upload.

    Raises `UserError` when a rule refuses it, when its check found errors, and when it is a
    submission already.
    """
    require_submission(_sender(run, by, at), tags=[run.tag], baseline=run.is_baseline)
    if run.is_primary and run.status == Run.Status.VALID and not run.is_baseline:
        demote_primary_run(run, by=by)
    checked = Run.objects.filter(pk=run.pk, check_only=True).exclude(status=Run.Status.INVALID)
    if not checked.update(check_only=False, submitted_at=at, submitted_by=by):
        raise UserError(
            f"Run {run.tag} cannot be submitted as it is: it has errors or was submitted already. Send a mended file.",
            code="state",
        )
    _record("run.submit", run, by, file=run.file_name)


def metadata_of(run: Run) -> RunMetadata:
    """Return what is said of a run."""
    return RunMetadata(**{name: getattr(run, name) for name in RunMetadata.__dataclass_fields__})


def _require_correctable(sender: Sender, run: Run, metadata: RunMetadata) -> None:
    require_tags([metadata.tag])
    if run.withdrawn_at:
        raise UserError(
            f"Run {run.tag} was withdrawn; what is said of it stays as it is.", code="state"
        )
    if metadata.is_baseline != run.is_baseline and not sender.commands:
        raise UserError(
            "Only organizers say which runs are baselines. Ask one of them.", code="role"
        )
    if metadata.items != run.items and run.status != Run.Status.INVALID:
        raise UserError(
            "The items of a run that was read cannot be changed: its scores stand on them. Withdraw it and submit the "
            "file again.",
            code="state",
        )
    if run.check_only:
        require_role(sender)
        return
    require_change(sender)
    if metadata.tag != run.tag:
        require_free_tags(sender, tags=[metadata.tag])
    if run.is_baseline and not metadata.is_baseline:
        require_quota(sender, runs=1)


def _wait_again(sender: Sender, run: Run, metadata: RunMetadata) -> bool:
    """Have a refused run checked anew; as it may become valid, it needs a place of the quota and
    its tag.
    """
    if not run.check_only:
        require_submission(sender, tags=[metadata.tag], baseline=metadata.is_baseline)
    refused = Run.objects.filter(pk=run.pk, status=Run.Status.INVALID)
    return bool(refused.update(status=Run.Status.UPLOADED, status_changed_at=sender.at, attempts=0))


def _sender(run: Run, by: User | None, at: datetime) -> Sender:
    return Sender(run.task, run.team, by, at)


def _record(verb: str, run: Run, by: User | None, **detail: object) -> None:
    record_event(
        verb=verb, target=run, lab=run.task.lab, actor=by, task=run.task.slug, run=run.pk, **detail
    )
