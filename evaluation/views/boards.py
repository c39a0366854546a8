"""The leaderboards of a task: the page with its chart, and its versions."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from arqlab.core.models import Task
from arqlab.labs.permissions import task_or_404
from arqlab.web import TASK, Pages, Tab, context_of
from evaluation.permissions import ScoreAccess, score_access_of, visible_board
from evaluation.services.further_measures import FurtherMeasures, with_further_measures
from evaluation.services.leaderboard_pages import leaderboard_page, released_page
from evaluation.views.charts import spread_of_runs
from evaluation.views.tables import BoardLine, ShownBoard, board_file, lines_of, post_hoc_lines

pages = Pages(TASK, task_or_404, section="leaderboard")

KEPT = frozenset({"qrels", "live", "sort"})
"""The parameters of the page that its forms keep."""


@dataclass(frozen=True, kw_only=True)
class BoardQuery:
    """The leaderboard requested by the address, or the reason why it cannot be shown.

    - further: the measures that the address adds, and what is wrong with them.
    - kept: the parameters of the address that forms keep.
    - post_hoc: the lines of post-hoc runs.
    """

    shown: ShownBoard
    further: FurtherMeasures | None
    kept: list[tuple[str, object]]
    post_hoc: Sequence[BoardLine]


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
    query = BoardQuery(
        shown=ShownBoard(sight, visible),
        further=further,
        kept=[(name, value) for name, value in request.GET.items() if name in KEPT],
        post_hoc=post_hoc_lines(lines.visible, sight, lines.part) if lines else (),
    )
    context = context_of(leaderboard_page(sight, visible), query, lines, spread)
    return render(request, "evaluation/leaderboard.html", context)


@pages.read("leaderboard/versions/<number:version>/", "leaderboard-version")
def leaderboard_version(request: HttpRequest, task: Task, version: int) -> HttpResponse:
    """Show a version of the leaderboard as it was released, or return it as a file.

    Its scores lead nowhere: the pages of runs and topics have those of the newest version.
    """
    sight = score_access_of(request.user, task)
    page = released_page(sight, version)
    if format_ := request.GET.get("format"):
        return board_file(page.board, format_, name=f"version-{version}")
    board = lines_of(request, page.board, sight, task_url="../../../")
    newest = set(sight.leaderboard.scores) if sight.leaderboard else set()
    board = replace(board, lines=[_openable(line, sight, newest) for line in board.lines])
    return render(request, "evaluation/leaderboard_version.html", context_of(page, board))


def _openable(line: BoardLine, sight: ScoreAccess, newest: Set[str]) -> BoardLine:
    """Return a line without its link if the user may open neither the run nor its scores."""
    run = line.row.run
    is_open = str(run.key) in newest or sight.may_see_run(run.key)
    return line if is_open else line._replace(url="")


@pages.read("leaderboard/<number:run>/<path:measure>", "score-link", access=None, section="")
def score_link(request: HttpRequest, lab: str, task: str, run: int, measure: str) -> HttpResponse:
    """Lead from a cell of the leaderboard to the run's scores by topic, which check permissions."""
    query = request.GET.dict() | {"measure": measure}
    return redirect(reverse("evaluation:run-scores", args=[lab, task, run], query=query))
