"""The queue of disagreements, by size or by their effect on the leaderboard."""

from __future__ import annotations

import polars as pl
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from arqlab.core.models import Task
from arqlab.core.permissions import organized_task_or_404
from arqlab.core.views.downloads import table_response
from assessment.qrels.selectors.drafts import task_scale
from assessment.rounds.selectors.adjudication import DECIDED, disagreement_queue, open_proposals
from evaluation.forms import AdjudicationListForm
from evaluation.services.effects import MOST_CHANGES, label_effects, main_measure


@require_safe
def adjudication_list(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show the labels on which official and second judgments differ, or return them as TSV."""
    found = organized_task_or_404(request.user, lab, task)
    rows, by_effect = disagreement_queue(found), "effect" in request.GET.get("sort", "")
    rows = _with_effects(found, rows) if by_effect else rows.with_columns(effect=None)
    if request.GET.get("format") == "tsv":
        return _as_tsv(found, rows if by_effect else rows.drop("effect"))
    listing = AdjudicationListForm(request.GET, rows)
    page, part = listing.page_of_frame(rows)
    scale = task_scale(found)
    shown = [
        {
            **row,
            "first_label": scale.of(row["first"]),
            "second_labels": [scale.of(label) for label in row["seconds"]],
            "decided": None if row["decision"] is None else scale.of(row["decision"]),
        }
        for row in part.to_dicts()
    ]
    context = {
        "task": found,
        "lab": found.lab,
        "count": rows.height,
        "decided": rows.filter(pl.col("state") == DECIDED).height,
        "listing": listing,
        "page": page,
        "rows": shown,
        "by_effect": by_effect,
        "most": MOST_CHANGES,
        "measure": main_measure(found),
        "proposals": open_proposals(found),
    }
    return render(request, "evaluation/adjudication_list.html", context)


def _with_effects(task: Task, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the queue with the effect of the second labels of what is not decided."""
    changes = (
        rows.filter(pl.col("state") != DECIDED)
        .select("instance", "topic", "doc_id", "first", label="seconds")
        .explode("label")
        .filter(pl.col("label") != pl.col("first"))
        .unique(maintain_order=True)
    )
    effects = label_effects(task, changes.drop("first"))
    values = [effects.get(instance) for instance in rows["instance"]]
    return rows.with_columns(effect=pl.Series(values, dtype=pl.Float64))


def _as_tsv(task: Task, rows: pl.DataFrame) -> HttpResponse:
    seconds = pl.col("seconds").cast(pl.List(pl.String)).list.join(" ")
    table = rows.drop("instance").with_columns(seconds=seconds)
    return table_response(table, f"{task.lab.slug}-{task.slug}-disagreements.tsv")
