"""The pages that create, edit and archive labs and tasks, with people, topics and the audit log."""

from datetime import datetime
from typing import Any
from urllib.parse import quote

from django.contrib import messages
from django.forms.models import model_to_dict
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from arqkit.records import TaskKind
from arqkit.topics import heading
from arqlab.core import permissions, selectors
from arqlab.core.forms.creating import NewLabForm, NewTaskForm
from arqlab.core.forms.labs import LabEditForm, TaskForm
from arqlab.core.forms.people import RevokeForm, RoleForm
from arqlab.core.models import Lab, Role, Task, User
from arqlab.core.models.roles import duties, people_in_words
from arqlab.core.services.archiving import set_archived
from arqlab.core.services.creating import create_lab, create_task
from arqlab.core.services.labs import change_lab, change_task
from arqlab.core.services.people import allow_team, grant_role, revoke_role
from arqlab.core.views.answers import refused, told
from arqlab.core.views.editing import edited
from arqlab.web.cells import COUNT, ID, PROSE, SAFE, TIME
from arqlab.web.lists import Filter
from arqlab.web.pages import LAB, ROWS, TASK, Pages
from arqlab.web.places import url_of
from arqlab.web.tables import Column, Empty, Table, answer, to
from arqlab.web.tabs import Tab, organizers

pages = Pages(access=permissions.organized_lab_or_404)


@pages.form(
    f"{TASK}edit/",
    "task-edit",
    tabs=(Tab("task", "Settings", 90, organizers),),
    access=permissions.organized_task_or_404,
    section="settings",
)
def task_edit(request: HttpRequest, task: Task) -> HttpResponse:
    """Edit a task: its dates, limits, quota and measures."""
    by = permissions.signed_in(request)

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
    return answer or render(request, "core/task_edit.html", context)


@pages.read(
    f"{TASK}topics/",
    "topic-list",
    tabs=(Tab("task", "Topics", 20),),
    access=permissions.task_or_404,
    section="topics",
)
def topic_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the topics of a task, filtered by words and topic information."""
    organizes = permissions.may_organize(request.user, task.lab)
    context = {"organizes": organizes}
    return answer(
        request, "core/topic_list.html", context, _topics_table(request, task, organizes=organizes)
    )


def _topics_table(request: HttpRequest, task: Task, *, organizes: bool) -> Table:
    topics = selectors.listed_topics(task)
    names = [name for name in selectors.TOPIC_FILTERS if topics[name].count()]
    formula = [Column("Formula", "formula_html", SAFE)] if task.kind == TaskKind.FORMULAS else []
    return Table(
        "topics",
        [
            Column(
                "Topic",
                "query_id",
                ID,
                link=to("core:topic-detail", task.lab.slug, task.slug, of="query_id"),
                by="place",
                is_head=True,
                css="nowrap",
            ),
            *formula,
            Column("Title", "title_html", SAFE),
            Column("Tags", "tags", by="tags"),
            *(Column(heading(name), name, order=name) for name in names),
        ],
        topics,
        asked=request.GET,
        order="topic",
        searched=("text",),
        filters=[Filter(name, heading(name), name) for name in names],
        empty=Empty(
            "No topics yet",
            "Load a topic file, or choose questions of the collection as topics."
            if organizes
            else "Topics appear when the organizers load them.",
        ),
    )


@pages.read(
    f"{TASK}topics/<str:query_id>/",
    "topic-detail",
    access=permissions.task_or_404,
    section="topics",
)
def topic_detail(request: HttpRequest, task: Task, query_id: str) -> HttpResponse:
    """Show a topic with its information and links to the previous and next topic."""
    topic = get_object_or_404(task.topics, query_id=query_id)
    before, after = selectors.neighbours(topic)
    organizes = permissions.may_organize(request.user, task.lab)
    facts, notes = selectors.topic_info(topic, organizes=organizes)
    context = {
        "topic": topic,
        "state": task.state(timezone.now()),
        "place": task.topics.filter(position__lte=topic.position).count(),
        "total": task.topics.count(),
        "before": before,
        "after": after,
        "facts": facts,
        "notes": notes,
        "has_thread": topic.is_question and permissions.may_see_thread(request.user, topic),
    }
    return render(request, "core/topic_detail.html", context)


@pages.form("new-lab/", "lab-create", access=None, sign_in=True)
def lab_create(request: HttpRequest) -> HttpResponse:
    """Create a lab, which the user organizes."""
    by = permissions.require_lab_creator(request)
    form = NewLabForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refused(form, taken="slug"):
            lab = create_lab(by=by, **form.cleaned_data)
            messages.success(request, f"{lab} was created. Add its tasks.")
            return redirect(url_of("lab", lab=lab.slug))
    return render(request, "core/lab_create.html", {"form": form})


@pages.form(f"{LAB}new-task/", "task-create", section="settings")
def task_create(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Create a task of a lab."""
    form = NewTaskForm(request.POST or None, lab=lab)
    if request.method == "POST" and form.is_valid():
        by, cleaned = permissions.signed_in(request), dict(form.cleaned_data)
        cleaned["confirmed"] = request.POST.get("confirm", "")
        name = cleaned.pop("slug"), cleaned.pop("name")
        with refused(form):
            task = create_task(lab=lab, name=name, by=by, at=timezone.now(), **cleaned)
            messages.success(request, f"{task.name} was created. Load its topics.")
            return redirect(url_of("task", lab=lab.slug, task=task.slug))
    return render(request, "core/task_create.html", {"form": form})


