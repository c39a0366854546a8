"""Verdicts on runs that are renewed when what they rest on changes.

A run may be invalid only because of a topic that the organizers add later, and the items of a valid
run may join nothing only because the qrels come later. A sweep and a button find these runs.
"""

import logging
from datetime import datetime

import polars as pl
from django.db import transaction

from arqkit.formats.runs.check import no_known_item
from arqkit.formats.runs.report import describe
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from collection.selectors.collections import collection_of, scan_columns
from submissions.models import Run
from submissions.selectors import quotas_of, rules_digest, run_items
from submissions.services.rules import Sender, require_free_tags, require_role, set_warning
from submissions.services.validation import knows_any

log = logging.getLogger(__name__)


@transaction.atomic
def check_again(*, run: Run, by: User | None, at: datetime, renews: bool = False) -> None:
    """Let a run with errors be checked again by the rules of today. The caller queues it.

    It was submitted in time, so a deadline that has passed since does not bind it. With `renews`,
    the team is notified only if the run becomes valid. Raise `UserError` for outsiders, for a
    withdrawn run or one without errors, and if the team has used its tag or quota since.
    """
    sender = Sender(run.task, run.team, by, at)
    require_role(sender)
    if not run.check_only:
        require_free_tags(sender, tags=[run.tag])
        [quota] = quotas_of([run.team], run.task, post_hoc=run.is_post_hoc)
        if not quota.left and not run.is_baseline:
            raise UserError(
                f"Team {run.team.name} has used its quota since run {run.tag} was refused. "
                "Withdraw another run first.",
                code="quota",
            )
    refused = Run.objects.filter(pk=run.pk, status=Run.Status.INVALID, withdrawn_at=None)
    verdict = {**run.report.get("verdict", {}), "renews": renews}
    waiting = {"status": Run.Status.UPLOADED, "status_changed_at": at, "attempts": 0}
    if not refused.update(**waiting, report={**run.report, "verdict": verdict}):
        raise UserError(
            f"Run {run.tag} has no errors, or was withdrawn. Only runs with errors are checked "
            "again.",
            code="state",
        )
    record_event("run.check-again", run, by, task=run.task.slug, run=run.pk)


def renew_old_verdicts(*, at: datetime) -> int:
    """Check again what was refused by rules that have changed, and compare again the items of runs
    that joined nothing. Return the number of runs that wait for their check.
    """
    refused = Run.objects.filter(status=Run.Status.INVALID, withdrawn_at=None)
    live = Task.objects.filter(archived_at=None, lab__archived_at=None)
    renewed = 0
    for task in live.filter(runs__in=refused).distinct():
        digest = rules_digest(task)
        for run in refused.filter(task=task).select_related("team", "task__lab"):
            verdict = run.report.get("verdict", {})
            # A file that could not be unpacked rests on no rule.
            if run.report.get("format") and verdict.get("rules") != digest:
                renewed += _renewed(run, at)
    for task in live.filter(lab__collections=None, runs__in=Run.objects.valid()).distinct():
        for run in Run.objects.valid().filter(task=task).select_related("team", "task__lab"):
            if run.report.get("verdict", {}).get("joins") is not True:
                compare_items(run)
    return renewed


def _renewed(run: Run, at: datetime) -> bool:
    try:
        check_again(run=run, by=None, at=at, renews=True)
    except UserError as refused:  # the team has replaced the run: it stays as it is
        log.info("Run %s is not checked again: %s", run.pk, refused)
        return False
    return True


def compare_items(run: Run) -> None:
    """Warn of a valid run whose items the task does not know from anywhere, or no longer warn.

    Only a lab without a collection compares its runs in this way.
    """
    if collection_of(run.task.lab) is not None:
        return
    items = run_items(run, run.task)
    rows = scan_columns(run.index).select("topic", "item", rank_text=pl.col("rank").cast(pl.String))
    entries = rows.collect()
    joins = knows_any(run, items, entries["item"].unique(maintain_order=True))
    if joins is run.report.get("verdict", {}).get("joins"):
        return  # the sweep asks each minute, and writes only what has changed
    message = todo = ""
    if joins is False:
        group = describe(no_known_item(entries, items), can_repair=False)
        message, todo = group.message, group.todo
    with transaction.atomic():
        set_warning(run, "no-known-item", message, todo)
        verdict = {**run.report.get("verdict", {}), "joins": joins}
        Run.objects.filter(pk=run.pk).update(report={**run.report, "verdict": verdict})
