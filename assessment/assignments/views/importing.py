"""The preview of assignments, from a file or shared out, before they are applied."""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.html import format_html

from arqkit.loads import LoadChoice
from arqkit.records import Problem
from arqlab.core.errors import UnconfirmedLoadError, UserError
from arqlab.core.models import Task
from arqlab.core.views import signed_in
from arqlab.labs.forms.topics import words_column
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import TASK, Column, Pages, Table, answer, cells, context_of, problem_table
from arqlab.web.problems import ReportedProblem
from assessment.assignments.forms import AssignmentFileForm, read_pairs
from assessment.assignments.selectors.grid import PersonRow
from assessment.assignments.services.assigning import Pairs, assign_topics, pairs_of_file
from assessment.assignments.services.previews import (
    PersonTotals,
    TopicChange,
    preview_assignments,
    topics_shared_out,
)
from assessment.assignments.views.assigning import message_of_change
from assessment.assignments.views.progress import person_column

pages = Pages(f"{TASK}assignments/", organized_task_or_404, section="judging")


@dataclass(frozen=True, kw_only=True)
class PreviewPage:
    """The form of a file of assignments, and the problems of the last one."""

    file_form: AssignmentFileForm
    problems: list[Problem]
    problem_table: Table[ReportedProblem]
    is_preview: bool = True


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
    pairs = topics_shared_out(task, at=timezone.now())
    if pairs is None:
        messages.error(
            request, "This lab has no assessors yet. Grant the role on the People page first."
        )
        return redirect("assessment:assignment-list", lab=task.lab.slug, task=task.slug)
    return _preview(request, task, pairs, [], replaces=False)


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
        messages.success(request, message_of_change(changed))
    return redirect("assessment:assignment-list", lab=task.lab.slug, task=task.slug)


def _preview(
    request: HttpRequest, task: Task, pairs: Pairs, problems: list[Problem], *, replaces: bool
) -> HttpResponse:
    preview = preview_assignments(task, pairs, replaces=replaces, at=timezone.now())
    page = PreviewPage(
        file_form=AssignmentFileForm(initial={"replaces": replaces}),
        problems=problems,
        problem_table=problem_table(problems),
    )
    tables = _totals_table(preview.totals), _changes_table(preview.changes)
    context = context_of(preview, page)
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
