"""The organizers' page of assignments and judging progress, and what they change there."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone

from arqkit.loads import LoadChoice
from arqlab.core.models import Task, User
from arqlab.core.views import refused, signed_in
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import TASK, Pages, Tab, answer, context_of, counted, organizers
from assessment.assignments.forms import ChosenTopicsForm
from assessment.assignments.selectors.progress import assignment_progress
from assessment.assignments.services.assigning import (
    Reassigned,
    assign_topics,
    end_trip_by_hand,
    review_topics,
    take_topics,
)
from assessment.assignments.services.planning import resume_topics, set_topics_aside
from assessment.assignments.views.progress import progress_tables

pages = Pages(f"{TASK}assignments/", organized_task_or_404, section="judging")


@dataclass(frozen=True, kw_only=True)
class AssignmentsPage:
    """The form that changes assignments, and the person whose name it has."""

    form: ChosenTopicsForm
    person: str


@pages.form("", "assignment-list", tabs=(Tab("task", "Judging", 50, organizers),))
def assignment_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show assignments and progress, and assign, unassign or review the selected topics."""
    now = timezone.now()
    form = ChosenTopicsForm(request.POST if request.method == "POST" else None, task=task)
    if request.method == "POST" and form.is_valid():
        with refused(form):
            messages.success(request, _done(task, form.cleaned_data, at=now, by=signed_in(request)))
            return redirect("assessment:assignment-list", lab=task.lab.slug, task=task.slug)
    progress = assignment_progress(task, at=now)
    page = AssignmentsPage(form=form, person=request.POST.get("person", ""))
    tables = progress_tables(task, progress, request.POST.getlist("topics"))
    context = context_of(page, progress)
    return answer(request, "assessment/assignment_list.html", context, *tables)


def _done(task: Task, fields: dict[str, Any], *, at: datetime, by: User) -> str:
    """Carry out the chosen action and return the message about it."""
    topics, person, action = list(fields["topics"]), fields["person"], fields["action"]
    if action in ("assign", "reassign"):
        pairs = [(topic, person) for topic in topics]
        choice = LoadChoice(confirmed=True)  # for these topics, in view of their assessors
        replaces = action == "reassign"
        return message_of_change(
            assign_topics(task=task, pairs=pairs, replaces=replaces, at=at, by=by, choice=choice)
        )
    if action == "take":
        count = take_topics(task=task, topics=topics, person=person, at=at, by=by)
        if not count:
            return "Nothing changed: the topics were not assigned."
        return f"{counted(count, 'assignment')} ended. Labels are kept."
    if action == "set-aside":
        count = set_topics_aside(task=task, topics=topics, at=at, by=by)
        return f"{counted(count, 'topic')} set aside. Items and labels are kept."
    if action == "resume":
        count = resume_topics(task=task, topics=topics, at=at, by=by)
        return f"Judging of {counted(count, 'topic')} resumed."
    count = review_topics(task=task, topics=topics, at=at if action == "review" else None, by=by)
    return f"{counted(count, 'topic')} {'now in' if action == 'review' else 'back from'} review."


def message_of_change(changed: Reassigned) -> str:
    """Return the sentence on the assignments that were made and ended."""
    if not any(changed):
        return "Nothing changed: the topics are already assigned this way."
    ended = f" and {counted(changed.ended, 'assignment')} ended; labels stay" * bool(changed.ended)
    return f"{counted(changed.made, 'assignment')} made{ended}."


@pages.action("trips/<str:query_id>/<number:person>/end/", "trip-end", section="")
def trip_end(request: HttpRequest, task: Task, query_id: str, person: int) -> HttpResponse:
    """End an assessor's offline trip: others can take its items."""
    topic = get_object_or_404(task.topics, query_id=query_id)
    count = end_trip_by_hand(topic, person, at=timezone.now(), by=signed_in(request))
    messages.success(request, f"{counted(count, 'item')} of {query_id} returned to the topic.")
    return redirect("assessment:assignment-list", lab=task.lab.slug, task=task.slug)
