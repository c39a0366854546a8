"""The page of a topic: the values of all runs, the labels, and who found the relevant items."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import polars as pl
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from arqkit.labels import ScaleLabel
from arqkit.leaderboard import BoardRun
from arqkit.records import ItemKind
from arqlab.core.models import Task, Topic
from arqlab.core.permissions import task_or_404
from assessment.qrels.selectors.versions import version_topics
from assessment.qrels.views.labels import label_shares
from evaluation.permissions import ScoreAccess, VisibleBoard, score_access_of, visible_board
from evaluation.selectors.topic_values import RunValue, spread_of, topic_values
from evaluation.services.item_texts import ItemText, item_texts
from evaluation.services.rankings import relevant_found, relevant_items
from evaluation.views.item_links import closed_to, judgments_links
from evaluation.views.tables import measure_or_404, version_query
from submissions.models import Run

ROWS_A_PAGE = 50


@dataclass(frozen=True)
class FoundBy:
    """A run that found an item, the place of the item, and the address of the ranking."""

    run: BoardRun
    order: int
    url: str


@dataclass(frozen=True)
class RelevantRow:
    """A relevant item with the runs that found it, best place first."""

    item: str
    label: ScaleLabel
    text: ItemText
    judgments_url: str
    found_by: list[FoundBy]


@require_safe
def topic_scores(request: HttpRequest, lab: str, task: str, query_id: str) -> HttpResponse:
    """Show the runs of the board that the user sees, for one topic.

    Which runs found a relevant item is shown of the runs that the user may open.
    """
    found = task_or_404(request.user, lab, task)
    sight = score_access_of(request.user, found)
    shown = visible_board(sight, qrels=request.GET.get("qrels", ""))
    if shown is None or not shown.qrel_set.qrels.filter(query_id=query_id).exists():
        raise Http404
    measure = measure_or_404(shown.board, request.GET.get("measure", ""))
    values = topic_values(shown.board, qrel_set=shown.qrel_set, query_id=query_id, measure=measure)
    query = urlencode({"measure": measure.label, **version_query(shown)})
    spread = spread_of(values)
    rows = [(one, _url(found, one.run, sight, query_id, query)) for one in values]
    context = {
        "task": found,
        "lab": found.lab,
        "query_id": query_id,
        "topic": Topic.objects.filter(task=found, query_id=query_id).first(),
        "shown": shown,
        "sight": sight,
        "measure": measure,
        "rows": rows,
        "spread": spread,
        "query": query,
        "chart": {
            "measure": measure.heading,
            "median": spread.median if spread else None,
            "runs": [_bar(one, url) for one, url in rows],
        },
        **_labels(request, shown, sight, query_id, query),
    }
    return render(request, "evaluation/topic_scores.html", context)


def _url(task: Task, run: BoardRun, sight: ScoreAccess, query_id: str, query: str) -> str:
    """Return the address of a run's ranking, or of its scores if the user may not open it."""
    address = [task.lab.slug, task.slug, run.key]
    if sight.may_open(run):
        return f"{reverse('evaluation:run-ranking', args=[*address, query_id])}?{query}"
    return f"{reverse('evaluation:run-scores', args=address)}?{query}"


def _bar(one: RunValue, url: str) -> dict[str, Any]:
    return {"run": one.run.label, "team": one.run.team, "value": one.value, "url": url}


def _labels(
    request: HttpRequest, shown: VisibleBoard, sight: ScoreAccess, query_id: str, query: str
) -> dict[str, Any]:
    """Return the labels of the topic, and a page of its relevant items with who found them."""
    judged = version_topics(shown.qrel_set, query_id=query_id)
    items = relevant_items(shown.qrel_set, query_id)
    page = Paginator(range(items.height), ROWS_A_PAGE).get_page(request.GET.get("page"))
    part = items.slice(max(page.start_index() - 1, 0), len(page.object_list))
    kind, closed = ItemKind(shown.qrel_set.items), closed_to(request.user, sight.task.lab)
    texts = item_texts(part, items=kind, lab=sight.task.lab, closed=closed)
    found_by = _found_by(shown, sight, query_id, query)
    judgments = judgments_links(sight, query_id)
    scale = shown.qrel_set.label_scale
    rows = [
        RelevantRow(item, scale.of(label), text, judgments.get(item, ""), found_by.get(item, []))
        for (item, label), text in zip(part.select("item", "label").iter_rows(), texts, strict=True)
    ]
    return {
        "shares": label_shares(judged, scale),
        "relevant": rows,
        "page": page,
        "found": sum(item in found_by for item in items["item"]),
        "has_finders": any(sight.may_open(row.run) for row in shown.board.rows),
    }


def _found_by(
    shown: VisibleBoard, sight: ScoreAccess, query_id: str, query: str
) -> Mapping[str, list[FoundBy]]:
    """Return the runs that found each relevant item, of the runs that the user may open."""
    seen = {row.run.key: row.run for row in shown.board.rows if sight.may_open(row.run)}
    runs = list(Run.objects.filter(pk__in=seen).order_by("pk"))
    found = relevant_found(runs, qrel_set=shown.qrel_set, query_id=query_id)
    urls = {key: _url(sight.task, run, sight, query_id, query) for key, run in seen.items()}
    by: dict[str, list[FoundBy]] = defaultdict(list)
    for item, run, order in found.sort(pl.col("order"), "run").iter_rows():
        by[item].append(FoundBy(seen[run], order, urls[run]))
    return by
