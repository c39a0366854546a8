"""Leaderboards in the layout of the papers' tables.

Sources: protocol §4, last line; 000 table A1; 004 tables 3 to 5. Baselines come first, then teams
by their best run, and within a team its runs, all by the first (main) measure.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Literal, NamedTuple

from arqkit.measures.names import Measure
from arqkit.standings import Standing, standing_of

DECIMALS = 4
"""Figures are compared as they are printed: two runs that show the same best figure are both the
best.
"""
BASELINES, OUT_OF_COMPETITION, POST_HOC = "Baselines", "Out of competition", "Post-hoc"
"""The headings of the first and the last two groups of a leaderboard; the others are teams."""
UNRANKED = -1.0
"""Below every value: what a run without a score has."""


@dataclass(frozen=True, slots=True)
class BoardRun:
    """One run of a leaderboard: its team, its metadata, and its means by the measures' names.

    `key` is the caller's number for the run; `data` is one word for the data that the run used.
    """

    key: int
    team: str
    tag: str
    values: Mapping[str, float]
    is_primary: bool = False
    is_manual: bool = False
    is_baseline: bool = False
    is_withdrawn: bool = False
    is_out_of_competition: bool = False
    is_post_hoc: bool = False
    data: str = ""

    def __str__(self) -> str:
        return self.standing.named(self.team, self.tag)

    @property
    def standing(self) -> Standing:
        """Return the standing of the run on its leaderboard."""
        return standing_of(
            is_baseline=self.is_baseline,
            is_out_of_competition=self.is_out_of_competition,
            is_post_hoc=self.is_post_hoc,
            is_withdrawn=self.is_withdrawn,
        )

    @property
    def counts(self) -> bool:
        """Return whether the run competes: it has a rank, and its values can be the best."""
        return self.standing.counts

    @property
    def label(self) -> str:
        """Return the tag with the standing, for charts, lists and sentences."""
        return self.standing.marked(self.tag)

    @property
    def group(self) -> str:
        """Return the heading under which the run is listed: baselines, its team, or apart."""
        if self.is_post_hoc:
            return POST_HOC
        if self.is_out_of_competition:
            return OUT_OF_COMPETITION
        return BASELINES if self.is_baseline else self.team


Place = Literal["page", "table", "latex", "json"]
"""Where a column appears; `table` is TSV and CSV."""


@dataclass(frozen=True, slots=True)
class BoardColumn:
    """A column before the measures, named `key` in files and `heading` on pages and in LaTeX.

    A column with a `mark` (the meaning of a true value) is Boolean: a table shows the heading or
    nothing.
    """

    key: str
    heading: str
    value: Callable[[BoardRun], str | bool]
    places: frozenset[Place]
    mark: str = ""

    def text(self, run: BoardRun) -> str:
        """Return the text of a run's cell in this column."""
        value = self.value(run)
        return value if isinstance(value, str) else self.heading if value else ""


EVERYWHERE: frozenset[Place] = frozenset({"page", "table", "latex", "json"})
FILES: frozenset[Place] = frozenset({"table", "json"})
COLUMNS = (
    BoardColumn("team", "Team", attrgetter("team"), FILES),
    BoardColumn("run", "Run", attrgetter("tag"), FILES),
    BoardColumn("data", "Data", attrgetter("data"), EVERYWHERE),
    BoardColumn("primary", "P", attrgetter("is_primary"), EVERYWHERE, "Primary run"),
    BoardColumn("manual", "M", attrgetter("is_manual"), EVERYWHERE, "Manual run"),
    BoardColumn("baseline", "B", attrgetter("is_baseline"), FILES, "Baseline"),
    BoardColumn(
        "out_of_competition", "O", attrgetter("is_out_of_competition"), FILES, "Out of competition"
    ),
    BoardColumn("withdrawn", "W", attrgetter("is_withdrawn"), FILES, "Withdrawn"),
    BoardColumn("standing", "Standing", attrgetter("standing.key"), FILES),
)
"""The columns before the measures, for the page, the files and the API alike. The page and LaTeX
draw team, run, baselines and withdrawn runs in their own way."""


def columns_in(place: Place) -> tuple[BoardColumn, ...]:
    """Return the columns that appear in a place, in order."""
    return tuple(column for column in COLUMNS if place in column.places)


class BoardCell(NamedTuple):
    """A run's value of one measure, or None if the run is not scored."""

    measure: Measure
    value: float | None
    is_best: bool


