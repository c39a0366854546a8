"""The state of labs across all apps: runs, leaderboards, judging and tickets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from arqlab.core.models import Lab, Task, User, Visitor
from arqlab.core.selectors import LabRoles, LabRow, TaskRow
from assessment.assignments.selectors.rows import TopicRow
from assessment.judging.selectors.own_work import OwnWork, TaskJudging, own_work, task_judging
from assessment.tickets.selectors import open_tickets
from evaluation.selectors.boards import board_states
from submissions.selectors import TaskRuns, run_counts


@dataclass(frozen=True)
class Stage:
    """A stage of a task: its name, its state (`done`, `current` or `next`), progress, deadline."""

    name: str
    state: str
    done: int = 0
    total: int = 0
    deadline: datetime | None = None


@dataclass(frozen=True)
class LabsOverview:
    """What a person may know about the progress of labs."""

    counts: Mapping[int, TaskRuns]
    """Runs by task key."""
    boards: Mapping[int, str]
    """Leaderboard states by task key: `waiting`, `hidden` or `released`."""
    judging: Mapping[int, OwnWork]
    """The person's own judging by lab key; empty for a lab where they do not judge."""
    progress: Mapping[int, TaskJudging]
    """Judging progress by task key, in the labs the person organizes."""
    tickets: Mapping[int, int]
    """Open tickets by lab key, in the labs the person organizes."""

    def phase(self, row: LabRow) -> str:
        """Return the phase of a lab: its state, or `judging` or `released` after submission."""
        tasks = [task_row for task_row in row.tasks if task_row.state != "archived"]
        if row.state != "closed" or not tasks:
            return row.state
        is_released = all(self.boards.get(task_row.task.pk) == "released" for task_row in tasks)
        return "released" if is_released else "judging"

    def stages(self, row: TaskRow, *, organizes: bool) -> list[Stage]:
        """Return the stages of a task; the first that is not done is the current one.

        Only organizers see whether there are qrels, and how many items are judged.
        """
        board = self.boards.get(row.task.pk)
        judged = self.progress.get(row.task.pk) if organizes else None
        is_judged = board == "released" or (organizes and board != "waiting")
        done = {
            "Topics": row.topics > 0,
            "Submission": row.state == "closed",
            "Judging": is_judged or bool(judged and judged.total and judged.done == judged.total),
            **({"Qrels": board != "waiting"} if organizes else {}),
            "Release": board == "released",
        }
        current = next((name for name, is_done in done.items() if not is_done), None)
        deadline = row.task.judging_deadline if organizes else None
        judging = (judged.done, judged.total, deadline) if judged else (0, 0, deadline)
        return [
            Stage(
                name,
                "done" if is_done else "current" if name == current else "next",
                *(judging if name == "Judging" else ()),
            )
            for name, is_done in done.items()
        ]

    def next_topic(self, task: Task) -> TopicRow | None:
        """Return the topic of the task the person should judge next, or None."""
        work = self.judging.get(task.lab_id)
        if work is None:
            return None
        return work.next_of(row for row in work.rows if row.topic.task_id == task.pk)


def with_phases(overview: LabsOverview, rows: Iterable[LabRow]) -> LabsOverview:
    """Return an overview that knows the phases of further labs too, in two queries."""
    labs = [row.lab for row in rows]
    return replace(overview, boards={**overview.boards, **(board_states(labs) if labs else {})})


def labs_overview(
    standings: Iterable[tuple[Lab, LabRoles]], user: Visitor, *, at: datetime
) -> LabsOverview:
    """Return the overview of labs for a person, in a fixed number of queries for all labs."""
    standings = list(standings)
    organized = [lab for lab, standing in standings if standing.organizes]
    judged = [lab for lab, standing in standings if standing.assesses or standing.organizes]
    return LabsOverview(
        counts=run_counts(standings),
        boards=board_states(lab for lab, _ in standings),
        judging=own_work(user, judged, at=at) if judged and isinstance(user, User) else {},
        progress=task_judging(organized) if organized else {},
        tickets=open_tickets(organized) if organized else {},
    )
