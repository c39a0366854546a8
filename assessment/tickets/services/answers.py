"""Tickets of assessors: answered, or sent to an expert, who replies with an opinion."""

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.urls import reverse

from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError, require_text
from arqlab.core.models import User
from arqlab.labs.selectors import organizers_of
from arqlab.notices.models import Kind
from arqlab.notices.services.notifying import notify
from assessment.assignments.selectors.grid import judging_staff
from assessment.assignments.services.assigning import return_items
from assessment.models import Judgment, PoolItem, Ticket
from assessment.tickets.selectors import policy_of

LONGEST_ANSWER = 10_000  # characters


@transaction.atomic
def answer_ticket(
    *, ticket: Ticket, answer: str, returns_item: bool, at: datetime, by: User
) -> None:
    """Answer a ticket. With `returns_item`, return the item to its topic to be judged again.

    The judgment then no longer counts but stays in the history. Raise `UserError` if the ticket is
    already answered, if the answer is empty or too long, or if the item cannot be returned because
    its pool is closed or it was judged again.
    """
    _require_answer(answer)
    items, is_closed = PoolItem.objects.filter(pk=ticket.judgment.instance.item_id), False
    if returns_item:
        # A submitted label locks the item and then its ticket. Another order here could deadlock.
        locked = items.select_for_update(of=("self",)).values_list("pool__closed_at", flat=True)
        is_closed = locked.get() is not None
    waiting = Ticket.objects.filter(pk=ticket.pk, answered_at=None)
    if not waiting.update(answer=answer, answered_by=by, answered_at=at):
        raise UserError(
            "Someone else has already answered this ticket. Their answer is below.",
            code="answered-meanwhile",
        )
    if is_closed:
        raise UserError(
            "The pool is closed, so the item cannot be judged again. Answer without returning the "
            "item.",
            code="pool-closed",
        )
    current = Judgment.objects.filter(pk=ticket.judgment_id, is_current=True)
    if returns_item and not current.update(is_current=False):
        raise UserError(
            "The item was judged again after the ticket was opened. Answer without returning the "
            "item.",
            code="judged-since",
        )
    if returns_item:
        return_items(items)
    record_ticket("ticket.answer", ticket, by, answer=answer, returns_item=returns_item)
    returned = "The item is back in your topic. Judge it again."
    _notify(
        ticket,
        Kind.TICKET_ANSWERED,
        [ticket.judgment.assessor],
        f"ticket-answered {ticket.pk}",
        by,
        person=by.name,
        answer=answer,
        next_step=returned if returns_item else "You do not need to judge the item again.",
    )


@transaction.atomic
def correct_answer(*, ticket: Ticket, answer: str, at: datetime, by: User) -> None:
    """Change the text of an answer; the audit log keeps it. Refused without an answer or text."""
    _require_answer(answer)
    # Lock the ticket: the log must record the answer that this one replaces.
    locked = Ticket.objects.select_for_update().get(pk=ticket.pk)
    if locked.answered_at is None:
        raise UserError(
            "Nobody has answered this ticket yet. Answer it first.", code="not-answered"
        )
    if locked.answer != answer:
        Ticket.objects.filter(pk=ticket.pk).update(answer=answer, answered_by=by, answered_at=at)
        record_ticket("ticket.correct", ticket, by, before=locked.answer, answer=answer)


def _require_answer(answer: str) -> None:
    todo = "Write what the assessor should do, or what was done."
    require_text(answer, "The answer", most=LONGEST_ANSWER, todo=todo)


