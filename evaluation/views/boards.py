"""The leaderboards of a task: the page with its chart, released versions, and downloads."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from arqkit.formats.leaderboards import write_board
from arqkit.formats.tables import FILE_ENDINGS
from arqkit.leaderboard import Board, BoardRun, by_mean, columns_in
from arqkit.measures.names import MEASURE_KINDS, Measure
from arqkit.standings import POST_HOC
from arqlab.core.caches import cached_value, key_of
from arqlab.core.models import Task
from arqlab.core.permissions import task_or_404
from arqlab.web.downloads import exact_response
from arqlab.web.pages import TASK, Pages
from assessment.models import QrelSet
from evaluation.forms import BoardPartForm
from evaluation.models import Leaderboard
from evaluation.permissions import (
    ScoreAccess,
    VisibleBoard,
    all_runs_of,
    own_means,
    released_versions,
    score_access_of,
    visible_board,
)
from evaluation.selectors.boards import released_board, topic_matrix
from evaluation.selectors.pending_scores import unscored_runs
from evaluation.services.further_measures import first_answers_access, with_further_measures
from evaluation.services.progress import has_linked_runs
from evaluation.views.tables import (
    BoardLine,
    board_file_name,
    board_lines,
    lines_context,
    link_ends,
    live_query,
)
from submissions.models import Run

pages = Pages(f"{TASK}leaderboard/", task_or_404, section="leaderboard")

MOST_RUNS = 100
"""The number of runs whose spread is shown: with more, those with the best means."""


class RunSpread(NamedTuple):
    """A run with its mean, and the spread of its scores over topics: number and five figures."""

    run: BoardRun
    mean: float
    topics: int
    worst: float
    low: float
    median: float
    high: float
    best: float


def run_spreads(board: Board, *, qrel_set: QrelSet, measure: Measure) -> list[RunSpread]:
    """Return the spreads of the best runs of a board in a measure, the best mean first.

    The runs that do not count follow the others.

    Quartiles are interpolated between topics. A run has only the topics for which it has a score.
    """
    runs = by_mean((row.run for row in board.rows), measure.name)[:MOST_RUNS]
    means = [(run.key, run.values[measure.name]) for run in runs]
    key = key_of("run-spreads-1", qrel_set.pk, qrel_set.sha256, measure.name, means)
    keys = [run for run, _ in means]
    figures = cached_value(key, lambda: _figures(keys, qrel_set, measure))
    return [
        RunSpread(run, run.values[measure.name], *figures[run.key])
        for run in runs
        if run.key in figures
    ]


def _figures(runs: list[int], qrel_set: QrelSet, measure: Measure) -> dict[int, list[Any]]:
    """Return the number of topics and the five figures of each run that has topics."""
    _, scores = topic_matrix(runs=runs, qrel_set=qrel_set, measure=measure.name)
    known = ~np.isnan(scores)
    some = np.flatnonzero(known.any(axis=1))
    if not len(some):
        return {}
    figures = np.nanquantile(scores[some], [0, 0.25, 0.5, 0.75, 1], axis=1).T.tolist()
    counts = known[some].sum(axis=1).tolist()
    rows = zip(some, counts, figures, strict=True)
    return {runs[place]: [count, *five] for place, count, five in rows}


def spread_context(
    visible: VisibleBoard, sight: ScoreAccess, label: str, *, further: int = 0
) -> dict[str, Any]:
    """Return the chart of a leaderboard in the measure with this label, and its table.

    The last measures (`further`) have no scores by topic. An unknown label is the main measure.
    """
    stored = visible.board.measures[: len(visible.board.measures) - further]
    measures = {rating.label: rating for rating in stored if rating.is_rating}
    measure = measures.get(label, next(iter(measures.values()), None))
    if measure is None:
        return {}
    spreads = run_spreads(visible.board, qrel_set=visible.qrel_set, measure=measure)
    own = sight.own_teams.values()
    return {
        "spread_measure": measure,
        "spread_measures": measures.values(),
        "spreads": spreads,
        "most_runs": MOST_RUNS,
        "spread_chart": {
            "measure": measure.heading,
            "end": link_ends(visible, sight, [measure])[0],
            "runs": [
                [
                    run.key,
                    run.label,
                    run.team,
                    "own" if run.team in own else "base" if run.is_baseline else "",
                    *(round(value, 4) for value in (mean, *figures)),
                ]
                for run, mean, _, *figures in spreads
            ],
        },
    }


KEPT = frozenset({"qrels", "live", "sort"})
"""The parameters of the page that its forms keep."""


@pages.read("", "leaderboard")
def leaderboard(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the leaderboard as the user can see it, or return it as a file.

    Without a leaderboard, the page explains why.
    """
    sight = score_access_of(request.user, task)
    visible = visible_board(sight, qrels=request.GET.get("qrels", ""), live="live" in request.GET)
    format_, also = request.GET.get("format"), request.GET.get("also", "")
    further = with_further_measures(visible, also, waits=bool(format_)) if visible else None
    visible = further.visible if further else None
    if format_:
        return board_file(visible, format_)
    context = _board_context(request, sight, visible) | {"further": further}
    if further and visible:
        context |= lines_context(request, visible, sight, further=further.columns)
        context["post_hoc"] = _post_hoc_lines(visible, sight, context["part"])
        if visible.board.rows:
            label = request.GET.get("chart", "")
            context |= spread_context(visible, sight, label, further=further.columns)
    return render(request, "evaluation/leaderboard.html", context)


