"""Health checks and metrics: what programs ask to know how this server works."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from arqlab.core.services.health import recent_readiness
from arqlab.core.services.metrics import exposed_metrics


@require_safe
def live(request: HttpRequest) -> JsonResponse:
    """Return 200: this process answers requests, whatever else fails."""
    return JsonResponse({"status": "ok"})


@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """Return the state of each check, with 503 if one fails. Only `doctor` prints the reasons."""
    states = {name: "failing" if fault else "ok" for name, fault in recent_readiness().items()}
    is_ready = "failing" not in states.values()
    body = {"status": "ok" if is_ready else "failing", "checks": states}
    response = JsonResponse(body, status=200 if is_ready else 503)
    response._has_been_logged = True  # type: ignore[attr-defined]  # no line for each question
    return response


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics to who sends the token of the settings; 404 to everybody else."""
    sent, token = request.headers.get("Authorization", ""), settings.METRICS_TOKEN
    if not token or not constant_time_compare(sent, f"Bearer {token}"):
        return HttpResponse(status=404)
    return HttpResponse(exposed_metrics(), content_type=CONTENT_TYPE_LATEST)


VIEWS = {"/health/live": live, "/health/ready": ready, "/metrics": metrics}
"""The view of each path, which answers for any host name (arqlab/core/middleware.py)."""
