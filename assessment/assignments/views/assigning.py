"""The organizers' pages that assign topics and show judging progress."""

import json
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.html import format_html

from arqkit.formats.assignments import share_out
from arqkit.loads import LoadChoice
from arqkit.records import Problem
from arqlab.core.errors import UnconfirmedLoadError, UserError
from arqlab.core.models import Task, Topic, User
from arqlab.core.views import refused, signed_in
from arqlab.labs.forms.topics import words_column
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import (
    TASK,
    Column,
    Pages,
    Tab,
    Table,
    answer,
    cells,
    counted,
    organizers,
    problem_table,
)
from assessment.assignments.forms import AssignmentFileForm, ChosenTopicsForm, read_pairs
from assessment.assignments.selectors.days import judged_days
from assessment.assignments.selectors.grid import (
    AssignmentGrid,
    PersonRow,
    TopicRow,
    assignment_grid,
)
from assessment.assignments.selectors.leases import trips_of_task
from assessment.assignments.selectors.viability import topic_forecasts
from assessment.assignments.services.assigning import (
    Pairs,
    Reassigned,
    assign_topics,
    assignment_changes,
    end_trip_by_hand,
    pairs_of_file,
    review_topics,
    take_topics,
)
from assessment.assignments.services.planning import resume_topics, set_topics_aside
from assessment.assignments.views.progress import (
    days_table,
    forecasts_table,
    people_table,
    person_column,
    topics_table,
    trips_table,
)
from assessment.models import Assignment, LateLabel
from assessment.qrels.selectors.frames import late_labels

pages = Pages(f"{TASK}assignments/", organized_task_or_404, section="judging")


class TopicChange(NamedTuple):
    """A topic with its current and its new assessors."""

    row: TopicRow
    had: list[User]
    then: list[User]


class PersonTotals(NamedTuple):
    """A person's topics, items and hours now and after the change."""

    now: PersonRow
    then: PersonRow


def preview_assignments(
    task: Task, pairs: Collection[tuple[Topic, User]], *, replaces: bool, at: datetime
) -> tuple[list[TopicChange], list[PersonTotals]]:
    """Return the topics whose assessors would change, and the totals of all assessors."""
    grid = assignment_grid(task, at=at)
    changes = _changes(grid, pairs, replaces=replaces)
    changed = {change.row.topic.pk for change in changes}
    assignments = [
        share.assignment
        for row in grid.rows
        if row.topic.pk not in changed
        for share in row.open_shares
        if share.assignment
    ]
    assignments += [
        Assignment(topic=change.row.topic, assessor=person)
        for change in changes
        for person in change.then
    ]
    after = assignment_grid(task, at=at, assignments=assignments)
    later = {row.person: row for row in after.people}
    judges = {row.person for row in (*grid.judges, *after.judges)}
    return changes, [
        PersonTotals(
            row,
            # Former assessors have no row after their last assignment ended.
            later.get(row.person) or replace(row, states={}, left=0, hours=0.0, finish=None),
        )
        for row in grid.people
        if row.person in judges
    ]


def _changes(
    grid: AssignmentGrid, pairs: Collection[tuple[Topic, User]], *, replaces: bool
) -> list[TopicChange]:
    rows = {row.topic.pk: row for row in grid.rows}
    changes = []
    for topic in dict.fromkeys(topic for topic, _ in pairs):
        new = [person for pair_topic, person in pairs if pair_topic == topic]
        had = [share.person for share in rows[topic.pk].open_shares]
        then = new if replaces else [*had, *(person for person in new if person not in had)]
        if set(then) != set(had):
            changes.append(TopicChange(rows[topic.pk], had, then))
    return changes


