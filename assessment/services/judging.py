"""Takes labels. What is acknowledged is stored once, with its history; of two who judge one instance the first counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Exists, FilteredRelation, OuterRef, Q, QuerySet, Subquery

from arqlab.core.models import User
from assessment.errors import JudgingError, Problem
from assessment.models import Guideline, Judgment, PoolInstance, PoolItem, Ticket
from assessment.selectors import assigned_topics

ATTEMPTS = 10  # each but the last was overtaken by another submit for the same item
SHOWN = 500_000  # characters kept of what an assessor saw; the longest post of the collection has 60,000
TICKETS = (Judgment.Label.SYSTEM_FAILURE, Judgment.Label.DO_NOT_KNOW)
MEANWHILE = (
    "This was judged meanwhile, in another tab or by another assessor. That label counts; yours is kept beside it."
)


class TopicPath(NamedTuple):
    """Where a topic stands: the slugs of lab and task, and its id."""

    lab: str
    task: str
    query_id: str


class Label(NamedTuple):
    """A label as the page sends it. `seen` is the id of the current judgment that the page knew of."""

    instance: int
    label: int
    key: UUID
    comment: str = ""
    reason: str = ""
    active_ms: int | None = None
    seen: int | None = None
    shown: str = ""


class Submission(NamedTuple):
    """Labels for instances of one item, and the version of the instructions that they were judged by."""

    item: int
    labels: tuple[Label, ...]
    guideline: int | None = None


class SavedLabel(NamedTuple):
    """A judgment as it stands in the database; the message is for the assessor, blank where all is as wished."""

    judgment: Judgment
    counts: bool
    message: str


class Outcome(NamedTuple):
    """What was stored, in the order of the labels; whether the item is done; the topic, where it is still assigned."""

    saved: tuple[SavedLabel, ...]
    is_done: bool
    topic_id: int | None


class _OvertakenError(Exception):
    """Another submit for the item was stored between our reading and our writing."""


class _Item(NamedTuple):
    """What was read of an item: its instances with their current judgments, and the labels that came before."""

    item: PoolItem
    is_assigned: bool
    guideline_id: int | None
    current: Mapping[int, Judgment | None]
    known: Mapping[UUID, Judgment]


def submit_judgments(*, user: User, path: TopicPath, submission: Submission, browser: str, at: datetime) -> Outcome:
    """Store labels, all or none, and say for each whether it counts; the caller has seen to the lease.

    A label whose key is known is not stored again. One for an instance that was judged since the page read it is kept
    and does not count. Raises `JudgingError` with all problems: `not-in-pool`, `pool-closed`, `key-used`, `malformed`.
    """
    for _ in range(ATTEMPTS):
        try:
            with transaction.atomic():
                return _submit(user, path, submission, browser, at)
        except (IntegrityError, _OvertakenError):
            _refuse_used_keys(submission)
    raise JudgingError("Too many people judge this item at this moment. Submit again.", code="overtaken")


def _submit(user: User, path: TopicPath, submission: Submission, browser: str, at: datetime) -> Outcome:
    found = _read(user, path, submission)
    fresh = [label for label in submission.labels if label.key not in found.known]
    if fresh:
        _refuse(found, submission)
    counting = {label.key for label in fresh if _counts(label, found.current[label.instance], user)}
    _supersede([found.current[label.instance] for label in fresh if label.key in counting])
    rows = {label.key: _row(label, found, user, at, counts=label.key in counting) for label in fresh}
    if rows:
        Judgment.objects.bulk_create(rows.values())
    _raise_tickets(fresh, rows, browser, at)
    return Outcome(
        saved=tuple(_saved(rows.get(label.key) or found.known[label.key]) for label in submission.labels),
        is_done=found.item.done_at is not None or (bool(counting) and _finish(found.item, at)),
        topic_id=found.item.topic_id if found.is_assigned else None,
    )


def _read(user: User, path: TopicPath, submission: Submission) -> _Item:
    """Read an item in one query, and lock it: who judges another of its instances at the same time waits here."""
    keys = {label.key for label in submission.labels}
    rows = list(_instances(user, path, submission).select_for_update(of=("item",)))
    if not rows:
        raise JudgingError(
            "This item is in no pool of the topic. Reload the page and go on with the next item.", code="not-in-pool"
        )
    # Django sets no attribute where the join found nothing.
    judgments: list[Judgment] = [row.judgment for row in rows if hasattr(row, "judgment")]
    current: dict[int, Judgment | None] = dict.fromkeys(row.pk for row in rows)
    current |= {judgment.instance_id: judgment for judgment in judgments if judgment.is_current}
    known = {judgment.key: judgment for judgment in judgments if judgment.key in keys}
    if any(judgment.assessor_id != user.pk for judgment in known.values()):
        raise _key_used(submission)
    return _Item(rows[0].item, rows[0].is_assigned, rows[0].guideline, current, known)


def _instances(user: User, path: TopicPath, submission: Submission) -> QuerySet[Any]:
    """Give a row for each instance of the item and each judgment of it that counts or has the key of a label."""
    keys = [label.key for label in submission.labels]
    guidelines = Guideline.objects.filter(task=OuterRef("item__topic__task"), version=submission.guideline or 0)
    found: QuerySet[Any] = PoolInstance.objects.filter(
        item=submission.item,
        item__topic__query_id=path.query_id,
        item__topic__task__slug=path.task,
        item__topic__task__lab__slug=path.lab,
    )
    annotated = found.annotate(
        judgment=FilteredRelation("judgments", condition=Q(judgments__is_current=True) | Q(judgments__key__in=keys)),
        is_assigned=Exists(assigned_topics(user).filter(pk=OuterRef("item__topic"))),
        guideline=Subquery(guidelines.values("pk")),
    )
    unneeded = ("item__text", "item__pool__settings", "item__pool__runs", "judgment__comment", "judgment__reason")
    rows: QuerySet[Any] = annotated.select_related("item__pool", "judgment").defer(*unneeded).order_by("position")
    return rows


def _refuse(found: _Item, submission: Submission) -> None:
    """Raise for labels that cannot be stored."""
    if found.item.pool.closed_at is not None:
        raise JudgingError(
            "This pool is closed and takes no judgments any more. What you typed stays on this page; ask the organizers.",
            code="pool-closed",
        )
    expected = f"one of {', '.join(map(str, sorted(found.current)))}"
    problems = [
        Problem(label.instance, "instance", str(label.instance), expected, "Reload the page and judge what it shows.")
        for label in submission.labels
        if label.instance not in found.current
    ]
    if problems:
        raise JudgingError("What was judged does not belong to this item.", code="not-in-pool", problems=problems)
    if submission.guideline is not None and found.guideline_id is None:
        told = (str(submission.guideline), "a version of the task's instructions, or null", "Reload the page.")
        raise JudgingError(
            "There is no such version of the instructions.",
            code="malformed",
            problems=[Problem(None, "guideline", *told)],
        )


def _counts(label: Label, current: Judgment | None, user: User) -> bool:
    """A label counts where there was none, or where it changes the assessor's own that the page showed."""
    return current is None or (current.pk == label.seen and current.assessor_id == user.pk)


