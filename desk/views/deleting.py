"""The pages that delete labs and tasks."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from arqlab.core import permissions
from arqlab.core.errors import UserError
from arqlab.core.forms.creating import DeleteForm
from arqlab.core.models import Lab, Task
from desk.services.deleting import delete_lab, delete_task, deletion_refusal


@require_http_methods(["GET", "HEAD", "POST"])
def lab_delete(request: HttpRequest, lab: str) -> HttpResponse:
    """Delete a lab, after its name was typed."""
    found = permissions.organized_lab_or_404(request.user, lab)
    form = DeleteForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            delete_lab(
                lab=found, typed=form.cleaned_data["typed"], by=permissions.signed_in(request)
            )
        except UserError as error:
            form.add_error("typed" if error.code == "name" else None, error.message)
        else:
            messages.success(request, f"{found} was deleted.")
            return redirect("desk:lab-list")
    return _page(request, form, found, None)


@require_http_methods(["GET", "HEAD", "POST"])
def task_delete(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Delete a task, after its name was typed."""
    found = permissions.organized_task_or_404(request.user, lab, task)
    form = DeleteForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            delete_task(
                task=found, typed=form.cleaned_data["typed"], by=permissions.signed_in(request)
            )
        except UserError as error:
            form.add_error("typed" if error.code == "name" else None, error.message)
        else:
            messages.success(request, f"{found.name} was deleted.")
            return redirect("desk:lab-detail", lab=lab)
    return _page(request, form, found.lab, found)


def _page(request: HttpRequest, form: DeleteForm, lab: Lab, task: Task | None) -> HttpResponse:
    record = task or lab
    refusal = "" if form.is_bound else deletion_refusal(record)
    context = {"form": form, "lab": lab, "task": task, "record": record, "refusal": refusal}
    return render(request, "desk/delete.html", context)
