"""Downloads of the files of labs and tasks."""

from collections.abc import Iterable

from django.http import Http404, HttpRequest, StreamingHttpResponse

from arqlab.core.models import Lab, Task
from arqlab.core.permissions import lab_or_404, may_organize, task_or_404
from arqlab.web.downloads import file_response
from arqlab.web.pages import LAB, Pages
from desk.services.exports import Export, Owner, lab_exports, task_exports

pages = Pages(LAB, lab_or_404)


@pages.read("downloads/<str:name>", "lab-download", api=True)
def lab_download(request: HttpRequest, lab: Lab, name: str) -> StreamingHttpResponse:
    """Return a file of a lab."""
    exports = lab_exports(organizes=may_organize(request.user, lab))
    return _file(exports, lab, name=name, prefix=lab.slug)


@pages.read("tasks/<slug:task>/downloads/<str:name>", "task-download", access=task_or_404, api=True)
def task_download(request: HttpRequest, task: Task, name: str) -> StreamingHttpResponse:
    """Return a file of a task."""
    exports = task_exports(task, organizes=may_organize(request.user, task.lab))
    return _file(exports, task, name=name, prefix=f"{task.lab.slug}-{task.slug}")


def _file(
    exports: Iterable[Export[Owner]], owner: Owner, *, name: str, prefix: str
) -> StreamingHttpResponse:
    export = next((candidate for candidate in exports if candidate.name == name), None)
    if export is None:
        raise Http404
    return file_response(export.chunks(owner), f"{prefix}-{name}")
