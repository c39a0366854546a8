"""The state of labs across all apps: runs, leaderboards, judging and tickets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from arqlab.core.models import Lab, Task, User, Visitor
from arqlab.core.selectors import LabRoles
from assessment.assignments.selectors.rows import TopicRow
from assessment.judging.selectors.own_work import OwnWork, TaskJudging, own_work, task_judging
from assessment.tickets.selectors import open_tickets
from evaluation.selectors.boards import board_states
from submissions.selectors import TaskRuns, run_counts


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

    def next_topic(self, task: Task) -> TopicRow | None:
        """Return the topic of the task the person should judge next, or None."""
        work = self.judging.get(task.lab_id)
        if work is None:
            return None
        return work.next_of(row for row in work.rows if row.topic.task_id == task.pk)


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
