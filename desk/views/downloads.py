"""Downloads of the files of labs and tasks."""

from collections.abc import Iterable

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from rest_framework.exceptions import ValidationError
from rest_framework.fields import DateTimeField

from arqlab.core.exports import Export, Owner
from arqlab.core.models import Lab, Task
from arqlab.labs.permissions import lab_or_404, may_organize, organized_task_or_404, task_or_404
from arqlab.web import FILE, LAB, Column, Filter, Pages, Table, answer, file_response
from assessment.judging.selectors.judgment_tables import judgment_columns, judgments_with_columns
from assessment.models import Judgment
from desk.services.exports import lab_exports, task_exports

pages = Pages(LAB, lab_or_404)


@pages.read("downloads/<str:name>", "lab-download", api=FILE)
def lab_download(request: HttpRequest, lab: Lab, name: str) -> StreamingHttpResponse:
    """Return a file of a lab."""
    exports = lab_exports(organizes=may_organize(request.user, lab))
    return _file(exports, lab, name=name, prefix=lab.slug)


@pages.read(
    "tasks/<slug:task>/downloads/<str:name>",
    "task-download",
    shows="task-download",
    access=task_or_404,
    api=FILE,
)
def task_download(request: HttpRequest, task: Task, name: str) -> StreamingHttpResponse:
    """Return a file of a task."""
    exports = task_exports(task, organizes=may_organize(request.user, task.lab))
    return _file(exports, task, name=name, prefix=f"{task.lab.slug}-{task.slug}")


@pages.rows(
    "tasks/<slug:task>/judgments/",
    "judgment-list",
    access=organized_task_or_404,
    query={
        "since": "Only judgments after this time (ISO 8601).",
        "topic": "Only judgments of this topic.",
    },
)
def judgment_history(request: HttpRequest, task: Task) -> HttpResponse:
    """List the official judgments of a task with their history, in the order of their storage.

    Assessors have pseudonyms, as in `judgments.tsv`.
    """
    rows, topics = judgments_with_columns(task), task.topics.values_list("query_id", "query_id")
    if since := request.GET.get("since"):
        try:
            rows = rows.filter(judged_at__gt=DateTimeField().run_validation(since))
        except ValidationError as error:
            raise ValidationError({"since": error.detail}) from error
    columns: list[Column[Judgment]] = [
        Column("", of, name=name) for name, of in judgment_columns(task).items()
    ]
    by_topic = Filter("topic", "Topic", "instance__item__topic__query_id", topics)
    table = Table[Judgment](
        "judgments",
        [Column("", lambda row: row.pk, name="id", by="pk", order="id"), *columns],
        rows,
        order="id",
        filters=[by_topic],
    )
    return answer(request, "", {}, table)


def _file(
    exports: Iterable[Export[Owner]], owner: Owner, *, name: str, prefix: str
) -> StreamingHttpResponse:
    export = next((candidate for candidate in exports if candidate.name == name), None)
    if export is None:
        raise Http404
    return file_response(export.chunks(owner), f"{prefix}-{name}")
