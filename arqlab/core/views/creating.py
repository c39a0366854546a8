"""The pages that create labs and tasks, and archive them."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from arqlab.core import permissions
from arqlab.core.errors import UserError
from arqlab.core.forms.creating import NewLabForm, NewTaskForm
from arqlab.core.services.archiving import archive, restore
from arqlab.core.services.creating import create_lab, create_task


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def lab_create(request: HttpRequest) -> HttpResponse:
    """Create a lab, which the user organizes."""
    by = permissions.require_lab_creator(request)
    form = NewLabForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            lab = create_lab(by=by, **form.cleaned_data)
        except UserError as error:
            form.add_error("slug" if error.code == "taken" else None, error.message)
        else:
            messages.success(request, f"{lab} was created. Add its tasks.")
            return redirect("desk:lab-detail", lab=lab.slug)
    return render(request, "core/lab_create.html", {"form": form})


@require_http_methods(["GET", "HEAD", "POST"])
def task_create(request: HttpRequest, lab: str) -> HttpResponse:
    """Create a task of a lab."""
    found = permissions.organized_lab_or_404(request.user, lab)
    form = NewTaskForm(request.POST or None, lab=found)
    if request.method == "POST" and form.is_valid():
        by, cleaned = permissions.signed_in(request), dict(form.cleaned_data)
        cleaned["confirmed"] = request.POST.get("confirm", "")
        name = cleaned.pop("slug"), cleaned.pop("name")
        try:
            task = create_task(lab=found, name=name, by=by, at=timezone.now(), **cleaned)
        except UserError as error:
            form.refuse(error)
        else:
            messages.success(request, f"{task.name} was created. Load its topics.")
            return redirect("desk:task-detail", lab=lab, task=task.slug)
    return render(request, "core/task_create.html", {"form": form, "lab": found})


@require_POST
def lab_archive(request: HttpRequest, lab: str) -> HttpResponse:
    """Archive a lab."""
    found = permissions.organized_lab_or_404(request.user, lab)
    archive(record=found, at=timezone.now(), by=permissions.signed_in(request))
    messages.success(request, f"{found} is archived. It is read-only until you restore it.")
    return redirect("desk:lab-detail", lab=lab)


@require_POST
def lab_restore(request: HttpRequest, lab: str) -> HttpResponse:
    """Restore a lab from the archive."""
    found = permissions.organized_lab_or_404(request.user, lab)
    restore(record=found, by=permissions.signed_in(request))
    messages.success(request, f"{found} is restored.")
    return redirect("desk:lab-detail", lab=lab)


@require_POST
def task_archive(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Archive a task."""
    found = permissions.organized_task_or_404(request.user, lab, task)
    archive(record=found, at=timezone.now(), by=permissions.signed_in(request))
    messages.success(request, f"{found.name} is archived. It is read-only until you restore it.")
    return redirect("desk:task-detail", lab=lab, task=task)


@require_POST
def task_restore(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Restore a task from the archive."""
    found = permissions.organized_task_or_404(request.user, lab, task)
    restore(record=found, by=permissions.signed_in(request))
    messages.success(request, f"{found.name} is restored.")
    return redirect("desk:task-detail", lab=lab, task=task)
