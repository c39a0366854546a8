"""Leaderboards as the papers' tables are (protocol §4, last line; 000 table A1, 004 tables 3 to 5).

Baselines come first, then the teams in order of their best run, and within a team its runs, all by
the main measure: the first one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Literal, NamedTuple

from arqlab.ir.measures.names import Measure

DECIMALS = 4
"""Figures are compared as they are printed: two runs that show the same best figure are both the
best.
"""
UNRANKED = -1.0
"""Below every value: what a run without a score has."""


@dataclass(frozen=True, slots=True)
class BoardRun:
    """One run of a board: who sent it, what was said of it, and its mean of each measure by the
    measure's name.

    `key` is the caller's own number for the run; `data` says in a word what the run used.
    """

    key: int
    team: str
    tag: str
    values: Mapping[str, float]
    is_primary: bool = False
    is_manual: bool = False
    is_baseline: bool = False
    is_withdrawn: bool = False
    data: str = ""


Place = Literal["page", "table", "latex", "json"]
"""Where a column appears; `table` is TSV and CSV."""


@dataclass(frozen=True, slots=True)
class BoardColumn:
    """A column before the measures: `key` names it in files, `heading` on pages and in LaTeX.

    A column with a `mark`, what a true value means, is yes or no: a table shows its heading or
    nothing.
    """

    key: str
    heading: str
    value: Callable[[BoardRun], str | bool]
    places: frozenset[Place]
    mark: str = ""

    def text(self, run: BoardRun) -> str:
        """Return what a table shows for a run: a text, or a mark's heading."""
        value = self.value(run)
        return value if isinstance(value, str) else self.heading if value else ""


EVERYWHERE: frozenset[Place] = frozenset({"page", "table", "latex", "json"})
COLUMNS = (
    BoardColumn("team", "Team", attrgetter("team"), frozenset({"table", "json"})),
    BoardColumn("run", "Run", attrgetter("tag"), frozenset({"table", "json"})),
    BoardColumn("data", "Data", attrgetter("data"), frozenset({"page", "latex"})),
    BoardColumn("primary", "P", attrgetter("is_primary"), EVERYWHERE, "Primary run"),
    BoardColumn("manual", "M", attrgetter("is_manual"), EVERYWHERE, "Manual run"),
    BoardColumn("baseline", "", attrgetter("is_baseline"), frozenset({"json"}), "Baseline"),
    BoardColumn("withdrawn", "", attrgetter("is_withdrawn"), frozenset({"json"}), "Withdrawn"),
)
"""The columns before the measures, for the page, the files and the API alike. The page and LaTeX
draw team and run in their own way."""


def columns_in(place: Place) -> tuple[BoardColumn, ...]:
    """Return the columns that appear in a place, in order."""
    return tuple(column for column in COLUMNS if place in column.places)


class BoardCell(NamedTuple):
    """A run's value of one measure; None while the run is not scored."""

    measure: Measure
    value: float | None
    is_best: bool


class BoardRow(NamedTuple):
    """One line of a board; `opens_group` on the first line of the baselines and of each team."""

    run: BoardRun
    cells: tuple[BoardCell, ...]
    opens_group: bool


@dataclass(frozen=True, slots=True)
class Board:
    """A task's results: a column for each measure (the main one first), a line for each run.

    `ceilings` holds the best mean that any run could have, by the measure's name; `topics` counts
    those of the qrels.
    """

    task: str
    qrels: str
    topics: int
    measures: tuple[Measure, ...]
    ceilings: Mapping[str, float] = field(default_factory=dict)
    rows: tuple[BoardRow, ...] = ()


def with_runs(board: Board, runs: Iterable[BoardRun]) -> Board:
    """Return the board with these runs, in the order of the papers' tables, and the best of each
    column found.
    """
    ordered = papers_order(list(runs), board.measures)
    return replace(board, rows=_rows(ordered, board.measures, groups=True))


def sorted_board(board: Board, column: str) -> Board:
    """Return the board sorted by one column: a measure's label (largest first), `run` or `team`;
    else as it is.

    The groups are gone then: a line no longer stands with its team's others.
    """
    runs = [row.run for row in board.rows]
    measure = next((m for m in board.measures if m.label == column), None)
    if measure is not None:
        runs.sort(key=lambda run: _falling(run, measure.name))
    elif column in ("run", "team"):
        runs.sort(key=lambda run: (run.tag if column == "run" else run.team).casefold())
    else:
        return board
    return replace(board, rows=_rows(runs, board.measures, groups=False))


def papers_order(runs: Sequence[BoardRun], measures: Sequence[Measure]) -> list[BoardRun]:
    """Order runs: baselines, then teams by their best run, runs by the main measure; names decide
    between equals.

    A withdrawn run lifts its team nowhere and stands below its other runs.
    """
    main = measures[0].name if measures else ""
    best: dict[str, float] = {}
    for run in runs:
        if not run.is_baseline:
            best[run.team] = max(best.get(run.team, UNRANKED), _rank_value(run, main))

    def place(run: BoardRun) -> tuple[object, ...]:
        team = (0, 0.0, "") if run.is_baseline else (1, -best[run.team], run.team)
        return (*team, -_rank_value(run, main), *_falling(run, main))

    return sorted(runs, key=place)


def _rank_value(run: BoardRun, measure: str) -> float:
    return UNRANKED if run.is_withdrawn else run.values.get(measure, UNRANKED)


def _falling(run: BoardRun, measure: str) -> tuple[float, str, str, int]:
    # A withdrawn run that stays on a released board may have given its name to another.
    return -run.values.get(measure, UNRANKED), run.team, run.tag, run.key


def _rows(
    runs: Sequence[BoardRun], measures: Sequence[Measure], *, groups: bool
) -> tuple[BoardRow, ...]:
    best = {measure.name: _best_values(runs, measure.name) for measure in measures}
    rows = []
    before: object = None
    for run in runs:
        group = "" if run.is_baseline else run.team
        cells = tuple(_cell(run, measure, best[measure.name]) for measure in measures)
        rows.append(BoardRow(run, cells, opens_group=groups and group != before))
        before = group
    return tuple(rows)


def _cell(run: BoardRun, measure: Measure, best: tuple[float, float]) -> BoardCell:
    value = run.values.get(measure.name)
    counts = value is not None and not run.is_withdrawn and measure.is_rating
    is_best = counts and round(value or 0.0, DECIMALS) >= best[run.is_baseline] > 0
    return BoardCell(measure, value, is_best)


def _best_values(runs: Iterable[BoardRun], measure: str) -> tuple[float, float]:
    """Return the value from which on a team's run is the best, and from which on a baseline is.

    As in tables 5 and 7 of the third overview: the best of the teams is in bold, and so is a
    baseline that beats it.
    """
    teams, baselines = 0.0, 0.0
    for run in runs:
        value = round(run.values.get(measure, 0.0), DECIMALS)
        if run.is_baseline and not run.is_withdrawn:
            baselines = max(baselines, value)
        elif not run.is_withdrawn:
            teams = max(teams, value)
    return teams, max(teams, baselines)
