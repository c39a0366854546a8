"""Results of rounds: disagreements, second judgments and special questions."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import polars as pl
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render

from arqkit.formats.tables import csv_lines
from arqkit.labels import LabelScale
from arqlab.core.models import Task
from arqlab.core.permissions import organized_task_or_404
from arqlab.web.downloads import file_response, table_response
from arqlab.web.pages import TASK, Pages
from assessment.models import Round
from assessment.qrels.selectors.drafts import task_scale
from assessment.rounds.selectors.adjudication import DECIDED, disagreement_queue, open_proposals
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
from evaluation.forms import AdjudicationListForm
from evaluation.services.effects import MOST_CHANGES, label_effects, main_measure, second_effect
from evaluation.services.questions import MEASURES, RunAnswers, round_answers

pages = Pages(TASK, organized_task_or_404, section="rounds")


@pages.read("rounds/second-<int:number>/", "second-detail")
def second_detail(request: HttpRequest, task: Task, number: int) -> HttpResponse:
    """Show the progress of a round, and its results when it is completed or revealed.

    The effect on the leaderboard is computed with `effect=yes`.
    """
    rounds = Round.objects.select_related("pool", "task__lab")
    round_ = get_object_or_404(rounds, task=task, kind=Round.Kind.SECOND, number=number)
    progress = round_progress(round_)
    context: dict[str, Any] = {
        "task": task,
        "lab": task.lab,
        "round": round_,
        "organizes": True,
        "is_unused": is_unused(round_),
        "progress": progress,
        "items": sum(person.items for person in progress),
        "done": sum(person.done for person in progress),
    }
    if open_second_pools(task).filter(pk=round_.pool.pk).exists():
        scale, every = task_scale(task), second_pairs(round_)
        pairs = only_judged_pairs(every, scale)
        context |= _results(round_, pairs, scale) | {"reported": every.height - pairs.height}
        if request.GET.get("effect") == "yes":
            context["effect"] = second_effect(round_, pairs)
    return render(request, "evaluation/second_detail.html", context)


def _results(round_: Round, pairs: pl.DataFrame, scale: LabelScale) -> dict[str, Any]:
    relevant_from = round_.task.protocol.relevant_from
    own = only_judged_pairs(own_pairs(round_), scale)
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


@pages.read("rounds/questions-<int:number>/", "questions-detail")
def questions_detail(request: HttpRequest, task: Task, number: int) -> HttpResponseBase:
    """Show the progress of a round and its results so far, or return them as CSV."""
    rounds = Round.objects.select_related("pool", "task__lab")
    round_ = get_object_or_404(rounds, task=task, kind=Round.Kind.QUESTIONS, number=number)
    results = round_answers(round_)
    if request.GET.get("format") == "csv":
        return _as_csv(round_, results.runs)
    progress = round_progress(round_)
    context: dict[str, Any] = {
        "task": task,
        "lab": task.lab,
        "round": round_,
        "organizes": True,
        "is_unused": is_unused(round_),
        "results": results,
        "measures": MEASURES,
        "progress": progress,
        "items": sum(person.items for person in progress),
        "done": sum(person.done for person in progress),
    }
    return render(request, "evaluation/questions_detail.html", context)


def _as_csv(round_: Round, rows: list[RunAnswers]) -> HttpResponseBase:
    columns: dict[str, Callable[[RunAnswers], object]] = {
        "task": attrgetter("run.task.slug"),
        "team": attrgetter("run.team.name"),
        "run": attrgetter("run.tag"),
        "baseline": attrgetter("run.is_baseline"),
        "standing": attrgetter("run.standing.key"),
        "manual": attrgetter("run.is_manual"),
        "kind": attrgetter("run.answer_kind"),
        "topics": attrgetter("means.topics"),
        **{name: _mean(place) for place, name in enumerate(MEASURES)},
        "items": attrgetter("items"),
    }
    for place, question in enumerate(round_.questions):
        columns[question.key] = _share(place, "share")
        columns[f"{question.key} answers"] = _share(place, "answered")
    lines = csv_lines(columns, rows)
    return file_response(lines, f"{round_.task.lab.slug}-{round_.task.slug}-{round_.key}.csv")


def _mean(place: int) -> Callable[[RunAnswers], object]:
    return lambda row: row.means.values[place]


def _share(place: int, name: str) -> Callable[[RunAnswers], object]:
    return lambda row: getattr(row.shares[place], name)


@pages.read("adjudication/", "adjudication-list")
def adjudication_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the labels on which official and second judgments differ, or return them as TSV."""
    rows, by_effect = disagreement_queue(task), "effect" in request.GET.get("sort", "")
    rows = _with_effects(task, rows) if by_effect else rows.with_columns(effect=None)
    if request.GET.get("format") == "tsv":
        return _as_tsv(task, rows if by_effect else rows.drop("effect"))
    listing = AdjudicationListForm(request.GET, rows)
    page, part = listing.page_of_frame(rows)
    scale = task_scale(task)
    lines = [
        {
            **row,
            "first_label": scale.of(row["first"]),
            "second_labels": [scale.of(label) for label in row["seconds"]],
            "decided": None if row["decision"] is None else scale.of(row["decision"]),
        }
        for row in part.to_dicts()
    ]
    context = {
        "task": task,
        "lab": task.lab,
        "count": rows.height,
        "decided": rows.filter(pl.col("state") == DECIDED).height,
        "listing": listing,
        "page": page,
        "rows": lines,
        "by_effect": by_effect,
        "most": MOST_CHANGES,
        "measure": main_measure(task),
        "proposals": open_proposals(task),
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
