"""The state of labs across all apps: runs, leaderboards, judging and tickets."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import Count
from django.urls import reverse

from arqlab.core.models import Lab, Task, User, Visitor
from arqlab.labs.selectors import LabRoles, LabRow, TaskRow
from arqlab.web import counted, task_url
from assessment.assignments.selectors.grid import TopicRow
from assessment.judging.selectors.own_work import OwnWork, TaskJudging, own_work, task_judging
from assessment.models import QrelSet
from assessment.tickets.selectors import open_tickets
from collection.models import LabCollection
from evaluation.selectors.boards import board_states
from submissions.selectors import TaskRuns, run_counts

STAGE_PAGES: dict[str, tuple[str, ...]] = {
    "Topics": ("labs:topic-list", "Load topics", "desk:task-load", "topics"),
    "Runs": ("submissions:run-list", "View runs", "submissions:run-list"),
    "Pool": ("assessment:pool-list", "Plan pool", "assessment:pool-plan"),
    "Judging": ("assessment:assignment-list", "View assignments", "assessment:assignment-list"),
    "Qrels": ("assessment:qrels-list", "Freeze qrels", "assessment:qrels-freeze"),
    "Board": ("evaluation:leaderboard", "View leaderboard", "evaluation:leaderboard"),
}
"""The page of each stage of a task, and the name and page of what an organizer does there."""
QUIET = ("View runs", "View leaderboard")
"""The actions that are no steps."""


@dataclass(frozen=True)
class Stage:
    """A stage of a task: its name, its state (`done`, `current` or `next`), progress, deadline."""

    name: str
    state: str
    done: int = 0
    total: int = 0
    deadline: datetime | None = None


@dataclass(frozen=True)
class StageCell:
    """A stage of a task: its figure and page, and what to do there; `is_next` is the next step."""

    stage: str
    figure: str
    url: str
    action: str
    action_url: str
    is_next: bool = False


@dataclass(frozen=True)
class LabDate:
    """A date of a lab, what happens then, and whether it has passed."""

    when: datetime
    events: list[str]
    is_past: bool


def lab_dates(row: LabRow, *, organizes: bool, at: datetime) -> list[LabDate]:
    """Return the dates of a lab's tasks in order. Organizers see the judging deadlines too."""
    dates: dict[datetime, LabDate] = {}
    for task in (entry.task for entry in row.tasks):
        events = {"opens": task.opens_at, "closes": task.closes_at}
        events |= {"judging ends": task.judging_deadline} if organizes else {}
        for event, when in events.items():
            if when:
                date = dates.setdefault(when, LabDate(when, [], when <= at))
                date.events.append(f"{task.name} {event}")
    return [dates[when] for when in sorted(dates)]


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
    qrels: Mapping[int, int]
    """Versions of the qrels by task key, in the labs the person organizes."""
    collections: frozenset[int]
    """The keys of the labs that have a collection, of those the person organizes."""

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

    def cells(self, row: TaskRow, standing: LabRoles) -> list[StageCell]:
        """Return the stages of a task that a person may see, each with a figure and an action."""
        task, actions, is_next = row.task, self._actions(row, standing), self._next_stage(row)
        figures = self._figures(row)
        visible_stages = {"Topics", "Board"} | ({"Runs"} if standing.teams else set())
        return [
            StageCell(
                stage,
                figures[stage],
                task_url(page, task),
                action if stage in actions else "",
                reverse(name, args=[task.lab.slug, task.slug, *args]),
                stage == is_next and action not in QUIET,
            )
            for stage, (page, action, name, *args) in (STAGE_PAGES | actions).items()
            if standing.organizes or stage in visible_stages
        ]

    def next_cell(self, row: TaskRow, standing: LabRoles) -> StageCell:
        """Return the next step of an organizer or a team in a task."""
        task, cells = row.task, {cell.stage: cell for cell in self.cells(row, standing)}
        words, page = "", "desk:task-detail"
        if standing.organizes and row.topics and row.state == "open" and not task.deadline:
            words, page = "Set deadline", "labs:task-edit"
        elif row.state == "upcoming" and (row.topics or not standing.organizes):
            words = "View task" if standing.organizes else "View rules"
        if words:
            return replace(cells["Board"], action=words, action_url=task_url(page, task))
        return cells.get(self._next_stage(row), cells["Board"])

    def _actions(self, row: TaskRow, standing: LabRoles) -> dict[str, tuple[str, ...]]:
        """Return the actions of a person by stage, as in `STAGE_PAGES`."""
        if row.state == "archived" or not standing.is_somebody:
            return {}
        runs, judged = self.counts.get(row.task.pk), self.progress.get(row.task.pk)
        actions = dict(STAGE_PAGES) if standing.organizes else {"Board": STAGE_PAGES["Board"]}
        if standing.teams or standing.organizes:
            actions["Runs"] = STAGE_PAGES["Runs"]
        if row.state == "open" and runs and runs.quotas:
            actions["Runs"] = (STAGE_PAGES["Runs"][0], "Upload runs", "submissions:run-upload")
        if judged and judged.unassigned:
            actions["Judging"] = (
                STAGE_PAGES["Judging"][0],
                f"Assign {counted(judged.unassigned, 'unassigned topic')}",
                STAGE_PAGES["Judging"][0],
            )
        if (
            standing.organizes
            and self._next_stage(row) == "Board"
            and self.boards[row.task.pk] == "hidden"
        ):
            page = STAGE_PAGES["Board"][0]
            actions["Board"] = (page, "Review and release leaderboard", page)
        return actions

    def _figures(self, row: TaskRow) -> dict[str, str]:
        runs, judged = self.counts.get(row.task.pk), self.progress.get(row.task.pk)
        total, done = (judged.total, judged.done) if judged else (0, 0)
        return {
            "Topics": f"{row.topics:,}",
            "Runs": f"{runs.valid if runs else 0:,}",
            "Pool": f"{total:,}",
            "Judging": f"{done:,} of {total:,} items judged" if total else "–",
            "Qrels": f"{self.qrels.get(row.task.pk, 0):,}",
            "Board": self.boards[row.task.pk].capitalize(),
        }

    def _next_stage(self, row: TaskRow) -> str:
        """Return the stage at which the next step of a task is, none before it opens."""
        if not row.topics:
            return "Topics"
        if row.state != "closed":
            return "Runs" if row.state == "open" else ""
        if self.boards[row.task.pk] != "waiting":
            return "Board"
        return "Judging" if row.task.pk in self.progress else "Pool"

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


def _qrels_counts(labs: Iterable[Lab]) -> dict[int, int]:
    versions = QrelSet.objects.filter(task__lab__in=labs).order_by().values_list("task")
    return dict(versions.annotate(Count("pk")))


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
        judging=own_work(user, judged) if judged and isinstance(user, User) else {},
        progress=task_judging(organized) if organized else {},
        tickets=open_tickets(organized) if organized else {},
        qrels=_qrels_counts(organized) if organized else {},
        collections=frozenset(
            LabCollection.objects.filter(lab__in=organized).values_list("lab", flat=True)
            if organized
            else ()
        ),
    )
