"""The pages of training rounds: made by organizers, judged alone, revealed, discussed."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.permissions import organized_task_or_404, signed_in
from arqlab.core.views.downloads import table_response
from assessment.judging.selectors.own_rounds import own_round_topics
from assessment.models import QrelSet, Round
from assessment.rounds.forms.training import TrainingForm
from assessment.rounds.permissions import SeenRound, training_or_404
from assessment.rounds.selectors.rounds import is_unused, round_progress
from assessment.rounds.selectors.training_items import gold_choices
from assessment.rounds.selectors.training_votes import (
    exported_votes,
    own_names,
    pseudonyms,
    real_names,
    training_agreement,
)
from assessment.rounds.services.training import make_training
from assessment.rounds.views.charts import agreement_picture, rounds_picture


@require_http_methods(["GET", "HEAD", "POST"])
def training_create(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Make a training round with items of the official pool, or with `gold` of a version of qrels.

    `gold` is the key of a version of an earlier lab with the same collection.
    """
    found, user = organized_task_or_404(request.user, lab, task), signed_in(request)
    choices = gold_choices(found, user)
    gold = next((one for one in choices if str(one.pk) == request.GET.get("gold", "")), None)
    initial = {"seed": f"{timezone.now():%Y%m%d}"}
    form = TrainingForm(request.POST or None, task=found, gold=gold, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            plan = form.plan(Round.Kind.TRAINING, list(form.cleaned_data["people"]))
            made = make_training(task=found, plan=plan, by=user, at=timezone.now())
        except UserError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, f"{made} is open. Its assessors are notified.")
            return redirect("assessment:training-detail", lab, task, made.number)
    context = _create_context(found, form, choices, gold)
    status = 422 if form.errors else 200
    return render(request, "assessment/rounds/training_create.html", context, status=status)


def _create_context(
    task: Task, form: TrainingForm, choices: list[QrelSet], gold: QrelSet | None
) -> dict[str, Any]:
    return {"task": task, "lab": task.lab, "form": form, "choices": choices, "gold": gold}


@require_safe
@login_required
@never_cache
def training_detail(request: HttpRequest, lab: str, task: str, number: int) -> HttpResponse:
    """Show the progress of a training round, and after the reveal the agreement.

    Assessors see names of nobody but themselves.
    """
    seen, user = training_or_404(request.user, lab, task, number), signed_in(request)
    found = seen.round
    context = {
        "task": found.task,
        "lab": found.task.lab,
        "round": found,
        "organizes": seen.organizes,
        "is_unused": seen.organizes and is_unused(found),
        "progress": round_progress(found) if seen.organizes else [],
        "own": own_round_topics(user, round_id=found.pk) if seen.judges else [],
        **(_agreement_context(seen, user) if found.revealed_at else {}),
    }
    return render(request, "assessment/rounds/training_detail.html", context)


def _agreement_context(seen: SeenRound, user: User) -> dict[str, Any]:
    """Return the pictures of agreement in the round, and in all revealed training rounds."""
    found = seen.round
    names = real_names(found) if seen.organizes else own_names(found, user)
    agreement = training_agreement(found)
    context: dict[str, Any] = {"picture": agreement_picture(agreement, names)}
    if not seen.organizes:
        return context
    others = Round.objects.filter(
        task=found.task, kind=Round.Kind.TRAINING, revealed_at__isnull=False
    ).select_related("pool", "gold", "task__lab")
    rounds = [
        (str(one), agreement if one == found else training_agreement(one))
        for one in others.order_by("number")
        if one.pool.label_scale == found.pool.label_scale
    ]
    return context | {"rounds": rounds_picture(rounds) if len(rounds) > 1 else None}


@require_safe
@never_cache
def training_votes(request: HttpRequest, lab: str, task: str, number: int) -> HttpResponse:
    """Return the votes of a revealed round as TSV, with `people=names` with names."""
    organized_task_or_404(request.user, lab, task)
    found = training_or_404(request.user, lab, task, number).round
    if not found.revealed_at:
        messages.error(request, "The votes can be downloaded when they are revealed.")
        return redirect("assessment:training-detail", lab, task, number)
    names = real_names(found) if request.GET.get("people") == "names" else pseudonyms(found)
    return votes_response(found, names)


def votes_response(found: Round, names: dict[str, str]) -> HttpResponse:
    """Return the votes of a round as a TSV file."""
    name = f"{found.task.lab.slug}-{found.task.slug}-{found.key}-votes.tsv"
    return table_response(exported_votes(found, names), name)
