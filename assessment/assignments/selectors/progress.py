"""The progress of judging in a task, by topic, assessor and day."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from arqlab.core.models import Task
from assessment.assignments.selectors.days import JudgedDays, judged_days
from assessment.assignments.selectors.grid import AssignmentGrid, assignment_grid
from assessment.assignments.selectors.leases import OfflineTrip, trips_of_task
from assessment.assignments.selectors.viability import TopicForecast, topic_forecasts
from assessment.models import LateLabel
from assessment.qrels.selectors.frames import late_labels


@dataclass(frozen=True, kw_only=True)
class AssignmentProgress:
    """The assignments of a task with their progress.

    - late_labels: how many labels that came too late wait for a decision.
    - trips: of assessors who judge offline.
    - forecasts: of the topics whose labels will not suffice.
    """

    grid: AssignmentGrid
    late_labels: int
    days: JudgedDays | None
    trips: Sequence[OfflineTrip]
    forecasts: Sequence[TopicForecast]


def assignment_progress(task: Task, *, at: datetime) -> AssignmentProgress:
    """Return the assignments of a task with their progress at a time."""
    grid = assignment_grid(task, at=at)
    return AssignmentProgress(
        grid=grid,
        late_labels=late_labels(task).filter(decision=LateLabel.Decision.OPEN).count(),
        days=judged_days(task, grid, at=at),
        trips=trips_of_task(task, at=at),
        forecasts=topic_forecasts(task, grid),
    )