def _supersede(judgments: Iterable[Judgment | None]) -> None:
    ids = [judgment.pk for judgment in judgments if judgment]
    if ids and Judgment.objects.filter(pk__in=ids, is_current=True).update(is_current=False) != len(ids):
        raise _OvertakenError


def _row(label: Label, found: _Item, user: User, at: datetime, *, counts: bool) -> Judgment:
    return Judgment(
        instance_id=label.instance,
        assessor=user,
        label=label.label,
        comment=label.comment,
        reason=label.reason,
        active_ms=label.active_ms,
        guideline_id=found.guideline_id,
        key=label.key,
        supersedes=found.current[label.instance] if counts else None,
        is_current=counts,
        judged_at=at,
    )


def _raise_tickets(labels: Iterable[Label], rows: Mapping[UUID, Judgment], browser: str, at: datetime) -> None:
    tickets = [
        Ticket(judgment=rows[label.key], html=label.shown[:SHOWN], browser=browser[:300], raised_at=at)
        for label in labels
        if label.label in TICKETS
    ]
    if tickets:
        Ticket.objects.bulk_create(tickets)


def _finish(item: PoolItem, at: datetime) -> bool:
    """Mark an item whose instances all have labels as done, and give its lease back; say whether it is.

    The item is locked, so this sees what others stored for its instances; what was read before might not.
    """
    counting = Judgment.objects.filter(instance=OuterRef("pk"), is_current=True)
    without = PoolInstance.objects.filter(~Exists(counting), item=OuterRef("pk"))
    done = PoolItem.objects.filter(~Exists(without), pk=item.pk)
    return bool(done.update(done_at=at, leased_to=None, leased_until=None))


def _saved(judgment: Judgment) -> SavedLabel:
    """Tell of a judgment what was told when it was stored: one that was changed later did count."""
    counts = judgment.is_current or Judgment.objects.filter(supersedes=judgment.pk).exists()
    return SavedLabel(judgment, counts, "" if counts else MEANWHILE)


def _refuse_used_keys(submission: Submission) -> None:
    """Raise when a key belongs to a judgment of another item: the page made it twice."""
    used = Judgment.objects.filter(key__in=[label.key for label in submission.labels])
    if used.exclude(instance__item=submission.item).exists():
        raise _key_used(submission)


def _key_used(submission: Submission) -> JudgingError:
    problems = [
        Problem(label.instance, "key", str(label.key), "a new UUID for each label", "Reload the page and submit again.")
        for label in submission.labels
    ]
    return JudgingError("The key of a label was used for another one.", code="key-used", problems=problems)
