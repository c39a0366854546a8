"""Jobs: started by a user, run once by a worker, with progress and a report.

Every change of state is one conditional UPDATE, which also writes the log. A worker owns a job by
the number of its attempt: one that is thought dead and comes back changes nothing.
"""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import NamedTuple, TypeVar, cast

from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import F, Max, QuerySet, Value
from django.db.models.functions import Concat
from django.utils import timezone

from arqkit.loads import LoadChoice, problem_groups
from arqkit.polars_errors import panics_as_errors
from arqkit.records import FileRefusedError, Problem
from arqlab.core.errors import UnconfirmedLoadError, UserError
from arqlab.core.faults import due, reason_of, will_pass
from arqlab.core.models import MOST_ATTEMPTS, STALE_JOB, Job, JobProblem, Lab, Task, User
from arqlab.core.turns import in_turns
from arqlab.labs.services.archiving import require_unarchived
from arqlab.web.jobs import JOB_KINDS, JobLane, lane_of_job

log = logging.getLogger(__name__)
State = Job.State
T = TypeVar("T")
Each = Callable[[Sequence[T]], Iterable[T]]
"""Yields what is worked on, and may count it: `RunningJob.each`, or `iter`."""
STORED_PROBLEMS = 10_000
"""The number of problems stored per job; further problems are only counted."""
BETWEEN_BEATS = 20.0
"""Seconds between two signs of life of a worker."""
BETWEEN_UPDATES = 1.0
"""Seconds between two updates of the progress."""
REPEATABLE = (State.UNCONFIRMED, State.REFUSED, State.FAILED, State.STOPPED)
KEEPS_EDITS = {"keep": True, "overwrite": False}
"""Whether values that were edited in the browser are kept; nothing is loaded without a choice."""
BROKEN = (
    "An error in ArqLab stopped the job. The files are kept. Start it again; if that fails too, "
    "report the number of this job to the administrators of this server."
)


class JobStoppedError(Exception):
    """Someone asked the job to stop, or another worker took it over."""


class RunningJob(NamedTuple):
    """A job that is running: its time, its user and the callback for its progress.

    The code that runs it adds `warnings` about what it did. `progress` takes the rows done and an
    estimate of all rows, None if unknown; it raises `JobStoppedError` once the job is to stop.
    """

    job: Job
    at: datetime
    by: User
    progress: Callable[[int, int | None], None]
    warnings: list[str]

    def each(self, items: Sequence[T]) -> Iterator[T]:
        """Yield items, and count them as the progress of the job."""
        for done, item in enumerate(items):
            self.progress(done, len(items))
            yield item

    @property
    def choice(self) -> LoadChoice:
        """Return what the organizer decided about the load."""
        options = self.job.options
        return LoadChoice(
            confirmed=options.get("confirmed") or False,
            takes_older=bool(options.get("takes_older")),
            leaves_out=bool(options.get("leaves_out")),
            keeps_edits=KEEPS_EDITS.get(options.get("edits", "")),
        )

    @property
    def task(self) -> Task:
        """Return the task of the job."""
        if self.job.task is None:
            raise AssertionError("the kind of job is started for a task")
        return self.job.task

    @property
    def lab(self) -> Lab:
        """Return the lab of the job."""
        if self.job.lab is None:
            raise AssertionError("the kind of job is started for a lab")
        return self.job.lab


def start_job(
    *,
    job: Job,
    place: Lab | Task | None,
    at: datetime,
    by: User | None,
    store: Callable[[Job], None] | None = None,
) -> Job:
    """Store a new job (its kind, options and key), which then waits for a worker.

    The caller queues it; `by` is None for a visitor. `place` is the lab or task it belongs to, None
    for a job that makes a lab or a page. `store` stores its files. If one of this kind with this
    key waits or runs already, return that.
    """
    job.lab = place.lab if isinstance(place, Task) else place
    job.task = place if isinstance(place, Task) else None
    job.created_at = job.updated_at = at
    job.by, job.log = by, _line(at, f"Waiting, started by {by or 'a visitor'}.")
    # Before the row, and outside a transaction: a large file would hold up all other writers.
    if store:
        store(job)
    # Another request may have stored the same job first: that one is returned.
    with suppress(IntegrityError), transaction.atomic():
        job.save()
        return job
    return Job.objects.filter(kind=job.kind, key=job.key).latest("pk")


