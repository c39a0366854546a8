"""Kinds of jobs: each declares, next to its code, what a worker runs for it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse

from arqlab.web.tables import Table, answer


@dataclass(frozen=True)
class JobKind:
    """What a worker runs for the jobs of a kind, which people know as `label`.

    `run` gets the `RunningJob` and returns sentences on what was done. A quick job waits for
    no long one, where there are no Celery workers. A job `in_archive` changes no lab or task,
    so it also runs when they are archived. Jobs `for_visitors` are started without a user.
    """

    label: str
    run: Callable[[Any], Iterable[str]]
    is_quick: bool = False
    in_archive: bool = False
    for_visitors: bool = False


JOB_KINDS: dict[str, JobKind] = {}
"""The kinds that workers run; the `tasks.py` of each app declares its own."""


def declare_job(kind: str, label: str, run: Callable[[Any], Iterable[str]], **own: bool) -> None:
    """Declare what a worker runs for jobs of a kind; `own` are fields of `JobKind`."""
    JOB_KINDS[kind] = JobKind(label, run, **own)


def news(
    request: HttpRequest, template: str, context: dict[str, Any], *tables: Table
) -> HttpResponse:
    """Return a page, as `answer` does, that asks for news of itself by `components/poll.html`.

    `seen` in the context says what the page shows. The answer is empty if the request names the
    same, so that the page stays as it is; and a page of what a job makes is opened again when its
    `job` is over.
    """
    seen, job = request.GET.get("seen"), context.get("job")
    if seen == context["seen"]:
        return HttpResponse(status=204)
    if seen and job and job.is_over:
        return HttpResponse(headers={"HX-Refresh": "true"})
    return answer(request, template, context, *tables)
