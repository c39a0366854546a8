"""The pages that edit topic information: as a table, and as a file to download and upload."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from arqkit.formats.topics.information import read_info_rows, write_topic_info
from arqkit.records import Problem, TaskKind
from arqkit.topics import InfoChange, heading, info_changes, info_fields, normalized_value
from arqlab.core.errors import UserError
from arqlab.core.models import Task, Topic
from arqlab.core.views import signed_in
from arqlab.labs.permissions import organized_task_or_404
from arqlab.labs.selectors import info_values
from arqlab.labs.services.topic_loading import change_topic_information
from arqlab.web import TASK, Column, Pages, Table, exact_response, json_of, problem_table

pages = Pages(f"{TASK}topics/information/", organized_task_or_404, section="topics")

T = TypeVar("T")

MAX_BYTES = 2**20


class InformationForm:
    """The information of all topics of a task as one table.

    This is not a Django form, which would need hundreds of fields. `was` holds the values the page
    showed, so that only changed values are written and nobody else's change is overwritten.
    """

    def __init__(self, task: Task, data: Mapping[str, str] | None = None) -> None:
        self.fields = info_fields(TaskKind(task.kind))
        self.topics = list(task.topics.order_by("position").defer("body", "body_html"))
        self.data = data
        self.headings = [(name, heading(name)) for name in self.fields]
        self.free = [name for name, usual in self.fields.items() if not usual]
        self.values = {}
        for name, usual in self.fields.items():
            # The folder's values are offered too, so that an edit can be undone.
            folder = sorted({topic.info[name] for topic in self.topics if topic.info.get(name)})
            options = dict.fromkeys([*usual, *info_values(self.topics, name), *folder])
            self.values[name] = tuple(options)

    @property
    def facts(self) -> dict[str, dict[str, str]]:
        """Return the current values by topic and field."""
        return {
            topic.query_id: {name: topic.facts.get(name, "") for name in self.fields}
            for topic in self.topics
        }

    @property
    def was(self) -> str:
        """Return the current values as JSON, for the page to send back."""
        return json.dumps(self.facts)

    @property
    def rows(self) -> list[tuple[Topic, list[dict[str, object]]]]:
        """Return the topics with their cells; submitted values take precedence.

        A cell has its value, its options, and the value of the folder, which organizers may edit.
        """
        return [(topic, [self._cell(topic, name) for name in self.fields]) for topic in self.topics]

    def changes(self) -> list[InfoChange]:
        """Return the changed values. Raises `UserError` for an incomplete form."""
        data = self.data or {}
        was = _sent(data.get("was", ""), _shown_values)
        return [
            InfoChange(query_id, name, values[name], value)
            for query_id, values in was.items()
            for name in self.fields
            if name in values
            and (value := normalized_value(name, data.get(f"{name}:{query_id}", values[name])))
            != values[name]
        ]

    def still_changed(self, changes: Iterable[InfoChange]) -> list[InfoChange]:
        """Return the changes that still change a value, each with the current one."""
        now = self.facts
        of_topics = (change for change in changes if change.query_id in now)
        current = [change._replace(was=now[change.query_id][change.field]) for change in of_topics]
        return [change for change in current if change.was != change.value]

    def _cell(self, topic: Topic, name: str) -> dict[str, object]:
        key, now = f"{name}:{topic.query_id}", topic.facts.get(name, "")
        value = now if self.data is None else normalized_value(name, self.data.get(key, now))
        folder, options = topic.info.get(name, ""), self.values[name]
        return {
            "field": name,
            "heading": heading(name),
            "name": key,
            "label": f"{heading(name)} of {topic.query_id}",
            "is_free": not self.fields[name],
            "value": value,
            "options": options if value in ("", *options) else (*options, value),
            "folder": folder,
            "now": now,
            "is_edited": now != folder,
        }


class InformationFileForm(forms.Form):
    """Upload a file of topic information."""

    file = forms.FileField(
        label="CSV or JSON file",
        help_text="Use the columns of the ARQMath topic information files. "
        "You can preview the changes before they apply.",
        error_messages={
            "required": "Choose a topic information file.",
            "empty": "The file is empty. Choose a topic information file.",
        },
    )


def _sent(text: str, read: Callable[[object], T]) -> T:
    """Return what a page sent back as JSON. Raises `UserError` if it is malformed."""
    try:
        return read(json_of(text))
    except (AttributeError, TypeError, ValueError):
        message = "The form is incomplete, so nothing was saved. Reload the page and try again."
        raise UserError(message, code="incomplete") from None


def _read_changes(rows: Any) -> list[InfoChange]:
    """Return the changes that a page sent back. Raises an error if they are malformed."""
    if not all(len(row) == 4 and all(isinstance(part, str) for part in row) for row in rows):
        raise ValueError
    return [InfoChange(*row) for row in rows]


def _shown_values(was: Any) -> dict[str, dict[str, str]]:
    """Return the values that the page showed. Raises an error if they are malformed."""
    if not all(isinstance(value, str) for values in was.values() for value in values.values()):
        raise ValueError
    return dict(was)


@pages.form("", "topic-information")
def topic_information(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the topic information of a task as a table, and save the changed values."""
    form = InformationForm(task, request.POST.dict() if request.method == "POST" else None)
    errors: list[str] = []
    if request.method == "POST":
        try:
            count = change_topic_information(
                task=task, changes=form.changes(), by=signed_in(request)
            )
        except UserError as error:
            errors.append(error.message)
        else:
            messages.success(request, _saved(count))
            return redirect("labs:topic-information", lab=task.lab.slug, task=task.slug)
    context = {"form": form, "errors": errors, "file_form": InformationFileForm()}
    return render(request, "labs/topic_information.html", context)


