"""The comparison of more than two runs, with the page or file of the comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from arqkit.comparison.families import TUKEY
from arqkit.leaderboard import BoardRun
from arqkit.texts.html.rendering import title_text
from arqlab.core.models import Task, Topic
from arqlab.core.views.downloads import table_response
from evaluation.services.comparison import ComparedRuns, SeveralRuns, several_runs
from evaluation.views.matrix import CORRECTIONS, TESTS

MOST = 8
"""The most runs that are compared topic by topic."""


def also_runs(compared: ComparedRuns, chosen: Sequence[int]) -> list[tuple[BoardRun, bool]]:
    """Return the runs that can be added to the first two, and whether each is chosen."""
    return [
        (run, place in chosen[2:])
        for place, run in enumerate(compared.runs)
        if place not in chosen[:2]
    ]


def several_response(
    request: HttpRequest, compared: ComparedRuns, places: Sequence[int], context: dict[str, Any]
) -> HttpResponse:
    """Return the page of more than two runs (places), or their scores as TSV."""
    test, correction = request.GET.get("test", "t"), request.GET.get("correction", "holm")
    if test not in TESTS or correction not in CORRECTIONS:
        raise Http404
    found = several_runs(compared, places, test=test, correction=correction)
    if request.GET.get("format") == "tsv":
        return _several_file(found, context)
    topics = task_topics(context["task"])
    context |= {
        "several": found,
        "first": found.runs[0],
        "second": found.runs[1],
        "test": test,
        "tests": TESTS,
        "correction": correction,
        "corrections": CORRECTIONS,
        "is_corrected": test == TUKEY,
        "rows": [(name, topics.get(name), values) for name, values in found.topics],
        "chart": _several_chart(found, compared, topics, context["task"]),
    }
    return render(request, "evaluation/comparison.html", context)


def task_topics(task: Task) -> dict[str, Topic]:
    """Return the topics of a task by their ids, without the texts of the questions."""
    topics = Topic.objects.filter(task=task).defer("body", "body_html")
    return {topic.query_id: topic for topic in topics}


def _several_chart(
    found: SeveralRuns, compared: ComparedRuns, topics: Mapping[str, Topic], task: Task
) -> dict[str, Any]:
    """Return the data of the chart, as `js/charts.js` reads it."""
    address = [task.lab.slug, task.slug]
    return {
        "measure": compared.measure.heading,
        "runs": [run.label for run in found.runs],
        "topics": [
            {
                "topic": name,
                "title": title_text(topics[name].title) if name in topics else "",
                "values": values,
                "url": reverse("core:topic-detail", args=[*address, name])
                if name in topics
                else None,
            }
            for name, values in found.topics
        ],
    }


def _several_file(found: SeveralRuns, context: Mapping[str, Any]) -> HttpResponse:
    names = [f"{run.label} ({number})" for number, run in enumerate(found.runs, start=1)]
    rows = [(name, *values) for name, values in found.topics]
    table = pl.DataFrame(rows, schema=["topic", *names], orient="row")
    board = context["shown"].board
    label = context["measure"].label.replace("'", "-prime").replace("@", "-")
    keys = "-".join(str(run.key) for run in found.runs)
    return table_response(table, f"{board.task.replace('/', '-')}-{keys}-{label}.tsv")
