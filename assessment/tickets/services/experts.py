"""Tickets with an expert: sent, and replied to with an opinion and perhaps a label."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.urls import reverse

from arqlab.core.errors import UserError
from arqlab.core.models import User
from arqlab.core.selectors import organizers_of
from arqlab.core.services.audit import record_event
from arqlab.notices.models import Kind
from arqlab.notices.services.notifying import notify
from assessment.assignments.selectors.grid import judging_staff
from assessment.models import Ticket
from assessment.tickets.selectors import policy_of
from assessment.tickets.services.answers import answer_ticket, require_text


def send_tickets(
    *, tickets: Iterable[Ticket], expert: User, question: str, at: datetime, by: User
) -> dict[Ticket, str]:
    """Send several tickets to an expert, each in a transaction of its own.

    Return the tickets that could not be sent, with the reasons.
    """
    refused = {}
    for ticket in tickets:
        try:
            send_ticket(ticket=ticket, expert=expert, question=question, at=at, by=by)
        except UserError as error:
            refused[ticket] = error.message
    return refused


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
    record_event(
        verb="ticket.send",
        target=_target(ticket),
        lab=ticket.lab,
        actor=by,
        expert=expert.get_username(),
        question=question,
    )
    _notify(
        ticket,
        Kind.TICKET_SENT,
        [expert] if expert != by else [],
        f"sent {at.isoformat()}",
        question=question,
    )


@transaction.atomic
def advise_ticket(
    *, ticket: Ticket, opinion: str, label: int | None, at: datetime, by: User
) -> None:
    """Store the expert's opinion, and the label they propose, and return the ticket.

    The expert can change both until the ticket is answered. Raise `UserError` if it is, if it was
    sent to someone else since, or if the label is not a judgment of the pool's scale.
    """
    require_text(opinion)
    scale = ticket.judgment.instance.item.pool.label_scale
    if label is not None and label not in {known.value for known in scale.judgments}:
        raise UserError(f"Label {label} is not a judgment. Choose one of the list.", code="label")
    waiting = Ticket.objects.filter(pk=ticket.pk, answered_at=None, expert=by)
    if not waiting.update(opinion=opinion, proposed_label=label, advised_at=at):
        raise UserError(
            "This ticket is already answered, or was sent to someone else.", code="not-with-you"
        )
    record_event(
        verb="ticket.advise",
        target=_target(ticket),
        lab=ticket.lab,
        actor=by,
        opinion=opinion,
        label=label,
    )
    proposal = f"Proposed label: {scale.of(label).word}." if label is not None else ""
    asking = [ticket.sent_by] if ticket.sent_by else list(organizers_of(ticket.lab))
    _notify(
        ticket,
        Kind.TICKET_ADVISED,
        [person for person in asking if person != by],
        f"advised {at.isoformat()}",
        person=by.name,
        opinion=opinion,
        proposal=proposal or "The expert proposes no label.",
    )


@transaction.atomic
def close_ticket_as_expert(
    *, ticket: Ticket, opinion: str, label: int | None, returns_item: bool, at: datetime, by: User
) -> None:
    """Store the expert's opinion and send it to the assessor as the answer.

    Raise `UserError` if the policy of the task leaves this to the organizers, or as
    `advise_ticket` and `answer_ticket` do.
    """
    policy = policy_of(ticket.judgment.instance.item.topic.task)
    if not policy.expert_closes:
        raise UserError(
            "In this task, the organizers close tickets. Send them your opinion.",
            code="organizers-close",
        )
    advise_ticket(ticket=ticket, opinion=opinion, label=label, at=at, by=by)
    answer_ticket(ticket=ticket, answer=opinion, returns_item=returns_item, at=at, by=by)


def _target(ticket: Ticket) -> str:
    return f"{ticket}, {ticket.judgment.instance.item.topic}"


def _notify(ticket: Ticket, kind: Kind, people: list[User], event: str, **values: str) -> None:
    topic, lab = ticket.judgment.instance.item.topic, ticket.lab
    page = "ticket-advice" if kind == Kind.TICKET_SENT else "ticket-detail"
    notify(
        lab=lab,
        kind=kind,
        people=people,
        path=reverse(f"assessment:{page}", args=[lab.slug, ticket.pk]),
        key=f"ticket {ticket.pk} {event}",
        values={"task": topic.task.name, "topic": topic.query_id, **values},
    )
