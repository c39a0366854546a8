"""The page that compares scores by all instances with scores by visually distinct formulas."""

from __future__ import annotations

import numpy as np
import polars as pl
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from arqlab.core.permissions import organized_task_or_404
from arqlab.core.views.downloads import table_response
from assessment.qrels.selectors.versions import qrels_named
from evaluation.selectors.instances import InstanceScores, instance_scores, other_version


@require_safe
def instances(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show organizers the runs scored by both kinds of formula qrels, or return them as TSV."""
    found = organized_task_or_404(request.user, lab, task)
    chosen = qrels_named(found, request.GET.get("qrels", ""))
    if chosen is None:
        raise Http404
    other = other_version(chosen)
    scores = instance_scores(chosen, other) if other else None
    if request.GET.get("format") == "tsv":
        if scores is None:
            raise Http404
        name = f"{found.lab.slug}-{found.slug}-instances.tsv"
        return table_response(_table(scores), name)
    context = {"task": found, "lab": found.lab, "scores": scores, "lines": _lines(scores)}
    return render(request, "evaluation/instances.html", context | {"chosen": chosen})


def _lines(scores: InstanceScores | None) -> list[tuple[object, list[float | None]]]:
    """Return each run with its means: those of all measures on one side, then on the other."""
    if scores is None:
        return []
    sides = [[one.sides[side].means for one in scores.measures] for side in (0, 1)]
    return [
        (run, [None if np.isnan(m[place]) else float(m[place]) for side in sides for m in side])
        for place, run in enumerate(scores.runs)
    ]


def _table(scores: InstanceScores) -> pl.DataFrame:
    names = {"team": [run.team for run in scores.runs], "run": [run.tag for run in scores.runs]}
    names["standing"] = [run.standing.key for run in scores.runs]
    means = {
        f"{one.measure.label}, {one.sides[side].name}": one.sides[side].means
        for side in (0, 1)
        for one in scores.measures
    }
    return pl.DataFrame(names | means).fill_nan(None)
