"""Freezing of qrels, and the choice of the current version. A correction is a new version."""

from __future__ import annotations

import hashlib
from datetime import datetime

import polars as pl
from django.db import transaction
from django.db.models import Max

from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.services.audit import record_event
from arqlab.core.services.storing import insert_rows
from arqlab.formats.qrels.read import write_qrels
from arqlab.ir.judgments.qrels import Level
from assessment.models import Qrel, QrelSet
from assessment.qrels.selectors.drafts import draft_of, items_at, levels_of


def qrels_hash(frame: pl.DataFrame) -> str:
    """Return the SHA-256 of the file of qrels (topic, item, label) as downloaded and exported."""
    return hashlib.sha256(write_qrels(frame)).hexdigest()


def store_qrels(qrel_set: QrelSet, frame: pl.DataFrame) -> QrelSet:
    """Store qrels (topic, item, label) as the next version of their task.

    It becomes current only when somebody chooses it. The caller opens a transaction.
    """
    versions = QrelSet.objects.filter(task=qrel_set.task)
    qrel_set.version = (versions.aggregate(newest=Max("version"))["newest"] or 0) + 1
    qrel_set.sha256 = qrels_hash(frame)
    qrel_set.save(force_insert=True)
    insert_rows(
        Qrel,
        frame.select(
            pl.lit(qrel_set.pk).alias("qrel_set_id"),
            query_id="topic",
            doc_id="item",
            relevance="label",
        ),
    )
    return qrel_set


@transaction.atomic
def freeze_qrels(
    *, task: Task, name: str, level: Level, complete: bool, by: User | None, at: datetime
) -> QrelSet:
    """Freeze the draft as the task's next version.

    Raises `UserError` if the name is taken (code `name`), the task has no such level (`level`), or
    no topic has enough judgments (`nothing-judged`).
    """
    # Lock the task: of two organizers who freeze at once, the second waits and then finds the name
    # taken or gets the next version.
    Task.objects.select_for_update().get(pk=task.pk)
    _require_freezable(task, name, level)
    draft = draft_of(task)
    frame = draft.qrels(level, complete=complete)
    if frame.is_empty():
        raise UserError(
            f"No topic of {task} has enough judgments yet, so there are no qrels to freeze. "
            "Freeze them when more items are judged.",
            code="nothing-judged",
        )
    new = QrelSet(
        task=task,
        name=name,
        items=items_at(task, level).value,
        relevant_from=task.protocol.relevant_from,
        scale=draft.scale.rows(),
        is_complete=complete,
        dropped=[one._asdict() for one in draft.dropped],
        made_by=by,
        created_at=at,
    )
    qrel_set = store_qrels(new, frame)
    record_event(
        verb="qrels.freeze",
        target=new,
        lab=task.lab,
        actor=by,
        version=new.version,
        sha256=new.sha256,
        lines=len(frame),
    )
    return qrel_set


@transaction.atomic
def choose_current_qrels(*, qrel_set: QrelSet, by: User | None) -> None:
    """Make a version the default of leaderboards. Released leaderboards do not change."""
    Task.objects.select_for_update().get(pk=qrel_set.task_id)
    versions = QrelSet.objects.filter(task=qrel_set.task_id)
    versions.filter(is_current=True).exclude(pk=qrel_set.pk).update(is_current=False)
    if versions.filter(pk=qrel_set.pk, is_current=False).update(is_current=True):
        record_event(
            verb="qrels.choose",
            target=qrel_set,
            lab=qrel_set.task.lab,
            actor=by,
            version=qrel_set.version,
        )


def _require_freezable(task: Task, name: str, level: Level) -> None:
    if level not in levels_of(task):
        raise UserError(
            f"The qrels of {task} have no level {level}: the task does not retrieve formulas.",
            code="level",
        )
    if QrelSet.objects.filter(task=task, name=name).exists():
        raise UserError(
            f"{task} already has qrels named {name}, and versions never change. Use another name.",
            code="name",
        )
