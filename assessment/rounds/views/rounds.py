"""The pages of a task's rounds and their states, and of training rounds."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache

from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.permissions import organized_task_or_404, signed_in
from arqlab.core.views.answers import refused, told
from arqlab.web.downloads import table_response
from arqlab.web.pages import TASK, Pages
from assessment.judging.selectors.own_work import own_round_topics
from assessment.models import QrelSet, Round
from assessment.pools.services.changing import close_pool, open_pool
from assessment.rounds.forms.training import TrainingForm
from assessment.rounds.permissions import SeenRound, training_or_404
from assessment.rounds.selectors.rounds import is_unused, round_progress, round_rows
from assessment.rounds.selectors.training_items import gold_choices
from assessment.rounds.selectors.training_votes import (
    exported_votes,
    own_names,
    pseudonyms,
    real_names,
    training_agreement,
)
from assessment.rounds.services.making import make_training
from assessment.rounds.services.states import (
    archive_round,
    discard_round,
    restore_round,
    reveal_round,
)
from assessment.rounds.views.charts import agreement_picture, rounds_picture

pages = Pages(f"{TASK}rounds/", organized_task_or_404, section="rounds")


@pages.form("training/new/", "training-create")
def training_create(request: HttpRequest, task: Task) -> HttpResponse:
    """Make a training round with items of the official pool, or with `gold` of a version of qrels.

    `gold` is the key of a version of an earlier lab with the same collection.
    """
    user = signed_in(request)
    choices = gold_choices(task, user)
    gold = next(
        (version for version in choices if str(version.pk) == request.GET.get("gold", "")), None
    )
    initial = {"seed": f"{timezone.now():%Y%m%d}"}
    form = TrainingForm(request.POST or None, task=task, gold=gold, initial=initial)
    if request.method == "POST" and form.is_valid():
        with refused(form):
            plan = form.plan(Round.Kind.TRAINING, list(form.cleaned_data["people"]))
            round_ = make_training(task=task, plan=plan, by=user, at=timezone.now())
            messages.success(request, f"{round_} is open. Its assessors are notified.")
            return redirect("assessment:training-detail", task.lab.slug, task.slug, round_.number)
    context = _create_context(task, form, choices, gold)
    status = 422 if form.errors else 200
    return render(request, "assessment/rounds/training_create.html", context, status=status)


def _create_context(
    task: Task, form: TrainingForm, choices: list[QrelSet], gold: QrelSet | None
) -> dict[str, Any]:
    return {"task": task, "lab": task.lab, "form": form, "choices": choices, "gold": gold}


@pages.read("training-<int:number>/", "training-detail", access=training_or_404, sign_in=True)
@never_cache
def training_detail(request: HttpRequest, seen: SeenRound) -> HttpResponse:
    """Show the progress of a training round, and after the reveal the agreement.

    Assessors see no name but their own.
    """
    user = signed_in(request)
    round_ = seen.round
    context = {
        "task": round_.task,
        "lab": round_.task.lab,
        "round": round_,
        "organizes": seen.organizes,
        "is_unused": seen.organizes and is_unused(round_),
        "progress": round_progress(round_) if seen.organizes else [],
        "own": own_round_topics(user, round_id=round_.pk) if seen.judges else [],
        **(_agreement_context(seen, user) if round_.revealed_at else {}),
    }
    return render(request, "assessment/rounds/training_detail.html", context)


def _agreement_context(seen: SeenRound, user: User) -> dict[str, Any]:
    """Return the pictures of agreement in the round, and in all revealed training rounds."""
    round_ = seen.round
    names = real_names(round_) if seen.organizes else own_names(round_, user)
    agreement = training_agreement(round_)
    context: dict[str, Any] = {"picture": agreement_picture(agreement, names)}
    if not seen.organizes:
        return context
    others = Round.objects.filter(
        task=round_.task, kind=Round.Kind.TRAINING, revealed_at__isnull=False
    ).select_related("pool", "gold", "task__lab")
    rounds = [
        (str(other), agreement if other == round_ else training_agreement(other))
        for other in others.order_by("number")
        if other.pool.label_scale == round_.pool.label_scale
    ]
    return context | {"rounds": rounds_picture(rounds) if len(rounds) > 1 else None}


@pages.read("training-<int:number>/votes/", "training-votes", access=training_or_404)
@never_cache
def training_votes(request: HttpRequest, seen: SeenRound) -> HttpResponse:
    """Return the votes of a revealed round as TSV, with `people=names` with names."""
    round_, task = seen.round, seen.round.task
    if not seen.organizes:
        raise Http404
    if not round_.revealed_at:
        messages.error(request, "The votes can be downloaded when they are revealed.")
        return redirect("assessment:training-detail", task.lab.slug, task.slug, round_.number)
    names = real_names(round_) if request.GET.get("people") == "names" else pseudonyms(round_)
    return votes_response(round_, names)


def votes_response(round_: Round, names: dict[str, str]) -> HttpResponse:
    """Return the votes of a round as a TSV file."""
    name = f"{round_.task.lab.slug}-{round_.task.slug}-{round_.key}-votes.tsv"
    return table_response(exported_votes(round_, names), name)


# The page of a round by its kind.
PAGES: dict[str, str] = {
    Round.Kind.TRAINING: "assessment:training-detail",
    Round.Kind.SAMPLE: "assessment:sample-detail",
    Round.Kind.SECOND: "evaluation:second-detail",
    Round.Kind.QUESTIONS: "evaluation:questions-detail",
}


@pages.read("", "round-list")
def round_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the rounds of a task, with their progress."""
    context = {
        "task": task,
        "lab": task.lab,
        "rows": [(row, round_address(row.round)) for row in round_rows(task)],
    }
    return render(request, "assessment/rounds/round_list.html", context)


