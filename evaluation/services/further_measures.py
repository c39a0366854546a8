"""Further measures of a board, their correlations, first answers, and progress tests (004).

The values of runs are cached.
"""

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from arqkit.comparison.correlation import Correlations, correlations
from arqkit.leaderboard import Board, BoardRun, with_runs
from arqkit.measures.names import (
    Measure,
    MeasureFailedError,
    MeasureRefusedError,
    parse_measure,
    parse_measures,
)
from arqkit.measures.scoring import Scorer, means
from arqlab.core.caches import DAY, cached_value, computed_values, key_of, require_time
from arqlab.core.models import Task, Visitor
from arqlab.core.permissions import tasks_visible_to
from assessment.models import Round
from assessment.qrels.selectors.drafts import host_of
from assessment.qrels.selectors.versions import judged_frame, qrels_named
from evaluation.permissions import (
    VISITOR_CUTOFFS,
    VISITOR_KINDS,
    ScoreAccess,
    VisibleBoard,
    all_runs_of,
    may_ask_for,
    score_access_of,
    visible_board,
)
from evaluation.selectors.boards import qrels_facts, with_post_hoc
from evaluation.selectors.pending_scores import item_facts, qrels_rules
from evaluation.selectors.records import with_recorded_answers
from evaluation.selectors.references import answers_task
from evaluation.services.effects import MEASURES, round_answers
from evaluation.services.scoring import comparable_indexes, scorer_of, scoring_work
from submissions.models import Run

log = logging.getLogger(__name__)
KEPT_FAILURES = 5 * 60  # seconds
COEFFICIENT = 2.5e-6
"""The seconds that the coefficients of two measures take for a run."""
SLOWER = 5
"""How many times as long a further measure may take as those of a task."""
MOST = 5
"""The most further measures of one request."""
_CUT = ("ERR", "P", "R", "RR", "nDCG", "AP", "Success", "Judged")
"""The kinds of measures that read nothing below their cutoff."""
_BETWEEN = re.compile(r"[\s,;]+(?![^()]*\))")


class ProgressTask(NamedTuple):
    """A task with the measures of its board that the table shows, the main one first.

    `topics` is the number of topics in the qrels of the board.
    """

    task: Task
    measures: tuple[Measure, ...]
    topics: int


class ProgressCell(NamedTuple):
    """The run of a system in a task, None without one, and its values by measure."""

    run: Run | None
    values: list[float | None]


class ProgressRow(NamedTuple):
    """A run of the board with the cells of its system, one for each task."""

    run: BoardRun
    cells: list[ProgressCell]


class SystemProgress(NamedTuple):
    """The systems of a board that took part in other tasks, in the order of the board."""

    tasks: list[ProgressTask]
    rows: list[ProgressRow]


def has_linked_runs(visible: VisibleBoard) -> bool:
    """Return whether a team linked a run of the board with runs of other tasks."""
    keys = {row.run.key for row in visible.board.rows}
    linked = Run.objects.filter(task=visible.qrel_set.task_id).exclude(system=None)
    return not keys.isdisjoint(linked.values_list("pk", flat=True))


def system_progress(user: Visitor, task: Task, visible: VisibleBoard) -> SystemProgress:
    """Return the linked runs of the runs on a board, in all tasks where the user sees scores.

    The task itself comes last. A team that links a post-hoc run shares its scores with everyone who
    sees a released board of its task.
    """
    board_runs = {row.run.key: row.run for row in visible.board.rows}
    runs = Run.objects.filter(pk__in=list(board_runs)).exclude(system=None)
    systems = {run.pk: run for run in runs.select_related("task__lab")}
    linked: dict[int, list[Run]] = {}
    others = Run.objects.scorable().filter(system__in=[run.system for run in systems.values()])
    others = others.exclude(task=task).filter(task__in=tasks_visible_to(user))
    for run in others.select_related("task__lab").order_by("task__lab__slug", "task__slug", "pk"):
        linked.setdefault(run.task_id, []).append(run)
    task_boards = ((runs[0].task, _board(user, runs)) for runs in linked.values())
    boards = {other: board for other, board in task_boards if board}
    columns = [
        ProgressTask(other_task, board.main_measures, board.topics)
        for other_task, board in [*boards.items(), (task, visible.board)]
    ]
    by_key = {row.run.key: row.run for board in boards.values() for row in board.rows} | board_runs
    of_system = {(run.system, run.task_id): run for runs in linked.values() for run in runs}
    of_system |= {(run.system, run.task_id): run for run in systems.values()}

    def cell(run: Run | None, column: ProgressTask) -> ProgressCell:
        scored = by_key.get(run.pk) if run else None
        values = scored.values if scored else {}
        cell_values = [values.get(measure.name) for measure in column.measures]
        return ProgressCell(run if scored else None, cell_values)

    rows = []
    for row in visible.board.rows:
        if row.run.key in systems:
            system = systems[row.run.key].system
            cells = [cell(of_system.get((system, other.task.pk)), other) for other in columns]
            if any(other.run for other in cells[:-1]):
                rows.append(ProgressRow(row.run, cells))
    return SystemProgress(columns, rows)