def _board_context(
    request: HttpRequest, sight: ScoreAccess, visible: VisibleBoard | None
) -> dict[str, Any]:
    """Return what the page of a leaderboard shows beside its lines."""
    task, released, certificate_url = sight.task, sight.leaderboard, ""
    if released and sight.may_open_certificate(released.qrel_set):
        address = [task.lab.slug, task.slug, released.qrel_set.version]
        certificate_url = reverse("evaluation:certificate-detail", args=address)
    is_live = visible is not None and visible.state == "live"
    return {
        "sight": sight,
        "own": None if visible else own_means(sight),
        "columns": columns_in("page"),
        "board_query": f"?{urlencode(live_query(visible))}" if visible and is_live else "",
        "has_progress": visible and has_linked_runs(visible),
        "kept": [(name, value) for name, value in request.GET.items() if name in KEPT],
        "kinds": MEASURE_KINDS,
        "unscored": _unscored(visible, sight) if visible else (),
        "versions": QrelSet.objects.filter(task=task) if sight.organizes else (),
        "first_answers": first_answers_access(request.user, task) is not None,
        "history": _history(sight),
        "certificate_url": certificate_url,
    }


@pages.read("versions/<int:version>/", "leaderboard-version")
def leaderboard_version(request: HttpRequest, task: Task, version: int) -> HttpResponse:
    """Show a version of the leaderboard as it was released, or return it as a file.

    Its scores lead nowhere: the pages of runs and topics have those of the newest version.
    """
    sight = score_access_of(request.user, task)
    released = get_object_or_404(released_versions(sight), version=version)
    visible = VisibleBoard("version", released.qrel_set, released_board(released))
    if format_ := request.GET.get("format"):
        return board_file(visible, format_, name=f"version-{version}")
    context = lines_context(request, visible, sight, task_url="../../../")
    newest = set(sight.leaderboard.scores) if sight.leaderboard else set()
    context["lines"] = [_openable(line, sight, newest) for line in context["lines"]]
    context |= {"released": released, "history": _history(sight)}
    return render(request, "evaluation/leaderboard_version.html", context)


def _openable(line: BoardLine, sight: ScoreAccess, newest: Set[str]) -> BoardLine:
    """Return a line without its link if the user may open neither the run nor its scores."""
    run = line.row.run
    is_open = str(run.key) in newest or sight.may_see_run_of(run.team)
    return line if is_open else replace(line, url="")


def _history(sight: ScoreAccess) -> QuerySet[Leaderboard]:
    """Return the releases: all for organizers, others see those that are not hidden."""
    if sight.organizes:
        return sight.task.leaderboards.select_related("qrel_set", "released_by")
    return released_versions(sight)


@pages.read("<int:run>/<path:measure>", "score-link", access=None, section="")
def score_link(request: HttpRequest, lab: str, task: str, run: int, measure: str) -> HttpResponse:
    """Lead from a cell of the leaderboard to the run's scores by topic, which check permissions."""
    query = request.GET.dict() | {"measure": measure}
    return redirect(reverse("evaluation:run-scores", args=[lab, task, run], query=query))


def _post_hoc_lines(
    visible: VisibleBoard, sight: ScoreAccess, part: BoardPartForm
) -> list[BoardLine]:
    """Return the rows of the post-hoc runs that the user may see, which are in no file."""
    everything = all_runs_of(sight, visible)
    lines = board_lines(everything, sight, part=BoardPartForm(part.data, everything.board))
    return [line for line in lines if POST_HOC in line.row.run.standings]


def board_file(visible: VisibleBoard | None, format_: str, *, name: str = "") -> HttpResponse:
    """Return a board as a file that is named after its task and qrels and, if given, a name."""
    if visible is None or format_ not in FILE_ENDINGS:
        raise Http404
    stem = board_file_name(visible.board, visible.board.qrels, name)
    return exact_response(write_board(visible.board, format_), f"{stem}.{FILE_ENDINGS[format_]}")


def _unscored(visible: VisibleBoard, sight: ScoreAccess) -> list[tuple[Run, str]]:
    """Return the valid runs missing from the leaderboard, with the reasons."""
    if visible.state == "released":
        return []
    runs = unscored_runs(visible.qrel_set, [row.run.key for row in visible.board.rows])
    return [(run, reason) for run, reason in runs if sight.may_see_run_of(run.team.name)]