@pages.action("<slug:round>/state/", "round-change")
def round_change(request: HttpRequest, task: Task, round: str) -> HttpResponse:
    """Reveal, close, open, archive, restore or discard a round: `action` says which."""
    rounds = Round.objects.filter(task=task, kind__in=PAGES).select_related("pool", "task__lab")
    round_ = next((round_ for round_ in rounds if round_.key == round), None)
    if round_ is None:
        raise Http404
    with told(request):
        message = _change(round_, request.POST.get("action", ""), signed_in(request))
        messages.success(request, message)
        is_discarded = round_.pk is None
        return redirect(
            reverse("assessment:round-list", args=[task.lab.slug, task.slug])
            if is_discarded
            else round_address(round_)
        )
    return redirect(round_address(round_))


def _change(round_: Round, action: str, by: User) -> str:
    """Change a round and return the message about it; raise `UserError` if it cannot be changed."""
    now = timezone.now()
    if action == "reveal" and round_.kind in (Round.Kind.TRAINING, Round.Kind.SECOND):
        reveal_round(round_=round_, by=by, at=now)
        if round_.kind == Round.Kind.TRAINING:
            return "The votes are revealed. The assessors are notified, and judging is closed."
        return "The results are below. Judging in this round is closed."
    if action == "close":
        close_pool(pool=round_.pool, by=by, at=now)
        return "Judging in this round is closed."
    if action == "archive":
        archive_round(round_=round_, by=by, at=now)
        return "The round is archived. Its labels and results stay."
    if action == "restore":
        restore_round(round_=round_, by=by)
        return "The round is no longer archived. To let assessors judge it, reopen judging."
    if action == "discard":
        discard_round(round_=round_, by=by)
        return f"{round_} was removed. Nobody had judged in it."
    if round_.revealed_at or round_.archived_at or action != "open":
        raise UserError(
            "The votes of this round are revealed, or it is archived, so nobody can judge in it. "
            "Make another round.",
            code="revealed",
        )
    open_pool(pool=round_.pool, by=by)
    return "Judging in this round is open again."


def round_address(round_: Round) -> str:
    """Return the address of the page of a round, or an empty text if its kind has none."""
    name, task = PAGES.get(round_.kind), round_.task
    if round_.kind == Round.Kind.ADJUDICATION:
        return reverse("evaluation:adjudication-list", args=[task.lab.slug, task.slug])
    return reverse(name, args=[task.lab.slug, task.slug, round_.number]) if name else ""
