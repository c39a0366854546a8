"""What pages of boards share: the chosen part, its rows and links, addresses and file names."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote, urlencode

from django import forms
from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.safestring import SafeString, mark_safe

from arqkit.formats.leaderboards import write_board
from arqkit.formats.tables import FILE_ENDINGS
from arqkit.leaderboard import (
    Board,
    BoardCell,
    BoardColumn,
    BoardRow,
    BoardRun,
    columns_in,
    part_of_board,
    sorted_board,
)
from arqkit.measures.names import Measure, MeasureDefinition, definition_of
from arqkit.standings import POST_HOC
from arqlab.core.models import Task, Topic
from arqlab.web import LONGEST_TABLE, ROWS_A_PAGE, Column, Row, cells, exact_response, task_url
from evaluation.permissions import (
    ScoreAccess,
    VisibleBoard,
    all_runs_of,
    score_access_of,
    visible_board,
)
from evaluation.selectors.boards import Certainty, certainties

_IN_PATHS = "'@()=,"
"""Characters of measures that need no escapes in paths, or in HTML between double quotes."""


class ShownBoard(NamedTuple):
    """The board that the page of the leaderboard shows, if any, and what its reader may see."""

    access: ScoreAccess
    visible: VisibleBoard | None


class BoardPartForm(forms.Form):
    """Which runs and measures of a leaderboard a page shows. Unknown values are ignored."""

    primary = forms.BooleanField(label="Primary runs", required=False)
    best = forms.BooleanField(label="Best run per team", required=False)
    manual = forms.ChoiceField(
        choices=[("", "any"), ("manual", "manual"), ("automatic", "automatic")],
        label="Type",
        required=False,
    )
    measures = forms.ChoiceField(
        choices=[("", "main"), ("all", "all")], label="Measures", required=False
    )

    def __init__(self, query: Mapping[str, str], board: Board) -> None:
        """Read the address (`request.GET`), and offer the data of the runs of the board."""
        super().__init__(query, auto_id="part-%s")
        data = sorted({row.run.data for row in board.rows} - {""})
        choices = [("", "any"), *((word, word) for word in data)]
        self.fields["data"] = forms.ChoiceField(choices=choices, label="Data", required=False)
        self.board = board
        self.is_valid()

    def shown_measures(self, further: int) -> list[Measure]:
        """Return the main or all measures, and the last ones (`further`), which were asked for."""
        stored = self.board.measures[: len(self.board.measures) - further]
        main = [measure for measure in self.board.main_measures if measure in stored]
        measures = stored if self.cleaned_data.get("measures") else main
        return [*measures, *self.board.measures[len(stored) :]]

    def shown_runs(self) -> set[int]:
        """Return the keys of the runs; the best run of a team is the first one that is shown."""
        runs = [row.run for row in self.board.rows if self._shows(row.run)]
        if self.cleaned_data.get("best"):
            first: dict[object, BoardRun] = {}
            for run in runs:
                first.setdefault(run.team if run.counts and not run.is_baseline else run.key, run)
            runs = list(first.values())
        return {run.key for run in runs}

    def shown_board(self, board: Board, further: int = 0) -> Board:
        """Return the part of a board, whose last measures (`further`) were asked for."""
        return part_of_board(board, self.shown_measures(further), self.shown_runs())

    def _shows(self, run: BoardRun) -> bool:
        conditions = self.cleaned_data
        return (
            (not conditions.get("primary") or run.is_primary)
            and conditions.get("manual") in (None, "", "manual" if run.is_manual else "automatic")
            and conditions.get("data") in (None, "", run.data)
        )


class BoardLine(NamedTuple):
    """A row of a leaderboard with the URL of its run.

    The URL is that of the run's scores if the user may not see the run. `details` has the texts of
    the columns before the cells. `cells` is HTML: a long leaderboard has thousands of cells, so
    they have no classes, short relative links, and no end tags.
    """

    row: BoardRow
    url: str
    details: list[tuple[BoardColumn, str]]
    cells: SafeString
    is_own: bool


def board_lines(
    visible: VisibleBoard,
    sight: ScoreAccess,
    *,
    part: BoardPartForm,
    rows: Iterable[BoardRow] | None = None,
    further: int = 0,
    task_url: str = "",
) -> list[BoardLine]:
    """Return the rows of a part of a leaderboard, or some of them, such as a page.

    The last columns (`further`) are not stored, and have no links. The others lead to addresses
    relative to the leaderboard's, to keep long pages small. On a page below another task or address
    (`task_url`) only runs have links. The main measures show how certain they are.
    """
    board, measures = visible.board, part.shown_measures(further)
    board_measures = board.measures[: len(board.measures) - further]
    stored = [measure for measure in measures if measure in board_measures]
    ends = {} if task_url else dict(zip(stored, link_ends(visible, sight, stored), strict=True))
    certain = {
        measure: certainties(board, qrel_set=visible.qrel_set, measure=measure)
        for measure in board.main_measures
    }
    if rows is None:
        rows = part.shown_board(board, further).rows
    return [_line(row, sight, ends, certain, task_url or "../") for row in rows]


def post_hoc_lines(
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


def link_ends(visible: VisibleBoard, sight: ScoreAccess, measures: Iterable[Measure]) -> list[str]:
    """Return the ends of the links to scores in measures, which follow the key of the run."""
    is_default = visible.state != "live" or (visible.qrel_set.is_current and not sight.leaderboard)
    query = "" if is_default else f"?{urlencode(version_query(visible))}"
    return [f"{quote(measure.label, safe=_IN_PATHS)}{query}" for measure in measures]


def _line(
    row: BoardRow,
    sight: ScoreAccess,
    ends: Mapping[Measure, str],
    certain: Mapping[Measure, Mapping[int, Certainty]],
    task_url: str,
) -> BoardLine:
    """Return a row. Its cells lead to addresses with these ends, which `score_link` reads."""
    key = row.run.key
    page = "" if sight.may_see_run(key) else "scores/"
    details = [(column, column.text(row.run)) for column in columns_in("page")]
    row_cells = "".join(
        _cell(
            cell,
            f"{key}/{ends[cell.measure]}" if ends.get(cell.measure) else "",
            certain.get(cell.measure, {}).get(key),
        )
        for cell in row.cells
    )
    is_own = key in sight.own_runs
    url = f"{task_url}runs/{row.run.key}/{page}"
    return BoardLine(row, url, details, mark_safe(row_cells), is_own)  # noqa: S308


def _cell(cell: BoardCell, url: str, certainty: Certainty | None) -> str:
    figure = value = "–" if cell.value is None else f"{cell.value:.4f}"
    if url and cell.value is not None:
        value = f'<a href="{url}">{value}</a>'
    start = "<td class=best" if cell.is_best else "<td"
    if certainty is None or cell.value is None:
        return f"{start}>{value}"
    mark = "†" if certainty.is_lower else ""
    interval = f"{certainty.low:.3f}–{certainty.high:.3f}"
    return f"{start} data-value={figure}>{value}{mark} <small>{interval}</small>"


def topic_columns(
    task: Task, topics: Mapping[str, Topic], query_id: Callable[[Row], str]
) -> tuple[Column[Row], ...]:
    """Return the columns of the topic of a row: the id and the title.

    The id leads to the page of the topic if the task has it.
    """

    def title(row: Row) -> str:
        return getattr(topics.get(query_id(row)), "title_html", "")

    def link(row: Row) -> str:
        topic = query_id(row)
        return task_url("labs:topic-detail", task, topic) if topic in topics else ""

    return (
        Column("Topic", query_id, cells.ID, name="topic", is_head=True, link=link, css="nowrap"),
        Column("Title", title, cells.SAFE, name=None, css="topic-title"),
    )


def file_words(measure: Measure) -> str:
    """Return the label of a measure for the name of a file."""
    return measure.label.replace("'", "-prime").replace("@", "-")


def board_file_name(board: Board, *parts: object) -> str:
    """Return the name of a file about a board, without an ending: its task and further parts."""
    words = (file_words(part) if isinstance(part, Measure) else str(part) for part in parts)
    return "-".join(filter(None, [board.task.replace("/", "-"), *words]))


def board_file(visible: VisibleBoard | None, format_: str, *, name: str = "") -> HttpResponse:
    """Return a board as a file that is named after its task and qrels and, if given, a name."""
    if visible is None or format_ not in FILE_ENDINGS:
        raise Http404
    stem = board_file_name(visible.board, visible.board.qrels, name)
    return exact_response(write_board(visible.board, format_), f"{stem}.{FILE_ENDINGS[format_]}")


def scores_page(visible: VisibleBoard, measure: Measure) -> Callable[[BoardRun], str]:
    """Return what makes the address of a run's scores by topic."""
    task, query = visible.qrel_set.task, measure_query(visible, measure)
    return lambda run: f"{task_url('evaluation:run-scores', task, run.key)}?{query}"


