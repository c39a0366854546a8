"""The leaderboards of a task: the page with its chart, versions, and their release."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone

from arqkit.formats.leaderboards import write_board
from arqkit.formats.tables import FILE_ENDINGS
from arqkit.leaderboard import Board, BoardRun, by_mean
from arqkit.measures.names import MEASURE_KINDS, Measure
from arqkit.standings import POST_HOC
from arqlab.core.caches import cached_value, key_of
from arqlab.core.models import Task
from arqlab.core.views import refused, signed_in, told
from arqlab.labs.oddities import Ceremony, is_preview, with_left_out
from arqlab.labs.permissions import organized_task_or_404, task_or_404
from arqlab.web import TASK, Pages, Tab, context_of, exact_response, number_of, task_url
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import qrels_named
from evaluation.models import Erratum, Leaderboard
from evaluation.permissions import (
    ScoreAccess,
    VisibleBoard,
    all_runs_of,
    released_versions,
    score_access_of,
    visible_board,
)
from evaluation.selectors.boards import (
    live_scores,
    released_board,
    released_leaderboard,
    topic_matrix,
)
from evaluation.selectors.errata import errata_of
from evaluation.selectors.oddities import release_oddities
from evaluation.selectors.pending_scores import unscored_runs
from evaluation.selectors.records import recorded_qrels
from evaluation.selectors.references import missing_model
from evaluation.services.further_measures import FurtherMeasures, with_further_measures
from evaluation.services.own_means import OwnMeans, own_means
from evaluation.services.releasing import hide_leaderboard, hide_version, release_leaderboard
from evaluation.views.tables import (
    BoardLine,
    BoardLines,
    BoardPartForm,
    ShownBoard,
    board_file_name,
    board_lines,
    lines_of,
    link_ends,
)
from submissions.forms import LeftOutRunsForm
from submissions.models import Run
from submissions.services.left_out import out_of_competition

pages = Pages(TASK, task_or_404, section="leaderboard")

KEPT = frozenset({"qrels", "live", "sort"})
"""The parameters of the page that its forms keep."""
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

    The runs that do not count follow the others. Quartiles are interpolated between topics.
    """
    runs = by_mean((row.run for row in board.rows), measure.name)[:MOST_RUNS]
    means = [(run.key, run.values[measure.name]) for run in runs]
    facts = board.release, qrel_set.pk, qrel_set.sha256, measure.name, means
    keys = [run for run, _ in means]
    figures = cached_value(
        key_of("run-spreads", *facts), lambda: _figures(board, keys, qrel_set, measure), work=0.02
    )
    return [
        RunSpread(run, run.values[measure.name], *figures[run.key])
        for run in runs
        if run.key in figures
    ]


def _figures(
    board: Board, runs: list[int], qrel_set: QrelSet, measure: Measure
) -> dict[int, list[Any]]:
    """Return the number of topics and the five figures of each run that has topics."""
    _, scores = topic_matrix(board, runs=runs, qrel_set=qrel_set, measure=measure.name)
    has_score = ~np.isnan(scores)
    some = np.flatnonzero(has_score.any(axis=1))
    if not len(some):
        return {}
    figures = np.nanquantile(scores[some], [0, 0.25, 0.5, 0.75, 1], axis=1).T.tolist()
    counts = has_score[some].sum(axis=1).tolist()
    rows = zip(some, counts, figures, strict=True)
    return {runs[place]: [count, *five] for place, count, five in rows}


@dataclass(frozen=True, kw_only=True)
class BoardSpread:
    """The spread of the runs of a board in one of its measures, as a chart and as a table."""

    spread_measure: Measure
    spread_measures: Iterable[Measure]
    spreads: list[RunSpread]
    most_runs: int
    spread_chart: dict[str, object]


@dataclass(frozen=True, kw_only=True)
class LeaderboardPage:
    """The leaderboard that a user sees, with its history, or the reason why there is none.

    - further: the measures that the address adds, and what is wrong with them.
    - own: the means that a team sees of its own runs before a release.
    - kept: the parameters of the address that forms keep.
    - unscored: the runs without scores, with the reason.
    - released, errata: the release that the page shows, and what has changed since.
    - post_hoc: the lines of post-hoc runs.
    """

    sight: ScoreAccess
    shown: ShownBoard
    further: FurtherMeasures | None
    own: OwnMeans | None
    kept: list[tuple[str, object]]
    kinds: object
    missing_model: str
    unscored: Sequence[tuple[Run, str]]
    versions: Iterable[QrelSet]
    history: QuerySet[Leaderboard]
    certificate_url: str
    released: Leaderboard | None
    errata: Iterable[Erratum]
    post_hoc: list[BoardLine]


@dataclass(frozen=True, kw_only=True)
class ReleasedPage:
    """A version of the leaderboard with its errata, and the other ones."""

    sight: ScoreAccess
    released: Leaderboard
    errata: Iterable[Erratum]
    history: QuerySet[Leaderboard]


