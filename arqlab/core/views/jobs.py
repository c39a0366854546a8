"""Pages of something that a job makes: they offer to make it, show how far it is, or show it."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from arqlab.core.models import Job, Lab, Task
from arqlab.core.permissions import may_organize, signed_in
from arqlab.core.services.jobs import retry_job, start_job
from arqlab.core.tasks import queue_job
from arqlab.web.jobs import news


def requested(request: HttpRequest, kind: str, key: object, place: Lab | Task) -> HttpResponse:
    """Start a job that makes something, or retry it if it waits, and lead to the page of it."""
    draft = Job(kind=kind, key=str(key))
    job = start_job(job=draft, place=place, at=timezone.now(), by=signed_in(request))
    retry_job(job=job)
    queue_job(job)
    return redirect(request.path)


def page_of_job(
    request: HttpRequest, template: str, context: dict[str, Any], kind: str, key: object
) -> HttpResponse:
    """Return the page of a result that a job makes; the page includes `components/made.html`."""
    job = Job.objects.select_related("lab").filter(kind=kind, key=str(key)).first()
    seen = f"{job.state}-{job.done}-{job.attempts}-{job.is_stopping}" if job else ""
    may_stop = job is not None and job.lab is not None and may_organize(request.user, job.lab)
    return news(request, template, {**context, "job": job, "seen": seen, "may_stop": may_stop})
