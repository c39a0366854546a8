"""Archived labs and tasks are read-only: requests that would change them are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect

from arqlab.core.models import Lab, Task, Team
from arqlab.core.permissions import labs_visible_to

SAFE_METHODS = ("GET", "HEAD", "OPTIONS", "TRACE")
ALLOWED = frozenset(
    {
        "core:lab-restore",
        "core:task-restore",
        "pages:lab-copy",
        "pages:lab-delete",
        "pages:task-delete",
    }
)
"""The pages that change an archived lab or task, or only read it."""
JUDGING = "assessment:api-judging-"
"""Judging has no time for another query: its own see no topic of an archive."""
REFUSAL = "It is archived, so it cannot be changed. Organizers can restore it under Settings."


class ReadOnlyArchives:
    """Refuses requests that would change an archived lab or task."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request."""
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        """Refuse a request to an archived lab or task that the user may see."""
        if request.method in SAFE_METHODS:
            return None
        slug = kwargs.get("lab") or _lab_of_invitation(request, kwargs)
        if slug is None:
            return None
        name = str(request.resolver_match and request.resolver_match.view_name)
        if name in ALLOWED or name.startswith(JUDGING):
            return None
        if not is_archived(slug, kwargs.get("task", "")):
            return None
        if not labs_visible_to(request.user).filter(slug=slug).exists():
            return None  # the view answers 404
        if not request.accepts("text/html") or ":api-" in name:
            return JsonResponse({"message": REFUSAL, "code": "archived"}, status=409)
        messages.error(request, REFUSAL)
        return redirect("pages:lab-detail", lab=slug)


def _lab_of_invitation(request: HttpRequest, kwargs: dict[str, Any]) -> str | None:
    """Return the address of the lab whose team the request joins, or None."""
    match = request.resolver_match
    if match is None or match.view_name != "core:team-join":
        return None
    teams = Team.objects.filter(invitation_token=kwargs["token"])
    return teams.values_list("lab__slug", flat=True).first()


def is_archived(lab: str, task: str) -> bool:
    """Return whether a lab, or the task in it, is archived."""
    archived = Q(archived_at__isnull=False) | Q(
        tasks__in=Task.objects.filter(slug=task, archived_at__isnull=False)
    )
    return Lab.objects.filter(archived, slug=lab).exists()
