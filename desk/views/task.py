"""The page of a task."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from arqlab.core.faults import attempt_due_at
from arqlab.core.models import Task
from arqlab.labs.permissions import may_organize, task_or_404
from arqlab.labs.selectors import roles_in
from arqlab.web.jobs import news
from arqlab.web.pages import TASK, Pages
from arqlab.web.tabs import Tab
from assessment.pools.selectors.choices import pooled_together
from desk.selectors import labs_overview
from desk.services.exports import task_exports
from evaluation.permissions import may_see_scores, score_access_of
from evaluation.services.own_means import own_row
from submissions.models import Run
from submissions.permissions import linkable_runs, run_or_404
from submissions.selectors import file_limits, report_summary

pages = Pages(TASK, run_or_404, section="runs", sign_in=True)

WAITING = {Run.Status.UPLOADED, Run.Status.VALIDATING}


@pages.read("runs/<number:run>/", "run-detail", shows="run")
def run_detail(request: HttpRequest, run: Run) -> HttpResponse:
    """Show a run: its state, report, description and actions."""
    return news(request, "desk/run_detail.html", _context(request, run))


def _context(request: HttpRequest, run: Run) -> dict[str, object]:
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
    return {
        "run": run,
        "problems": problems,
        "summary": report_summary(problems),
        "weighty": [problem for problem in problems if problem.weighs],
        "repairable": [problem for problem in problems if problem.is_repairable],
        "unrepaired": unrepaired,
        "submits_repaired": may_submit
        and run.status == Run.Status.INVALID
        and run.report.get("repair")
        and not unrepaired,
        "items_name": dict(Task.Items.choices).get(run.report.get("items", ""), ""),
        "waiting": run.status in WAITING,
        "next_attempt": attempt_due_at(run.attempts, run.status_changed_at)
        if run.attempts > (run.status == Run.Status.VALIDATING)
        else None,
        "seen": f"{run.status}-{run.attempts}",
        "organizes": organizes,
        "may_change": not run.withdrawn_at and (organizes or run.check_only or takes_change),
        "may_submit": may_submit,
        "same_system": linkable_runs(request.user, run).filter(system=run.system)
        if run.system
        else (),
        "scored": (scored := may_see_scores(access, run)),
        "own_means": None if scored else own_row(access, run),
    }


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
    context = {
        "run_bytes": file_limits(task).max_run_bytes,
        "zip_bytes": settings.RUN_MAX_BYTES,
        "state": task.state(now),
        "standing": standing,
        "topics": task.topics.count(),
        "together": pooled_together(task) if standing.organizes else None,
        "overview": overview,
        "downloads": task_exports(task, organizes=standing.organizes),
        "next_topic": overview.next_topic(task),
    }
    return render(request, "desk/task_detail.html", context)
