"""The pages that edit a lab and its roles, and the audit log."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms.models import model_to_dict
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from arqlab.core import permissions, selectors
from arqlab.core.errors import UserError
from arqlab.core.forms.creating import NewLabForm, NewTaskForm
from arqlab.core.forms.labs import LabEditForm, TaskForm
from arqlab.core.forms.lists import AuditListForm
from arqlab.core.forms.people import RevokeForm, RoleForm
from arqlab.core.models import User
from arqlab.core.services.archiving import archive, restore
from arqlab.core.services.creating import create_lab, create_task
from arqlab.core.services.labs import change_lab, change_task
from arqlab.core.services.people import allow_team, grant_role, revoke_role
from arqlab.core.views.editing import edited


@require_http_methods(["GET", "HEAD", "POST"])
def task_edit(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Edit a task: its dates, limits, quota and measures."""
    found = permissions.organized_task_or_404(request.user, lab, task)
    by = permissions.signed_in(request)

    def save(form: TaskForm) -> HttpResponse:
        change_task(
            task=found,
            changes=form.changes,
            protocol=form.protocol,
            by=by,
            at=timezone.now(),
            confirmed=request.POST.get("confirm", ""),
        )
        messages.success(request, "Task saved.")
        return redirect("desk:task-detail", lab=lab, task=task)

    form, answer = edited(
        request,
        found,
        lambda data: TaskForm(data, task=found),
        save,
        events=found.lab.audit_events.filter(verb="task.change", target=found),
    )
    context = {"form": form, "task": found, "lab": found.lab}
    return answer or render(request, "core/task_edit.html", context)


@require_safe
def topic_list(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show the topics of a task, filtered by words and topic information."""
    found = permissions.task_or_404(request.user, lab, task)
    words = request.GET.get("q", "").strip()
    chosen = {name: request.GET.get(name, "") for name in selectors.TOPIC_FILTERS}
    topics = list(found.topics.order_by("position").defer("body_html"))
    context = {
        "task": found,
        "lab": found.lab,
        "topics": selectors.search_topics(topics, words=words, info=chosen),
        "total": len(topics),
        "words": words,
        "choices": [
            (name, chosen[name], selectors.info_values(topics, name))
            for name in selectors.TOPIC_FILTERS
        ],
        "is_searched": bool(words or any(chosen.values())),
        "organizes": permissions.may_organize(request.user, found.lab),
    }
    return render(request, "core/topic_list.html", context)


@require_safe
def topic_detail(request: HttpRequest, lab: str, task: str, query_id: str) -> HttpResponse:
    """Show a topic with its information and links to the previous and next topic."""
    found = permissions.task_or_404(request.user, lab, task)
    topic = get_object_or_404(found.topics, query_id=query_id)
    before, after = selectors.neighbours(topic)
    facts, notes = selectors.public_info(topic)
    context = {
        "topic": topic,
        "task": found,
        "lab": found.lab,
        "state": found.state(timezone.now()),
        "place": found.topics.filter(position__lte=topic.position).count(),
        "total": found.topics.count(),
        "before": before,
        "after": after,
        "facts": facts,
        "has_thread": permissions.may_see_thread(request.user, topic),
    }
    if permissions.may_organize(request.user, found.lab):
        context["notes"] = notes
    return render(request, "core/topic_detail.html", context)


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
