"""Health checks: what programs ask to know whether this server works."""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from arqlab.core.services.health import recent_readiness


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
    return JsonResponse(body, status=200 if is_ready else 503)


VIEWS = {"/health/live": live, "/health/ready": ready}
"""The view of each path, which answers for any host name (arqlab/core/middleware.py)."""
