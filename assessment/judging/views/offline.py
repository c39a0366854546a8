"""The service worker that serves prepared judging pages when the network fails."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

WORKER = settings.BASE_DIR / "static" / "js" / "judge" / "trips" / "worker.js"


@require_safe
@login_not_required
@never_cache
def offline_worker(request: HttpRequest) -> HttpResponse:
    """Return the service worker. Its address, not that of static files, lets it serve labs."""
    return HttpResponse(WORKER.read_bytes(), content_type="text/javascript")
