"""The pages of a board by groups of topics, and by instances of formulas."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from arqkit.comparison.correlation import (
    GroupPair,
    TopicGroup,
    group_pairs,
    topic_group,
    topic_groups,
)
from arqkit.leaderboard import BoardRun
from arqkit.measures.names import Measure
from arqkit.records import ItemKind, TaskKind
from arqkit.topics import heading, info_fields
from arqlab.core.models import Task, Topic
from arqlab.core.permissions import may_organize, organized_task_or_404, task_or_404
from arqlab.core.selectors import PUBLIC_INFO
from arqlab.core.views.downloads import table_response
from arqlab.web.pages import TASK, Pages
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import qrels_named
from evaluation.permissions import VisibleBoard
from evaluation.selectors.boards import live_board, topic_matrix
from evaluation.services.comparison import ComparedRuns
from evaluation.views.comparison import board_context

pages = Pages(f"{TASK}leaderboard/", task_or_404, section="leaderboard")

SIDES = {ItemKind.FORMULA_IDS: "all instances", ItemKind.VISUAL_IDS: "visually distinct"}
"""The kinds of items that qrels of formulas have, and what they score."""


MOST_MEASURES = 3
MOST_BARS = 39
"""The most runs that are drawn as bars for each group; of more, the table says it better."""


class MeasureSides(NamedTuple):
    """The means of runs in a measure on both sides, and Kendall's tau of the two rankings."""

    measure: Measure
    sides: list[TopicGroup]
    pair: GroupPair


class InstanceScores(NamedTuple):
    """The runs of a board with their means by both versions, over the topics that both have."""

    versions: list[QrelSet]
    runs: list[BoardRun]
    measures: list[MeasureSides]
    topics: int


def other_version(qrel_set: QrelSet) -> QrelSet | None:
    """Return the version with the other kind of formula items, the newest one, or None."""
    others = set(SIDES) - {ItemKind(qrel_set.items)}
    versions = QrelSet.objects.filter(task=qrel_set.task, items__in=others)
    return versions.order_by("-version").first() if len(others) == 1 else None


def instance_scores(qrel_set: QrelSet, other: QrelSet) -> InstanceScores:
    """Return the runs of the live board of qrels with their scores by these and other qrels.

    The measures are the first ones of the board that rate runs.
    """
    board = live_board(qrel_set)
    runs = sorted((row.run for row in board.rows), key=lambda run: not run.counts)
    ranked = sum(run.counts for run in runs)
    versions = sorted(
        (qrel_set, other), key=lambda version: list(SIDES).index(ItemKind(version.items))
    )
    measures, topics = [], 0
    for measure in [measure for measure in board.measures if measure.is_rating][:MOST_MEASURES]:
        matrices = [
            topic_matrix(runs=[run.key for run in runs], qrel_set=version, measure=measure.name)
            for version in versions
        ]
        common = set(matrices[0].topics) & set(matrices[1].topics)
        sides = [
            topic_group(
                SIDES[ItemKind(version.items)],
                matrix.scores[:, np.isin(matrix.topics, list(common))],
                ranked=ranked,
            )
            for version, matrix in zip(versions, matrices, strict=True)
        ]
        measures.append(MeasureSides(measure, sides, group_pairs(sides)[0]))
        topics = max(topics, len(common))
    return InstanceScores(versions, runs, measures, topics)


@pages.read("instances/", "breakdown-instances", access=organized_task_or_404)
def instances(request: HttpRequest, task: Task) -> HttpResponse:
    """Show organizers the runs scored by both kinds of formula qrels, or return them as TSV."""
    chosen = qrels_named(task, request.GET.get("qrels", ""))
    if chosen is None:
        raise Http404
    other = other_version(chosen)
    scores = instance_scores(chosen, other) if other else None
    if request.GET.get("format") == "tsv":
        if scores is None:
            raise Http404
        name = f"{task.lab.slug}-{task.slug}-instances.tsv"
        return table_response(_table(scores), name)
    context = {
        "task": task,
        "lab": task.lab,
        "scores": scores,
        "lines": _instance_lines(scores),
    }
    return render(request, "evaluation/instances.html", context | {"chosen": chosen})