@pages.read("csv/", "topic-information-csv")
def topic_information_csv(request: HttpRequest, task: Task) -> HttpResponse:
    """Return the topic information as CSV, to edit and upload again."""
    form = InformationForm(task)
    name = f"{task.lab.slug}-{task.slug}-topic-info.csv"
    return exact_response(write_topic_info(form.facts, form.fields), name)


@pages.form("upload/", "topic-information-upload")
def topic_information_upload(request: HttpRequest, task: Task) -> HttpResponse:
    """Preview the changes and problems of a topic information file, without storing anything."""
    file_form = InformationFileForm(request.POST or None, request.FILES or None)
    if request.method != "POST" or not file_form.is_valid():
        context = {"file_form": file_form}
        return render(request, "labs/topic_information_upload.html", context)
    file, form = file_form.cleaned_data["file"], InformationForm(task)
    name = str(file.name)
    if file.size > MAX_BYTES:
        size, todo = f"{file.size:,} bytes", "Upload the CSV file only."
        problem = Problem(name, None, size, f"at most {MAX_BYTES:,}", todo)
        return _preview(request, task, form, [], [problem])
    rows, problems = read_info_rows(file.read(), path=name)
    changes, more = info_changes(rows, form.facts, form.fields, path=name)
    by_line = sorted([*problems, *more], key=lambda problem: problem.line or 0)
    return _preview(request, task, form, changes, by_line)


@pages.action("apply/", "topic-information-apply")
def topic_information_apply(request: HttpRequest, task: Task) -> HttpResponse:
    """Apply the previewed changes of a file."""
    try:
        changes = _sent(request.POST.get("changes", ""), _read_changes)
    except UserError as error:
        messages.error(request, error.message)
        return redirect("labs:topic-information-upload", lab=task.lab.slug, task=task.slug)
    form = InformationForm(task)
    editable = [change for change in changes if change.field in form.fields]
    try:
        count = change_topic_information(task=task, changes=editable, by=signed_in(request))
    except UserError as error:
        return _preview(request, task, form, form.still_changed(editable), [], error.message)
    messages.success(request, _saved(count))
    return redirect("labs:topic-information", lab=task.lab.slug, task=task.slug)


def _preview(
    request: HttpRequest,
    task: Task,
    form: InformationForm,
    changes: list[InfoChange],
    problems: list[Problem],
    error: str = "",
) -> HttpResponse:
    table = Table[InfoChange](
        "changes",
        [
            Column("Topic", lambda row: row.query_id, is_head=True, css="nowrap"),
            Column("Field", lambda change: heading(change.field)),
            Column("Now", lambda row: row.was),
            Column(
                "New",
                lambda row: row.value,
                note=lambda change: _note(change, form.fields[change.field]),
            ),
        ],
        changes,
    )
    context = {
        "file_form": InformationFileForm(),
        "is_preview": True,
        "changes": table,
        "topics": len({change.query_id for change in changes}),
        "problems": problems,
        "problem_table": problem_table(problems),
        "errors": [error] if error else [],
        "kept": json.dumps(changes),
    }
    return render(request, "labs/topic_information_upload.html", context)


def _note(change: InfoChange, usual: Sequence[str]) -> str:
    is_free = change.value and usual and change.value not in usual
    return "not one of the listed values; kept as is" if is_free else ""


def _saved(count: int) -> str:
    if not count:
        return "Nothing changed: the topics already have these values."
    return f"Saved the information of {count} topic{'s' * (count != 1)}."
