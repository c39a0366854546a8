"""Health checks and metrics: what programs ask to know how this server works."""

from functools import cache
from urllib.parse import urlsplit

from django.conf import settings
from django.core.handlers.base import BaseHandler
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from arqlab.core.errors import Fault
from arqlab.server.services.health import BESIDE_REQUESTS, READINESS, recent_readiness
from arqlab.server.services.metrics import exposed_metrics


@require_safe
def live(request: HttpRequest) -> JsonResponse:
    """Return 200: this process answers requests, whatever else fails."""
    return JsonResponse({"status": "ok"})


@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """Return the state of each check, with 503 if a first request would not succeed.

    Only `doctor` prints the reasons.
    """
    failing = {name for name, fault in recent_readiness(check_pages).items() if fault}
    states = {name: "failing" if name in failing else "ok" for name in (*READINESS, "pages")}
    status = "ok" if not failing else "degraded" if failing <= BESIDE_REQUESTS else "failing"
    body = {"status": status, "checks": states}
    response = JsonResponse(body, status=503 if status == "failing" else 200)
    response._has_been_logged = True  # type: ignore[attr-defined]  # no line for each question
    return response


def check_pages() -> Fault | None:
    """Return a fault if a visitor would not get the home page now."""
    request, site = HttpRequest(), urlsplit(settings.SITE_URL)
    request.method, request.path, request.path_info = "GET", "/", "/"
    request.META = {
        "HTTP_HOST": site.netloc,
        "HTTP_X_FORWARDED_PROTO": site.scheme,
        "REMOTE_ADDR": "127.0.0.1",
        "SERVER_NAME": site.hostname,
        "SERVER_PORT": "80",
    }
    status = _handler().get_response(request).status_code
    if status < 500:
        return None
    return Fault(f"The home page answers {status}.", "Read the log of the web server.")


@cache
def _handler() -> BaseHandler:
    handler = BaseHandler()
    handler.load_middleware()
    return handler


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics to who sends the token of the settings; 404 to everybody else."""
    sent, token = request.headers.get("Authorization", ""), settings.METRICS_TOKEN
    if not token or not constant_time_compare(sent, f"Bearer {token}"):
        return HttpResponse(status=404)
    return HttpResponse(exposed_metrics(), content_type=CONTENT_TYPE_LATEST)


VIEWS = {"/health/live": live, "/health/ready": ready, "/metrics": metrics}
"""The view of each path, which answers for any host name (arqlab/server/middleware.py)."""