def _instance_lines(scores: InstanceScores | None) -> list[tuple[object, list[float | None]]]:
    """Return each run with its means: those of all measures on one side, then on the other."""
    if scores is None:
        return []
    sides = [
        [measure_sides.sides[side].means for measure_sides in scores.measures] for side in (0, 1)
    ]
    return [
        (run, [None if np.isnan(m[place]) else float(m[place]) for side in sides for m in side])
        for place, run in enumerate(scores.runs)
    ]


def _table(scores: InstanceScores) -> pl.DataFrame:
    names = {"team": [run.team for run in scores.runs], "run": [run.tag for run in scores.runs]}
    names["standing"] = [run.standing.key for run in scores.runs]
    means = {
        f"{measure_sides.measure.label}, {measure_sides.sides[side].name}": measure_sides.sides[
            side
        ].means
        for side in (0, 1)
        for measure_sides in scores.measures
    }
    return pl.DataFrame(names | means).fill_nan(None)


FREE_TEXT = ("elements",)
"""Information that makes no groups."""


def topic_attributes(task: Task) -> dict[str, dict[str, str]]:
    """Return the attributes by which topics can be grouped: values by topic, for each attribute.

    Attributes that no topic has are left out.
    """
    topics = Topic.objects.filter(task=task).only("query_id", "info", "info_edits")
    facts = {topic.query_id: topic.facts for topic in topics}
    attributes = {
        name: {topic: values[name] for topic, values in facts.items() if values.get(name)}
        for name in PUBLIC_INFO
        if name not in FREE_TEXT
    }
    return {name: values for name, values in attributes.items() if values}


def usual_values(attribute: str) -> tuple[str, ...]:
    """Return the usual values of an attribute in their order, such as easy, medium and hard."""
    kinds = [info_fields(TaskKind(kind)) for kind in Task.Kind.values]
    return next((fields[attribute] for fields in kinds if attribute in fields), ())


@pages.read("breakdown/", "breakdown")
def breakdown(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the board that the user sees by groups of topics, or return it as TSV."""
    visible, compared, context = board_context(request, task)
    attributes = topic_attributes(task)
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
        return _file(chosen, columns, compared, visible)
    context |= {
        "shows_instances": task.kind == Task.Kind.FORMULAS and may_organize(request.user, task.lab),
        "attributes": {name: heading(name) for name in attributes},
        "by": chosen,
        "by_heading": heading(chosen),
        "columns": columns,
        "groups": groups,
        "lines": _lines(columns, compared),
        "ungrouped": sum(topic not in values for topic in topics),
        "pairs": group_pairs(groups),
        "chart": _chart(columns, compared, [task.lab.slug, task.slug]),
    }
    return render(request, "evaluation/breakdown.html", context)


def _lines(columns: list[TopicGroup], compared: ComparedRuns) -> list[dict[str, Any]]:
    """Return the runs with their means by column, None if missing, and whether each is the best.

    As on the leaderboard, only runs that compete are the best.
    """
    competes = np.array([run.counts for run in compared.runs], dtype=bool)
    best = [np.nanmax(group.means, initial=0.0, where=competes) for group in columns]
    return [
        {
            "run": run,
            "cells": [
                (_known(group.means[place]), run.counts and group.means[place] >= most > 0)
                for group, most in zip(columns, best, strict=True)
            ],
        }
        for place, run in enumerate(compared.runs)
    ]


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _chart(
    columns: list[TopicGroup], compared: ComparedRuns, address: list[str]
) -> dict[str, Any] | None:
    """Return the data of the charts, as `js/charts.js` reads them; None of too many runs."""
    if len(compared.runs) > MOST_BARS:
        return None
    return {
        "measure": compared.measure.heading,
        "groups": [group.name for group in columns],
        "runs": [
            {
                "run": run.label,
                "team": run.team,
                "values": [_known(group.means[place]) for group in columns],
                "url": reverse("evaluation:run-scores", args=[*address, run.key]),
            }
            for place, run in enumerate(compared.runs)
        ],
    }


def _file(
    by: str, columns: list[TopicGroup], compared: ComparedRuns, visible: VisibleBoard
) -> HttpResponse:
    runs = compared.runs
    names = {"team": [run.team for run in runs], "run": [run.tag for run in runs]}
    names["standing"] = [run.standing.key for run in runs]
    means = {f"{group.name} ({group.topics} topics)": group.means for group in columns}
    name = f"{visible.board.task.replace('/', '-')}-{visible.board.qrels}-by-{by}.tsv"
    return table_response(pl.DataFrame(names | means).fill_nan(None), name)