class BoardRow(NamedTuple):
    """One row of a leaderboard; `opens_group` is true for the first row of each group."""

    run: BoardRun
    cells: tuple[BoardCell, ...]
    opens_group: bool


@dataclass(frozen=True, slots=True)
class Board:
    """A task's results: a column for each measure, main measure first, and a row for each run.

    `ceilings` has the best possible mean by the measure's name; `topics` is the number of topics in
    the qrels.
    """

    task: str
    qrels: str
    topics: int
    measures: tuple[Measure, ...]
    ceilings: Mapping[str, float] = field(default_factory=dict)
    rows: tuple[BoardRow, ...] = ()

    def row_of(self, key: int) -> BoardRow:
        """Return the row of a run that is on the board."""
        return next(row for row in self.rows if row.run.key == key)


def with_runs(board: Board, runs: Iterable[BoardRun]) -> Board:
    """Return the leaderboard of runs in the order of the papers, with the best values marked."""
    ordered = papers_order(list(runs), board.measures)
    return replace(board, rows=_rows(ordered, board.measures, groups=True))


def sorted_board(board: Board, column: str) -> Board:
    """Return the leaderboard sorted by a measure's label (largest first), `run` or `team`.

    Any other column leaves it unchanged. A sorted leaderboard has no groups.
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
    """Sort runs: baselines, teams by their best run, runs out of competition, post-hoc runs.

    Within a group, runs are sorted by the main measure; ties are broken by name. A withdrawn run
    does not count for its team's position and comes last in its team.
    """
    main = measures[0].name if measures else ""
    best: dict[str, float] = {}
    for run in runs:
        if _part(run) == 1:
            best[run.team] = max(best.get(run.team, UNRANKED), _rank_value(run, main))

    def place(run: BoardRun) -> tuple[object, ...]:
        team = (-best[run.team], run.team) if _part(run) == 1 else (0.0, "")
        return (_part(run), *team, -_rank_value(run, main), *_falling(run, main))

    return sorted(runs, key=place)


def by_mean(runs: Iterable[BoardRun], measure: str) -> list[BoardRun]:
    """Return the runs with a value of a measure, the best first; those that do not count last."""
    scored = (run for run in runs if measure in run.values)
    return sorted(scored, key=lambda run: (not run.counts, -run.values[measure]))


def _part(run: BoardRun) -> int:
    """Return the part of the board in which a run is listed: baselines, teams, or apart."""
    if run.is_post_hoc:
        return 3
    return 2 if run.is_out_of_competition else 0 if run.is_baseline else 1


def _rank_value(run: BoardRun, measure: str) -> float:
    return UNRANKED if run.is_withdrawn else run.values.get(measure, UNRANKED)


def _falling(run: BoardRun, measure: str) -> tuple[float, str, str, int]:
    # A withdrawn run on a released leaderboard may have the same name as a later run.
    return -run.values.get(measure, UNRANKED), run.team, run.tag, run.key


def _rows(
    runs: Sequence[BoardRun], measures: Sequence[Measure], *, groups: bool
) -> tuple[BoardRow, ...]:
    best = {measure.name: _best_values(runs, measure.name) for measure in measures}
    rows = []
    before: object = None
    for run in runs:
        group = _part(run), run.group  # A team may be named like another part.
        cells = tuple(_cell(run, measure, best[measure.name]) for measure in measures)
        rows.append(BoardRow(run, cells, opens_group=groups and group != before))
        before = group
    return tuple(rows)


def _cell(run: BoardRun, measure: Measure, best: tuple[float, float]) -> BoardCell:
    value = run.values.get(measure.name)
    counts = value is not None and run.counts and measure.is_rating
    is_best = counts and round(value or 0.0, DECIMALS) >= best[run.is_baseline] > 0
    return BoardCell(measure, value, is_best)


def _best_values(runs: Iterable[BoardRun], measure: str) -> tuple[float, float]:
    """Return the lowest best value for runs of teams, and for baselines.

    As in tables 5 and 7 of the third overview, the best team score is in bold, and so is a baseline
    that beats it.
    """
    teams, baselines = 0.0, 0.0
    for run in runs:
        value = round(run.values.get(measure, 0.0), DECIMALS)
        if run.is_baseline and run.counts:
            baselines = max(baselines, value)
        elif run.counts:
            teams = max(teams, value)
    return teams, max(teams, baselines)
