"""Storage of labels: each once, with its history; the first one counts."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db import IntegrityError, connection, transaction

from arqlab.audit.services.recording import record_event
from arqlab.core.models import Task, User
from assessment.assignments.selectors.leases import LEASE
from assessment.assignments.services.assigning import return_items
from assessment.errors import JudgingError
from assessment.judging.selectors.items import Submitted, lock_next, submitted_item
from assessment.judging.selectors.statements import ALL_JUDGED, FINISH_AND_LEASE, database_moment
from assessment.judging.services.late_labels import store_late_labels
from assessment.judging.services.leases import Seat, Taken, taken
from assessment.judging.services.request_problems import item_problems, refusal
from assessment.judging.services.stored_labels import (
    Label,
    SavedLabel,
    Submission,
    known_labels,
    saved_label,
    seen_times,
    takes_effect,
)
from assessment.models import Judgment, PoolItem
from assessment.tickets.services.reports import Seen, update_tickets

ATTEMPTS = 10  # after each attempt but the last, another submit for the same item came first


@transaction.atomic
def return_for_judging(*, task: Task, judgments: Collection[int], by: User) -> tuple[int, int]:
    """Return the items of current official judgments of a task to be judged again.

    Return how many labels no longer count, and how many were left as they are.
    The labels stay in the history. Those of closed pools are left as they are, and those with an
    open ticket, whose answer can return the item.
    """
    official = Judgment.official.filter(pk__in=judgments, instance__item__pool__task=task)
    # A submitted label locks its item first, and the judgments of the item after it.
    items = PoolItem.official.filter(pk__in=official.values("instance__item"), pool__closed_at=None)
    locked = list(items.select_for_update(of=("self",)).order_by("pk").values_list("pk", flat=True))
    waiting = official.filter(ticket__isnull=False, ticket__answered_at=None).values("pk")
    returnable = official.filter(instance__item__in=locked, is_current=True).exclude(pk__in=waiting)
    items_by_judgment = dict(returnable.values_list("pk", "instance__item"))
    count = Judgment.objects.filter(pk__in=items_by_judgment).update(is_current=False)
    returned = PoolItem.official.filter(pk__in=set(items_by_judgment.values()))
    return_items(returned)
    if count:
        topics = returned.order_by("topic__position").values_list("topic__query_id", flat=True)
        record_event("judgments.return", task, by, labels=count, topics=list(dict.fromkeys(topics)))
    return count, len(judgments) - count


class SubmitOutcome(NamedTuple):
    """The stored labels in order, whether the item is completed, and the next item, leased."""

    saved: tuple[SavedLabel, ...]
    is_done: bool
    following: Taken | None


class _OvertakenError(Exception):
    """Another submit for the item was stored between our read and our write."""


def submit_judgments(
    *, seat: Seat, submission: Submission, browser: str, at: datetime
) -> SubmitOutcome:
    """Store labels, all or none, and lease the next item; the caller has checked the lease.

    A label whose key is known is not stored again. A label for an instance that was judged after
    the page read it is stored and does not count. If the assessor may no longer judge the item, its
    labels are stored as late, and there is no next item. Raises `JudgingError` with all problems:
    `not-in-pool`, `pool-closed`, `bad-label`, `key-used`, `malformed`.
    """
    earlier: Mapping[UUID, Judgment] = {}
    for _ in range(ATTEMPTS):
        try:
            with transaction.atomic():
                return _submit(seat, submission, earlier, browser, at)
        except (IntegrityError, _OvertakenError):
            earlier = known_labels(submission, seat.user)
        except JudgingError:
            # Labels stored before are confirmed again, even if new ones would be refused now.
            if earlier or not (earlier := known_labels(submission, seat.user)):
                raise
    raise JudgingError(
        "Too many people are judging this item at the moment. Submit again.", code="overtaken"
    )


def _submit(
    seat: Seat, submission: Submission, earlier: Mapping[UUID, Judgment], browser: str, at: datetime
) -> SubmitOutcome:
    user = seat.user
    item = submitted_item(
        submission.item,
        user_id=user.pk,
        guideline=submission.guideline,
        since=submission.leased_at,
        at=at,
    )
    if item is None:
        raise JudgingError(
            "This item is no longer in a pool. Reload the page and continue with the next item.",
            code="not-in-pool",
        )
    fresh = [label for label in submission.labels if label.key not in earlier]
    _check(item, submission, is_stored=not fresh)
    counting = {label.key for label in fresh if takes_effect(label, item, user)}
    replaced = [item.current[label.instance] for label in fresh if label.key in counting]
    ids = [current.judgment for current in replaced if current]
    retired = Judgment.objects.filter(pk__in=ids, is_current=True)
    if ids and retired.update(is_current=False) != len(ids):
        raise _OvertakenError
    times = seen_times(fresh, item.held, at)
    rows = {
        label.key: _row(
            label, item, user, at, counts=label.key in counting, active_ms=times.get(label.key)
        )
        for label in fresh
    }
    Judgment.objects.bulk_create(rows.values())
    store_late_labels(rows.values(), item=item, user=user, at=at)
    stored = {**earlier, **rows}
    saved = tuple(saved_label(stored[label.key]) for label in submission.labels)
    is_judged = "TRUE" if counting and len(item.current) == 1 else ALL_JUDGED
    is_done, following = _complete_and_lease_next(item, submission, seat, at, is_judged=is_judged)
    # After the next item was taken: one that returns for another assessor is not the next.
    update_tickets(
        rows.values(),
        scale=item.scale,
        in_round=item.stack.pool is not None,
        screens={rows[label.key].pk: Seen(label.shown, browser) for label in fresh},
        answer="The assessor has judged it since.",
        at=at,
    )
    return SubmitOutcome(saved, is_done, following)


def _check(item: Submitted, submission: Submission, *, is_stored: bool) -> None:
    """Raise for labels that cannot be stored; those stored before must only belong to this item."""
    labels = [(label.instance, label.label) for label in submission.labels]
    problems = list(item_problems(item, labels, submission.guideline))
    if any(problem.field == "instance" for problem in problems):
        raise refusal(problems, code="not-in-pool")
    if is_stored:
        return
    if item.is_closed:
        raise JudgingError(
            "This pool is closed, so its items cannot be judged. Your label stays on this page; "
            "ask the organizers to open the pool.",
            code="pool-closed",
        )
    if problems:
        raise refusal(problems)


def _row(
    label: Label, item: Submitted, user: User, at: datetime, *, counts: bool, active_ms: int | None
) -> Judgment:
    current = item.current[label.instance]
    return Judgment(
        instance_id=label.instance,
        assessor=user,
        label=label.label,
        comment=label.comment,
        reason=label.reason,
        marks=list(label.marks),
        active_ms=active_ms,
        reported_ms=label.active_ms,
        guideline_id=item.guideline_id,
        key=label.key,
        supersedes_id=current.judgment if counts and current else None,
        is_current=counts,
        judged_at=at,
        given_at=label.given_before(at),
    )


def _complete_and_lease_next(
    item: Submitted, submission: Submission, seat: Seat, at: datetime, *, is_judged: str
) -> tuple[bool, Taken | None]:
    """Complete the locked item if `is_judged` (SQL), and lease the next; return both results."""
    have = {*submission.have, submission.item}
    following = (
        lock_next(item.stack, user_id=seat.user.pk, have=have, at=at)
        if item.is_assigned and item.has_role
        else None
    )
    parameters = {
        "item": submission.item,
        "next": following.item.pk if following else None,
        "user": seat.user.pk,
        "at": database_moment(at),
        "until": database_moment(at + LEASE),
    }
    with connection.cursor() as cursor:
        FINISH_AND_LEASE[is_judged].run(cursor, **parameters)
        is_done = item.is_done or cursor.rowcount > (following is not None)
    return is_done, taken(following, seat, at) if following else None
