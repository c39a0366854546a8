"""The page on which an assessor marks topics and offers hours."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.permissions import signed_in
from arqlab.core.views.editing import edited
from arqlab.core.views.error_pages import ErrorText, error_response
from assessment.assignments.forms import OfferForm, read_bids
from assessment.assignments.permissions import bidding_task_or_404
from assessment.assignments.selectors.roster import (
    offer_events,
    roster_entry,
    topics_to_bid_for,
)
from assessment.assignments.services.roster import change_offer, save_bids
from assessment.models import TopicBid


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def bid_list(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show the topics with the user's choices; save a choice as soon as it is made."""
    user = signed_in(request)
    found = bidding_task_or_404(user, lab, task)
    is_script = "HX-Request" in request.headers
    if request.method == "POST":
        try:
            save_bids(task=found, user=user, choices=read_bids(request.POST), at=timezone.now())
        except UserError as error:
            text = ErrorText("Not saved", error.message, "Reload the page and choose again.")
            return error_response(request, text, status=409)
        if not is_script:
            messages.success(request, "Your marks are saved.")
            return redirect("assessment:bid-list", lab=lab, task=task)
    page = "_bid_state.html" if is_script else "bid_list.html"
    return render(request, f"assessment/{page}", _context(found, user))


def _context(task: Task, user: User) -> dict[str, Any]:
    topics = topics_to_bid_for(task, user)
    counts = Counter(choice for _, choice in topics if choice)
    return {
        "lab": task.lab,
        "task": task,
        "topics": topics,
        "choices": TopicBid.Choice.choices,
        "counts": [(label, counts[value]) for value, label in TopicBid.Choice.choices],
        "marked": counts.total(),
        "form": OfferForm(entry=roster_entry(task, user)),
    }


@require_POST
@login_required
def bid_offer(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Save the hours and the note of the user."""
    user = signed_in(request)
    found = bidding_task_or_404(user, lab, task)

    def save(form: OfferForm) -> HttpResponse:
        change_offer(task=found, person=user, changes=form.cleaned_data, at=timezone.now(), by=user)
        messages.success(request, "Your hours and note are saved.")
        return redirect("assessment:bid-list", lab=lab, task=task)

    form, answer = edited(
        request,
        found,
        lambda data: OfferForm(data, entry=roster_entry(found, user)),
        save,
        events=offer_events(found, user),
    )
    if answer:
        return answer
    for errors in form.errors.values():
        messages.error(request, str(errors[0]))
    return redirect("assessment:bid-list", lab=lab, task=task)
