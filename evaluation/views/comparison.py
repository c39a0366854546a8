"""The pages that compare runs: two or more runs, and all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from statistics import fmean
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
import polars as pl
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from arqkit.comparison.correlation import jaccard, rank_biased_overlap
from arqkit.comparison.differences import pair_differences, run_pairs
from arqkit.comparison.families import FAMILY_TESTS, TUKEY, PairFamily
from arqkit.leaderboard import BoardRun
from arqkit.measures.columns import Reals
from arqkit.measures.scoring import Scorer
from arqkit.records import ItemKind
from arqkit.texts.html.rendering import title_text
from arqlab.core.caches import computed_values
from arqlab.core.models import Task, Topic
from arqlab.core.permissions import task_or_404
from arqlab.web.downloads import table_response
from arqlab.web.pages import TASK, Pages
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import judged_frame
from evaluation.permissions import VisibleBoard, all_runs_of, score_access_of, visible_board
from evaluation.selectors.pending_scores import formulas_index_of, item_identity
from evaluation.services.comparison import (
    SIGNIFICANT,
    ComparedRuns,
    RunPair,
    SeveralRuns,
    compared_runs,
    run_pair,
    several_runs,
)
from evaluation.services.effects import comparable_indexes
from evaluation.views.tables import measure_or_404
from submissions.models import Run

pages = Pages(f"{TASK}leaderboard/", task_or_404, section="leaderboard")

TESTS = {
    "t": "Paired t test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "randomization": "Randomization test",
    "tukey": "Tukey’s HSD",
}


CORRECTIONS = {"holm": "Holm", "bh": "Benjamini–Hochberg", "plain": "none"}


class PairCell(NamedTuple):
    """The p-value of a pair, or None if it cannot be tested, and the URL of its page."""

    value: float | None
    is_significant: bool
    url: str


class PairLine(NamedTuple):
    """A run with its mean and its tests against the runs with better means."""

    run: BoardRun
    mean: float
    cells: list[PairCell]


def pair_lines(compared: ComparedRuns, values: Reals, *, address: str, most: int) -> list[PairLine]:
    """Return the first runs with the p-values (a square matrix) of their pairs."""
    runs = compared.runs[:most]
    return [
        PairLine(
            run,
            run.values[compared.measure.name],
            [
                _cell(float(values[row, column]), f"{address}&first={better.key}&second={run.key}")
                for column, better in enumerate(runs[:row])
            ],
        )
        for row, run in enumerate(runs)
    ]


def _cell(value: float, url: str) -> PairCell:
    return PairCell(None if np.isnan(value) else value, value < SIGNIFICANT, url)


def pair_table(compared: ComparedRuns, family: PairFamily) -> pl.DataFrame:
    """Return all pairs with their mean differences and p-values."""
    first, second = run_pairs(len(compared.runs))
    differences = pair_differences(compared.matrix.scores)
    known = ~np.isnan(differences)
    topics = known.sum(axis=1)
    totals = np.where(known, differences, 0).sum(axis=1)
    means = np.divide(totals, topics, out=np.full(len(topics), np.nan), where=topics > 0)
    names = {
        f"{side} {part}": [getattr(compared.runs[place], name) for place in places]
        for side, places in (("first", first), ("second", second))
        for part, name in (("team", "team"), ("run", "label"))
    }
    tested = {
        {"plain": "p"}.get(name, f"p {name}"): values[first, second]
        for name, values in family._asdict().items()
    }
    return pl.DataFrame(names | {"topics": topics, "mean difference": means} | tested).fill_nan(
        None
    )


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
    several = several_runs(compared, places, test=test, correction=correction)
    if request.GET.get("format") == "tsv":
        return _several_file(several, context)
    topics = task_topics(context["task"])
    context |= {
        "several": several,
        "first": several.runs[0],
        "second": several.runs[1],
        "test": test,
        "tests": TESTS,
        "correction": correction,
        "corrections": CORRECTIONS,
        "is_corrected": test == TUKEY,
        "rows": [(name, topics.get(name), values) for name, values in several.topics],
        "chart": _several_chart(several, compared, topics, context["task"]),
    }
    return render(request, "evaluation/comparison.html", context)


def task_topics(task: Task) -> dict[str, Topic]:
    """Return the topics of a task by their ids, without the texts of the questions."""
    topics = Topic.objects.filter(task=task).defer("body", "body_html")
    return {topic.query_id: topic for topic in topics}


def _several_chart(
    several: SeveralRuns, compared: ComparedRuns, topics: Mapping[str, Topic], task: Task
) -> dict[str, Any]:
    """Return the data of the chart, as `js/charts.js` reads it."""
    address = [task.lab.slug, task.slug]
    return {
        "measure": compared.measure.heading,
        "runs": [run.label for run in several.runs],
        "topics": [
            {
                "topic": name,
                "title": title_text(topics[name].title) if name in topics else "",
                "values": values,
                "url": reverse("core:topic-detail", args=[*address, name])
                if name in topics
                else None,
            }
            for name, values in several.topics
        ],
    }


def _several_file(several: SeveralRuns, context: Mapping[str, Any]) -> HttpResponse:
    names = [f"{run.label} ({number})" for number, run in enumerate(several.runs, start=1)]
    rows = [(name, *values) for name, values in several.topics]
    table = pl.DataFrame(rows, schema=["topic", *names], orient="row")
    board = context["visible"].board
    label = context["measure"].label.replace("'", "-prime").replace("@", "-")
    keys = "-".join(str(run.key) for run in several.runs)
    return table_response(table, f"{board.task.replace('/', '-')}-{keys}-{label}.tsv")


KEPT = 24 * 60 * 60  # seconds


CUTOFF = 10


class RunSimilarity(NamedTuple):
    """Means over the topics of the qrels that both runs answered; `judged` is of each run's top."""

    overlap: float
    jaccard: float
    judged: tuple[float, float]
    cutoff: int = CUTOFF


