"""Late labels: stored when they arrive, and kept or excluded by an organizer."""

from collections.abc import Collection, Iterable
from datetime import datetime
from itertools import groupby

from django.db import transaction
from django.db.models import Exists, OuterRef

from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.labs.selectors import organizers_of
from arqlab.notices.models import Kind
from arqlab.notices.services.notifying import notify
from arqlab.web import counted, task_url
from assessment.judging.selectors.items import Submitted
from assessment.models import Judgment, LateLabel, PoolInstance, PoolItem
from assessment.qrels.selectors.frames import late_labels
from assessment.tickets.services.reports import update_tickets

LONGEST_REASON = 1_000  # characters


def store_late_labels(
    judgments: Iterable[Judgment], *, item: Submitted, user: User, at: datetime
) -> None:
    """Note which stored labels are late, and notify the organizers once a day."""
    if item.lateness is None:
        return
    late = LateLabel.objects.bulk_create(
        LateLabel(judgment=judgment, cause=item.lateness) for judgment in judgments
    )
    if not late:
        return
    pools = {"pools__items__instances": late[0].judgment.instance_id}
    task = Task.objects.select_related("lab").get(**pools)
    notify(
        task,
        Kind.LATE_LABELS,
        organizers_of(task.lab).exclude(pk=user.pk),
        path=task_url("assessment:late-label-list", task),
        key=f"late-labels {task.pk} {user.pk} {at.date().isoformat()}",
        person=user.name,
        cause=f"{item.lateness.label}.",
    )


@transaction.atomic
def decide_late_labels(
    *, task: Task, labels: Collection[int], decision: str, reason: str, at: datetime, by: User
) -> tuple[int, int]:
    """Keep or exclude undecided late labels; a kept label counts from now on.

    Return how many were decided, and how many were left: a label cannot be kept if its pool is
    closed or a label of somebody else counts. Raise `UserError` without a reason.
    """
    reason = reason.strip()
    if not 0 < len(reason) <= LONGEST_REASON:
        raise UserError(
            f"Write the reason for your decision, in at most {LONGEST_REASON:,} characters.",
            code="reason",
        )
    undecided = late_labels(task).filter(pk__in=labels, decision=LateLabel.Decision.OPEN)
    # A submitted label locks its item first, and the judgments of the item after it.
    items_of_labels = PoolItem.objects.filter(pk__in=undecided.values("judgment__instance__item"))
    items = list(items_of_labels.select_for_update().order_by("pk").values_list("pk", flat=True))
    related = ("judgment__assessor", "judgment__instance__item__pool")
    decided_labels = list(undecided.select_related(*related).order_by("pk"))
    if decision == LateLabel.Decision.KEPT:
        decided_labels = [late for late in decided_labels if _takes_effect_now(late.judgment)]
        complete_items(items, at)
        for pool, judgments in groupby(
            decided_labels, key=lambda late: late.judgment.instance.item.pool
        ):
            update_tickets(
                [late.judgment for late in judgments],
                scale=pool.label_scale,
                in_round=pool.round_id is not None,
                answer="A late label was kept since.",
                at=at,
            )
    LateLabel.objects.filter(pk__in=[late.pk for late in decided_labels]).update(
        decision=decision, reason=reason, decided_by=by, decided_at=at
    )
    judgments_decided = [late.judgment for late in decided_labels]
    _report(task, judgments_decided, decision=decision, reason=reason, at=at, by=by)
    return len(decided_labels), len(labels) - len(decided_labels)


def _takes_effect_now(judgment: Judgment) -> bool:
    """Make a label count if its pool is open and no label of somebody else does."""
    pool = judgment.instance.item.pool
    current = Judgment.objects.filter(instance=judgment.instance_id, is_current=True).first()
    if pool.closed_at or (current and current.assessor_id != judgment.assessor_id):
        return False
    if current:
        Judgment.objects.filter(pk=current.pk).update(is_current=False)
    judgment.supersedes = current
    Judgment.objects.filter(pk=judgment.pk).update(is_current=True, supersedes=current)
    return True


def complete_items(items: Iterable[int], at: datetime) -> None:
    """Complete the items whose instances all have labels that count."""
    unjudged = PoolInstance.objects.filter(item=OuterRef("pk")).exclude(judgments__is_current=True)
    waiting = PoolItem.objects.filter(pk__in=items, done_at=None).exclude(Exists(unjudged))
    waiting.update(done_at=at, leased_to=None, leased_until=None)


def _report(
    task: Task, judgments: Iterable[Judgment], *, decision: str, reason: str, at: datetime, by: User
) -> None:
    labels: dict[User, list[int]] = {}
    for judgment in judgments:
        if judgment.assessor:
            labels.setdefault(judgment.assessor, []).append(judgment.pk)
    for person, ids in labels.items():
        record_event(
            f"late-labels.{decision}",
            task,
            by,
            assessor=person.get_username(),
            labels=ids,
            reason=reason,
        )
        notify(
            task,
            Kind.LATE_LABELS_DECIDED,
            [person],
            path="",
            key=f"late-labels-decided {task.pk} {at.isoformat()}",
            labels=f"{counted(len(ids), 'label')} {decision}",
            person=by.name,
            reason=reason,
        )