@pages.action(f"{LAB}archive/", "lab-archive")
@pages.action(f"{TASK}archive/", "task-archive", access=permissions.organized_task_or_404)
def archive(request: HttpRequest, record: Lab | Task) -> HttpResponse:
    """Archive a lab or a task."""
    return _archived(request, record, timezone.now())


@pages.action(f"{LAB}restore/", "lab-restore", in_archive=True)
@pages.action(
    f"{TASK}restore/", "task-restore", in_archive=True, access=permissions.organized_task_or_404
)
def restore(request: HttpRequest, record: Lab | Task) -> HttpResponse:
    """Restore a lab or a task from the archive."""
    return _archived(request, record, None)


def _archived(request: HttpRequest, record: Lab | Task, at: datetime | None) -> HttpResponse:
    set_archived(record=record, at=at, by=permissions.signed_in(request))
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
    by, names = permissions.signed_in(request), ("name", "description", "is_public")

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
    return answer or render(request, "core/lab_edit.html", {"form": form})


@pages.form(
    f"{LAB}people/",
    "people-list",
    tabs=(Tab("lab", "People", 50, organizers),),
    api=ROWS,
    section="people",
)
def people_list(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the people of a lab, and grant roles."""
    form = RoleForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        person, role = form.cleaned_data["person"], form.cleaned_data["role"]
        by, confirmed = permissions.signed_in(request), request.POST.get("confirm", "")
        with refused(form):
            grant_role(lab=lab, user=person, role=role, by=by, confirmed=confirmed)
            messages.success(request, f"{person.name} is now {role} of {lab}.")
            return redirect("core:people-list", lab=lab.slug)
    context: dict[str, Any] = {"form": form}
    context |= {"duties": duties(), "granted": people_in_words(Role.granted())}
    return answer(request, "core/people_list.html", context, _staff_table(lab), _teams_table(lab))


def _staff_table(lab: Lab) -> Table:
    return Table(
        "staff",
        [
            Column("Person", "user.name", is_head=True),
            Column("", "user.username", name="username"),
            Column("Email address", "user.email"),
            Column(
                "Role",
                "get_role_display",
                note=lambda row: "may be in a team" if row.may_join_team else "",
            ),
            Column("Since", "created_at", TIME),
            Column("Change", template="core/_staff_buttons.html", hides_heading=True, name=None),
        ],
        selectors.staff_of(lab),
        empty=Empty("No roles granted yet", "Grant a user the organizer role below."),
    )


def _teams_table(lab: Lab) -> Table:
    return Table(
        "teams",
        [
            Column("Team", "name", link=to("core:team-detail", lab.slug, of="pk"), is_head=True),
            Column("", "pk", name="id"),
            Column("", "affiliation", name="affiliation"),
            Column("Members", lambda team: len(team.memberships.all()), COUNT),
            Column(
                "Names", lambda team: ", ".join(row.user.name for row in team.memberships.all())
            ),
            Column("Since", "created_at", TIME),
        ],
        selectors.teams_with_members(lab),
        empty=Empty("No teams yet", "Users create teams on the lab page."),
    )


@pages.rows(f"{LAB}teams/", "team-list", section="people")
def team_list(request: HttpRequest, lab: Lab) -> HttpResponse:
    """List the teams of a lab with their members, for its organizers."""
    return answer(request, "", {}, _teams_table(lab))


@pages.action(f"{LAB}people/<number:person>/allow-team/", "people-allow-team", section="people")
def people_allow_team(request: HttpRequest, lab: Lab, person: int) -> HttpResponse:
    """Allow an assessor to be in a team."""
    user = get_object_or_404(User, pk=person, memberships__in=selectors.staff_of(lab))
    allow_team(lab=lab, user=user, by=permissions.signed_in(request))
    messages.success(request, f"{user.name} may now be in a team of {lab}.")
    return redirect("core:people-list", lab=lab.slug)


@pages.action(f"{LAB}people/revoke/", "people-revoke", section="people")
def people_revoke(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Revoke a role."""
    form = RevokeForm(request.POST)
    if not form.is_valid():
        messages.error(request, "No person selected. Press “Revoke” next to a person.")
        return redirect("core:people-list", lab=lab.slug)
    person, role = form.cleaned_data["person"], form.cleaned_data["role"]
    with told(request):
        revoke_role(lab=lab, user=person, role=role, by=permissions.signed_in(request))
        messages.success(request, f"{person.name} is no longer {role} of {lab}.")
    return redirect("core:people-list", lab=lab.slug)


@pages.read(
    f"{LAB}audit/",
    "audit-list",
    tabs=(Tab("lab", "Audit log", 80, organizers),),
    api=ROWS,
    section="audit",
)
def audit_list(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the audit log of a lab, newest first."""
    return answer(request, "core/audit_list.html", {}, _events_table(request, lab))


def _events_table(request: HttpRequest, lab: Lab) -> Table:
    """Return the audit log with a filter by events, and by their subjects such as `run`."""
    verbs = set(lab.audit_events.order_by().values_list("verb", flat=True).distinct())
    verbs |= {verb.partition(".")[0] for verb in verbs}
    return Table(
        "events",
        [
            Column("When", "at", TIME, by="at"),
            Column(
                "Who",
                lambda event: event.actor.name if event.actor else "ArqLab",
                by="actor__username",
            ),
            Column("Event", "verb", ID, link=lambda event: f"?verb={quote(event.verb)}", by="verb"),
            Column("Target", "target", by="target"),
            Column("Details", lambda event: "\n".join(detail_lines(event.detail)), PROSE),
        ],
        lab.audit_events.select_related("actor"),
        asked=request.GET,
        order="-when",
        searched=("actor__username", "actor__first_name", "actor__last_name", "verb", "target"),
        filters=[Filter("verb", "Event", "verb__startswith", [(v, v) for v in sorted(verbs)])],
        empty=Empty(
            "No events yet",
            "The log records every change to people, teams, tasks, runs and leaderboards, with its "
            "time and author.",
        ),
    )


def detail_lines(detail: dict[str, Any]) -> list[str]:
    """Return the details of an audit event, with old and new values of changed fields."""
    lines = [
        f"{name}: {_formatted(old)} → {_formatted(new)}"
        for name, (old, new) in detail.get("changes", {}).items()
    ]
    return lines + [
        f"{name}: {_formatted(value)}"
        for name, value in detail.items()
        if name != "changes" and value != []
    ]


def _formatted(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_formatted(part)}" for name, part in value.items()) or "–"
    if isinstance(value, list):
        return ", ".join(map(_formatted, value))
    return "–" if value in (None, "") else str(value)