def spread_of_runs(
    visible: VisibleBoard, sight: ScoreAccess, label: str, *, further: int = 0
) -> BoardSpread | None:
    """Return the chart of a leaderboard in the measure with this label, and its table.

    The last measures (`further`) have no scores by topic. An unknown label is the main measure.
    """
    stored = visible.board.measures[: len(visible.board.measures) - further]
    measures = {rating.label: rating for rating in stored if rating.is_rating}
    measure = measures.get(label, next(iter(measures.values()), None))
    if measure is None:
        return None
    spreads = run_spreads(visible.board, qrel_set=visible.qrel_set, measure=measure)
    return BoardSpread(
        spread_measure=measure,
        spread_measures=measures.values(),
        spreads=spreads,
        most_runs=MOST_RUNS,
        spread_chart={
            "measure": measure.heading,
            "end": link_ends(visible, sight, [measure])[0],
            "runs": [
                [
                    run.key,
                    run.label,
                    run.team,
                    "own" if run.key in sight.own_runs else "base" if run.is_baseline else "",
                    *(round(value, 4) for value in (mean, *figures)),
                ]
                for run, mean, _, *figures in spreads
            ],
        },
    )


@pages.read(
    "leaderboard/",
    "leaderboard",
    shows="leaderboard",
    tabs=(Tab("task", "Leaderboard", 80, guide="results.html"),),
)
def leaderboard(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the leaderboard as the user can see it, or return it as a file.

    Without a leaderboard, the page explains why.
    """
    sight = score_access_of(request.user, task)
    visible = visible_board(sight, qrels=request.GET.get("qrels", ""), live="live" in request.GET)
    format_, also = request.GET.get("format"), request.GET.get("also", "")
    further = with_further_measures(visible, also, user=request.user) if visible else None
    visible = further.visible if further else None
    if format_:
        return board_file(visible, format_)
    lines, spread = None, None
    if further and visible:
        lines = lines_of(request, visible, sight, further=further.columns)
        if visible.board.rows:
            label = request.GET.get("chart", "")
            spread = spread_of_runs(visible, sight, label, further=further.columns)
    page = _leaderboard_page(request, sight, further, lines)
    return render(request, "evaluation/leaderboard.html", context_of(page, lines, spread))


def _leaderboard_page(
    request: HttpRequest,
    sight: ScoreAccess,
    further: FurtherMeasures | None,
    lines: BoardLines | None,
) -> LeaderboardPage:
    task, released, certificate_url = sight.task, sight.leaderboard, ""
    visible = lines.visible if lines else None
    if released and sight.may_open_certificate(released.qrel_set):
        version = released.qrel_set.version
        certificate_url = task_url("certificate", task, version)
    shown_release = released if visible and visible.state == "released" else None
    return LeaderboardPage(
        sight=sight,
        shown=ShownBoard(sight, visible),
        further=further,
        own=None if visible else own_means(sight),
        kept=[(name, value) for name, value in request.GET.items() if name in KEPT],
        kinds=MEASURE_KINDS,
        missing_model=missing_model(task) if visible and sight.organizes else "",
        unscored=_unscored(visible, sight) if visible else (),
        versions=QrelSet.objects.filter(task=task) if sight.organizes else (),
        history=_history(sight),
        certificate_url=certificate_url,
        released=shown_release,
        errata=errata_of(shown_release) if shown_release else (),
        post_hoc=_post_hoc_lines(lines.visible, sight, lines.part) if lines else [],
    )


@pages.read("leaderboard/versions/<number:version>/", "leaderboard-version")
def leaderboard_version(request: HttpRequest, task: Task, version: int) -> HttpResponse:
    """Show a version of the leaderboard as it was released, or return it as a file.

    Its scores lead nowhere: the pages of runs and topics have those of the newest version.
    """
    sight = score_access_of(request.user, task)
    released = get_object_or_404(released_versions(sight), version=version)
    visible = VisibleBoard("version", recorded_qrels(released), released_board(released))
    if format_ := request.GET.get("format"):
        return board_file(visible, format_, name=f"version-{version}")
    board = lines_of(request, visible, sight, task_url="../../../")
    newest = set(sight.leaderboard.scores) if sight.leaderboard else set()
    board = replace(board, lines=[_openable(line, sight, newest) for line in board.lines])
    page = ReleasedPage(
        sight=sight, released=released, errata=errata_of(released), history=_history(sight)
    )
    return render(request, "evaluation/leaderboard_version.html", context_of(page, board))


def _openable(line: BoardLine, sight: ScoreAccess, newest: Set[str]) -> BoardLine:
    """Return a line without its link if the user may open neither the run nor its scores."""
    run = line.row.run
    is_open = str(run.key) in newest or sight.may_see_run(run.key)
    return line if is_open else line._replace(url="")


def _history(sight: ScoreAccess) -> QuerySet[Leaderboard]:
    """Return the releases: all for organizers, others see those that are not hidden."""
    if sight.organizes:
        return sight.task.leaderboards.select_related("qrel_set", "released_by")
    return released_versions(sight)


@pages.read("leaderboard/<number:run>/<path:measure>", "score-link", access=None, section="")
def score_link(request: HttpRequest, lab: str, task: str, run: int, measure: str) -> HttpResponse:
    """Lead from a cell of the leaderboard to the run's scores by topic, which check permissions."""
    query = request.GET.dict() | {"measure": measure}
    return redirect(reverse("evaluation:run-scores", args=[lab, task, run], query=query))


def _post_hoc_lines(
    visible: VisibleBoard, sight: ScoreAccess, part: BoardPartForm
) -> list[BoardLine]:
    """Return the rows of the post-hoc runs that the user may see, which are in no file."""
    everything = all_runs_of(sight, visible)
    if everything.board is visible.board:
        return []
    part = BoardPartForm(part.data, everything.board)
    all_rows = part.shown_board(everything.board).rows
    rows = [row for row in all_rows if POST_HOC in row.run.standings]
    return board_lines(everything, sight, part=part, rows=rows)


def board_file(visible: VisibleBoard | None, format_: str, *, name: str = "") -> HttpResponse:
    """Return a board as a file that is named after its task and qrels and, if given, a name."""
    if visible is None or format_ not in FILE_ENDINGS:
        raise Http404
    stem = board_file_name(visible.board, visible.board.qrels, name)
    return exact_response(write_board(visible.board, format_), f"{stem}.{FILE_ENDINGS[format_]}")


def _unscored(visible: VisibleBoard, sight: ScoreAccess) -> list[tuple[Run, str]]:
    if visible.state == "released":
        return []
    runs = unscored_runs(visible.qrel_set, [row.run.key for row in visible.board.rows])
    return [(run, reason) for run, reason in runs if sight.may_see_run(run.pk)]


class ReleaseForm(forms.Form):
    """What everyone is told about a release."""

    reason = forms.CharField(
        label="Reason for this version",
        required=False,
        max_length=300,
        help_text="Such as: labels of A.12 corrected. Everyone who sees the leaderboard reads it "
        "in the list of its versions.",
    )


@pages.form("leaderboard/release/", "leaderboard-release", access=organized_task_or_404)
def leaderboard_release(request: HttpRequest, task: Task) -> HttpResponse:
    """List what is odd about the board of the chosen qrels, and release it."""
    qrel_set = qrels_named(task, (request.POST or request.GET).get("qrels", ""))
    if qrel_set is None:
        raise Http404
    data = with_left_out(request.POST) if request.POST else None
    runs = Run.objects.valid().filter(task=task)
    form = LeftOutRunsForm(data, runs=runs, recorded=out_of_competition(runs))
    release = ReleaseForm(data)
    ceremony = Ceremony(release_oddities(qrel_set, at=timezone.now()), form.entered)
    is_sent = request.method == "POST" and not is_preview(request.POST)
    if is_sent and form.is_valid() and release.is_valid():
        with refused(form):
            ceremony.require_acknowledged(request.POST)
            return _released(request, qrel_set, form.run_reasons, release.cleaned_data["reason"])
    context = {
        "qrel_set": qrel_set,
        "ceremony": ceremony,
        "runs": len(live_scores(qrel_set)),
        "released": released_leaderboard(task),
        "form": form,
        "release": release,
    }
    status = 422 if is_sent else 200
    return render(request, "evaluation/leaderboard_release.html", context, status=status)


def _released(
    request: HttpRequest, qrel_set: QrelSet, apart: dict[int, str], reason: str
) -> HttpResponse:
    by, at = signed_in(request), timezone.now()
    with told(request):
        board = release_leaderboard(qrel_set=qrel_set, by=by, at=at, apart=apart, reason=reason)
        messages.success(
            request,
            f"Version {board.version} is released. Everyone who can see the lab can now see it.",
        )
        return _back_to_board(qrel_set.task)
    return _back_to_board(qrel_set.task, live=qrel_set)


@pages.action("leaderboard/hide/", "leaderboard-hide", access=organized_task_or_404)
def leaderboard_hide(request: HttpRequest, task: Task) -> HttpResponse:
    """Hide the released leaderboard with all versions, or only an earlier `version`."""
    by, at, version = signed_in(request), timezone.now(), request.POST.get("version", "")
    with told(request):
        if version:
            number = number_of(version) or 0
            hide_version(task=task, version=number, by=by, at=at)
            text = f"Version {number} is hidden."
        else:
            hide_leaderboard(task=task, by=by, at=at)
            text = (
                "The leaderboard is hidden. Only organizers can see it until it is released again."
            )
            if task.threads == Task.Threads.OPEN:
                text += " The threads of the topics stay open, because people may have read them."
        messages.success(request, text)
    return _back_to_board(task)


def _back_to_board(task: Task, *, live: QrelSet | None = None) -> HttpResponse:
    address = task_url("evaluation:leaderboard", task)
    return redirect(f"{address}?live=1&qrels={live.name}" if live else address)
