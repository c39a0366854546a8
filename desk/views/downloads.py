"""Downloads of the files of labs and tasks."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable

from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.views.decorators.http import require_safe

from arqlab.core.permissions import lab_or_404, may_organize, task_or_404
from desk.services.exports import Export, Owner, lab_exports, task_exports


@require_safe
def lab_download(request: HttpRequest, lab: str, name: str) -> StreamingHttpResponse:
    """Return a file of a lab."""
    found = lab_or_404(request.user, lab)
    exports = lab_exports(organizes=may_organize(request.user, found))
    return _file(exports, found, name=name, prefix=found.slug)


@require_safe
def task_download(request: HttpRequest, lab: str, task: str, name: str) -> StreamingHttpResponse:
    """Return a file of a task."""
    found = task_or_404(request.user, lab, task)
    exports = task_exports(found, organizes=may_organize(request.user, found.lab))
    return _file(exports, found, name=name, prefix=f"{found.lab.slug}-{found.slug}")


def _file(
    exports: Iterable[Export[Owner]], owner: Owner, *, name: str, prefix: str
) -> StreamingHttpResponse:
    export = next((each for each in exports if each.name == name), None)
    if export is None:
        raise Http404
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    response = StreamingHttpResponse(export.chunks(owner), content_type=f"{kind}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{prefix}-{name}"'
    return response
