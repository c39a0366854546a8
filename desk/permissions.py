"""Who may see and repeat a load."""

from django.http import Http404
from django.shortcuts import get_object_or_404

from arqlab.core.models import Job, Visitor
from arqlab.labs.permissions import may_organize
from arqlab.web.jobs import JOB_KINDS


def job_or_404(user: Visitor, load_id: int) -> Job:
    """Return the job for organizers of its lab; raise 404 for anyone else.

    A job that has made no lab yet is shown to those who started it.
    """
    loads = Job.objects.filter(kind__in=JOB_KINDS).select_related("lab", "task__lab", "by")
    load = get_object_or_404(loads, pk=load_id)
    may = may_organize(user, load.lab) if load.lab else load.by_id == user.pk or user.is_superuser
    if not (user.is_authenticated and may):
        raise Http404
    return load
