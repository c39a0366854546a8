"""The page of a board by groups of topics."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from arqkit.breakdown.groups import TopicGroup, group_pairs, topic_group, topic_groups
from arqkit.topics import heading
from arqlab.core.models import Task
from arqlab.core.permissions import may_organize, task_or_404
from arqlab.core.views.downloads import table_response
from evaluation.permissions import VisibleBoard
from evaluation.selectors.breakdown import topic_attributes, usual_values
from evaluation.services.comparison import ComparedRuns
from evaluation.views.comparison import board_context


@require_safe
def breakdown(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show the board that the user sees by groups of topics, or return it as TSV."""
    found = task_or_404(request.user, lab, task)
    shown, compared, context = board_context(request, found)
    attributes = topic_attributes(found)
    chosen = request.GET.get("by", next(iter(attributes), ""))
    if chosen and chosen not in attributes:
        raise Http404
    topics, scores = compared.matrix
    values = attributes.get(chosen, {})
    ranked = len(compared.competing.runs)
    groups = topic_groups(scores, topics, values, usual_values(chosen), ranked=ranked)
    columns = [topic_group("all", scores, ranked=ranked), *groups]
    if request.GET.get("format") == "tsv":
        if not groups:
            raise Http404
        return _file(chosen, columns, compared, shown)
    context |= {
        "shows_instances": found.kind == Task.Kind.FORMULAS
        and may_organize(request.user, found.lab),
        "attributes": {name: heading(name) for name in attributes},
        "by": chosen,
        "by_heading": heading(chosen),
        "columns": columns,
        "groups": groups,
        "lines": _lines(columns, compared),
        "ungrouped": sum(topic not in values for topic in topics),
        "pairs": group_pairs(groups),
        "chart": _chart(columns, compared, [lab, task]),
    }
    return render(request, "evaluation/breakdown.html", context)


def _lines(columns: list[TopicGroup], compared: ComparedRuns) -> list[dict[str, Any]]:
    """Return the runs with their means by column, None if missing, and whether each is the best.

    As on the leaderboard, only runs that compete are the best.
    """
    competes = np.array([run.counts for run in compared.runs], dtype=bool)
    best = [np.nanmax(one.means, initial=0.0, where=competes) for one in columns]
    return [
        {
            "run": run,
            "cells": [
                (_known(one.means[place]), run.counts and one.means[place] >= most > 0)
                for one, most in zip(columns, best, strict=True)
            ],
        }
        for place, run in enumerate(compared.runs)
    ]


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _chart(columns: list[TopicGroup], compared: ComparedRuns, address: list[str]) -> dict[str, Any]:
    """Return the data of the charts, as `js/charts.js` reads them."""
    return {
        "measure": compared.measure.heading,
        "groups": [one.name for one in columns],
        "runs": [
            {
                "run": run.label,
                "team": run.team,
                "values": [_known(one.means[place]) for one in columns],
                "url": reverse("evaluation:run-scores", args=[*address, run.key]),
            }
            for place, run in enumerate(compared.runs)
        ],
    }


def _file(
    by: str, columns: list[TopicGroup], compared: ComparedRuns, shown: VisibleBoard
) -> HttpResponse:
    runs = compared.runs
    names = {"team": [run.team for run in runs], "run": [run.tag for run in runs]}
    names["standing"] = [run.standing.key for run in runs]
    means = {f"{one.name} ({one.topics} topics)": one.means for one in columns}
    name = f"{shown.board.task.replace('/', '-')}-{shown.board.qrels}-by-{by}.tsv"
    return table_response(pl.DataFrame(names | means).fill_nan(None), name)
