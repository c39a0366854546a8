"""The tickets of organizers: items that assessors could not judge."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from arqlab.core.errors import UserError
from arqlab.core.models import User
from arqlab.core.permissions import organized_lab_or_404, signed_in
from arqlab.core.selectors import corrections_of
from assessment.models import Ticket
from assessment.pools.services.threads import thread_url
from assessment.tickets.forms.answers import AnswerForm, BulkAnswerForm, TicketListForm
from assessment.tickets.selectors import label_now, tickets_of
from assessment.tickets.services.answers import answer_ticket, answer_tickets, correct_answer
from assessment.tickets.services.items import read_ticket_item, shown_html
from assessment.tickets.services.repairs import RepairKind, corrections_in, defects_of

REPAIRED = "The item is repaired. Please judge it again."
"""The proposed answer after a repair."""


@require_http_methods(["GET", "HEAD", "POST"])
def ticket_list(request: HttpRequest, lab: str) -> HttpResponse:
    """Show the open tickets of all tasks, or with `state=answered` the answered ones.

    Open tickets can be answered together.
    """
    found = organized_lab_or_404(request.user, lab)
    tickets, is_answered = tickets_of(found), request.GET.get("state") == "answered"
    form = BulkAnswerForm(request.POST or None, tickets=tickets)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        refused = answer_tickets(**given, at=timezone.now(), by=signed_in(request))
        if answered := len(given["tickets"]) - len(refused):
            messages.success(request, f"{answered} ticket{'s' * (answered > 1)} answered.")
        for ticket, reason in refused.items():
            messages.error(request, f"{ticket} was not answered. {reason}")
        return redirect(request.get_full_path())
    listing = TicketListForm(request.GET, lab=found)
    context = {
        "lab": found,
        "listing": listing,
        "page": listing.page_of(tickets.filter(answered_at__isnull=not is_answered)),
        "form": form,
        "chosen": request.POST.getlist("tickets"),
        "is_answered": is_answered,
        "others": tickets.filter(answered_at__isnull=is_answered).count(),
    }
    status = 422 if form.errors else 200
    return render(request, "assessment/ticket_list.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def ticket_detail(request: HttpRequest, lab: str, ticket: int) -> HttpResponse:
    """Show a ticket with the item as the assessor saw it, and answer it.

    The answer can return the item for another judgment. Its text can be edited later.
    """
    found = organized_lab_or_404(request.user, lab)
    shown = get_object_or_404(tickets_of(found).defer(None), pk=ticket)
    form = AnswerForm(request.POST or None, initial=_started_answer(request, shown))
    if request.method == "POST" and form.is_valid():
        try:
            message = _answer(
                shown, form.cleaned_data, corrects="corrects" in request.POST, by=signed_in(request)
            )
        except UserError as error:
            form.add_error(None, error.message)
            shown.refresh_from_db()
        else:
            messages.success(request, message)
            return redirect("assessment:ticket-list", lab=lab)
    context = {"lab": found, "ticket": shown, "form": form, **_facts(shown)}
    return render(request, "assessment/ticket_detail.html", context)


def _started_answer(request: HttpRequest, ticket: Ticket) -> dict[str, Any]:
    """Return what the form contains at first: the answer, or a proposal after a repair."""
    if ticket.answered_at or "repaired" not in request.GET:
        return {"answer": ticket.answer}
    return {"answer": REPAIRED, "returns_item": True}


def _facts(ticket: Ticket) -> dict[str, Any]:
    """Return what the page shows of a ticket: the item then and now, its defects and repairs."""
    instance, lab = ticket.judgment.instance, ticket.lab
    item = read_ticket_item(ticket, corrections_of(lab))
    return {
        "item": instance.item,
        "html": shown_html(ticket),
        "html_now": item.html,
        "defects": list(defects_of(item, lab)),
        "repairs": [kind for kind in RepairKind if kind.is_correction],
        "corrections": corrections_in(item, lab),
        "thread_url": thread_url(instance.item, instance.doc_id, instance.post_id, lab.slug)
        if item.post
        else "",
        "now": label_now(instance),
    }


def _answer(ticket: Ticket, given: dict[str, Any], *, corrects: bool, by: User) -> str:
    """Answer the ticket or edit its answer, and return the message about it."""
    if corrects:
        correct_answer(ticket=ticket, answer=given["answer"], at=timezone.now(), by=by)
        return "Answer updated. The assessor sees it on their topics page."
    answer_ticket(ticket=ticket, **given, at=timezone.now(), by=by)
    return "Ticket answered. The assessor sees the answer on their topics page."