@transaction.atomic
def send_ticket(
    *, ticket: Ticket, expert: User, question: str, at: datetime, by: User | None
) -> None:
    """Send an open ticket to an expert, in place of an earlier one; `by` is None for a policy.

    Raise `UserError` if the ticket is answered, or the expert reported the item or may not judge.
    """
    if expert == ticket.judgment.assessor:
        raise UserError(
            f"{expert.name} reported this item. Choose another expert.", code="own-ticket"
        )
    if not judging_staff(ticket.lab).filter(pk=expert.pk).exists():
        raise UserError(
            f"{expert.name} is neither an assessor nor an organizer of this lab. Grant a role "
            "first.",
            code="no-expert",
        )
    waiting = Ticket.objects.filter(pk=ticket.pk, answered_at=None)
    sent = {"expert": expert, "question": question, "sent_by": by, "sent_at": at}
    reset = {"opinion": "", "proposed_label": None, "advised_at": None}
    if not waiting.update(**sent, **reset):
        raise UserError("This ticket is already answered.", code="answered-meanwhile")
    record_ticket("ticket.send", ticket, by, expert=expert.get_username(), question=question)
    key = f"ticket {ticket.pk} sent {at.isoformat()}"
    _notify(ticket, Kind.TICKET_SENT, [expert], key, by, question=question)


@transaction.atomic
def advise_ticket(
    *, ticket: Ticket, opinion: str, label: int | None, at: datetime, by: User
) -> None:
    """Store the expert's opinion, and the label they propose, and return the ticket.

    The expert can change both until the ticket is answered. Raise `UserError` if it is, if it was
    sent to someone else since, or if the label is not a judgment of the pool's scale.
    """
    _require_answer(opinion)
    scale = ticket.judgment.instance.item.pool.label_scale
    if label is not None and label not in {scale_label.value for scale_label in scale.judgments}:
        raise UserError(f"Label {label} is not a judgment. Choose one of the list.", code="label")
    waiting = Ticket.objects.filter(pk=ticket.pk, answered_at=None, expert=by)
    if not waiting.update(opinion=opinion, proposed_label=label, advised_at=at):
        raise UserError(
            "This ticket is already answered, or was sent to someone else.", code="not-with-you"
        )
    record_ticket("ticket.advise", ticket, by, opinion=opinion, label=label)
    proposal = "The expert proposes no label."
    if label is not None:
        proposal = f"Proposed label: {scale.of(label).word}."
    asking = [ticket.sent_by] if ticket.sent_by else organizers_of(ticket.lab)
    key = f"ticket {ticket.pk} advised {at.isoformat()}"
    texts = {"person": by.name, "opinion": opinion, "proposal": proposal}
    _notify(ticket, Kind.TICKET_ADVISED, asking, key, by, **texts)


@transaction.atomic
def close_ticket_as_expert(
    *, ticket: Ticket, opinion: str, label: int | None, returns_item: bool, at: datetime, by: User
) -> None:
    """Send the expert's opinion to the assessor as the answer, if the policy allows it."""
    if not policy_of(ticket.topic.task).expert_closes:
        raise UserError(
            "In this task, the organizers close tickets. Send them your opinion.",
            code="organizers-close",
        )
    advise_ticket(ticket=ticket, opinion=opinion, label=label, at=at, by=by)
    answer_ticket(ticket=ticket, answer=opinion, returns_item=returns_item, at=at, by=by)


def record_ticket(verb: str, ticket: Ticket, by: User | None, **detail: object) -> None:
    """Record what somebody did with a ticket; None is the policy of its task."""
    target = f"{ticket}, {ticket.topic}"
    record_event(verb, target, by, lab=ticket.lab, **detail)


def _notify(
    ticket: Ticket,
    kind: Kind,
    people: Iterable[User | None],
    key: str,
    by: User | None,
    **values: str,
) -> None:
    """Notify people about a ticket, but not of what they did themselves."""
    topic, lab = ticket.topic, ticket.lab
    paths = {
        Kind.TICKET_ANSWERED: reverse("assessment:judging-home", args=[lab.slug]) + "#tickets",
        Kind.TICKET_SENT: reverse("assessment:ticket-advice", args=[lab.slug, ticket.pk]),
        Kind.TICKET_ADVISED: reverse("assessment:ticket-detail", args=[lab.slug, ticket.pk]),
    }
    notify(
        topic.task,
        kind,
        [person for person in people if person and person != by],
        path=paths[kind],
        key=key,
        topic=topic.query_id,
        **values,
    )
