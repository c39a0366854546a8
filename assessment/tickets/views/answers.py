"""The tickets of organizers: items that assessors could not judge."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from arqlab.core.models import User
from arqlab.core.permissions import organized_lab_or_404, signed_in
from arqlab.core.selectors import corrections_of
from arqlab.core.views.editing import edited
from assessment.models import Ticket
from assessment.pools.services.threads import thread_url
from assessment.tickets.forms.answers import BulkAnswerForm, TicketAnswerForm, TicketListForm
from assessment.tickets.forms.experts import SendForm
from assessment.tickets.selectors import (
    TICKET_STATES,
    count_by_state,
    label_now,
    reused_answers,
    tickets_of,
    with_policies,
)
from assessment.tickets.services.answers import answer_ticket, answer_tickets, correct_answer
from assessment.tickets.services.items import read_ticket_item, shown_html
from assessment.tickets.services.policies import policy_sentences
from assessment.tickets.services.repairs import RepairKind, corrections_in, defects_of

REPAIRED = "The item is repaired. Please judge it again."
"""The proposed answer after a repair."""


@require_http_methods(["GET", "HEAD", "POST"])
def ticket_list(request: HttpRequest, lab: str) -> HttpResponse:
    """Show the tickets of all tasks in a `state`: open, with the expert, or answered.

    Those that are not answered can be answered or sent to an expert together.
    """
    found = organized_lab_or_404(request.user, lab)
    tickets, state = tickets_of(found), request.GET.get("state", "open")
    form = BulkAnswerForm(request.POST or None, tickets=tickets, answers=reused_answers(found))
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        refused = answer_tickets(**given, at=timezone.now(), by=signed_in(request))
        if answered := len(given["tickets"]) - len(refused):
            messages.success(request, f"{answered} ticket{'s' * (answered > 1)} answered.")
        for ticket, reason in refused.items():
            messages.error(request, f"{ticket} was not answered. {reason}")
        return redirect(request.get_full_path())
    listing = TicketListForm(request.GET, lab=found)
    state = state if state in TICKET_STATES else "open"
    context = {
        "lab": found,
        "listing": listing,
        "page": listing.page_of(tickets.filter(TICKET_STATES[state])),
        "form": form,
        "send_form": SendForm(lab=found, tickets=tickets),
        "chosen": request.POST.getlist("tickets"),
        "state": state,
        "counts": count_by_state(tickets),
        "policies": [(task, policy_sentences(task)) for task in with_policies(found.tasks.all())],
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

    def save(form: TicketAnswerForm) -> HttpResponse:
        corrects, by = "corrects" in request.POST, signed_in(request)
        messages.success(request, _answer(shown, form.cleaned_data, corrects=corrects, by=by))
        return redirect("assessment:ticket-list", lab=lab)

    answers = reused_answers(found)
    form, answer = edited(
        request,
        shown,
        lambda data: TicketAnswerForm(
            data, initial=_started_answer(request, shown), answers=answers
        ),
        save,
        events=found.audit_events.filter(
            verb__in=("ticket.answer", "ticket.correct"), target__startswith=f"{shown},"
        ),
    )
    if answer:
        return answer
    context = {"lab": found, "ticket": shown, "form": form, **_facts(shown)}
    context["send_form"] = SendForm(
        lab=found, tickets=tickets_of(found), initial={"expert": shown.expert}
    )
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
