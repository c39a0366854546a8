"""Leaderboards in the layout of the papers' tables.

Sources: protocol §4, last line; 000 table A1; 004 tables 3 to 5. Baselines come first, then teams
by their best run, and within a team its runs, all by the first (main) measure.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import Literal, NamedTuple

from arqkit.measures.names import Measure
from arqkit.standings import (
    BASELINE,
    FLAGS,
    MANUAL,
    PRIMARY,
    STANDINGS,
    Flag,
    Standing,
    grouping_of,
    standing_of,
)

DECIMALS = 4
"""Figures are compared as they are printed: two runs that show the same best figure are both the
best.
"""
MAIN_MEASURES = 3
"""ARQMath has three: nDCG', MAP' and P'@10."""
UNRANKED = -1.0
"""Below every value: what a run without a score has."""

Place = Literal["page", "table", "latex", "json"]
"""Where a column appears; `table` is TSV and CSV."""

EVERYWHERE: frozenset[Place] = frozenset({"page", "table", "latex", "json"})
FILES: frozenset[Place] = frozenset({"table", "json"})


@dataclass(frozen=True, slots=True)
class BoardRun:
    """One run of a leaderboard: its team, its metadata, and its means by the measures' names.

    `key` is the caller's number for the run; `data` is one word for the data that the run used.
    `erratum` says what has changed since the release; it is in no file of the leaderboard.
    """

    key: int
    team: str
    tag: str
    values: Mapping[str, float]
    flags: Collection[Flag] = ()
    standings: Collection[Standing] = ()
    data: str = ""
    erratum: str = ""

    def __str__(self) -> str:
        return self.standing.named(self.team, self.tag)

    @property
    def standing(self) -> Standing:
        """Return the standing of the run on its leaderboard."""
        return standing_of(self.standings)

    @property
    def counts(self) -> bool:
        """Return whether the run competes: it has a rank, and its values can be the best."""
        return self.standing.counts

    @property
    def is_primary(self) -> bool:
        """Return whether the run is its team's primary run."""
        return PRIMARY in self.flags

    @property
    def is_manual(self) -> bool:
        """Return whether people took part in making the run."""
        return MANUAL in self.flags

    @property
    def is_baseline(self) -> bool:
        """Return whether the run is a baseline, whatever its standing."""
        return BASELINE in self.standings

    @property
    def label(self) -> str:
        """Return the tag with the standing, for charts, lists and sentences."""
        return self.standing.marked(self.tag)

    @property
    def group(self) -> tuple[int, str]:
        """Return the part of the board and the heading under which the run is listed.

        A team may be named like another part.
        """
        standing = grouping_of(self.standings)
        return standing.part, standing.group or self.team

    @property
    def name_in_group(self) -> str:
        """Return the tag, with the team if neither the heading nor the standing names it."""
        standing = grouping_of(self.standings)
        return f"{self.team} {self.tag}" if standing.group and standing.has_team else self.tag


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


def _has(mark: Flag | Standing, run: BoardRun) -> bool:
    return mark in run.flags or mark in run.standings


