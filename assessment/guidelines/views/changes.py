"""The changes between versions of the guidelines, and the guidelines on the judging page."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from arqlab.core.models import Task
from arqlab.core.permissions import may_look_up, may_organize, signed_in, task_or_404
from assessment.guidelines.selectors.entries import changed_entries, version_of
from assessment.guidelines.selectors.versions import (
    changed_lines,
    current_guideline,
    followed_versions,
    guideline_source,
    version_numbered,
)
from assessment.guidelines.services.rendering import changed_html, show_guideline, shown_entries
from assessment.guidelines.views.versions import version_or_404
from assessment.qrels.selectors.drafts import task_scale


@require_safe
def guideline_changes(request: HttpRequest, lab: str, task: str, version: int) -> HttpResponse:
    """Show what a version changed since the one before, or since the version in `since`."""
    found = _task_or_404(request, lab, task)
    guideline = version_or_404(found, version)
    if guideline is None:
        raise Http404
    asked_for = request.GET.get("since", "")
    is_number = asked_for.isascii() and asked_for.isdigit() and len(asked_for) < 6
    before = int(asked_for) if is_number and int(asked_for) < version else version - 1
    earlier, scale = version_numbered(found, before), task_scale(found)
    texts = [guideline_source(found, each, scale) for each in (earlier, guideline)]
    entries = changed_entries(found, before=before, version=version)
    context = {
        "task": found,
        "lab": found.lab,
        "guideline": guideline,
        "before": before,
        "earlier": range(version),
        "html": changed_html(*texts) if texts[0] != texts[1] else None,
        "changes": changed_lines(*texts),
        "added": shown_entries(entries.added, scale=scale),
        "removed": shown_entries(entries.removed, scale=scale),
        "labels": [scale.of(label) for label in entries.labels],
        "organizes": may_organize(request.user, found.lab),
    }
    return render(request, "assessment/guideline_changes.html", context)


@require_safe
@login_required
@never_cache
def guideline_panel(request: HttpRequest, lab: str, task: str, version: int) -> HttpResponse:
    """Return a version for the judging page, with what is new for the user marked."""
    found, user = _task_or_404(request, lab, task), signed_in(request)
    followed = followed_versions(user, [found]).get(found.pk)
    context = {
        "task": found,
        "lab": found.lab,
        "version": version,
        "followed": followed,
        "shown": show_guideline(found, version_or_404(found, version), followed=followed),
        "newest": version_of(current_guideline(found)),
    }
    response = render(request, "assessment/_guideline_panel.html", context)
    response.headers["X-Judging-User"] = str(user.pk)  # as for the list of judgments
    return response


def _task_or_404(request: HttpRequest, lab: str, task: str) -> Task:
    found = task_or_404(request.user, lab, task)
    if not may_look_up(request.user, found.lab):
        raise Http404
    return found