def _board(user: Visitor, runs: list[Run]) -> Board | None:
    """Return the board of the runs' task that the user sees, with the linked post-hoc runs."""
    access = score_access_of(user, runs[0].task)
    visible = visible_board(access)
    if visible is None:
        return None
    if access.organizes:
        return all_runs_of(access, visible).board
    late = Run.objects.filter(pk__in=[run.pk for run in runs if run.is_post_hoc])
    return with_post_hoc(visible.board, visible.qrel_set, late)


class MeasureColumn(NamedTuple):
    """A measure with its values by run."""

    label: str
    heading: str
    values: dict[int, float]


class MeasureCorrelations(NamedTuple):
    """The coefficients of each pair of columns, over the runs that compete."""

    columns: Sequence[MeasureColumn]
    runs: int
    matrices: Correlations


def measure_correlations(
    board: Board, further: Sequence[MeasureColumn] = ()
) -> MeasureCorrelations:
    """Return the correlations of the measures of a board that rate runs, and of further columns."""
    runs = [row.run for row in board.rows if row.run.counts]
    board_columns = [
        MeasureColumn(
            measure.label,
            measure.heading,
            {run.key: run.values[measure.name] for run in runs if measure.name in run.values},
        )
        for measure in board.measures
        if measure.is_rating
    ]
    columns = [*board_columns, *further]
    values = np.array([[column.values.get(run.key, np.nan) for column in columns] for run in runs])
    matrix = values.reshape(len(runs), len(columns)).astype(float)
    matrices = cached_value(
        key_of("correlations", matrix.shape, matrix.tobytes()),
        lambda: correlations(matrix),
        work=COEFFICIENT * matrix.size * len(columns),
    )
    return MeasureCorrelations(columns, len(runs), matrices)


def question_rounds(task: Task) -> list[Round]:
    """Return the rounds of special questions about the items of a task's runs."""
    host = host_of(task)
    tasks = [host, task] if host else [task]
    rounds = Round.objects.that(asks=True).filter(task__in=tasks, archived_at=None)
    return list(rounds.select_related("pool", "task__lab").order_by("pk"))


def question_columns(task: Task, rounds: Sequence[Round]) -> list[MeasureColumn]:
    """Return the measures of special questions, such as MG and UI. Only organizers may see them.

    If two rounds ask the same question, the later one counts.
    """
    columns: dict[str, MeasureColumn] = {}
    for round_ in rounds:
        rows = [row for row in round_answers(round_).runs if row.run.task_id == task.pk]
        for place, question in enumerate(round_.questions):
            shares = {row.run.pk: row.shares[place].share for row in rows}
            rated = {key: share for key, share in shares.items() if share is not None}
            columns[question.key] = MeasureColumn(question.key, question.key, rated)
    return list(columns.values())


class FurtherMeasures(NamedTuple):
    """What a user asked for, and the board with it.

    - text: as it was written.
    - columns: the number of columns that were added.
    - error: what is wrong with it; the board is then unchanged.
    """

    visible: VisibleBoard
    text: str
    error: str = ""
    columns: int = 0


def with_further_measures(visible: VisibleBoard, text: str, *, user: Visitor) -> FurtherMeasures:
    """Return a board with the measures in a text, separated by spaces or commas.

    Which measures a visitor may ask for is said by `may_ask_for`.
    """
    text = " ".join(text.split())
    if not text:
        return FurtherMeasures(visible, "")
    try:
        measures = _read(visible, text, user)
    except MeasureRefusedError as error:
        return FurtherMeasures(visible, text, str(error))
    return _extended(visible, text, measures)


def _read(visible: VisibleBoard, text: str, user: Visitor) -> tuple[Measure, ...]:
    """Return the measures of a text that the board lacks; raise MeasureRefusedError."""
    board_measures, relevant_from = visible.board.measures, visible.qrel_set.relevant_from
    parts = [part for part in _BETWEEN.split(text) if part]
    parsed = [parse_measure(part, relevant_from=relevant_from) for part in parts]
    names = [measure.name for measure in board_measures]
    if any(measure.needs_texts and measure.name not in names for measure in parsed):
        raise MeasureRefusedError("LO compares texts of answers. Add it to the measures of Task 3.")
    new = [name for name in dict.fromkeys(measure.name for measure in parsed) if name not in names]
    if len(new) > MOST:
        raise MeasureRefusedError(f"You asked for {len(new)} measures. Ask for at most {MOST}.")
    further = parse_measures([*names, *new], relevant_from=relevant_from)[len(names) :]
    if refused := [one for one in further if not may_ask_for(user, one, visible.qrel_set)]:
        cutoffs = ", ".join(map(str, VISITOR_CUTOFFS))
        raise MeasureRefusedError(
            f"Sign in to ask for {refused[0].label}. Without an account, you may ask for "
            f"{', '.join(VISITOR_KINDS)}, also of judged items only, with one of the cutoffs "
            f"{cutoffs} or without."
        )
    return further


