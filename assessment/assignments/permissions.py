"""Who may mark topics of a task."""

from __future__ import annotations

from django.http import Http404

from arqlab.core.models import Task, User
from arqlab.core.permissions import task_or_404
from assessment.assignments.selectors.roster import is_on_roster


def bidding_task_or_404(user: User, lab_slug: str, task_slug: str) -> Task:
    """Return the task for an assessor on its roster; raise 404 for anyone else."""
    task = task_or_404(user, lab_slug, task_slug)
    if not is_on_roster(user, task):
        raise Http404
    return task
