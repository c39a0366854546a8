"""Freezing and deletion of qrels, and the choice of the current version."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import polars as pl
from django.db import transaction
from django.db.models import Max, ProtectedError

from arqkit.formats.qrels.read import write_qrels
from arqkit.judgments.qrels import Level
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.services.storing import insert_rows
from assessment.models import Qrel, QrelSet
from assessment.qrels.selectors.drafts import Draft, LabelSource, draft_of, items_at
from submissions.services.left_out import set_out_of_competition


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
    qrel_set.lines, qrel_set.topics = frame.height, frame["topic"].n_unique()
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


@dataclass(frozen=True)
class QrelsChoice:
    """The name and contents of a version.

    `topics` has the reasons of the topics that the organizers leave out by hand, and `runs` those
    of the runs out of competition; without it, these stay as they are. With a `split`, the topics
    of another one, or without one, are left out too. With a `group` of assessors, the version has
    its labels, and not the sums of two labels.
    """

    name: str
    level: Level = Level.INSTANCES
    complete: bool = False
    group: str = ""
    topics: Mapping[str, str] = field(default_factory=dict)
    runs: Mapping[int, str] | None = None
    split: str = ""


@transaction.atomic
def freeze_qrels(*, task: Task, choice: QrelsChoice, by: User | None, at: datetime) -> QrelSet:
    """Freeze the draft as the task's next version.

    Raises `UserError` if the name is taken (code `name`), the task has no such level (`level`),
    split (`split`) or group (`group`), or no topic has enough judgments (`nothing-judged`).
    """
    # Lock the task: of two organizers who freeze at once, the second waits and then finds the name
    # taken or gets the next version.
    Task.objects.select_for_update().get(pk=task.pk)
    _require_freezable(task, choice)
    draft = draft_of(task, group=choice.group)
    left_out = _of_other_splits(draft, choice.split) | dict(choice.topics)
    draft = draft.without(left_out)
    frame = draft.qrels(choice.level, complete=choice.complete)
    if frame.is_empty():
        raise UserError(
            f"No topic of {task} has enough judgments yet, so there are no qrels to freeze. Freeze "
            "them when more items are judged.",
            code="nothing-judged",
        )
    new = QrelSet(
        task=task,
        name=choice.name,
        items=items_at(task, choice.level).value,
        relevant_from=draft.relevant_from,
        scale=draft.scale.rows(),
        is_complete=choice.complete,
        group=choice.group,
        dropped=[
            {"topic": one.topic, "relevant": one.relevant, "reason": one.reason}
            | ({"by_hand": True} if one.topic in left_out else {})
            for one in draft.dropped
        ],
        out_of_competition=set_out_of_competition(task, choice.runs),
        made_by=by,
        created_at=at,
    )
    qrel_set = store_qrels(new, frame)
    record_event(
        "qrels.freeze",
        new,
        by,
        version=new.version,
        sha256=new.sha256,
        lines=len(frame),
        group=choice.group,
        topics=left_out,
        out_of_competition=new.out_of_competition,
    )
    return qrel_set


def _of_other_splits(draft: Draft, split: str) -> dict[str, str]:
    """Return the reasons of the topics of a draft that are not in a split; none without one."""
    if not split:
        return {}
    topics = draft.task.topics.only("query_id", "info", "info_edits")
    inside = {topic.query_id for topic in topics if topic.facts.get("split") == split}
    judged = [topic.topic for topic in draft.topics]
    if inside.isdisjoint(judged):
        raise UserError(
            f"No topic in the pools of {draft.task} has the split {split}. Enter it in the "
            "information about the topics.",
            code="split",
        )
    return {topic: f"Not in the split {split}." for topic in judged if topic not in inside}


@transaction.atomic
def delete_qrels(*, qrel_set: QrelSet, by: User | None) -> None:
    """Delete a version that nothing uses, with its scores.

    Raises `UserError` for the current version, and for one that a leaderboard was released with,
    even if it is hidden.
    """
    # A release and the choice of the current version lock the task too.
    Task.objects.select_for_update().get(pk=qrel_set.task_id)
    unused = QrelSet.objects.filter(pk=qrel_set.pk, is_current=False)
    # Scoring locks the version too: scores that it stores now are deleted below, and later it finds
    # no version. Without the lock, they could be stored after the scores to delete were read.
    unused.select_for_update(of=("self",)).first()
    try:
        deleted, _ = unused.delete()
    except ProtectedError as error:
        raise UserError(
            f"A leaderboard was released with {qrel_set.name}, so this version is kept.",
            code="qrels-used",
        ) from error
    if not deleted:
        raise UserError(
            f"{qrel_set.name} is the current version or was deleted. Make another version current "
            "to delete it.",
            code="qrels-current",
        )
    record_event("qrels.delete", qrel_set, by, version=qrel_set.version, sha256=qrel_set.sha256)


@transaction.atomic
def choose_current_qrels(*, qrel_set: QrelSet, by: User | None) -> None:
    """Make a version the default of leaderboards. Released leaderboards do not change."""
    # Lock the task: of two organizers who choose at once, only one version may become current.
    Task.objects.select_for_update().get(pk=qrel_set.task_id)
    versions = QrelSet.objects.filter(task=qrel_set.task_id)
    versions.filter(is_current=True).exclude(pk=qrel_set.pk).update(is_current=False)
    if versions.filter(pk=qrel_set.pk, is_current=False).update(is_current=True):
        record_event("qrels.choose", qrel_set, by, version=qrel_set.version)


def _require_freezable(task: Task, choice: QrelsChoice) -> None:
    source = LabelSource(task)
    if choice.level not in source.levels:
        raise UserError(
            f"The qrels of {task} have no level {choice.level}: the task does not retrieve "
            "formulas.",
            code="level",
        )
    if choice.group and choice.group not in source.groups:
        groups = ", ".join(source.groups) or "no groups whose labels are added"
        raise UserError(
            f"{task} has no group {choice.group!r} of assessors, but {groups}. Use one of them, or "
            "the labels of everyone.",
            code="group",
        )
    if QrelSet.objects.filter(task=task, name=choice.name).exists():
        raise UserError(
            f"{task} already has qrels named {choice.name}, and versions never change. Use another "
            "name.",
            code="name",
        )