def repeat_job(
    *,
    job: Job,
    options: dict[str, object],
    at: datetime,
    by: User,
    store: Callable[[Job], None] | None = None,
) -> None:
    """Let a job that is over without success wait again. Raise `UserError` (`not-over`)."""
    if job.state in REPEATABLE and store:
        store(job)
    if not _change(
        Job.objects.filter(pk=job.pk, state__in=REPEATABLE),
        State.WAITING,
        f"Waiting again, by {by}.",
        at=at,
        files=job.files,
        options=options,
        by=by,
        is_stopping=False,
        attempts=0,
        done=0,
        total=None,
    ):
        raise UserError(
            "This job is not over, or it is done. Reload the page to see its state.",
            code="not-over",
        )


def stop_job(*, job: Job, at: datetime, by: User) -> None:
    """Stop a waiting job, or ask the worker of a running one to stop; nothing if it is over."""
    text = f"Stopped by {by}."
    if not _change(Job.objects.filter(pk=job.pk, state=State.WAITING), State.STOPPED, text, at=at):
        Job.objects.filter(pk=job.pk, state=State.RUNNING).update(is_stopping=True)


def release_dead_jobs(*, at: datetime) -> int:
    """Let the jobs of dead workers wait again, or fail after `MOST_ATTEMPTS`; return how many.

    One that was asked to stop is stopped. Imports, which commands run, may rest for longer.
    """
    late = Job.objects.filter(state=State.RUNNING, updated_at__lt=at - STALE_JOB)
    dead, text = late.filter(kind__in=JOB_KINDS), "The worker died."
    count = _change(dead.filter(is_stopping=True), State.STOPPED, text, at=at)
    worn = dead.filter(attempts__gte=MOST_ATTEMPTS)
    count += _change(worn, State.FAILED, text, at=at, message=BROKEN)
    return count + _change(dead, State.WAITING, text, at=at, message=_put_off(None))


def run_next_job(*, at: datetime, lanes: Collection[JobLane] = tuple(JobLane)) -> bool:
    """Run the job of some lanes whose turn it is.

    Return False if none waits that no other worker takes.
    """
    due_now = Job.objects.filter(due("updated_at", at), state=State.WAITING, kind__in=JOB_KINDS)
    jobs = due_now.order_by("pk").only("kind", "options", "files", "by")
    waiting = [(job.pk, job.by_id) for job in jobs if lane_of_job(job) in lanes]
    running = Job.objects.filter(state=State.RUNNING, kind__in=JOB_KINDS)
    over = Job.objects.exclude(state__in=[State.WAITING, State.RUNNING])
    served = over.order_by().values_list("by_id").annotate(Max("updated_at"))
    owners = running.values_list("by_id", flat=True)
    turns = in_turns(waiting, running=owners, served=dict(served))
    return any(run_waiting_job(job_id=job_id, at=at) for job_id in turns)


def run_waiting_job(*, job_id: int, at: datetime) -> bool:
    """Run a job and store its report. Return False if it does not wait, as for a second worker."""
    waiting = Job.objects.filter(pk=job_id, state=State.WAITING)
    now = timezone.now()
    if not _change(waiting, State.RUNNING, "Running.", at=now, attempts=F("attempts") + 1):
        return False
    job = Job.objects.select_related("lab", "task__lab", "by").get(pk=job_id)
    try:
        warnings: list[str] = []
        with panics_as_errors(), _heartbeat(job):
            _require_startable(job)
            work = RunningJob(job, at, cast(User, job.by), _JobProgress(job), warnings)
            lines = list(JOB_KINDS[job.kind].run(work))
    except FileRefusedError as refused:
        _finish(job, State.REFUSED, problems=refused.problems)
    except UnconfirmedLoadError as unconfirmed:
        _finish(
            job, State.UNCONFIRMED, message=unconfirmed.message, changes=unconfirmed.changes.stored
        )
    except UserError as refused:
        _finish(job, State.REFUSED, message=refused.message)
    except JobStoppedError:
        _finish(job, State.STOPPED, message="It was stopped on request.")
    # Whatever the error is, the report must say that the job is over.
    except Exception as error:  # noqa: BLE001
        _fail(job, error)
    else:
        _finish(job, State.DONE, summary=lines, warnings=warnings)
    return True


