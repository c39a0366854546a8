"""Validation of runs: claimed by one UPDATE, checked, and stored in one transaction."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from io import BytesIO

import polars as pl
from django.conf import settings
from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models import F, Max
from django.db.models.fields.files import FieldFile

from arqkit.formats.archives.uploads import UploadRefusedError
from arqkit.formats.runs.report import RunReport
from arqkit.formats.runs.results import check_data, refused_report
from arqkit.polars_errors import panics_as_errors
from arqkit.records import ItemKind
from arqlab.audit.services.recording import record_event
from arqlab.core.faults import NOTIFIED_AFTER, due, reason_of
from arqlab.core.models import Task
from arqlab.core.turns import in_turns
from collection.selectors.collections import scan_columns
from submissions.models import Run, RunProblem
from submissions.selectors import quota_of, rules_digest, run_bytes, run_items, task_pack
from submissions.services.answer_ids import join_answer_ids
from submissions.services.reminders import notify_of_fault, notify_of_validation
from submissions.services.rules import assign_identifier, demote_primary_run, warn_of_identical_runs

Source = Callable[[Task, ItemKind], Iterator[pl.Series]]

JUDGED: list[Source] = []
"""Sources of judged items, which upper apps add (`assessment.apps`)."""

log = logging.getLogger(__name__)


def knows_any(run: Run, items: ItemKind, ids: pl.Series) -> bool | None:
    """Return whether the task knows any of the ids of a run, or None without anything to compare.

    The answer is about the whole run and names no id. It compares with the runs of other teams, and
    with judged items only for submissions, which are few: a file that is only checked could ask
    about one item after the other, and so could a team that submits and withdraws.
    """
    if items is ItemKind.ANSWERS:  # written by the run, so no other run has them
        return None
    is_compared = False
    for known_items in _known_items(run, items):
        is_compared = True
        if ids.is_in(known_items.implode()).any():
            return True
    return False if is_compared else None


def _known_items(run: Run, items: ItemKind) -> Iterator[pl.Series]:
    sent = Run.objects.submitted().filter(task=run.task_id, team=run.team_id).count()
    if not run.check_only and sent <= 2 * quota_of(run.team, run.task, counting=sent).most:
        for source in JUDGED:
            yield from source(run.task, items)
    others = Run.objects.scorable().filter(task=run.task_id).exclude(team=run.team_id)
    for other in others.order_by("pk"):
        if run_items(other, run.task) == items:
            yield scan_columns(other.index).select(pl.col("item").unique()).collect()["item"]


def validate_uploaded_run(*, run_id: int, at: datetime) -> bool:
    """Check a waiting run and store its report and index. Return False if it was not waiting.

    Safe to call twice and by several workers at once. The Parquet files are stored before the
    database refers to them, so a worker that dies leaves nothing but its claim, which
    `release_stale_claims` releases. An error in the check itself, a panic of Polars included,
    releases the claim at once and is raised; a request to stop keeps the claim.
    """
    waiting = Run.objects.filter(pk=run_id, status=Run.Status.UPLOADED)
    if not waiting.update(
        status=Run.Status.VALIDATING, status_changed_at=at, attempts=F("attempts") + 1
    ):
        return False
    run = Run.objects.select_related("upload", "team", "task__lab").get(pk=run_id)
    try:
        with panics_as_errors():  # Polars also writes the Parquet files here
            _finish(run, check_stored(run), at=at)
    except Exception as error:
        _release_claim(run, error, at=at)
        raise
    return True


def check_stored(run: Run) -> RunReport:
    """Check the stored file of a run by the pack of its task, and by what only a server knows."""
    try:
        data = run_bytes(run)
    except UploadRefusedError as refused:
        return refused_report(refused.problems)
    joins: list[bool | None] = []

    def knows(items: ItemKind, ids: pl.Series) -> bool | None:
        joins.append(knows_any(run, items, ids))
        return joins[-1]

    rules = replace(task_pack(run.task).rules, knows=knows)
    report = check_data(data, rules, items=ItemKind(run.items) if run.items else None)
    verdict = {"rules": rules_digest(run.task), "joins": joins[-1] if joins else None}
    return replace(report, more={**report.more, "verdict": verdict})


def release_stale_claims(*, at: datetime) -> int:
    """Release the claims of dead workers and return how many there were."""
    limit = at - timedelta(seconds=settings.CLAIM_SECONDS)
    stale = Run.objects.filter(status=Run.Status.VALIDATING, status_changed_at__lt=limit)
    # The time since the claim is a part of the pause.
    runs = stale.select_related("team", "task__lab")
    return sum(_release_claim(run, None, at=run.status_changed_at) for run in runs)


def waiting_run_ids(*, at: datetime) -> list[int]:
    """Return the keys of the runs whose validation is due, in the order of their teams' turns."""
    uploaded = Run.objects.filter(due("status_changed_at", at), status=Run.Status.UPLOADED)
    waiting = list(uploaded.order_by("status_changed_at", "pk").values_list("pk", "team_id"))
    runs = Run.objects.filter(team__in={team for _, team in waiting})
    running = runs.filter(status=Run.Status.VALIDATING).values_list("team_id", flat=True)
    done = runs.filter(status__in=[Run.Status.VALID, Run.Status.INVALID])
    served = done.values_list("team_id").annotate(Max("status_changed_at"))
    return in_turns(waiting, running=running, served=dict(served))


