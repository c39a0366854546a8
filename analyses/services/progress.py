"""Linked runs of one system in the tasks of several labs (004, progress tests)."""

from typing import NamedTuple

from arqkit.leaderboard import Board, BoardRun
from arqkit.measures.names import Measure
from arqlab.core.models import Task, Visitor
from arqlab.labs.permissions import tasks_visible_to
from evaluation.permissions import VisibleBoard, all_runs_of, score_access_of, visible_board
from evaluation.selectors.boards import with_post_hoc
from submissions.models import Run


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
