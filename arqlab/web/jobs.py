"""Kinds of jobs: each declares, next to its code, what a worker runs for it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypedDict, Unpack

from django.http import HttpRequest, HttpResponse

from arqlab.web.tables import Table, answer

LARGE = 50_000_000
"""Bytes of files, from which on a load may take hours."""


class JobLane(StrEnum):
    """How long a job takes at most, about: no job waits for one of a longer lane."""

    SECONDS = "seconds"
    MINUTES = "minutes"
    HOURS = "hours"


def lane_by_size(job: Any) -> JobLane:
    """Return the lane of a job that reads its files."""
    return JobLane.HOURS if sum(file["size"] for file in job.files) >= LARGE else JobLane.MINUTES


@dataclass(frozen=True)
class JobKind:
    """What a worker runs for the jobs of a kind, which people know as `label`.

    `run` gets the `RunningJob` and returns sentences on what was done. `lane` is that of each job,
    or a function of the job. A job `in_archive` changes no lab or task, so it also runs when they
    are archived. Jobs `for_visitors` are started without a user.
    """

    label: str
    run: Callable[[Any], Iterable[str]]
    lane: JobLane | Callable[[Any], JobLane] = JobLane.HOURS
    in_archive: bool = False
    for_visitors: bool = False


JOB_KINDS: dict[str, JobKind] = {}
"""The kinds that workers run; the `tasks.py` of each app declares its own."""


class JobFields(TypedDict, total=False):
    """The fields of `JobKind` that most kinds leave out."""

    lane: JobLane | Callable[[Any], JobLane]
    in_archive: bool
    for_visitors: bool


def declare_job(
    kind: str, label: str, run: Callable[[Any], Iterable[str]], **fields: Unpack[JobFields]
) -> None:
    """Declare what a worker runs for jobs of a kind; `fields` are fields of `JobKind`."""
    JOB_KINDS[kind] = JobKind(label, run, **fields)


def lane_of_job(job: Any) -> JobLane:
    """Return the lane in which a job waits."""
    lane = JOB_KINDS[job.kind].lane
    return lane if isinstance(lane, JobLane) else lane(job)


def news(
    request: HttpRequest, template: str, context: Mapping[str, object], *tables: Table[Any]
) -> HttpResponse:
    """Return a page, as `answer` does, that asks for news of itself by `components/poll.html`.

    `state` in the context says what the page shows. The answer is empty if the request names the
    same, so that the page stays as it is; and a page of what a job makes is opened again when its
    `job` is over.
    """
    state = request.GET.get("seen")
    if state == context["seen"]:
        return HttpResponse(status=204)
    if state and getattr(context.get("job"), "is_over", False):
        return HttpResponse(headers={"HX-Refresh": "true"})
    return answer(request, template, context, *tables)