COLUMNS = (
    BoardColumn("team", "Team", attrgetter("team"), FILES),
    BoardColumn("run", "Run", attrgetter("tag"), FILES),
    BoardColumn("data", "Data", attrgetter("data"), EVERYWHERE),
    *(
        BoardColumn(flag.key, flag.letter, partial(_has, flag), EVERYWHERE, flag.mark)
        for flag in FLAGS
    ),
    *(
        BoardColumn(
            standing.key.replace("-", "_"),
            standing.letter,
            partial(_has, standing),
            FILES,
            standing.word.capitalize(),
        )
        for standing in STANDINGS
        if standing.letter
    ),
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
    the qrels. `release` is the caller's number for the released version that the board shows, or
    None for a board of the current scores. `printed` is the number of measures that papers print.
    """

    task: str
    qrels: str
    topics: int
    measures: tuple[Measure, ...]
    ceilings: Mapping[str, float] = field(default_factory=dict)
    rows: tuple[BoardRow, ...] = ()
    release: int | None = None
    printed: int = MAIN_MEASURES

    @property
    def main_measures(self) -> tuple[Measure, ...]:
        """Return the measures that papers print, in order, and that pages show at first.

        These are the first ones that rate runs, or the first ones if none does.
        """
        ratings = [measure for measure in self.measures if measure.is_rating]
        return tuple((ratings or self.measures)[: self.printed])

    def row_of(self, key: int) -> BoardRow:
        """Return the row of a run that is on the board."""
        return next(row for row in self.rows if row.run.key == key)


def with_runs(board: Board, runs: Iterable[BoardRun]) -> Board:
    """Return the leaderboard of runs in the order of the papers, with the best values marked."""
    ordered = papers_order(list(runs), board.measures)
    return replace(board, rows=_rows(ordered, board.measures, groups=True))


def part_of_board(board: Board, measures: Collection[Measure], runs: Collection[int]) -> Board:
    """Return a board with some of its measures and runs (keys); its best values stay marked."""
    rows: list[BoardRow] = []
    before: object = None
    has_groups = any(row.opens_group for row in board.rows)
    for row in board.rows:
        if row.run.key in runs:
            cells = tuple(cell for cell in row.cells if cell.measure in measures)
            opens_group = has_groups and row.run.group != before
            rows.append(BoardRow(row.run, cells, opens_group=opens_group))
            before = row.run.group
    columns = tuple(measure for measure in board.measures if measure in measures)
    return replace(board, measures=columns, rows=tuple(rows))


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
    best: dict[tuple[int, str], float] = {}
    for run in runs:
        best[run.group] = max(best.get(run.group, UNRANKED), _rank_value(run, main))

    def place(run: BoardRun) -> tuple[object, ...]:
        part, name = run.group
        team = (0.0, "") if grouping_of(run.standings).group else (-best[run.group], name)
        return (part, *team, -_rank_value(run, main), *_falling(run, main))

    return sorted(runs, key=place)


def by_mean(runs: Iterable[BoardRun], measure: str) -> list[BoardRun]:
    """Return the runs with a value of a measure, the best first; those that do not count last."""
    scored = (run for run in runs if measure in run.values)
    return sorted(scored, key=lambda run: (not run.counts, -run.values[measure]))


def family_of(
    runs: Iterable[BoardRun], measure: str, *, also: Collection[int] = ()
) -> list[BoardRun]:
    """Return the runs of a family of tests in a measure, the best mean first.

    Each test of a board is of two of them: all pairs, or the best against each other run, and the
    corrections count these tests. They are the runs that count. A run that does not count is tested
    only where somebody compares it (`also` has its key), and follows the others.
    """
    return [run for run in by_mean(runs, measure) if run.counts or run.key in also]


def _rank_value(run: BoardRun, measure: str) -> float:
    return UNRANKED if run.standing.is_struck else run.values.get(measure, UNRANKED)


def _falling(run: BoardRun, measure: str) -> tuple[float, str, str, int]:
    # A withdrawn run on a released leaderboard may have the same name as a later run.
    return -run.values.get(measure, UNRANKED), run.team, run.tag, run.key


def _rows(
    runs: Sequence[BoardRun], measures: Sequence[Measure], *, groups: bool
) -> tuple[BoardRow, ...]:
    competing = [run for run in runs if run.counts]
    never = (math.inf, math.inf)
    columns = [
        (measure, _best_values(competing, measure.name) if measure.is_rating else never)
        for measure in measures
    ]
    rows = []
    before: object = None
    for run in runs:
        group, is_baseline, counts = run.group, run.is_baseline, run.counts
        cells = tuple(
            BoardCell(
                measure,
                value := run.values.get(measure.name),
                counts and value is not None and round(value, DECIMALS) >= best[is_baseline] > 0,
            )
            for measure, best in columns
        )
        rows.append(BoardRow(run, cells, opens_group=groups and group != before))
        before = group
    return tuple(rows)


def _best_values(competing: Iterable[BoardRun], measure: str) -> tuple[float, float]:
    """Return the lowest best value for runs of teams, and for baselines.

    As in tables 5 and 7 of the third overview, the best team score is in bold, and so is a baseline
    that beats it.
    """
    teams, baselines = 0.0, 0.0
    for run in competing:
        value = round(run.values.get(measure, 0.0), DECIMALS)
        if run.is_baseline:
            baselines = max(baselines, value)
        else:
            teams = max(teams, value)
    return teams, max(teams, baselines)