def _extended(
    visible: VisibleBoard,
    text: str,
    measures: Sequence[Measure],
    *,
    answered_only: bool | None = None,
) -> FurtherMeasures:
    """Return a board with further columns and their ceilings; None is as the task says."""
    board, qrel_set = visible.board, visible.qrel_set
    if not measures:
        return FurtherMeasures(visible, text)
    rules = qrels_rules(qrel_set), answered_only, [measure.name for measure in measures]
    keys = [row.run.key for row in board.rows]
    known_runs = Run.objects.filter(pk__in=keys).select_related("team", "task__lab").order_by("pk")
    runs = with_recorded_answers(known_runs, qrel_set, board.release)
    facts = zip(runs, item_facts(runs, qrel_set), strict=True)
    cached = {run: key_of("further-measures", *rules, items) for run, items in facts}
    stored = computed_values.get_many(list(cached.values()))
    values = {run.pk: stored[key] for run, key in cached.items() if key in stored}
    if lacking := [run for run, key in cached.items() if key not in stored]:
        whole = key_of("further-measures", *rules, [cached[run] for run in lacking])
        require_time(whole, scoring_work(lacking, times=SLOWER))
        judged = judged_frame(qrel_set)
        scorer = scorer_of(qrel_set, judged, measures, answered_only=answered_only)
        computed = _computed(lacking, comparable_indexes(lacking, qrel_set, judged), scorer)
        for run, run_means in computed.items():
            is_failed = None in run_means.values()
            computed_values.set(cached[run], run_means, KEPT_FAILURES if is_failed else DAY)
            values[run.pk] = run_means
    extended = []
    for row in board.rows:
        added = {k: v for k, v in values.get(row.run.key, {}).items() if v is not None}
        extended.append(replace(row.run, values={**row.run.values, **added}))
    best = {**board.ceilings, **qrels_facts(qrel_set, measures).ceilings}
    wider = replace(board, measures=(*board.measures, *measures), ceilings=best)
    visible = replace(visible, board=with_runs(wider, extended))
    return FurtherMeasures(visible, text, "", len(measures))


def _computed(
    runs: Sequence[Run], indexes: Iterator[tuple[Run, pl.DataFrame]], scorer: Scorer
) -> dict[Run, dict[str, float | None]]:
    """Return the means of runs. Unreadable runs have none."""
    nothing: dict[str, float | None] = {measure.name: None for measure in scorer.measures}
    computed: dict[Run, dict[str, float | None]] = {}
    deepest = _deepest(scorer.measures)
    for run, index in indexes:
        try:
            mean_of = means(scorer.score(index.filter(pl.col("order") <= deepest)))
            # A run that answers no topic of the qrels has no mean; its score is 0.
            computed[run] = {name: float(mean_of.get(name) or 0.0) for name in nothing}
        except MeasureFailedError:
            log.exception("A measure of run %s (%s) fails.", run.pk, run.tag)
            computed[run] = nothing
    return dict.fromkeys(runs, nothing) | computed


def _deepest(measures: Iterable[Measure]) -> int:
    """Return the last rank that measures read: a short ranking is scored much faster."""
    cutoffs = [
        0 if measure.judged_only or measure.kind not in _CUT else measure.cutoff or 0
        for measure in measures
    ]
    return max(cutoffs) if all(cutoffs) else 2**31 - 1


def first_answers_access(user: Visitor, task: Task) -> ScoreAccess | None:
    """Return a user's access to the board of Task 1, or None if they see no board."""
    source = answers_task(task) if task.kind == Task.Kind.GENERATED_ANSWERS else None
    if source is None:
        return None
    access = score_access_of(user, source)
    has_board = access.leaderboard is not None or qrels_named(source) is not None
    return access if access.sees_everything and has_board else None


def first_answers(visible: VisibleBoard) -> FurtherMeasures:
    """Return the board with the measures of Task 3 instead of its own.

    A mean is over the topics of the qrels that a run answered. Answers without a judgment count 0.
    """
    measures = parse_measures(MEASURES, relevant_from=visible.qrel_set.relevant_from)
    rows = tuple(row._replace(run=replace(row.run, values={})) for row in visible.board.rows)
    bare = replace(visible, board=replace(visible.board, measures=(), ceilings={}, rows=rows))
    return _extended(bare, "", measures, answered_only=True)
