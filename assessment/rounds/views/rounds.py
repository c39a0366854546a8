"""The list of a task's rounds, and their states."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from arqlab.core.errors import UserError
from arqlab.core.models import User
from arqlab.core.permissions import organized_task_or_404, signed_in
from assessment.models import Round
from assessment.pools.services.changing import close_pool, open_pool
from assessment.rounds.selectors.rounds import round_rows
from assessment.rounds.services.states import (
    archive_round,
    discard_round,
    restore_round,
    reveal_round,
)

# The page of a round by its kind.
PAGES: dict[str, str] = {
    Round.Kind.TRAINING: "assessment:training-detail",
    Round.Kind.SAMPLE: "assessment:sample-detail",
    Round.Kind.SECOND: "evaluation:second-detail",
    Round.Kind.QUESTIONS: "evaluation:questions-detail",
}


@require_safe
def round_list(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show the rounds of a task, with their progress."""
    found = organized_task_or_404(request.user, lab, task)
    context = {
        "task": found,
        "lab": found.lab,
        "rows": [(row, round_address(row.round)) for row in round_rows(found)],
    }
    return render(request, "assessment/rounds/round_list.html", context)


@require_POST
def round_change(request: HttpRequest, lab: str, task: str, round: str) -> HttpResponse:
    """Reveal, close, open, archive, restore or discard a round: `action` says which."""
    found = organized_task_or_404(request.user, lab, task)
    rounds = Round.objects.filter(task=found, kind__in=PAGES).select_related("pool", "task__lab")
    changed = next((one for one in rounds if one.key == round), None)
    if changed is None:
        raise Http404
    try:
        message = _change(changed, request.POST.get("action", ""), signed_in(request))
    except UserError as error:
        messages.error(request, error.message)
        return redirect(round_address(changed))
    messages.success(request, message)
    is_discarded = changed.pk is None
    return redirect(
        reverse("assessment:round-list", args=[lab, task])
        if is_discarded
        else round_address(changed)
    )


def _change(found: Round, action: str, by: User) -> str:
    """Change a round and return the message about it; raise `UserError` if it cannot be changed."""
    now = timezone.now()
    if action == "reveal" and found.kind in (Round.Kind.TRAINING, Round.Kind.SECOND):
        reveal_round(found=found, by=by, at=now)
        if found.kind == Round.Kind.TRAINING:
            return "The votes are revealed. The assessors are notified, and judging is closed."
        return "The results are below. Judging in this round is closed."
    if action == "close":
        close_pool(pool=found.pool, by=by, at=now)
        return "Judging in this round is closed."
    if action == "archive":
        archive_round(found=found, by=by, at=now)
        return "The round is archived. Its labels and results stay."
    if action == "restore":
        restore_round(found=found, by=by)
        return "The round is no longer archived. Reopen judging if it is to be judged."
    if action == "discard":
        discard_round(found=found, by=by)
        return f"{found} was removed. Nobody had judged in it."
    if found.revealed_at or found.archived_at or action != "open":
        raise UserError(
            "The votes of this round are revealed, or it is archived, so nobody can judge in it. "
            "Make another round.",
            code="revealed",
        )
    open_pool(pool=found.pool, by=by)
    return "Judging in this round is open again."


def round_address(found: Round) -> str:
    """Return the address of the page of a round, or an empty text if its kind has none."""
    name, task = PAGES.get(found.kind), found.task
    if found.kind == Round.Kind.ADJUDICATION:
        return reverse("evaluation:adjudication-list", args=[task.lab.slug, task.slug])
    return reverse(name, args=[task.lab.slug, task.slug, found.number]) if name else ""
