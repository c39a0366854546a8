"""Sending tickets to an expert, and the pages of the expert."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from arqlab.core.models import Lab, User, Visitor
from arqlab.core.permissions import (
    looked_up_lab_or_404,
    organized_lab_or_404,
    signed_in,
)
from arqlab.core.selectors import corrections_of
from arqlab.core.views.editing import edited
from arqlab.web.cells import PROSE, TIME, chip
from arqlab.web.pages import LAB, Pages
from arqlab.web.tables import Column, Empty, Table, answer
from assessment.models import Ticket
from assessment.pools.selectors.choices import hides_threads
from assessment.pools.services.texts import thread_url
from assessment.tickets.forms.experts import AdviceForm, SendForm
from assessment.tickets.selectors import policy_of, sent_tickets, tickets_of
from assessment.tickets.services.experts import (
    advise_ticket,
    close_ticket_as_expert,
    send_tickets,
)
from assessment.tickets.services.items import read_ticket_item
from assessment.tickets.views.answers import ticket_columns

REPLIED, WAITING = ("done", "replied"), ("waiting",)
pages = Pages(f"{LAB}tickets/", looked_up_lab_or_404, section="tickets")


@pages.action("send/", "ticket-send", access=organized_lab_or_404)
def ticket_send(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Send the selected tickets to an expert, and return to the list or the page of the ticket."""
    form = SendForm(request.POST, lab=lab, tickets=tickets_of(lab))
    if not form.is_valid():
        for errors in form.errors.values():
            messages.error(request, " ".join(map(str, errors)))
        return _back(request, lab)
    given = form.cleaned_data
    refused = send_tickets(**given, at=timezone.now(), by=signed_in(request))
    if sent := len(given["tickets"]) - len(refused):
        name = given["expert"].name
        messages.success(request, f"{sent} ticket{'s' * (sent > 1)} sent to {name}.")
    for ticket, reason in refused.items():
        messages.error(request, f"{ticket} was not sent. {reason}")
    return _back(request, lab)


def _back(request: HttpRequest, lab: Lab) -> HttpResponse:
    tickets = request.POST.getlist("tickets")
    if "detail" in request.POST and len(tickets) == 1 and tickets[0].isdecimal():
        return redirect("assessment:ticket-detail", lab=lab.slug, ticket=int(tickets[0]))
    return redirect("assessment:ticket-list", lab=lab.slug)


@pages.read("sent/", "ticket-sent-list")
def ticket_sent_list(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the open tickets that were sent to the user."""
    table = Table(
        "tickets",
        [
            *ticket_columns("assessment:ticket-advice", lab),
            Column("Question", "question", PROSE),
            Column("Sent", "sent_at", TIME),
            Column("State", lambda ticket: chip(*REPLIED if ticket.advised_at else WAITING)),
        ],
        sent_tickets(lab, signed_in(request)),
        empty=Empty(
            "No tickets for you",
            "When the organizers ask for your opinion on an item, it appears here.",
        ),
    )
    return answer(request, "assessment/ticket_sent_list.html", {"lab": lab}, table)


def sent_ticket_or_404(user: Visitor, lab_slug: str, ticket_id: int) -> Ticket:
    """Return a ticket that was sent to the user; raise 404 for anyone else."""
    lab = looked_up_lab_or_404(user, lab_slug)
    return get_object_or_404(tickets_of(lab).defer(None), pk=ticket_id, expert=user.pk)


@pages.form("<int:ticket>/advice/", "ticket-advice", access=sent_ticket_or_404)
def ticket_advice(request: HttpRequest, ticket: Ticket) -> HttpResponse:
    """Show a ticket to its expert, who replies with an opinion and perhaps a label."""
    user, lab = signed_in(request), ticket.lab
    item = ticket.judgment.instance.item
    closes = policy_of(item.topic.task).expert_closes

    def make(data: QueryDict | None) -> AdviceForm:
        initial = {"opinion": ticket.opinion, "label": ticket.proposed_label}
        return AdviceForm(data, ticket=ticket, closes=closes, initial=initial)

    def save(form: AdviceForm) -> HttpResponse:
        messages.success(request, _advise(ticket, form.cleaned_data, by=user))
        return redirect("assessment:ticket-sent-list", lab=lab.slug)

    form, answer = edited(request, ticket, make, save)
    context = {"lab": lab, "ticket": ticket, "item": item, "form": form, **_shown_item(ticket)}
    status = 422 if form.errors else 200
    return answer or render(request, "assessment/ticket_advice.html", context, status=status)


def _shown_item(ticket: Ticket) -> dict[str, Any]:
    item, instance = read_ticket_item(ticket, corrections_of(ticket.lab)), ticket.judgment.instance
    return {
        "html": item.html,
        "topic": instance.item.topic,
        "thread_url": thread_url(instance.item, instance.doc_id, instance.post_id, ticket.lab.slug)
        if item.post and not hides_threads(instance.item.topic_id)
        else "",
    }


def _advise(ticket: Ticket, given: dict[str, Any], *, by: User) -> str:
    """Store the reply, or close the ticket with it, and return the message about it."""
    reply = {"opinion": given["opinion"], "label": given["label"], "at": timezone.now(), "by": by}
    if given.get("closes"):
        close_ticket_as_expert(ticket=ticket, returns_item=given["returns_item"], **reply)
        return "Ticket answered. The assessor sees your answer on their topics page."
    advise_ticket(ticket=ticket, **reply)
    return "Reply sent. You can change it until the organizers answer the ticket."