def validate_run_in_turn(*, at: datetime) -> bool:
    """Validate the run whose turn it is. Return False if none waits that no other worker takes."""
    return any(validate_uploaded_run(run_id=run_id, at=at) for run_id in waiting_run_ids(at=at))


def _finish(run: Run, result: RunReport, *, at: datetime) -> bool:
    """Store the result of a claimed run, all or nothing; False if another worker took over."""
    index = "" if result.index is None else _store(run, run.index, result.index)
    occurrences = _store(run, run.occurrences, result.occurrences)
    with transaction.atomic():
        # A user may have changed these fields during the check.
        run.refresh_from_db(
            fields=["team", "is_primary", "is_baseline", "check_only", "withdrawn_at"]
        )
        takes_part = result.is_valid and not (run.check_only or run.is_baseline or run.withdrawn_at)
        if takes_part and run.is_primary:
            demote_primary_run(run, by=None)
        if result.is_valid and not run.check_only:
            assign_identifier(run)
        claimed = Run.objects.filter(pk=run.pk, status=Run.Status.VALIDATING, attempts=run.attempts)
        won = claimed.update(
            status=Run.Status.VALID if result.is_valid else Run.Status.INVALID,
            status_changed_at=at,
            report=result.facts,
            index=index,
            occurrences=occurrences,
            sha256=result.sha256,
        )
        if not won:
            transaction.set_rollback(True)
            return False
        RunProblem.objects.filter(run=run).delete()
        RunProblem.objects.bulk_create(
            RunProblem(
                run=run,
                position=position,
                first=problem.first,
                **{name: part for name, part in vars(problem).items() if name != "occurrences"},
            )
            for position, problem in enumerate(result.problems)
        )
        if not run.check_only:
            verb = "run.valid" if result.is_valid else "run.invalid"
            record_event(verb, run, None, task=run.task.slug, run=run.pk)
        warn_of_identical_runs(run)
        join_answer_ids(run.task)
        # A check that only renews a verdict is news if it changes the verdict.
        if result.is_valid or not run.report.get("verdict", {}).get("renews"):
            notify_of_validation(run, at=at)
    return True


@transaction.atomic
def _release_claim(run: Run, error: Exception | None, *, at: datetime) -> bool:
    """Let a run be checked again after a pause: the check failed through no fault of the team.

    What is wrong with a file is data, so every error is ours, and no run becomes invalid by it.
    """
    claimed = Run.objects.filter(pk=run.pk, status=Run.Status.VALIDATING, attempts=run.attempts)
    if not claimed.update(status=Run.Status.UPLOADED, status_changed_at=at):
        return False
    log.error("The check of run %s failed %s times: %s.", run.pk, run.attempts, reason_of(error))
    if run.attempts == NOTIFIED_AFTER:
        notify_of_fault(run, reason_of(error), at=at)
    return True


def _store(run: Run, place: FieldFile, frame: pl.DataFrame) -> str:
    """Store a frame as Parquet under a name that no earlier attempt used. Return the name."""
    buffer = BytesIO()
    frame.write_parquet(buffer)
    place.save(f"run-{run.pk}-{run.attempts}.parquet", ContentFile(buffer.getvalue()), save=False)
    return str(place.name)
