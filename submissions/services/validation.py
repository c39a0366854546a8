"""Validating a run: claimed by one UPDATE, checked by the kernel, written down in one transaction."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from io import BytesIO

import polars as pl
from django.conf import settings
from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models import F
from django.db.models.fields.files import FieldFile

from arqlab.core.services.audit import record_event
from arqlab.ir.polars_errors import panics_as_errors
from submissions.models import Run, RunProblem
from submissions.services.check_result import CheckResult, failed_check_result
from submissions.services.checking import check_stored
from submissions.services.primary import demote_primary_run

log = logging.getLogger(__name__)
MAX_ATTEMPTS = 3


def validate_uploaded_run(*, run_id: int, at: datetime) -> bool:
    """Check a waiting run and write down its report and index. Safe to call twice, and by several
    workers at once.

    Gives False when the run was not waiting: somebody else checks or has checked it. The columns
    are stored before the database says a word of them, so a worker that dies leaves a claim and
    nothing else; `return_stale_claims` gives the claim back. A fault of ours gives it back at once,
    and is raised: a panic of polars too, but no request to stop.
    """
    waiting = Run.objects.filter(pk=run_id, status=Run.Status.UPLOADED)
    if not waiting.update(
        status=Run.Status.VALIDATING, status_changed_at=at, attempts=F("attempts") + 1
    ):
        return False
    run = Run.objects.select_related("upload", "team", "task__lab").get(pk=run_id)
    try:
        with panics_as_errors():  # columns are also written here
            _finish(run, check_stored(run), at=at)
    except Exception:
        _release_claim(run, at=at)
        raise
    return True


def return_stale_claims(*, at: datetime) -> int:
    """Return the claims of workers that died, and give up on runs that were claimed too often.
    Gives their number.
    """
    limit = at - timedelta(seconds=settings.CLAIM_SECONDS)
    stale = Run.objects.filter(status=Run.Status.VALIDATING, status_changed_at__lt=limit)
    return sum(_release_claim(run, at=at) for run in stale.select_related("team", "task__lab"))


def waiting_run_ids(*, limit: int = 50) -> list[int]:
    """Return the runs that wait to be validated, the longest waiting first."""
    waiting = Run.objects.filter(status=Run.Status.UPLOADED).order_by("status_changed_at", "pk")
    return list(waiting.values_list("pk", flat=True)[:limit])


def _finish(run: Run, outcome: CheckResult, *, at: datetime) -> bool:
    """Write down the outcome of a claimed run, all or nothing. Gives False when the claim was lost
    meanwhile.
    """
    index = "" if outcome.index is None else _store(run, run.index, outcome.index)
    occurrences = _store(run, run.occurrences, outcome.occurrences)
    with transaction.atomic():
        # A person may have changed them meanwhile.
        run.refresh_from_db(fields=["is_primary", "is_baseline", "check_only", "withdrawn_at"])
        takes_part = outcome.is_valid and not (
            run.check_only or run.is_baseline or run.withdrawn_at
        )
        if takes_part and run.is_primary:
            demote_primary_run(run, by=None)
        claimed = Run.objects.filter(pk=run.pk, status=Run.Status.VALIDATING, attempts=run.attempts)
        won = claimed.update(
            status=Run.Status.VALID if outcome.is_valid else Run.Status.INVALID,
            status_changed_at=at,
            report=outcome.facts,
            index=index,
            occurrences=occurrences,
        )
        if not won:
            transaction.set_rollback(True)
            return False
        _replace_problems(run, outcome)
    return True


def _replace_problems(run: Run, outcome: CheckResult) -> None:
    RunProblem.objects.filter(run=run).delete()
    for problem in outcome.problems:
        problem.run = run
    RunProblem.objects.bulk_create(outcome.problems)
    if not run.check_only:
        verb = "run.valid" if outcome.is_valid else "run.invalid"
        record_event(
            verb=verb, target=run, lab=run.task.lab, actor=None, task=run.task.slug, run=run.pk
        )


def _release_claim(run: Run, *, at: datetime) -> bool:
    """Return a claim for another worker, or give up on a run that was claimed too often."""
    if run.attempts >= MAX_ATTEMPTS:
        log.error(
            "The check of run %s (%s) failed %s times; it needs an organizer.",
            run.pk,
            run.task,
            run.attempts,
        )
        return _finish(run, failed_check_result(run.attempts), at=at)
    claimed = Run.objects.filter(pk=run.pk, status=Run.Status.VALIDATING, attempts=run.attempts)
    return bool(claimed.update(status=Run.Status.UPLOADED, status_changed_at=at))


def _store(run: Run, place: FieldFile, frame: pl.DataFrame) -> str:
    """Store columns as Parquet under a name that no earlier attempt has; gives the name."""
    buffer = BytesIO()
    frame.write_parquet(buffer)
    place.save(f"run-{run.pk}-{run.attempts}.parquet", ContentFile(buffer.getvalue()), save=False)
    return str(place.name)
