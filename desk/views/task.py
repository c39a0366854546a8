"""The page of a task."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from arqkit.leaderboard import BoardRow
from arqlab.core.exports import Export
from arqlab.core.faults import attempt_due_at
from arqlab.core.models import Task
from arqlab.labs.permissions import may_organize, task_or_404
from arqlab.labs.selectors import LabRoles, roles_in
from arqlab.web import TASK, Pages, Tab, news
from assessment.assignments.selectors.grid import TopicRow
from assessment.pools.selectors.choices import PooledTogether, pooled_together
from desk.selectors import LabsOverview, labs_overview
from desk.services.exports import task_exports
from evaluation.permissions import may_see_scores, score_access_of
from evaluation.services.own_means import own_row
from submissions.models import Run, RunProblem
from submissions.permissions import linkable_runs, run_or_404
from submissions.selectors import file_limits, report_summary

pages = Pages(TASK, run_or_404, section="runs", sign_in=True)

WAITING = {Run.Status.UPLOADED, Run.Status.VALIDATING}


@dataclass(frozen=True, kw_only=True)
class RunPage:
    """A run with its report, and what the user may do with it.

    - summary: the counts of problems by severity and kind.
    - weighty, repairable: the problems that change scores, and those that ArqLab can repair.
    - unrepaired: the number of errors that it cannot repair.
    - seen: the state, by which the page asks for itself again.
    - scored: whether the user may see the scores; `own_means` are what a team sees before.
    """

    run: Run
    problems: list[RunProblem]
    summary: dict[str, dict[str, int]]
    weighty: list[RunProblem]
    repairable: list[RunProblem]
    unrepaired: int
    submits_repaired: bool
    items_name: str
    waiting: bool
    next_attempt: datetime | None
    seen: str
    organizes: bool
    may_change: bool
    may_submit: bool
    same_system: Iterable[Run]
    scored: bool
    own_means: BoardRow | None


@dataclass(frozen=True, kw_only=True)
class TaskPage:
    """A task with its limits and state, the user's roles, what is next, and the downloads."""

    run_bytes: int
    zip_bytes: int
    state: str
    standing: LabRoles
    topics: int
    together: PooledTogether | None
    overview: LabsOverview
    downloads: list[Export[Task]]
    next_topic: TopicRow | None


@pages.read("runs/<number:run>/", "run-detail", shows="run")
def run_detail(request: HttpRequest, run: Run) -> HttpResponse:
    """Show a run: its state, report, description and actions."""
    return news(request, "desk/run_detail.html", vars(_run_page(request, run)))


def _run_page(request: HttpRequest, run: Run) -> RunPage:
    task, now = run.task, timezone.now()
    access = score_access_of(request.user, task)
    organizes = may_organize(request.user, task.lab)
    problems = list(run.problems.all())
    unrepaired = sum(
        problem.severity == "error" and not problem.is_repairable for problem in problems
    )
    is_open = task.state(now) == "open"
    takes_change = is_open or (task.takes_post_hoc(now) and run.is_post_hoc)
    may_submit = organizes or is_open or task.takes_post_hoc(now)
    return RunPage(
        run=run,
        problems=problems,
        summary=report_summary(problems),
        weighty=[problem for problem in problems if problem.weighs],
        repairable=[problem for problem in problems if problem.is_repairable],
        unrepaired=unrepaired,
        submits_repaired=may_submit
        and run.status == Run.Status.INVALID
        and bool(run.report.get("repair"))
        and not unrepaired,
        items_name=dict(Task.Items.choices).get(run.report.get("items", ""), ""),
        waiting=run.status in WAITING,
        next_attempt=attempt_due_at(run.attempts, run.status_changed_at)
        if run.attempts > (run.status == Run.Status.VALIDATING)
        else None,
        seen=f"{run.status}-{run.attempts}",
        organizes=organizes,
        may_change=not run.withdrawn_at and (organizes or run.check_only or takes_change),
        may_submit=may_submit,
        same_system=linkable_runs(request.user, run).filter(system=run.system)
        if run.system
        else (),
        scored=(scored := may_see_scores(access, run)),
        own_means=None if scored else own_row(access, run),
    )


@pages.read(
    "",
    "task-detail",
    shows="task",
    tabs=(Tab("task", "Overview", 10),),
    access=task_or_404,
    section="overview",
    sign_in=False,
)
def task_detail(request: HttpRequest, task: Task) -> HttpResponse:
    """Show a task: its state, topics, runs, judging, leaderboard and rules."""
    now = timezone.now()
    standing = roles_in(request.user, task.lab)
    overview = labs_overview([(task.lab, standing)], request.user, at=now)
    page = TaskPage(
        run_bytes=file_limits(task).max_run_bytes,
        zip_bytes=settings.RUN_MAX_BYTES,
        state=task.state(now),
        standing=standing,
        topics=task.topics.count(),
        together=pooled_together(task) if standing.organizes else None,
        overview=overview,
        downloads=task_exports(task, organizes=standing.organizes),
        next_topic=overview.next_topic(task),
    )
    return render(request, "desk/task_detail.html", vars(page))
