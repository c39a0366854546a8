"""Permissions to see and change runs. A page that a user may not see is 404."""

from django.db.models import Q, QuerySet
from django.shortcuts import get_object_or_404

from arqlab.core.models import Role, Task, Team, Visitor
from arqlab.core.permissions import allowed
from arqlab.labs.permissions import has_role, labs_organized_by, may_organize, task_or_404
from submissions.models import Run, RunQuerySet
from submissions.selectors import runs_visible_to


def teams_to_submit_for(user: Visitor, task: Task) -> QuerySet[Team]:
    """Return the teams a user may submit for: their own, or for an organizer all of the lab.

    Deadline and quota are not checked here.
    """
    teams = Team.objects.filter(lab=task.lab)
    if may_organize(user, task.lab):
        return teams
    return teams.filter(memberships__user_id=user.pk) if user.is_authenticated else teams.none()


def may_see_runs(user: Visitor, task: Task) -> bool:
    """Return whether a user may see the page of runs, and submit there.

    Assessors may not unless they belong to a team: they must not learn which systems take part.
    """
    if not user.is_authenticated:
        return False
    roles = Role.that(lambda rights: rights.avoids_teams)
    return not has_role(user, task.lab, *roles) or teams_to_submit_for(user, task).exists()


def runs_task_or_404(user: Visitor, lab_slug: str, task_slug: str) -> Task:
    """Return the task with its lab. Raise `Http404` for a user who may not see its runs."""
    task = task_or_404(user, lab_slug, task_slug)
    return allowed(task, may_see_runs(user, task))


def linkable_runs(user: Visitor, run: Run) -> RunQuerySet:
    """Return the valid runs in other tasks of the same kind that a user may link with a run.

    These are the runs of the user's teams and, in labs that they organize, of teams of that name.
    """
    if not user.is_authenticated:
        return Run.objects.none()
    of_teams = Q(team__memberships__user_id=user.pk)
    same = Q(task__lab__in=labs_organized_by(user), team__name__iexact=run.team.name)
    runs = Run.objects.scorable().filter(of_teams | same, task__kind=run.task.kind)
    elsewhere = runs.exclude(task=run.task_id).select_related("team", "task__lab").distinct()
    return elsewhere.order_by("task__lab__slug", "task__slug", "tag", "pk")


def run_or_404(user: Visitor, lab_slug: str, task_slug: str, run_id: int) -> Run:
    """Return the run with team, upload and task. Raise `Http404` if the user may not see it."""
    task = task_or_404(user, lab_slug, task_slug)
    run = get_object_or_404(runs_visible_to(user, task), pk=run_id)
    run.task = task
    return run