@pages.form("", "assignment-list", tabs=(Tab("task", "Judging", 50, organizers),))
def assignment_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show assignments and progress, and assign, unassign or review the selected topics."""
    now = timezone.now()
    form = ChosenTopicsForm(request.POST if request.method == "POST" else None, task=task)
    if request.method == "POST" and form.is_valid():
        with refused(form):
            messages.success(request, _done(task, form.cleaned_data, at=now, by=signed_in(request)))
            return redirect("assessment:assignment-list", lab=task.lab.slug, task=task.slug)
    grid = assignment_grid(task, at=now)
    context = {
        "form": form,
        "person": request.POST.get("person", ""),
        "grid": grid,
        "late_labels": late_labels(task).filter(decision=LateLabel.Decision.OPEN).count(),
    }
    progress = judged_days(task, grid, at=now)
    tables: list[Table[Any]] = [
        people_table(grid),
        *([days_table(progress)] if progress else []),
        trips_table(trips_of_task(task, at=now)),
        forecasts_table(task, topic_forecasts(task, grid)),
        topics_table(task, grid, request.POST.getlist("topics")),
    ]
    return answer(request, "assessment/assignment_list.html", context, *tables)


def _done(task: Task, fields: dict[str, Any], *, at: datetime, by: User) -> str:
    """Carry out the chosen action and return the message about it."""
    topics, person, action = list(fields["topics"]), fields["person"], fields["action"]
    if action in ("assign", "reassign"):
        pairs = [(topic, person) for topic in topics]
        choice = LoadChoice(confirmed=True)  # for these topics, in view of their assessors
        replaces = action == "reassign"
        return _change_message(
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


def _change_message(changed: Reassigned) -> str:
    if not any(changed):
        return "Nothing changed: the topics are already assigned this way."
    ended = f" and {counted(changed.ended, 'assignment')} ended; labels stay" * bool(changed.ended)
    return f"{counted(changed.made, 'assignment')} made{ended}."


@pages.form("import/", "assignment-import")
def assignment_import(request: HttpRequest, task: Task) -> HttpResponse:
    """Preview the changes and problems of a file of assignments, without storing anything."""
    form = AssignmentFileForm(request.POST or None, request.FILES or None)
    if request.method != "POST" or not form.is_valid():
        context = {"file_form": form}
        return render(request, "assessment/assignment_import.html", context)
    file = form.cleaned_data["file"]
    pairs, problems = pairs_of_file(file.read(), path=str(file.name), task=task)
    return _preview(request, task, pairs, problems, replaces=form.cleaned_data["replaces"])


@pages.action("share/", "assignment-share")
def assignment_share(request: HttpRequest, task: Task) -> HttpResponse:
    """Preview a distribution of the unassigned topics after which all have as many items left."""
    grid = assignment_grid(task, at=timezone.now())
    people = [row for row in grid.people if row.is_assessor]
    if not people:
        messages.error(
            request, "This lab has no assessors yet. Grant the role on the People page first."
        )
        return redirect("assessment:assignment-list", lab=task.lab.slug, task=task.slug)
    rows = {row.topic.query_id: row for row in grid.unassigned}
    shared = share_out(
        {name: row.left for name, row in rows.items()}, {row.person: row.left for row in people}
    )
    return _preview(
        request, task, [(rows[name].topic, person) for name, person in shared], [], replaces=False
    )


@pages.action("apply/", "assignment-apply")
def assignment_apply(request: HttpRequest, task: Task) -> HttpResponse:
    """Apply the previewed assignments."""
    try:
        pairs = read_pairs(request.POST.get("pairs", ""), task=task)
        replaces = request.POST.get("replaces") == "yes"
        changed = assign_topics(
            task=task,
            pairs=pairs,
            replaces=replaces,
            at=timezone.now(),
            by=signed_in(request),
            choice=LoadChoice(confirmed=request.POST.get("confirmed", "")),
        )
    except UnconfirmedLoadError:  # they changed since the preview
        return _preview(request, task, pairs, [], replaces=replaces)
    except UserError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, _change_message(changed))
    return redirect("assessment:assignment-list", lab=task.lab.slug, task=task.slug)


@pages.action("trips/<str:query_id>/<number:person>/end/", "trip-end", section="")
def trip_end(request: HttpRequest, task: Task, query_id: str, person: int) -> HttpResponse:
    """End an assessor's offline trip: others can take its items."""
    topic = get_object_or_404(task.topics, query_id=query_id)
    count = end_trip_by_hand(topic, person, at=timezone.now(), by=signed_in(request))
    messages.success(request, f"{counted(count, 'item')} of {query_id} returned to the topic.")
    return redirect("assessment:assignment-list", lab=task.lab.slug, task=task.slug)


def _preview(
    request: HttpRequest, task: Task, pairs: Pairs, problems: list[Problem], *, replaces: bool
) -> HttpResponse:
    changes, totals = preview_assignments(task, pairs, replaces=replaces, at=timezone.now())
    tables = _totals_table(totals), _changes_table(changes)
    context = {
        "file_form": AssignmentFileForm(initial={"replaces": replaces}),
        "is_preview": True,
        "changes": changes,
        "problems": problems,
        "problem_table": problem_table(problems),
        "kept": json.dumps([(topic.query_id, person.pk) for topic, person in pairs]),
        "replaces": replaces,
        "confirmed": assignment_changes(task, pairs, replaces=replaces).digest,
    }
    return answer(request, "assessment/assignment_import.html", context, *tables)


def _totals_table(totals: list[PersonTotals]) -> Table[PersonTotals]:
    def column(
        heading: str, value: Callable[[PersonRow], float], kind: cells.CellKind = cells.COUNT
    ) -> Column[PersonTotals]:
        def change(row: PersonTotals) -> str:
            before, after = (kind.html(value(side)) for side in row)
            html = '<data value="{}"><span class="muted">{}</span> {}</data>'
            return format_html(html, after, f"{before} →" if before != after else "", after)

        return Column(heading, change, css="num")

    return Table[PersonTotals](
        "totals",
        [
            person_column(lambda row: row.now),
            column("Topics", lambda person: person.topics),
            column("Items left", lambda person: person.left),
            column("Hours left", lambda person: person.hours, cells.TENTHS),
            Column("Est. completion", lambda row: row.then.finish, cells.DAY),
        ],
        totals,
        caption="Where a number changes, the first is the current one. Items and hours are those "
        "left to judge.",
    )


def _changes_table(changes: list[TopicChange]) -> Table[TopicChange]:
    has_difficulty = any(change.row.difficulty for change in changes)
    difficulty = Column[TopicChange]("Difficulty", lambda row: row.row.difficulty)
    return Table[TopicChange](
        "changed-topics",
        [
            Column("Topic", lambda row: row.row.topic.query_id, is_head=True, css="nowrap"),
            words_column(lambda row: row.row.topic),
            *([difficulty] if has_difficulty else []),
            Column("Items left", lambda row: row.row.left, cells.COUNT),
            Column("Now", lambda change: ", ".join(person.name for person in change.had)),
            Column("New", lambda change: ", ".join(person.name for person in change.then)),
        ],
        changes,
        has_tools=True,
    )
