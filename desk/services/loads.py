"""Loads: started on a page, run once by a worker, with progress and a report."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any

from django.db import DatabaseError, connection, transaction
from django.db.models import F
from django.utils import timezone

from arqkit.loads import problem_groups
from arqkit.polars_errors import panics_as_errors
from arqkit.records import FileRefusedError, Problem
from arqlab.core.errors import UnconfirmedLoadError, UserError
from arqlab.core.models import Lab, Task, User
from arqlab.core.services.archiving import require_unarchived
from desk.models import MOST_ATTEMPTS, STALE_LOAD, Load, LoadProblem
from desk.services.load_files import Uploads, store_files
from desk.services.loaders import LOADERS
from desk.services.loading import Loading

log = logging.getLogger(__name__)
STORED_PROBLEMS = 10_000
"""The number of problems stored per load; further problems are only counted."""
BETWEEN_BEATS = 20.0
"""Seconds between two signs of life of a worker."""
BETWEEN_UPDATES = 1.0
"""Seconds between two updates of the progress."""
OVER = (Load.State.UNCONFIRMED, Load.State.REFUSED, Load.State.FAILED)
BROKEN = (
    "An error in ArqLab stopped the load. The files are kept. Load them again; if that fails too, "
    "report the number of this load to the administrators of this server."
)


def start_load(
    *,
    kind: str,
    place: Lab | Task | None,
    uploads: Uploads,
    options: dict[str, Any],
    at: datetime,
    by: User,
) -> Load:
    """Store the files of a load, which then waits for a worker. The caller queues it.

    `place` is the lab or task it belongs to; None for a load that makes a lab.
    """
    load = Load(
        kind=kind,
        lab=place.lab if isinstance(place, Task) else place,
        task=place if isinstance(place, Task) else None,
        options=options,
        created_at=at,
        updated_at=at,
        by=by,
    )
    # Before the row, and outside a transaction: a large file would hold up all other writers.
    store_files(load, uploads)
    load.save()
    return load


def repeat_load(
    *,
    load: Load,
    uploads: Uploads,
    replaced: Iterable[str],
    options: dict[str, Any],
    at: datetime,
    by: User,
) -> None:
    """Let a load that loaded nothing wait again, confirmed, or with more or corrected files.

    Raise `UserError` (`not-over`) if it waits or runs already, or is done.
    """
    if load.state in OVER:
        store_files(load, uploads, replaced=replaced)
    if not Load.objects.filter(pk=load.pk, state__in=OVER).update(
        state=Load.State.WAITING,
        files=load.files,
        options=options,
        updated_at=at,
        by=by,
        attempts=0,
        done=0,
        total=None,
    ):
        raise UserError(
            "This load is not over, or it is done. Reload the page to see its state.",
            code="not-over",
        )


def waiting_load_ids() -> list[int]:
    """Return the keys of the loads that wait for a worker, oldest first."""
    return list(
        Load.objects.filter(state=Load.State.WAITING).order_by("pk").values_list("pk", flat=True)
    )


def release_dead_loads(*, at: datetime) -> int:
    """Let the loads of dead workers wait again, or fail after `MOST_ATTEMPTS`; return how many."""
    dead = Load.objects.filter(state=Load.State.RUNNING, updated_at__lt=at - STALE_LOAD)
    failed = dead.filter(attempts__gte=MOST_ATTEMPTS).update(
        state=Load.State.FAILED, message=BROKEN, updated_at=at
    )
    return failed + dead.update(state=Load.State.WAITING, updated_at=at)


def run_waiting_load(*, load_id: int, at: datetime) -> bool:
    """Run a load and store its report. Return False if it was not waiting.

    Safe to call twice and by several workers at once.
    """
    waiting = Load.objects.filter(pk=load_id, state=Load.State.WAITING)
    if not waiting.update(
        state=Load.State.RUNNING, updated_at=timezone.now(), attempts=F("attempts") + 1
    ):
        return False
    load = Load.objects.select_related("lab", "task__lab", "by").get(pk=load_id)
    try:
        warnings: list[str] = []
        with panics_as_errors(), _heartbeat(load):
            _require_unarchived(load)  # it may have been archived while the load waited
            loading = Loading(load, at, _user_of(load), _LoadProgress(load), warnings)
            lines = LOADERS[load.kind](loading)
    except FileRefusedError as refused:
        _finish(load, Load.State.REFUSED, problems=refused.problems)
    except UnconfirmedLoadError as asked:
        _finish(load, Load.State.UNCONFIRMED, message=asked.message, changes=asked.changes.stored)
    except UserError as refused:
        _finish(load, Load.State.REFUSED, message=refused.message)
    # Whatever the error is, the report must say that the load is over.
    except Exception:
        log.exception("Load %s failed.", load.pk)
        _finish(load, Load.State.FAILED, message=BROKEN)
    else:
        _finish(load, Load.State.DONE, summary=lines, warnings=warnings)
    return True


def _user_of(load: Load) -> User:
    if load.by is None:
        raise UserError("The account that started this load was deleted. Load the files again.")
    return load.by


@contextmanager
def _heartbeat(load: Load) -> Iterator[None]:
    """Show that the worker is alive: some steps take minutes without progress."""
    mine, over = Load.objects.filter(pk=load.pk, attempts=load.attempts), threading.Event()

    def beat() -> None:
        while not over.wait(BETWEEN_BEATS):
            # A database that is busy now takes the next beat.
            with suppress(DatabaseError):
                mine.update(updated_at=timezone.now())
        connection.close()

    thread = threading.Thread(target=beat, name=f"load {load.pk}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _require_unarchived(load: Load) -> None:
    for record in (load.lab, load.task):
        if record:
            require_unarchived(record)


class _LoadProgress:
    """The progress of a load, stored about once a second."""

    def __init__(self, load: Load) -> None:
        self._mine = Load.objects.filter(pk=load.pk, attempts=load.attempts)
        self._stored = 0.0

    def __call__(self, done: int, total: int | None) -> None:
        if time.monotonic() - self._stored >= BETWEEN_UPDATES:
            self._mine.update(done=done, total=total, updated_at=timezone.now())
            self._stored = time.monotonic()


@transaction.atomic
def _finish(load: Load, state: str, *, problems: Iterable[Problem] = (), **report: Any) -> None:
    """Store the result of a load, unless another worker took it over."""
    all_problems = list(problems)
    mine = Load.objects.filter(pk=load.pk, state=Load.State.RUNNING, attempts=load.attempts)
    if not mine.update(
        state=state,
        **{"message": "", "summary": [], "warnings": [], "changes": {}, **report},
        problem_count=len(all_problems),
        problem_groups=problem_groups(all_problems),
        updated_at=timezone.now(),
    ):
        return
    LoadProblem.objects.filter(load=load).delete()
    LoadProblem.objects.bulk_create(
        LoadProblem(
            load=load,
            source=problem.path[-300:],
            line=problem.line,
            found=problem.found,
            expected=problem.expected,
            todo=problem.todo,
        )
        for problem in all_problems[:STORED_PROBLEMS]
    )
