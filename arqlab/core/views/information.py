"""The pages that edit topic information: as a table, and as a file to download and upload."""

from __future__ import annotations

import json

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from arqkit.formats.topics.information import read_info_rows
from arqkit.records import Problem
from arqkit.topics import InfoChange, info_changes, write_topic_info
from arqlab.core import permissions
from arqlab.core.errors import UserError
from arqlab.core.forms.information import InformationFileForm, InformationForm, read_changes
from arqlab.core.models import Task
from arqlab.core.services.topics import change_topic_information
from arqlab.core.views.downloads import exact_response

MAX_BYTES = 2**20


@require_http_methods(["GET", "HEAD", "POST"])
def topic_information(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show the topic information of a task as a table, and save the changed values."""
    found = permissions.organized_task_or_404(request.user, lab, task)
    form = InformationForm(found, request.POST.dict() if request.method == "POST" else None)
    errors: list[str] = []
    if request.method == "POST":
        try:
            count = change_topic_information(
                task=found, changes=form.changes(), by=permissions.signed_in(request)
            )
        except UserError as error:
            errors.append(error.message)
        else:
            messages.success(request, _saved(count))
            return redirect("core:topic-information", lab=lab, task=task)
    context = {
        "task": found,
        "lab": found.lab,
        "form": form,
        "errors": errors,
        "file_form": InformationFileForm(),
    }
    return render(request, "core/topic_information.html", context)


@require_safe
def topic_information_csv(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Return the topic information as CSV, to edit and upload again."""
    found = permissions.organized_task_or_404(request.user, lab, task)
    form = InformationForm(found)
    name = f"{found.lab.slug}-{found.slug}-topic-info.csv"
    return exact_response(write_topic_info(form.facts, form.fields), name)


@require_http_methods(["GET", "HEAD", "POST"])
def topic_information_upload(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Preview the changes and problems of a topic information file, without storing anything."""
    found = permissions.organized_task_or_404(request.user, lab, task)
    file_form = InformationFileForm(request.POST or None, request.FILES or None)
    if request.method != "POST" or not file_form.is_valid():
        context = {"task": found, "lab": found.lab, "file_form": file_form}
        return render(request, "core/topic_information_upload.html", context)
    file, form = file_form.cleaned_data["file"], InformationForm(found)
    name = str(file.name)
    if file.size > MAX_BYTES:
        problem = Problem(
            name,
            None,
            f"{file.size:,} bytes",
            f"at most {MAX_BYTES:,}",
            "Upload the CSV file only.",
        )
        return _preview(request, found, form, [], [problem])
    rows, problems = read_info_rows(file.read(), path=name)
    changes, more = info_changes(rows, form.facts, form.fields, path=name)
    return _preview(
        request, found, form, changes, sorted([*problems, *more], key=lambda one: one.line or 0)
    )


@require_POST
def topic_information_apply(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Apply the previewed changes of a file."""
    found = permissions.organized_task_or_404(request.user, lab, task)
    try:
        changes = read_changes(request.POST.get("changes", ""))
    except UserError as error:
        messages.error(request, error.message)
        return redirect("core:topic-information-upload", lab=lab, task=task)
    form = InformationForm(found)
    known = [one for one in changes if one.field in form.fields]
    try:
        count = change_topic_information(
            task=found, changes=known, by=permissions.signed_in(request)
        )
    except UserError as error:
        now = form.facts
        still = [
            one._replace(was=now[one.query_id][one.field]) for one in known if one.query_id in now
        ]
        return _preview(
            request, found, form, [one for one in still if one.was != one.value], [], error.message
        )
    messages.success(request, _saved(count))
    return redirect("core:topic-information", lab=lab, task=task)


def _preview(
    request: HttpRequest,
    task: Task,
    form: InformationForm,
    changes: list[InfoChange],
    problems: list[Problem],
    error: str = "",
) -> HttpResponse:
    shown = [
        (one, one.value and form.fields[one.field] and one.value not in form.fields[one.field])
        for one in changes
    ]
    context = {
        "task": task,
        "lab": task.lab,
        "file_form": InformationFileForm(),
        "is_preview": True,
        "changes": shown,
        "topics": len({one.query_id for one in changes}),
        "problems": problems,
        "errors": [error] if error else [],
        "kept": json.dumps(changes),
    }
    return render(request, "core/topic_information_upload.html", context)


def _saved(count: int) -> str:
    if not count:
        return "Nothing changed: the topics already have these values."
    return f"Saved the information of {count} topic{'s' * (count != 1)}."
