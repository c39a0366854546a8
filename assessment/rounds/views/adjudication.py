"""The page on which organizers decide about one disagreement."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.permissions import organized_task_or_404, signed_in
from assessment.guidelines.services.entries import Decision, record_case
from assessment.guidelines.services.entry_items import item_of_instance
from assessment.models import GuidelineEntry, PoolInstance
from assessment.qrels.selectors.drafts import task_scale
from assessment.rounds.forms.adjudication import RulingForm, ThirdOpinionForm
from assessment.rounds.selectors.adjudication import (
    OPEN,
    Adjudication,
    Opinion,
    adjudication_of,
    disagreement_queue,
    opinions_of,
)
from assessment.rounds.services.adjudication import (
    ask_third_opinion,
    decide_label,
    withdraw_decision,
)
from assessment.rounds.services.meeting import painted_marks, shown_instance


@require_http_methods(["GET", "HEAD", "POST"])
def adjudication_detail(request: HttpRequest, lab: str, task: str, instance: int) -> HttpResponse:
    """Show an official instance with its labels, and decide about it.

    A POST request has the `action`: `decide`, `ask` or `withdraw`.
    """
    found = organized_task_or_404(request.user, lab, task)
    instances = PoolInstance.official.filter(item__pool__task=found)
    item = get_object_or_404(
        instances.select_related("item__pool", "item__topic__task__lab"), pk=instance
    )
    action, state = request.POST.get("action", ""), adjudication_of(found, item)
    opinions = opinions_of(found, item)
    sent = {name: request.POST if action == name else None for name in ("decide", "ask")}
    ruling = RulingForm(sent["decide"], task=found, initial=_initial(state, opinions))
    third = ThirdOpinionForm(sent["ask"], task=found, instance=item)
    form = third if action == "ask" else ruling
    if action == "withdraw" or (form.is_bound and form.is_valid()):
        try:
            messages.success(request, _change(found, item, request, form))
        except UserError as error:
            messages.error(request, error.message)
            return redirect(request.path)
        return redirect("evaluation:adjudication-list", lab=lab, task=task)
    context = _context(found, item, state) | {"opinions": opinions, "form": form}
    context |= {"ruling_form": ruling, "third_form": third}
    context["marks"] = painted_marks((one.letter, one.name, one.judgment) for one in opinions)
    status = 422 if form.errors else 200
    return render(request, "assessment/rounds/adjudication_detail.html", context, status=status)


def _initial(state: Adjudication, opinions: list[Opinion]) -> dict[str, Any]:
    """Return the initial values of a decision: what an expert proposes, until it is decided."""
    if state.decision:
        return {"seen": state.decision.pk}
    proposed = [one for one in opinions if one.judgment is None]
    return {"label": proposed[-1].label.value, "reason": proposed[-1].comment} if proposed else {}


def _change(
    task: Task, instance: PoolInstance, request: HttpRequest, form: RulingForm | ThirdOpinionForm
) -> str:
    """Do what a valid request asks for, and return the message about it."""
    by, at = signed_in(request), timezone.now()
    if isinstance(form, ThirdOpinionForm):
        person = form.cleaned_data["person"]
        wanted = _open_instances(task, instance)
        ask_third_opinion(task=task, instances=wanted, person=person, by=by, at=at)
        return f"{person.name} is asked for a third opinion."
    if form.is_bound:
        return _decide(task, instance, form, by=by, at=at)
    seen = request.POST.get("seen", "")
    known = int(seen) if seen.isascii() and seen.isdigit() and len(seen) < 19 else None
    withdraw_decision(task=task, instance=instance, seen=known, by=by, at=at)
    return "Withdrawn. The official label counts."


def _decide(task: Task, instance: PoolInstance, form: RulingForm, *, by: User, at: datetime) -> str:
    given, ruling = form.cleaned_data, form.ruling
    decide_label(task=task, instance=instance, ruling=ruling, by=by, at=at)
    word = task_scale(task).of(ruling.label).word
    if not given["question"].strip():
        return f"Decided: {word}. This label counts from now on."
    decision = Decision(
        f"The label is {word}.",
        ruling.label,
        ruling.reason,
        origin=GuidelineEntry.Origin.ADJUDICATION,
    )
    item = item_of_instance(instance)
    record_case(task=task, question=given["question"], decision=decision, item=item, at=at, by=by)
    return f"Decided: {word}. The case is collected for the next version of the guidelines."


def _open_instances(task: Task, instance: PoolInstance) -> list[PoolInstance]:
    """Return an instance and the other open ones of its item, which are judged together."""
    queue = disagreement_queue(task)
    keys = [pk for pk, state in queue.select("instance", "state").iter_rows() if state == OPEN]
    others = instance.item.instances.filter(pk__in=keys).exclude(pk=instance.pk)
    return [instance, *others.select_related("item__topic")]


def _context(task: Task, instance: PoolInstance, state: Adjudication) -> dict[str, Any]:
    scale = task_scale(task)
    return {
        "task": task,
        "lab": task.lab,
        "topic": instance.item.topic,
        "instance": instance,
        "shown": shown_instance(instance, lab_slug=task.lab.slug, at=timezone.now()),
        "state": state,
        "history": [(one, scale.of(one.label)) for one in state.history],
        "decided": state.decision and scale.of(state.decision.label),
    }
