"""The pages of the guidelines for assessors."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from arqlab.core.errors import UserError
from arqlab.core.models import Task
from arqlab.core.permissions import (
    may_look_up,
    may_organize,
    organized_task_or_404,
    signed_in,
    task_or_404,
)
from assessment.guidelines.forms import GuidelineForm
from assessment.guidelines.selectors.entries import waiting_entries
from assessment.guidelines.selectors.versions import (
    changed_lines,
    counts_by_version,
    current_guideline,
    guideline_text,
    labels_before,
    undefined_labels,
    version_numbered,
)
from assessment.guidelines.services.rendering import guideline_html, show_guideline
from assessment.guidelines.services.versions import write_guideline
from assessment.models import Guideline


@require_safe
def guideline_detail(request: HttpRequest, lab: str, task: str, version: int) -> HttpResponse:
    """Show a version of the guidelines. Version 0 is ArqLab's default text."""
    found = task_or_404(request.user, lab, task)
    if not may_look_up(request.user, found.lab):
        raise Http404
    shown = version_or_404(found, version)
    context = {
        "task": found,
        "lab": found.lab,
        "guideline": shown,
        "version": version,
        "shown": show_guideline(found, shown),
        "newest": current_guideline(found),
        "organizes": may_organize(request.user, found.lab),
    }
    return render(request, "assessment/guideline_detail.html", context)


def version_or_404(task: Task, version: int) -> Guideline | None:
    """Return a version of a task's guidelines, None for the default text (0), or raise Http404."""
    found = version_numbered(task, version) if version else None
    if version and found is None:
        raise Http404
    return found


@require_http_methods(["GET", "HEAD", "POST"])
def guideline_edit(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Edit the guidelines, preview the next version, and list all versions."""
    found = organized_task_or_404(request.user, lab, task)
    newest = current_guideline(found)
    initial: dict[str, Any] = {
        "text": guideline_text(found, newest),
        "after": newest.version if newest else 0,
    }
    form = GuidelineForm(request.POST or None, initial=initial)
    context: dict[str, Any] = {"task": found, "lab": found.lab, "form": form, "newest": newest}
    if request.method == "POST" and form.is_valid():
        if "preview" in request.POST:
            context["html"] = guideline_html(form.cleaned_data["text"])
        else:
            try:
                made = write_guideline(
                    task=found, **form.cleaned_data, at=timezone.now(), by=signed_in(request)
                )
            except UserError as error:
                context |= _refused(form, error, initial)
            else:
                messages.success(request, f"Assessors now follow version {made.version}.")
                return redirect(
                    "assessment:guideline-detail", lab=lab, task=task, version=made.version
                )
    context |= _versions(found)
    context["waiting"] = waiting_entries(found)
    context["undefined"] = undefined_labels(found, str(context["form"]["text"].value() or ""))
    return render(request, "assessment/guideline_edit.html", context)


def _versions(task: Task) -> dict[str, Any]:
    """Return the versions, newest first, each with its labels and those given before it."""
    counts = counts_by_version(task)
    versions = task.guidelines.select_related("written_by").defer("text").order_by("-version")
    return {
        "versions": [
            (each, counts.get(each.version, 0), labels_before(counts, each.version))
            for each in versions
        ],
        "default_labels": counts.get(0, 0),
        "unknown_labels": counts.get(None, 0),
    }


def _refused(form: GuidelineForm, error: UserError, current: dict[str, Any]) -> dict[str, Any]:
    """Return the form with the error.

    If another organizer saved a version in the meantime, the form is based on that version and
    shows the differences, so that saving again is an informed choice.
    """
    written = form.cleaned_data
    if error.code != "changed-meanwhile":
        form.add_error(None, error.message)
        return {"form": form}
    form = GuidelineForm({**written, "after": current["after"]})
    form.add_error(None, error.message)
    return {"form": form, "changes": changed_lines(current["text"], written["text"])}
