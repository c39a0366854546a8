"""The page of a round, whose parts its kind names, and the list of disagreements."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import polars as pl
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from arqkit.formats.tables import csv_lines
from arqlab.core.models import Task
from arqlab.core.permissions import organized_task_or_404, signed_in
from arqlab.web.downloads import file_response, table_response
from arqlab.web.pages import TASK, Pages
from assessment.judging.selectors.own_work import own_round_topics
from assessment.models import Round
from assessment.qrels.selectors.drafts import task_scale
from assessment.rounds.permissions import SeenRound, round_or_404
from assessment.rounds.selectors.adjudication import DECIDED, disagreement_queue, open_proposals
from assessment.rounds.selectors.rounds import is_unused, round_progress, shows_labels
from assessment.rounds.selectors.second import (
    assessor_names,
    assessor_times,
    only_judged_pairs,
    own_consistency,
    own_pairs,
    pair_agreement,
    pair_confusion,
    second_pairs,
)
from assessment.rounds.selectors.selection import score_sheet
from assessment.rounds.selectors.votes import own_names, real_names, round_agreement
from assessment.rounds.views.charts import agreement_picture, confusion_picture, rounds_picture
from evaluation.forms import AdjudicationListForm
from evaluation.services.effects import MOST_CHANGES, label_effects, main_measure, second_effect
from evaluation.services.questions import MEASURES, RunAnswers, round_answers

pages = Pages(TASK, organized_task_or_404, section="rounds")


Part = dict[str, Any]


def _own(request: HttpRequest, seen: SeenRound) -> Part:
    """Return the user's own topics in a round."""
    own = own_round_topics(signed_in(request), round_id=seen.round.pk) if seen.judges else []
    return {"own": own}


def _link(request: HttpRequest, seen: SeenRound) -> Part:
    """Return the link for applicants, for organizers."""
    token = seen.round.token if seen.organizes else None
    path = reverse("assessment:sample-join", args=[token]) if token else ""
    return {"link": request.build_absolute_uri(path) if path else ""}


def _sheet(request: HttpRequest, seen: SeenRound) -> Part:
    """Return the score sheet of applicants, for organizers and the expert."""
    return {"sheet": score_sheet(seen.round) if seen.rates else None}


def _agreement(request: HttpRequest, seen: SeenRound) -> Part:
    """Return the agreement of the assessors, and that of all revealed rounds of the kind.

    Assessors see no name but their own.
    """
    round_ = seen.round
    is_open = round_.revealed_at or (seen.organizes and shows_labels(round_))
    agreement = round_agreement(round_) if is_open else None
    if agreement is None:
        return {}
    names = real_names(round_) if seen.organizes else own_names(round_, signed_in(request))
    part: Part = {"picture": agreement_picture(agreement, names)}
    if not seen.organizes:
        return part
    revealed = Round.objects.filter(task=round_.task, kind=round_.kind, revealed_at__isnull=False)
    others = revealed.select_related("pool", "gold", "task__lab").order_by("number")
    scale = round_.pool.label_scale
    alike = [other for other in others if other.pool.label_scale == scale]
    compared = {
        str(other): agreement if other == round_ else round_agreement(other) for other in alike
    }
    rounds = [(name, figures) for name, figures in compared.items() if figures]
    return part | {"rounds": rounds_picture(rounds) if len(rounds) > 1 else None}


def _again(request: HttpRequest, seen: SeenRound) -> Part:
    """Return what the labels of items judged again say, once organizers see them.

    The effect on the leaderboard is computed with `effect=yes`.
    """
    round_ = seen.round
    if not shows_labels(round_):
        return {}
    scale, every = task_scale(round_.task), second_pairs(round_)
    pairs = only_judged_pairs(every, scale)
    relevant_from = round_.task.protocol.relevant_from
    own = only_judged_pairs(own_pairs(round_), scale)
    agreement = pair_agreement(pairs, scale, relevant_from=relevant_from)
    confusion = pair_confusion(pairs, scale)
    return {
        "pairs": pairs.height,
        "reported": every.height - pairs.height,
        "differing": pairs.filter(pl.col("first") != pl.col("second")).height,
        "picture": agreement_picture(agreement, assessor_names(pairs)),
        "confusion": confusion_picture(
            confusion, scale, first="first judgment", second="second judgment"
        ),
        "times": assessor_times(pairs),
        "consistency": own_consistency(own, scale, relevant_from=relevant_from),
        "effect": second_effect(round_, pairs) if request.GET.get("effect") == "yes" else None,
    }


def _answers(request: HttpRequest, seen: SeenRound) -> Part:
    """Return the answers to special questions so far."""
    return {"results": round_answers(seen.round), "measures": MEASURES}


def _nothing(request: HttpRequest, seen: SeenRound) -> Part:
    """Return nothing more than the page has."""
    return {}


PARTS: dict[str, tuple[str, Callable[[HttpRequest, SeenRound], Part]]] = {
    "link": ("assessment/rounds/_link.html", _link),
    "own": ("assessment/rounds/_own.html", _own),
    "sheet": ("assessment/rounds/_sheet.html", _sheet),
    "agreement": ("assessment/rounds/_training_agreement.html", _agreement),
    "again": ("evaluation/_judged_again.html", _again),
    "answers": ("evaluation/_question_answers.html", _answers),
    "progress": ("assessment/rounds/_progress.html", _nothing),
    "items": ("assessment/rounds/_items.html", _nothing),
}
"""The parts of the pages of rounds: what a kind reports, each with its template."""


@pages.read("rounds/<slug:round>/", "round-detail", access=round_or_404, sign_in=True)
@never_cache
def round_detail(request: HttpRequest, seen: SeenRound) -> HttpResponseBase:
    """Show the progress of a round, and what its kind reports and the user may see.

    With `format=csv`, return the answers to special questions.
    """
    round_, parts = seen.round, [PARTS[name] for name in seen.round.rules.parts]
    if round_.rules.asks and request.GET.get("format") == "csv":
        return _as_csv(round_, round_answers(round_).runs)
    progress = round_progress(round_) if seen.organizes else []
    items, done = (sum(getattr(row, name) for row in progress) for name in ("items", "done"))
    context: dict[str, Any] = {
        **seen._asdict(),
        "task": round_.task,
        "lab": round_.task.lab,
        "progress": progress,
        "items": items,
        "done": done,
        "is_complete": items == done and seen.organizes and not round_.token,
        "is_open": seen.organizes and shows_labels(round_),
        "is_unused": seen.organizes and is_unused(round_),
        "templates": [template for template, _ in parts],
    }
    for _, part in parts:
        context |= part(request, seen)
    return render(request, "evaluation/round_detail.html", context)


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
