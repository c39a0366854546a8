"""Decisions about disagreements: in a meeting, or by a third opinion.

The adjudication of a task has one copy of an item. Its owner (`PoolItem.assessor`) is the one who
decides: the assessor asked for a third opinion, or the one who recorded the decision of a meeting.
So an instance has at most one adjudicated label.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import uuid4

from django.db import transaction
from django.db.models import Max

from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from assessment.guidelines.selectors.versions import current_guideline
from assessment.judging.selectors.items import ShownInstance, ShownItem
from assessment.judging.services.items import shown_payload
from assessment.models import Judgment, Pool, PoolInstance, PoolItem, Round
from assessment.models.kinds import KINDS, kinds_that
from assessment.pools.selectors.choices import hides_threads, shows_alone
from assessment.qrels.selectors.drafts import task_scale
from assessment.rounds.selectors.adjudication import third_assessors
from assessment.rounds.selectors.rounds import CopiedInstance, CopiedItem
from assessment.rounds.services.rounds import RoundPlan, add_items, announce_round, make_round
from assessment.tickets.services.reports import DECIDED, reopen_tickets, update_tickets
from collection.selectors.threads import posts_of

LONGEST_REASON = 10_000  # characters
DECIDED_MEANWHILE = (
    "Someone else decided this item since you opened the page. Check the new state below."
)
THIRD_NOTE = "Two assessors disagree about it. Your label is the decision."


def shown_instance(instance: PoolInstance, *, lab_slug: str) -> dict[str, object]:
    """Return the typeset text, heading, formula and thread of an instance."""
    lab = instance.item.topic.task.lab
    post = posts_of(lab, [instance.post_id]).get(instance.post_id)
    instance_with_post = ShownInstance(instance.pk, instance.doc_id, instance.post_id, post, None)
    shown_item = ShownItem(
        instance.item,
        is_done=True,
        is_skipped=False,
        hides_threads=hides_threads(instance.item.topic_id),
        is_alone=shows_alone(instance.item.topic_id),
        is_corrected=True,
        instances=(instance_with_post,),
    )
    payload = shown_payload(shown_item, lab_slug=lab_slug, opens_lab=True)
    return {**payload["instances"][0], "formula_html": payload["formula_html"]}


def painted_marks(votes: Iterable[tuple[str, str, Judgment | None]]) -> list[dict[str, object]]:
    """Return the marks to paint in a post from the letter, name and judgment of each assessor."""
    return [
        {"letter": letter, "name": name, "marks": judgment.marks}
        for letter, name, judgment in votes
        if judgment and judgment.marks
    ]


class Ruling(NamedTuple):
    """A label decided in a meeting, and why.

    `seen` is the decision that the page showed (None if there was none).
    """

    label: int
    reason: str
    seen: int | None = None


@transaction.atomic
def decide_label(
    *, task: Task, instance: PoolInstance, ruling: Ruling, by: User, at: datetime
) -> Judgment:
    """Record the label that a meeting decided for an official instance. It counts from now on.

    An earlier decision is superseded, a waiting third opinion is no longer asked for, and open
    tickets about the item are closed. Raise
    `UserError` for a label that is not a judgment (`bad-label`), without a reason (`empty`), and if
    somebody else decided in the meantime (`changed`).
    """
    reason = ruling.reason.strip()
    if ruling.label not in [label.value for label in task_scale(task).judgments]:
        raise UserError(
            f"The label {ruling.label} decides nothing. Choose a judgment.", code="bad-label"
        )
    if not 0 < len(reason) <= LONGEST_REASON:
        raise UserError("Write why this label was decided.", code="empty")
    [copy] = _copies(task, [instance], owner=by, at=at)
    before = _superseded(copy, ruling.seen)
    decided = Judgment.objects.create(
        instance=copy,
        assessor=by,
        label=ruling.label,
        reason=reason,
        guideline=current_guideline(task),
        key=uuid4(),
        supersedes=before,
        judged_at=at,
    )
    scale = task_scale(task)
    update_tickets([decided], scale=scale, in_round=True, answer=DECIDED, at=at)
    _hand_over(copy.item, by, done_at=at)
    label = {"label": ruling.label, "before": before and before.label, "reason": reason}
    _record("adjudication.decide", task, instance, by, **label)
    return decided


@transaction.atomic
def withdraw_decision(
    *, task: Task, instance: PoolInstance, seen_decision: int | None, by: User, at: datetime
) -> None:
    """Withdraw the decision about an official instance, or the request for a third opinion.

    The official label counts again, and its ticket waits again. Raise `UserError` if somebody else
    decided in the meantime (`changed`).
    """
    [copy] = _copies(task, [instance], owner=by, at=at)
    before = _superseded(copy, seen_decision)
    reopen_tickets(copy)
    _hand_over(copy.item, by, done_at=at)
    _record("adjudication.withdraw", task, instance, by, label=before and before.label)


@transaction.atomic
def ask_third_opinion(
    *, task: Task, instances: Sequence[PoolInstance], person: User, by: User, at: datetime
) -> None:
    """Ask an assessor for the label of official instances of one item.

    They get a notice and judge it on the judging page of the adjudication, without seeing other
    labels. Raise `UserError` if the person judged the item (`not-third`), or if an instance has a
    decision (`changed`).
    """
    first = instances[0]
    if not third_assessors(task, first).filter(pk=person.pk).exists():
        raise UserError(
            "A third opinion must come from someone who has not judged the item. Choose another "
            "assessor.",
            code="not-third",
        )
    copies = _copies(task, instances, owner=person, at=at)
    for copy in copies:
        if copy.judgments.filter(is_current=True).exists():
            raise UserError(DECIDED_MEANWHILE, code="changed")
    _hand_over(copies[0].item, person, done_at=None)
    key = f"third-opinion {copies[0].item_id} {at.isoformat()}"
    round_ = Round.objects.get(pool=copies[0].item.pool_id)
    announce_round(round_, {person.pk: 1}, by=by, note=THIRD_NOTE, key=key)
    _record("adjudication.ask", task, first, by, person=person.username)


def _copies(
    task: Task, instances: Sequence[PoolInstance], *, owner: User, at: datetime
) -> list[PoolInstance]:
    """Return the copies of instances of an item in the adjudication, made if missing, and lock it.

    The first use makes the round.
    """
    # Lock the task: of two first decisions at once, only one makes the round and the copy.
    Task.objects.select_for_update(no_key=True).get(pk=task.pk)
    item = instances[0].item
    pool = Pool.objects.filter(round__in=Round.objects.filter(task=task).that(decides=True)).first()
    copied_item = pool.items.filter(topic=item.topic_id, item=item.item).first() if pool else None
    if copied_item is None:
        copied = tuple(CopiedInstance(instance.doc_id, instance.post_id) for instance in instances)
        plan = {owner.pk: [CopiedItem(item.topic_id, item.kind, item.item, item.text, copied)]}
        if pool is None:
            [kind] = kinds_that(decides=True)
            round_plan = RoundPlan(kind, plan, title=KINDS[kind].name)
            pool = make_round(task=task, plan=round_plan, by=owner, at=at).pool
        else:
            add_items(pool, plan)
        copied_item = pool.items.get(topic=item.topic_id, item=item.item)
    PoolItem.objects.select_for_update().get(pk=copied_item.pk)  # labels sent at this moment wait
    copies_by_id = {
        instance.doc_id: instance for instance in copied_item.instances.select_related("item")
    }
    for instance in instances:
        if instance.doc_id not in copies_by_id:
            copies_by_id[instance.doc_id] = PoolInstance.objects.create(
                item=copied_item,
                doc_id=instance.doc_id,
                post_id=instance.post_id,
                position=len(copies_by_id),
            )
    return [copies_by_id[instance.doc_id] for instance in instances]


def _superseded(copy: PoolInstance, seen_decision: int | None) -> Judgment | None:
    """Return the decision as it was seen, which no longer counts."""
    current = copy.judgments.filter(is_current=True).first()
    if (current.pk if current else None) != seen_decision:
        raise UserError(DECIDED_MEANWHILE, code="changed")
    copy.judgments.filter(is_current=True).update(is_current=False)
    return current


def _hand_over(item: PoolItem, person: User, *, done_at: datetime | None) -> None:
    """Make a person the owner of a copy, at the end of their items."""
    fields: dict[str, object] = {"done_at": done_at, "leased_to": None, "leased_until": None}
    if item.assessor_id != person.pk:
        items = PoolItem.objects.filter(pool=item.pool_id, assessor=person, topic=item.topic_id)
        last = items.aggregate(last=Max("position"))["last"] or 0
        fields |= {"assessor": person, "position": last + 1, "later_at": None}
    PoolItem.objects.filter(pk=item.pk).update(**fields)


def _record(verb: str, task: Task, instance: PoolInstance, by: User, **detail: object) -> None:
    record_event(
        verb,
        task,
        by,
        topic=instance.item.topic.query_id,
        item=instance.doc_id,
        instance=instance.pk,
        **detail,
    )
