"""The pages that compare runs: two or more runs, and all pairs."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import polars as pl
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from arqkit.comparison.families import FAMILY_TESTS, TUKEY
from arqkit.texts.html.rendering import title_text
from arqlab.core.models import Task, Topic
from arqlab.core.permissions import task_or_404
from arqlab.core.views.downloads import table_response
from evaluation.permissions import VisibleBoard, all_runs_of, score_access_of, visible_board
from evaluation.services.comparison import ComparedRuns, RunPair, compared_runs, run_pair
from evaluation.services.similarity import run_similarity
from evaluation.views.matrix import CORRECTIONS, TESTS, pair_lines, pair_table
from evaluation.views.several import MOST, also_runs, several_response, task_topics
from evaluation.views.tables import measure_or_404

ENOUGH = 60
"""The most runs in the table of all pairs: with more, the page has those with the best means."""


@require_safe
def comparison(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Compare runs of the board that the user sees, or return their scores as TSV."""
    found = task_or_404(request.user, lab, task)
    shown, everyone, context = board_context(request, found, post_hoc=True)
    chosen = _places(request, everyone)
    compared, places = everyone.around(chosen)
    context |= {"family": compared, "most": MOST, "also": also_runs(everyone, chosen)}
    context["is_cut"] = len(request.GET.getlist("also")) > MOST - 2
    if len(places) > 2:
        return several_response(request, compared, places, context)
    first, second = places if everyone.runs else (0, 0)
    pair = None if first == second else run_pair(compared, first, second)
    if request.GET.get("format") == "tsv":
        if pair is None:
            raise Http404
        return _topics_file(pair, compared, shown)
    context |= {
        "pair": pair,
        "first": compared.runs[first] if compared.runs else None,
        "second": compared.runs[second] if compared.runs else None,
        "is_same": len(everyone.runs) > 1 and first == second,
        "tests": [(TESTS[row.test], row.test == TUKEY, row) for row in pair.tests] if pair else (),
    }
    if pair:
        topics = task_topics(found)
        context["rows"] = [(row, topics.get(row.query_id)) for row in pair.topics]
        context["chart"] = _chart(pair, compared, topics, found)
        sight = score_access_of(request.user, found)
        if all(sight.may_open(run) for run in (pair.first, pair.second)):
            context["similarity"] = run_similarity(shown.qrel_set, pair.first.key, pair.second.key)
    return render(request, "evaluation/comparison.html", context)


@require_safe
def comparison_matrix(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show a test of all pairs of runs of the board that the user sees, or return it as TSV."""
    found = task_or_404(request.user, lab, task)
    shown, every, context = board_context(request, found)
    compared = every.competing
    test = request.GET.get("test", FAMILY_TESTS[0])
    correction = request.GET.get("correction", "holm")
    if test not in TESTS or correction not in CORRECTIONS:
        raise Http404
    family = compared.family(test)
    if request.GET.get("format") == "tsv":
        name = f"{shown.board.task.replace('/', '-')}-{shown.board.qrels}-pairs.tsv"
        return table_response(pair_table(compared, family), name)
    query = context["board_query"] | {"measure": compared.measure.label}
    address = f"{reverse('evaluation:comparison', args=[lab, task])}?{urlencode(query)}"
    lines = pair_lines(compared, getattr(family, correction), address=address, most=ENOUGH)
    context |= {
        "compared": compared,
        "apart": every.runs[len(compared.runs) :],
        "tests": TESTS,
        "test": test,
        "corrections": CORRECTIONS,
        "correction": correction,
        "is_corrected": test == TUKEY,
        "lines": lines,
        "pairs": sum(cell.value is not None for line in lines for cell in line.cells),
        "significant": sum(cell.is_significant for line in lines for cell in line.cells),
        "enough": ENOUGH,
    }
    return render(request, "evaluation/comparison_matrix.html", context)


def board_context(
    request: HttpRequest, task: Task, *, post_hoc: bool = False
) -> tuple[VisibleBoard, ComparedRuns, dict[str, Any]]:
    """Return the board that the user sees, its runs, and what both pages show of them.

    Post-hoc runs can be compared, but are in no family of tests.
    """
    qrels, is_live = request.GET.get("qrels", ""), "live" in request.GET
    sight = score_access_of(request.user, task)
    shown = visible_board(sight, qrels=qrels, live=is_live)
    if shown is None:
        raise Http404
    if post_hoc:
        shown = all_runs_of(sight, shown)
    compared = compared_runs(shown, measure_or_404(shown.board, request.GET.get("measure", "")))
    query = {"live": "1", "qrels": shown.qrel_set.name} if shown.state == "live" else {}
    context = {
        "task": task,
        "lab": task.lab,
        "shown": shown,
        "compared": compared,
        "measure": compared.measure,
        "board_query": query,
        "board_address": f"?{urlencode(query)}" if query else "",
    }
    return shown, compared, context


def _places(request: HttpRequest, compared: ComparedRuns) -> list[int]:
    """Return the places of the chosen runs, by default the two best; raise `Http404` for others.

    The first two may be the same. Further runs (`also`) are different, and there are at most MOST.
    """
    places = {str(run.key): place for place, run in enumerate(compared.runs)}
    chosen = [request.GET.get(name, "") for name in ("first", "second")]
    also = request.GET.getlist("also")
    if any(key and key not in places for key in [*chosen, *also]):
        raise Http404
    if len(places) < 2:
        return [0, 0][: 2 * len(places)]
    first = places.get(chosen[0], int(places.get(chosen[1]) == 0))
    second = places.get(chosen[1], int(first == 0))
    further = dict.fromkeys(places[key] for key in also if key)
    if not further.keys() - {first, second}:
        return [first, second]
    return list(dict.fromkeys([first, second, *further]))[:MOST]


def _chart(
    pair: RunPair, compared: ComparedRuns, topics: dict[str, Topic], task: Task
) -> dict[str, Any]:
    """Return the data of the charts, as `js/charts.js` reads them."""
    address = [task.lab.slug, task.slug]
    return {
        "measure": compared.measure.heading,
        "first": pair.first.label,
        "second": pair.second.label,
        "topics": [
            {
                "topic": row.query_id,
                "title": title_text(topics[row.query_id].title) if row.query_id in topics else "",
                **row._asdict(),
                "url": reverse("core:topic-detail", args=[*address, row.query_id])
                if row.query_id in topics
                else None,
            }
            for row in pair.topics
        ],
    }


def _topics_file(pair: RunPair, compared: ComparedRuns, shown: VisibleBoard) -> HttpResponse:
    table = pl.DataFrame(
        [(row.query_id, row.first, row.second, row.difference) for row in pair.topics],
        schema=["topic", f"{pair.first.label} (1)", f"{pair.second.label} (2)", "difference"],
        orient="row",
    )
    label = compared.measure.label.replace("'", "-prime").replace("@", "-")
    name = f"{shown.board.task.replace('/', '-')}-{pair.first.key}-{pair.second.key}-{label}.tsv"
    return table_response(table, name)