def measure_query(visible: VisibleBoard, measure: Measure) -> str:
    """Return the parameters that lead to pages of the same board in a measure."""
    return urlencode({"measure": measure.label, **version_query(visible)})


def seen_board(request: HttpRequest, task: Task) -> tuple[ScoreAccess, VisibleBoard]:
    """Return a user's access to scores, and the board that the address asks for.

    Raises `Http404` if the user may not see a board.
    """
    sight = score_access_of(request.user, task)
    visible = visible_board(sight, qrels=request.GET.get("qrels", ""), live="live" in request.GET)
    if visible is None:
        raise Http404
    return sight, visible


@dataclass(frozen=True, kw_only=True)
class BoardLines:
    """The part of a board that a page shows: its measures and lines, and a page of many lines."""

    visible: VisibleBoard
    columns: Sequence[BoardColumn]
    page: Page[BoardRow] | None
    sort: str
    definitions: list[tuple[Measure, MeasureDefinition]]
    part: BoardPartForm
    measures: Sequence[Measure]
    lines: list[BoardLine]


def lines_of(
    request: HttpRequest,
    visible: VisibleBoard,
    sight: ScoreAccess,
    *,
    further: int = 0,
    task_url: str = "",
) -> BoardLines:
    """Return what `_board_table.html` shows of the part of a board that the address asks for."""
    sort, part = request.GET.get("sort", ""), BoardPartForm(request.GET, visible.board)
    selected = part.shown_board(sorted_board(visible.board, sort), further).rows
    page = Paginator(selected, ROWS_A_PAGE).get_page(request.GET.get("page"))
    rows = page.object_list if len(selected) > LONGEST_TABLE else selected
    return BoardLines(
        visible=visible,
        columns=columns_in("page"),
        page=page if len(selected) > LONGEST_TABLE else None,
        sort=sort,
        definitions=[(measure, definition_of(measure)) for measure in visible.board.measures],
        part=part,
        measures=part.shown_measures(further),
        lines=board_lines(visible, sight, part=part, rows=rows, further=further, task_url=task_url),
    )


def measure_or_404(board: Board, label: str) -> Measure:
    """Return the measure with this label, or the main measure.

    Raises `Http404` if the leaderboard lacks the measure.
    """
    for measure in board.measures:
        if label in ("", measure.label):
            return measure
    raise Http404


def live_query(visible: VisibleBoard) -> dict[str, str]:
    """Return the parameters that lead from the leaderboard to other pages of the same board."""
    return ({"live": "1"} if visible.state == "live" else {}) | version_query(visible)


def version_query(visible: VisibleBoard) -> dict[str, str]:
    """Return the parameters that lead to the same board: live boards are named by their qrels."""
    return {"qrels": visible.qrel_set.name} if visible.state == "live" else {}
