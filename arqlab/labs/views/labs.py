"""The pages that create, edit and archive labs and tasks."""

from datetime import datetime

from django.contrib import messages
from django.forms.models import model_to_dict
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from arqlab.core.models import Lab, Task
from arqlab.core.views import edited, refused, signed_in
from arqlab.labs.forms.creating import NewLabForm, NewTaskForm
from arqlab.labs.forms.labs import LabEditForm, TaskForm
from arqlab.labs.permissions import organized_lab_or_404, organized_task_or_404, require_lab_creator
from arqlab.labs.services.archiving import set_archived
from arqlab.labs.services.creating import create_lab, create_task
from arqlab.labs.services.labs import change_lab, change_task
from arqlab.web import LAB, TASK, Pages, Tab, organizers, url_of

pages = Pages(access=organized_lab_or_404)


@pages.form(
    f"{TASK}edit/",
    "task-edit",
    tabs=(Tab("task", "Settings", 90, organizers),),
    access=organized_task_or_404,
    section="settings",
)
def task_edit(request: HttpRequest, task: Task) -> HttpResponse:
    """Edit a task: its dates, limits, quota and measures."""
    by = signed_in(request)

    def save(form: TaskForm) -> HttpResponse:
        change_task(
            task=task,
            changes=form.changes,
            protocol=form.protocol,
            by=by,
            at=timezone.now(),
            confirmed=request.POST.get("confirm", ""),
        )
        messages.success(request, "Task saved.")
        return redirect(url_of("task", lab=task.lab.slug, task=task.slug))

    form, answer = edited(
        request,
        task,
        lambda data: TaskForm(data, task=task),
        save,
        events=task.lab.audit_events.filter(verb="task.change", target=task),
    )
    context = {"form": form}
    return answer or render(request, "labs/task_edit.html", context)


@pages.form("new-lab/", "lab-create", access=None, sign_in=True)
def lab_create(request: HttpRequest) -> HttpResponse:
    """Create a lab, which the user organizes."""
    by = require_lab_creator(request)
    form = NewLabForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refused(form, taken="slug"):
            lab = create_lab(by=by, **form.cleaned_data)
            messages.success(request, f"{lab} was created. Add its tasks.")
            return redirect(url_of("lab", lab=lab.slug))
    return render(request, "labs/lab_create.html", {"form": form})


@pages.form(f"{LAB}new-task/", "task-create", section="settings")
def task_create(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Create a task of a lab."""
    form = NewTaskForm(request.POST or None, lab=lab)
    if request.method == "POST" and form.is_valid():
        by, cleaned = signed_in(request), dict(form.cleaned_data)
        cleaned["confirmed"] = request.POST.get("confirm", "")
        name = cleaned.pop("slug"), cleaned.pop("name")
        with refused(form):
            task = create_task(lab=lab, name=name, by=by, at=timezone.now(), **cleaned)
            messages.success(request, f"{task.name} was created. Load its topics.")
            return redirect(url_of("task", lab=lab.slug, task=task.slug))
    return render(request, "labs/task_create.html", {"form": form})


@pages.action(f"{LAB}archive/", "lab-archive")
@pages.action(f"{TASK}archive/", "task-archive", access=organized_task_or_404)
def archive(request: HttpRequest, record: Lab | Task) -> HttpResponse:
    """Archive a lab or a task."""
    return _archived(request, record, timezone.now())


@pages.action(f"{LAB}restore/", "lab-restore", in_archive=True)
@pages.action(f"{TASK}restore/", "task-restore", in_archive=True, access=organized_task_or_404)
def restore(request: HttpRequest, record: Lab | Task) -> HttpResponse:
    """Restore a lab or a task from the archive."""
    return _archived(request, record, None)


def _archived(request: HttpRequest, record: Lab | Task, at: datetime | None) -> HttpResponse:
    set_archived(record=record, at=at, by=signed_in(request))
    state = "archived. It is read-only until you restore it." if at else "restored."
    messages.success(request, f"{record.name} is {state}")
    if isinstance(record, Lab):
        return redirect(url_of("lab", lab=record.slug))
    return redirect(url_of("task", lab=record.lab.slug, task=record.slug))


@pages.form(
    f"{LAB}edit/", "lab-edit", tabs=(Tab("lab", "Settings", 90, organizers),), section="settings"
)
def lab_edit(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Edit the name, description and visibility of a lab."""
    by, names = signed_in(request), ("name", "description", "is_public")

    def save(form: LabEditForm) -> HttpResponse:
        change_lab(lab=lab, changes=form.cleaned_data, by=by)
        messages.success(request, "Lab saved.")
        return redirect(url_of("lab", lab=lab.slug))

    form, answer = edited(
        request,
        lab,
        lambda data: LabEditForm(data, initial=model_to_dict(lab, names)),
        save,
        events=lab.audit_events.filter(verb="lab.change"),
    )
    return answer or render(request, "labs/lab_edit.html", {"form": form})
