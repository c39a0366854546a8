"""The page that copies a lab."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from arqlab.core import permissions
from arqlab.core.errors import UserError
from arqlab.core.forms.creating import CopyLabForm
from desk.services.copying import copy_lab


@require_http_methods(["GET", "HEAD", "POST"])
def lab_copy(request: HttpRequest, lab: str) -> HttpResponse:
    """Copy a lab without its dates, topics, teams and runs, for another year."""
    found = permissions.organized_lab_or_404(request.user, lab)
    by = permissions.require_lab_creator(request)
    form = CopyLabForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            copied = copy_lab(source=found, at=timezone.now(), by=by, **form.cleaned_data)
        except UserError as error:
            form.add_error("slug" if error.code == "taken" else None, error.message)
        else:
            messages.success(
                request, f"{copied} was created as a draft. Set its dates and load its topics."
            )
            return redirect("desk:lab-detail", lab=copied.slug)
    return render(request, "desk/lab_copy.html", {"form": form, "lab": found})
