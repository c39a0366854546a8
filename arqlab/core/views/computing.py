"""The page that is shown while a job computes another one, and opens that when it is ready."""

from __future__ import annotations

from allauth.account.adapter import get_adapter
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone

from arqlab.core.errors import UserError, error_body
from arqlab.core.services.computing import (
    RUNNING,
    AskedPage,
    computing_job,
    require_turn,
    start_computing,
)
from arqlab.core.tasks import queue_job
from arqlab.core.views.error_pages import API, not_now
from arqlab.core.visits import Visit, after_visit

SECONDS = 2
"""After so many seconds, a script should ask again."""
TEXT = "This is being computed. Ask again in a few seconds."


def being_computed(request: HttpRequest, key: str) -> HttpResponse:
    """Return 202 for a page that lacks the value with a key, and let a job compute it.

    A visitor who has enough pages computed gets 429. Part of a page opens the whole page.
    """
    at, address = timezone.now(), str(get_adapter().get_client_ip(request))
    place = request.path, request.GET.urlencode(), request.get_host()
    asked = AskedPage(key, *place, request.user, address)
    try:
        require_turn(asked, at=at)
    except UserError as refused:
        return not_now(request, refused, seconds=60)
    after_visit(request, Visit.COMPUTING, lambda: queue_job(start_computing(asked, at=at)))
    if request.headers.get("HX-Request"):
        return HttpResponse(headers={"HX-Redirect": request.get_full_path()})
    page: HttpResponse
    if request.path.startswith(API):
        page = JsonResponse(error_body(TEXT, "being-computed"), status=202)
    else:
        page = render(request, "core/being_computed.html", {"key": key}, status=202)
    page["Retry-After"] = str(SECONDS)
    return page


def computing_news(key: str) -> HttpResponse:
    """Return nothing while a job computes the value with a key; else the page is opened again."""
    job = computing_job(key)
    is_over = job is None or job.state not in RUNNING
    return HttpResponse(headers={"HX-Refresh": "true"}) if is_over else HttpResponse(status=204)
