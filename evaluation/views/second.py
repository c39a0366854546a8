"""The results of a round of second judgments: agreement, time, effect on the leaderboard."""

from __future__ import annotations

from typing import Any

import polars as pl
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from arqkit.labels import LabelScale
from arqlab.core.permissions import organized_task_or_404
from assessment.models import Round
from assessment.qrels.selectors.drafts import task_scale
from assessment.rounds.selectors.rounds import is_unused, open_second_pools, round_progress
from assessment.rounds.selectors.second_agreement import (
    assessor_names,
    assessor_times,
    own_consistency,
    pair_agreement,
    pair_confusion,
)
from assessment.rounds.selectors.second_items import only_judged_pairs, own_pairs, second_pairs
from assessment.rounds.views.charts import agreement_picture, confusion_picture
from evaluation.services.effects import second_effect


@require_safe
def second_detail(request: HttpRequest, lab: str, task: str, number: int) -> HttpResponse:
    """Show the progress of a round, and its results when it is completed or revealed.

    The effect on the leaderboard is computed with `effect=yes`.
    """
    found = organized_task_or_404(request.user, lab, task)
    rounds = Round.objects.select_related("pool", "task__lab")
    shown = get_object_or_404(rounds, task=found, kind=Round.Kind.SECOND, number=number)
    progress = round_progress(shown)
    context: dict[str, Any] = {
        "task": found,
        "lab": found.lab,
        "round": shown,
        "organizes": True,
        "is_unused": is_unused(shown),
        "progress": progress,
        "items": sum(one.items for one in progress),
        "done": sum(one.done for one in progress),
    }
    if open_second_pools(found).filter(pk=shown.pool.pk).exists():
        scale, every = task_scale(found), second_pairs(shown)
        pairs = only_judged_pairs(every, scale)
        context |= _results(shown, pairs, scale) | {"reported": every.height - pairs.height}
        if request.GET.get("effect") == "yes":
            context["effect"] = second_effect(shown, pairs)
    return render(request, "evaluation/second_detail.html", context)


def _results(found: Round, pairs: pl.DataFrame, scale: LabelScale) -> dict[str, Any]:
    relevant_from = found.task.protocol.relevant_from
    own = only_judged_pairs(own_pairs(found), scale)
    agreement = pair_agreement(pairs, scale, relevant_from=relevant_from)
    differing = pairs.filter(pl.col("first") != pl.col("second")).height
    return {
        "is_open": True,
        "pairs": pairs.height,
        "differing": differing,
        "picture": agreement_picture(agreement, assessor_names(pairs)),
        "confusion": confusion_picture(
            pair_confusion(pairs, scale),
            scale,
            first="first judgment",
            second="second judgment",
        ),
        "times": assessor_times(pairs),
        "consistency": own_consistency(own, scale, relevant_from=relevant_from),
    }
