"""Answering the tickets of assessors."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.urls import reverse

from arqlab.core.errors import UserError
from arqlab.core.models import User
from arqlab.core.services.audit import record_event
from arqlab.notices.models import Kind
from arqlab.notices.services.notifying import notify
from assessment.assignments.services.assigning import end_reviews
from assessment.models import Judgment, PoolItem, Ticket

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
    require_text(answer)
    # A submitted label locks the item and then its ticket. Another order here could deadlock.
    item = _locked_item(ticket) if returns_item else None
    waiting = Ticket.objects.filter(pk=ticket.pk, answered_at=None)
    if not waiting.update(answer=answer, answered_by=by, answered_at=at):
        raise UserError(
            "Someone else has already answered this ticket. Their answer is below.",
            code="answered-meanwhile",
        )
    if item:
        _return_item(ticket, item)
    topic = ticket.judgment.instance.item.topic
    record_event(
        verb="ticket.answer",
        target=f"Ticket {ticket.pk}, {topic}",
        lab=topic.task.lab,
        actor=by,
        answer=answer,
        returns_item=returns_item,
    )
    _notify_of_answer(ticket, answer, returns_item=returns_item, by=by)


def answer_tickets(
    *, tickets: Iterable[Ticket], answer: str, returns_item: bool, at: datetime, by: User
) -> dict[Ticket, str]:
    """Answer several tickets with the same text, each in a transaction of its own.

    Return the tickets that could not be answered, with the reasons.
    """
    refused = {}
    for ticket in tickets:
        try:
            answer_ticket(ticket=ticket, answer=answer, returns_item=returns_item, at=at, by=by)
        except UserError as error:
            refused[ticket] = error.message
    return refused


@transaction.atomic
def correct_answer(*, ticket: Ticket, answer: str, at: datetime, by: User) -> None:
    """Change the text of an answer. The audit log keeps the earlier text.

    Raise `UserError` if the ticket has no answer, or if the new one is empty or too long.
    """
    require_text(answer)
    known = Ticket.objects.select_for_update().get(pk=ticket.pk)
    if known.answered_at is None:
        raise UserError(
            "Nobody has answered this ticket yet. Answer it first.", code="not-answered"
        )
    if known.answer == answer:
        return
    Ticket.objects.filter(pk=ticket.pk).update(answer=answer, answered_by=by, answered_at=at)
    topic = ticket.judgment.instance.item.topic
    record_event(
        verb="ticket.correct",
        target=f"Ticket {ticket.pk}, {topic}",
        lab=topic.task.lab,
        actor=by,
        before=known.answer,
        answer=answer,
    )


def _notify_of_answer(ticket: Ticket, answer: str, *, returns_item: bool, by: User) -> None:
    """Notify the assessor who reported the item, unless they answered it themselves."""
    topic, assessor = ticket.judgment.instance.item.topic, ticket.judgment.assessor
    returned = "The item is back in your topic. Judge it again."
    notify(
        lab=topic.task.lab,
        kind=Kind.TICKET_ANSWERED,
        people=[assessor] if assessor and assessor != by else [],
        path=reverse("assessment:judging-home", args=[topic.task.lab.slug]) + "#tickets",
        key=f"ticket-answered {ticket.pk}",
        values={
            "task": topic.task.name,
            "topic": topic.query_id,
            "person": by.name,
            "answer": answer,
            "next_step": returned if returns_item else "You do not need to judge the item again.",
        },
    )


def _locked_item(ticket: Ticket) -> PoolItem:
    items = PoolItem.objects.select_for_update(of=("self",)).select_related("pool").defer("text")
    return items.get(pk=ticket.judgment.instance.item_id)


def _return_item(ticket: Ticket, item: PoolItem) -> None:
    if item.pool.closed_at is not None:
        raise UserError(
            "The pool is closed, so the item cannot be judged again. "
            "Answer without returning the item.",
            code="pool-closed",
        )
    if not Judgment.objects.filter(pk=ticket.judgment_id, is_current=True).update(is_current=False):
        raise UserError(
            "The item was judged again after the ticket was opened. Answer without returning the "
            "item.",
            code="judged-since",
        )
    returned = PoolItem.objects.filter(pk=item.pk)
    returned.update(done_at=None, later_at=None, leased_to=None, leased_until=None)
    end_reviews(returned)


def require_text(answer: str) -> None:
    """Raise `UserError` if an answer or opinion is empty or too long."""
    if not answer.strip():
        raise UserError(
            "The answer is empty. Write what the assessor should do, or what was done.",
            code="empty",
        )
    if len(answer) > LONGEST_ANSWER:
        raise UserError(
            f"The answer has {len(answer):,} characters. Shorten it to at most {LONGEST_ANSWER:,}.",
            code="too-long",
        )
