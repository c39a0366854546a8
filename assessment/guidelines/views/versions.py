"""The pages of the guidelines for assessors."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from arqkit.labels import LabelScale
from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.permissions import (
    may_look_up,
    may_organize,
    organized_task_or_404,
    signed_in,
    task_or_404,
)
from assessment.guidelines.forms import GuidelineForm
from assessment.guidelines.selectors.entries import version_of, waiting_entries
from assessment.guidelines.selectors.versions import (
    changed_lines,
    counts_by_version,
    current_guideline,
    guideline_text,
    label_table,
    labels_before,
    undefined_labels,
    version_numbered,
)
from assessment.guidelines.services.rendering import guideline_html, show_guideline
from assessment.guidelines.services.versions import write_guideline
from assessment.models import Guideline
from assessment.qrels.selectors.drafts import task_scale


class _Newest(NamedTuple):
    """The newest version of a task's guidelines, or its default text, and its labels."""

    guideline: Guideline | None
    text: str
    scale: LabelScale

    @property
    def version(self) -> int:
        return version_of(self.guideline)

    @property
    def definitions(self) -> dict[str, str]:
        return self.guideline.definitions if self.guideline else {}

    @property
    def source(self) -> str:
        return label_table(self.definitions, self.scale) + self.text

    @property
    def initial(self) -> dict[str, Any]:
        """Return what the editor begins with."""
        labels = {f"label-{value}": text for value, text in self.definitions.items()}
        return {"text": self.text, "after": self.version, **labels}


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
    newest = _newest(found)
    form = GuidelineForm(request.POST or None, initial=newest.initial, scale=newest.scale)
    context: dict[str, Any] = {"task": found, "lab": found.lab, "form": form}
    source = newest.source
    if request.method == "POST" and form.is_valid():
        source = label_table(form.definitions, newest.scale) + form.cleaned_data["text"]
        if "preview" in request.POST:
            context["html"] = guideline_html(source)
        else:
            try:
                made = _save(found, form, by=signed_in(request))
            except UserError as error:
                context |= _refused(form, error, newest)
            else:
                messages.success(request, f"Assessors now follow version {made.version}.")
                return redirect(
                    "assessment:guideline-detail", lab=lab, task=task, version=made.version
                )
    context |= {"newest": newest.guideline, **_versions(found)}
    context["waiting"] = waiting_entries(found)
    context["undefined"] = undefined_labels(source, newest.scale)
    return render(request, "assessment/guideline_edit.html", context)


def _newest(task: Task) -> _Newest:
    guideline, scale = current_guideline(task), task_scale(task)
    return _Newest(guideline, guideline_text(task, guideline), scale)


def _save(task: Task, form: GuidelineForm, *, by: User) -> Guideline:
    return write_guideline(
        task=task,
        text=form.cleaned_data["text"],
        definitions=form.definitions,
        after=form.cleaned_data["after"],
        at=timezone.now(),
        by=by,
    )


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


def _refused(form: GuidelineForm, error: UserError, newest: _Newest) -> dict[str, Any]:
    """Return the form with the error.

    If another organizer saved a version in the meantime, the form is based on that version and
    shows the differences, so that saving again is an informed choice.
    """
    if error.code != "changed-meanwhile":
        form.add_error(None, error.message)
        return {"form": form}
    written = label_table(form.definitions, newest.scale) + form.cleaned_data["text"]
    form = GuidelineForm({**form.cleaned_data, "after": newest.version}, scale=newest.scale)
    form.add_error(None, error.message)
    return {"form": form, "changes": changed_lines(newest.source, written)}
