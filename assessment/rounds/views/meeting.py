"""The meeting about a round: its disagreements one by one, and the decisions of the expert."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from arqlab.core.errors import UserError
from arqlab.core.permissions import may_see_thread, signed_in
from assessment.guidelines.services.entries import Decision, record_case
from assessment.guidelines.services.entry_items import item_of_instance
from assessment.guidelines.services.rendering import shown_entries
from assessment.models import GuidelineEntry, PoolInstance, Round
from assessment.rounds.forms.training import DecisionForm
from assessment.rounds.permissions import SeenRound, training_or_404
from assessment.rounds.selectors.meeting import (
    Disagreement,
    meeting_instance,
    meeting_items,
    meeting_votes,
    recorded_cases,
)
from assessment.rounds.selectors.training_votes import own_names, pseudonyms
from assessment.rounds.services.meeting import painted_marks, shown_instance


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def meeting(request: HttpRequest, lab: str, task: str, number: int) -> HttpResponse:
    """Show a disagreement of a revealed round (`at`), and record the decision of the expert."""
    seen = training_or_404(request.user, lab, task, number)
    found = seen.round
    if not found.revealed_at or (request.method == "POST" and not seen.organizes):
        raise Http404
    items = meeting_items(found)
    place = _place(request.GET.get("at", ""), len(items))
    context = {
        "task": found.task,
        "lab": found.task.lab,
        "round": found,
        "organizes": seen.organizes,
        "items": items,
        "place": place,
    }
    form = None
    if items:
        instance = meeting_instance(found, items[place - 1].topic, items[place - 1].doc_id)
        form = DecisionForm(request.POST or None, scale=found.pool.label_scale)
        if (
            request.method == "POST"
            and form.is_valid()
            and _decided(request, found, instance, form)
        ):
            return redirect(request.get_full_path())
        context |= _item_context(request, seen, items[place - 1], instance)
    status = 422 if form and form.errors else 200
    return render(
        request, "assessment/rounds/meeting.html", context | {"form": form}, status=status
    )


def _place(text: str, count: int) -> int:
    """Return the number of the disagreement that the address asks for."""
    wanted = int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 1
    return max(1, min(wanted, count))


def _item_context(
    request: HttpRequest, seen: SeenRound, item: Disagreement, instance: PoolInstance
) -> dict[str, Any]:
    found, user = seen.round, signed_in(request)
    cases = recorded_cases(found, item.topic, item.doc_id)
    lab = found.task.lab
    # Organizers share their screen, which must not tell their own vote.
    names = pseudonyms(found) if seen.organizes else own_names(found, user)
    votes = meeting_votes(found, item.topic, item.doc_id, names)
    return {
        "item": item,
        "topic": instance.item.topic,
        "has_thread": found.task.words.has_threads and may_see_thread(user, instance.item.topic),
        "shown": shown_instance(instance, lab_slug=lab.slug, at=timezone.now()),
        "votes": votes,
        "marks": painted_marks((one.letter, one.name, one.judgment) for one in votes),
        "cases": shown_entries(cases, scale=found.pool.label_scale),
    }


def _decided(
    request: HttpRequest, found: Round, instance: PoolInstance, form: DecisionForm
) -> bool:
    """Collect the decision for the next guidelines; return False if it was refused."""
    given = form.cleaned_data
    origin = GuidelineEntry.Origin.TRAINING
    decision = Decision(
        given["decision"], given["label"], given["reason"], origin=origin, place=str(found)
    )
    try:
        record_case(
            task=found.task,
            question=given["question"],
            decision=decision,
            item=item_of_instance(instance),
            at=timezone.now(),
            by=signed_in(request),
        )
    except UserError as error:
        form.add_error(None, error.message)
        return False
    messages.success(
        request, "Collected for the next version of the guidelines. Publish it after the meeting."
    )
    return True
