"""The list of labs and the page of a lab."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html_join

from arqlab.core.exports import Export
from arqlab.core.models import Lab, Task, User
from arqlab.core.views import refused, signed_in
from arqlab.labs.forms.creating import CopyLabForm, DeleteForm
from arqlab.labs.permissions import (
    lab_or_404,
    labs_visible_to,
    organized_lab_or_404,
    organized_task_or_404,
    require_lab_creator,
    tasks_visible_to,
)
from arqlab.labs.selectors import (
    LabRoles,
    LabRow,
    OwnLab,
    TaskRow,
    lab_row,
    lab_rows,
    own_labs,
    roles_in,
)
from arqlab.notices.models import Notice
from arqlab.notices.selectors import unread_notices
from arqlab.web import LAB, TASK, Column, Empty, Pages, Tab, Table, answer, cells, to
from desk.selectors import LabDate, LabsOverview, StageCell, lab_dates, labs_overview, with_phases
from desk.services.exports import lab_exports
from desk.services.labs import copy_lab, delete_record, deletion_refusal

pages = Pages(section="settings")

NOTICES = 5


@pages.form(
    f"{LAB}delete/", "lab-delete", shows="lab-delete", in_archive=True, access=organized_lab_or_404
)
def lab_delete(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Delete a lab, after its name was typed."""
    return _deletion(request, lab, redirect("desk:lab-list"))


@pages.form(
    f"{TASK}delete/",
    "task-delete",
    shows="task-delete",
    in_archive=True,
    access=organized_task_or_404,
)
def task_delete(request: HttpRequest, task: Task) -> HttpResponse:
    """Delete a task, after its name was typed."""
    return _deletion(request, task, redirect("desk:lab-detail", lab=task.lab.slug))


def _deletion(request: HttpRequest, record: Lab | Task, after: HttpResponse) -> HttpResponse:
    form = DeleteForm(request.POST or None)
    if form.is_valid():
        with refused(form, name="typed"):
            delete_record(record=record, by=signed_in(request), **form.cleaned_data)
            messages.success(request, f"{record.name} was deleted.")
            return after
    refusal = "" if form.is_bound else deletion_refusal(record)
    context = {"form": form, "record": record, "refusal": refusal}
    return render(request, "desk/delete.html", context)


@pages.form(f"{LAB}copy/", "lab-copy", in_archive=True, access=organized_lab_or_404)
def lab_copy(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Copy a lab without its dates, topics, teams and runs, for another year."""
    by = require_lab_creator(request)
    form = CopyLabForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refused(form, taken="slug"):
            copied = copy_lab(source=lab, at=timezone.now(), by=by, **form.cleaned_data)
            messages.success(
                request, f"{copied} was created as a draft. Set its dates and load its topics."
            )
            return redirect("desk:lab-detail", lab=copied.slug)
    return render(request, "desk/lab_copy.html", {"form": form})


@dataclass(frozen=True)
class LabPage:
    """A lab with the user's roles, what is next, its dates, and the stages of its tasks."""

    row: LabRow
    standing: LabRoles
    overview: LabsOverview
    dates: list[LabDate]
    matrix: list[tuple[TaskRow, list[StageCell]]]
    downloads: list[Export[Lab]]


@dataclass(frozen=True)
class HomePage:
    """The labs of a person with what is next, and the newest notices."""

    own_labs: list[OwnLab]
    overview: LabsOverview
    notices: Iterable[Notice]


@pages.read("", "home", shows="home", section="")
def home(request: HttpRequest) -> HttpResponse:
    """Show a visitor the public labs; show a signed-in person their labs and next steps."""
    now, tasks = timezone.now(), tasks_visible_to(request.user)
    my_labs = own_labs(request.user, tasks=tasks, at=now) if isinstance(request.user, User) else []
    others = (
        labs_visible_to(request.user)
        .filter(archived_at=None)
        .exclude(pk__in=[lab.row.lab.pk for lab in my_labs])
    )
    standings = [(lab.row.lab, lab.standing) for lab in my_labs]
    overview = labs_overview(standings, request.user, at=now)
    labs = lab_rows(others, tasks=tasks, at=now)
    overview = with_phases(overview, labs)
    page = HomePage(my_labs, overview, unread_notices(request.user)[:NOTICES])
    empty = Empty("No public labs yet", "Labs appear here when their organizers make them public.")
    return answer(request, "desk/home.html", vars(page), _labs_table(labs, overview, empty))


@pages.read("labs/", "lab-list", shows="labs", section="")
def lab_list(request: HttpRequest) -> HttpResponse:
    """Show all labs the person may see, open labs first."""
    tasks = tasks_visible_to(request.user)
    labs = lab_rows(labs_visible_to(request.user), tasks=tasks, at=timezone.now())
    overview = with_phases(labs_overview([], request.user, at=timezone.now()), labs)
    empty = Empty(
        "No labs yet",
        "Labs appear here when their organizers make them public. People who may create labs can "
        "create one here.",
    )
    return answer(request, "desk/lab_list.html", {}, _labs_table(labs, overview, empty))


def _labs_table(labs: list[LabRow], overview: LabsOverview, empty: Empty) -> Table[LabRow]:
    return Table[LabRow](
        "labs",
        [
            Column(
                "Lab",
                lambda row: row.lab.name,
                link=to("desk:lab-detail", of=lambda row: row.lab.slug),
                is_head=True,
            ),
            Column("State", overview.phase, cells.CHIP),
            Column("Tasks", _task_links),
            Column("Teams", lambda row: row.teams, cells.COUNT),
            Column("Next deadline", lambda row: row.next_deadline, cells.DEADLINE),
        ],
        labs,
        empty=empty,
    )


def _task_links(row: LabRow) -> str:
    tasks = [entry.task for entry in row.tasks]
    links = ((reverse("desk:task-detail", args=[row.lab.slug, t.slug]), t.name) for t in tasks)
    return format_html_join(", ", '<a href="{}">{}</a>', links)


@pages.read(
    LAB,
    "lab-detail",
    shows="lab",
    tabs=(Tab("lab", "Overview", 10),),
    access=lab_or_404,
    section="overview",
)
def lab_detail(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show a lab: its state, tasks and deadlines, the person's role and next steps."""
    now = timezone.now()
    row = lab_row(lab, tasks=tasks_visible_to(request.user), at=now)
    standing = roles_in(request.user, lab)
    overview = labs_overview([(row.lab, standing)], request.user, at=now)
    page = LabPage(
        row,
        standing,
        overview,
        dates=lab_dates(row, organizes=standing.organizes, at=now),
        matrix=[(entry, overview.cells(entry, standing)) for entry in row.tasks],
        downloads=lab_exports(organizes=standing.organizes),
    )
    return render(request, "desk/lab_detail.html", vars(page))