def run_similarity(qrel_set: QrelSet, first: int, second: int) -> RunSimilarity | None:
    """Return the similarity of two runs (keys), with the items that the qrels have.

    It is None if an index cannot be read, if the runs have no topic in common, and for answers
    (Task 3), because no two runs have the same.
    """
    if qrel_set.items == ItemKind.ANSWERS:
        return None
    runs = Run.objects.select_related("team", "task__lab").in_bulk([first, second])
    both, index_name = [runs[first], runs[second]], formulas_index_of(qrel_set)
    facts = [
        (run.pk, run.index.name, item_identity(run, qrel_set, formulas_index=index_name))
        for run in both
    ]
    rules = (qrel_set.pk, qrel_set.sha256, qrel_set.task.protocol.order, facts)
    key = f"run-similarity:{sha256(repr(rules).encode()).hexdigest()}"
    similarity: RunSimilarity | None = computed_values.get(key)
    if similarity is None and (similarity := _similarity(qrel_set, both)):
        computed_values.set(key, similarity, timeout=KEPT)
    return similarity


def _similarity(qrel_set: QrelSet, runs: list[Run]) -> RunSimilarity | None:
    judged = judged_frame(qrel_set)
    indexes = [
        index.join(judged, on="topic", how="semi", maintain_order="left")
        for _, index in comparable_indexes(runs, qrel_set, judged)
    ]
    if len(indexes) < 2:
        return None
    first, second = indexes
    overlap = rank_biased_overlap(first, second)
    if not overlap:
        return None
    scorer = Scorer(judged, [f"Judged@{CUTOFF}"], answered_only=True)
    shares = [dict(scorer.score(index).select("topic", "value").iter_rows()) for index in indexes]
    both = shares[0].keys() & shares[1].keys()
    first_judged, second_judged = (
        _mean({topic: share[topic] for topic in both}) for share in shares
    )
    return RunSimilarity(
        _mean(overlap), _mean(jaccard(first, second, cutoff=CUTOFF)), (first_judged, second_judged)
    )


def _mean(values: Mapping[str, float]) -> float:
    return fmean(values.values())


ENOUGH = 60
"""The most runs in the table of all pairs: with more, the page has those with the best means."""


@pages.read("compare/", "comparison")
def comparison(request: HttpRequest, task: Task) -> HttpResponse:
    """Compare runs of the board that the user sees, or return their scores as TSV."""
    visible, everyone, context = board_context(request, task, post_hoc=True)
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
        return _topics_file(pair, compared, visible)
    context |= {
        "pair": pair,
        "first": compared.runs[first] if compared.runs else None,
        "second": compared.runs[second] if compared.runs else None,
        "is_same": len(everyone.runs) > 1 and first == second,
        "tests": [(TESTS[row.test], row.test == TUKEY, row) for row in pair.tests] if pair else (),
    }
    if pair:
        topics = task_topics(task)
        context["rows"] = [(row, topics.get(row.query_id)) for row in pair.topics]
        context["chart"] = _chart(pair, compared, topics, task)
        sight = score_access_of(request.user, task)
        if all(sight.may_open(run) for run in (pair.first, pair.second)):
            context["similarity"] = run_similarity(
                visible.qrel_set, pair.first.key, pair.second.key
            )
    return render(request, "evaluation/comparison.html", context)


@pages.read("pairs/", "comparison-matrix")
def comparison_matrix(request: HttpRequest, task: Task) -> HttpResponse:
    """Show a test of all pairs of runs of the board that the user sees, or return it as TSV."""
    visible, every, context = board_context(request, task)
    compared = every.competing
    test = request.GET.get("test", FAMILY_TESTS[0])
    correction = request.GET.get("correction", "holm")
    if test not in TESTS or correction not in CORRECTIONS:
        raise Http404
    family = compared.family(test)
    if request.GET.get("format") == "tsv":
        name = f"{visible.board.task.replace('/', '-')}-{visible.board.qrels}-pairs.tsv"
        return table_response(pair_table(compared, family), name)
    query = context["board_query"] | {"measure": compared.measure.label}
    address = (
        f"{reverse('evaluation:comparison', args=[task.lab.slug, task.slug])}?{urlencode(query)}"
    )
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
    visible = visible_board(sight, qrels=qrels, live=is_live)
    if visible is None:
        raise Http404
    if post_hoc:
        visible = all_runs_of(sight, visible)
    compared = compared_runs(visible, measure_or_404(visible.board, request.GET.get("measure", "")))
    query = {"live": "1", "qrels": visible.qrel_set.name} if visible.state == "live" else {}
    context = {
        "task": task,
        "lab": task.lab,
        "visible": visible,
        "compared": compared,
        "measure": compared.measure,
        "board_query": query,
        "board_address": f"?{urlencode(query)}" if query else "",
    }
    return visible, compared, context


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


def _topics_file(pair: RunPair, compared: ComparedRuns, visible: VisibleBoard) -> HttpResponse:
    table = pl.DataFrame(
        [(row.query_id, row.first, row.second, row.difference) for row in pair.topics],
        schema=["topic", f"{pair.first.label} (1)", f"{pair.second.label} (2)", "difference"],
        orient="row",
    )
    label = compared.measure.label.replace("'", "-prime").replace("@", "-")
    name = f"{visible.board.task.replace('/', '-')}-{pair.first.key}-{pair.second.key}-{label}.tsv"
    return table_response(table, name)
