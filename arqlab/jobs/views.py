"""Pages of something that a job makes: they offer to make it, show how far it is, or show it."""

from collections.abc import Mapping

from allauth.account.adapter import get_adapter
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from arqlab.core.errors import UserError, error_body
from arqlab.core.models import Job, Lab, Task
from arqlab.core.views import signed_in
from arqlab.core.views.answers import API
from arqlab.core.views.error_pages import not_now
from arqlab.core.visits import Visit, after_visit
from arqlab.jobs.services.computing import (
    RUNNING,
    AskedPage,
    computing_job,
    require_turn,
    start_computing,
)
from arqlab.jobs.services.jobs import retry_job, start_job
from arqlab.jobs.tasks import queue_job
from arqlab.labs.permissions import may_organize
from arqlab.web import news

SECONDS = 2
"""After so many seconds, a script should ask again."""
TEXT = "This is being computed. Ask again in a few seconds."


def requested(request: HttpRequest, kind: str, key: object, place: Lab | Task) -> HttpResponse:
    """Start a job that makes something, or retry it if it waits, and lead to the page of it."""
    draft = Job(kind=kind, key=str(key))
    job = start_job(job=draft, place=place, at=timezone.now(), by=signed_in(request))
    retry_job(job=job)
    queue_job(job)
    return redirect(request.path)


def page_of_job(
    request: HttpRequest, template: str, context: Mapping[str, object], kind: str, key: object
) -> HttpResponse:
    """Return the page of a result that a job makes; the page includes `components/made.html`."""
    job = Job.objects.select_related("lab").filter(kind=kind, key=str(key)).first()
    state = f"{job.state}-{job.done}-{job.attempts}-{job.is_stopping}" if job else ""
    may_stop = job is not None and job.lab is not None and may_organize(request.user, job.lab)
    return news(request, template, {**context, "job": job, "seen": state, "may_stop": may_stop})


def being_computed(request: HttpRequest, key: str) -> HttpResponse:
    """Return 202 for a page that lacks the value with a key, and let a job compute it.

    A visitor who has enough pages computed gets 429. Part of a page opens the whole page.
    """
    at, address = timezone.now(), str(get_adapter().get_client_ip(request))
    place = request.path, request.GET.urlencode(), request.get_host()
    asked_page = AskedPage(key, *place, request.user, address)
    try:
        require_turn(asked_page, at=at)
    except UserError as refused:
        return not_now(request, refused, seconds=60)
    after_visit(request, Visit.COMPUTING, lambda: queue_job(start_computing(asked_page, at=at)))
    if request.headers.get("HX-Request"):
        return HttpResponse(headers={"HX-Redirect": request.get_full_path()})
    page: HttpResponse
    if request.path.startswith(API):
        page = JsonResponse(error_body(TEXT, "being-computed"), status=202)
    else:
        page = render(request, "jobs/being_computed.html", {"key": key}, status=202)
    page["Retry-After"] = str(SECONDS)
    return page


def computing_news(key: str) -> HttpResponse:
    """Return nothing while a job computes the value with a key; else the page is opened again."""
    job = computing_job(key)
    is_over = job is None or job.state not in RUNNING
    return HttpResponse(headers={"HX-Refresh": "true"}) if is_over else HttpResponse(status=204)