def _fail(job: Job, error: Exception) -> None:
    """Let a job wait again after a fault of the server that will pass, or fail."""
    # A connection that the server ended, or with a query that was left open, takes no report.
    if not connection.in_atomic_block:
        connection.close()
    if will_pass(error) and job.attempts < MOST_ATTEMPTS:
        log.error("Job %s waits: %s", job.pk, error)
        _finish(job, State.WAITING, message=_put_off(error))
    else:
        log.exception("Job %s failed.", job.pk)
        _finish(job, State.FAILED, message=BROKEN)


def _put_off(error: Exception | None) -> str:
    return f"The server could not do this: {reason_of(error)}."


def retry_job(*, job: Job) -> None:
    """Let a job that waits after a fault of the server be tried now. The caller queues it."""
    Job.objects.filter(pk=job.pk, state=State.WAITING).update(attempts=0)


def _change(jobs: QuerySet[Job], state: str, text: str, *, at: datetime, **fields: object) -> int:
    """Change the state of jobs, and log why. Return how many changed."""
    line = Concat("log", Value(_line(at, text)))
    return jobs.update(state=state, log=line, updated_at=at, **fields)


def _line(at: datetime, text: str) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} {text}\n"


def _mine(job: Job) -> QuerySet[Job]:
    """Return the job as long as no other worker has taken it over."""
    return Job.objects.filter(pk=job.pk, state=State.RUNNING, attempts=job.attempts)


def _require_startable(job: Job) -> None:
    """Raise `UserError` for what was archived or deleted while the job waited."""
    kind = JOB_KINDS[job.kind]
    for record in () if kind.in_archive else (job.lab, job.task):
        if record:
            require_unarchived(record)
    if job.by is None and not kind.for_visitors:
        raise UserError("The account that started this job was deleted. Start it again.")


@contextmanager
def _heartbeat(job: Job) -> Iterator[None]:
    """Show that the worker is alive: some steps take minutes without progress."""
    mine, over = _mine(job), threading.Event()

    def beat() -> None:
        while not over.wait(BETWEEN_BEATS):
            # A database that is busy now takes the next beat.
            with suppress(DatabaseError):
                mine.update(updated_at=timezone.now())
        connection.close()

    thread = threading.Thread(target=beat, name=f"job {job.pk}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class _JobProgress:
    """The progress of a job, stored about once a second."""

    def __init__(self, job: Job) -> None:
        self._mine = _mine(job).filter(is_stopping=False)
        self._stored = 0.0

    def __call__(self, done: int, total: int | None) -> None:
        if time.monotonic() - self._stored >= BETWEEN_UPDATES:
            if not self._mine.update(done=done, total=total, updated_at=timezone.now()):
                raise JobStoppedError
            self._stored = time.monotonic()


@transaction.atomic
def _finish(job: Job, state: State, *, problems: Iterable[Problem] = (), **report: object) -> None:
    """Store the result of a job, unless another worker took it over."""
    fields = {"message": "", "summary": [], "warnings": [], "changes": {}, **report}
    if _change(_mine(job), state, f"{state.label}.", at=timezone.now(), **fields):
        clear_problems(job)
        add_problems(job, problems)
        job.save(update_fields=["problem_count", "problem_groups"])


def clear_problems(job: Job) -> None:
    """Delete the problems of a job, which is read again. The caller saves the job."""
    job.problems.all().delete()
    job.problem_count, job.problem_groups = 0, []


def add_problems(job: Job, problems: Iterable[Problem]) -> None:
    """Add problems to a job, store the first of them, and group all. The caller saves the job."""
    new = list(problems)
    JobProblem.objects.bulk_create(
        JobProblem(job=job, source=problem.path[-300:], **dict(list(problem._asdict().items())[1:]))
        for problem in new[: max(0, STORED_PROBLEMS - job.problem_count)]
    )
    job.problem_count += len(new)
    job.problem_groups = problem_groups(new, job.problem_groups)
