"""The pages that edit a lab and its roles, and the audit log."""

from __future__ import annotations

from django.contrib import messages
from django.forms.models import model_to_dict
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from arqlab.core import permissions, selectors
from arqlab.core.errors import UserError
from arqlab.core.forms.labs import LabEditForm
from arqlab.core.forms.lists import AuditListForm
from arqlab.core.forms.people import RevokeForm, RoleForm
from arqlab.core.models import User
from arqlab.core.services.labs import change_lab
from arqlab.core.services.people import allow_team, grant_role, revoke_role
from arqlab.core.views.editing import edited


@require_http_methods(["GET", "HEAD", "POST"])
def lab_edit(request: HttpRequest, lab: str) -> HttpResponse:
    """Edit the name, description and visibility of a lab."""
    found = permissions.organized_lab_or_404(request.user, lab)
    by, names = permissions.signed_in(request), ("name", "description", "is_public")

    def save(form: LabEditForm) -> HttpResponse:
        change_lab(lab=found, changes=form.cleaned_data, by=by)
        messages.success(request, "Lab saved.")
        return redirect("desk:lab-detail", lab=lab)

    form, answer = edited(
        request,
        found,
        lambda data: LabEditForm(data, initial=model_to_dict(found, names)),
        save,
        events=found.audit_events.filter(verb="lab.change"),
    )
    return answer or render(request, "core/lab_edit.html", {"form": form, "lab": found})


@require_http_methods(["GET", "HEAD", "POST"])
def people_list(request: HttpRequest, lab: str) -> HttpResponse:
    """Show the people of a lab, and grant the roles of organizer and assessor."""
    found = permissions.organized_lab_or_404(request.user, lab)
    form = RoleForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        person, role = form.cleaned_data["person"], form.cleaned_data["role"]
        by, confirmed = permissions.signed_in(request), request.POST.get("confirm", "")
        try:
            grant_role(lab=found, user=person, role=role, by=by, confirmed=confirmed)
        except UserError as error:
            form.refuse(error)
        else:
            messages.success(request, f"{person.name} is now {role} of {found}.")
            return redirect("core:people-list", lab=lab)
    context = {"form": form, "lab": found}
    context |= {"staff": selectors.staff_of(found), "teams": selectors.teams_with_members(found)}
    return render(request, "core/people_list.html", context)


@require_POST
def people_allow_team(request: HttpRequest, lab: str, person: int) -> HttpResponse:
    """Allow an assessor to be in a team."""
    found = permissions.organized_lab_or_404(request.user, lab)
    user = get_object_or_404(User, pk=person, memberships__in=selectors.staff_of(found))
    allow_team(lab=found, user=user, by=permissions.signed_in(request))
    messages.success(request, f"{user.name} may now be in a team of {found}.")
    return redirect("core:people-list", lab=lab)


@require_POST
def people_revoke(request: HttpRequest, lab: str) -> HttpResponse:
    """Revoke a role."""
    found = permissions.organized_lab_or_404(request.user, lab)
    form = RevokeForm(request.POST)
    if not form.is_valid():
        messages.error(request, "No person selected. Press “Revoke” next to a person.")
        return redirect("core:people-list", lab=lab)
    person, role = form.cleaned_data["person"], form.cleaned_data["role"]
    try:
        revoke_role(lab=found, user=person, role=role, by=permissions.signed_in(request))
    except UserError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"{person.name} is no longer {role} of {found}.")
    return redirect("core:people-list", lab=lab)


@require_safe
def audit_list(request: HttpRequest, lab: str) -> HttpResponse:
    """Show the audit log of a lab, newest first."""
    found = permissions.organized_lab_or_404(request.user, lab)
    listing = AuditListForm(request.GET, lab=found)
    page = listing.page_of(found.audit_events.select_related("actor"))
    context = {"lab": found, "listing": listing, "page": page}
    return render(request, "core/audit_list.html", context)
