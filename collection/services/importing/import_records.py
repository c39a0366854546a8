"""How an import goes: begun or taken up, its problems kept, its heartbeat, stopped or done.

`Import.rows` is how far a file was read and stored. It is written in the transaction of each batch,
together with the time: an import whose time is `STALE_AFTER` ago has died, and whoever starts it again
goes on from there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from django.db import connection
from django.db.models import Q
from django.utils import timezone

from arqlab.core.errors import UserError
from arqlab.ir.records import Problem
from collection.models import Collection, Import, ImportProblem
from collection.models.imports import STALE_AFTER

Progress = Callable[[int, int | None], None]
"""Is told after each batch how many rows are done, and how many there will be as far as the bytes
read tell; None: unknown.
"""
MAX_STORED_PROBLEMS = 10_000
"""Problems of an import that are kept with their lines; the others are counted."""


class TakenOverError(UserError):
    """Another process goes on with this import, or took it out: this one must write nothing more of
    it.
    """


def file_digest(path: Path, *options: object) -> str:
    """Return the sha256 over a file, or over the files of a folder by their names, and the options
    that it is read with.
    """
    files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    whole = hashlib.sha256(repr(options).encode())
    for one in files:
        with one.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()


def start_import(
    *, collection: Collection, kind: str, source: str, sha256: str, at: datetime
) -> Import:
    """Return the record of an import: new, taken up where it was stopped or died, or done.

    Raises `UserError` when another process is at it.
    """
    fields = {"source": source[-300:], "started_at": at, "updated_at": timezone.now()}
    record, is_new = Import.objects.get_or_create(
        collection=collection, kind=kind, sha256=sha256, defaults=fields
    )
    if is_new or record.state == Import.State.DONE:
        return record
    resting = Q(state=Import.State.STOPPED) | Q(
        state=Import.State.RUNNING, updated_at__lt=timezone.now() - STALE_AFTER
    )
    claimed = Import.objects.filter(resting, pk=record.pk)
    if not claimed.update(state=Import.State.RUNNING, updated_at=timezone.now()):
        raise UserError(
            f"{source} is being imported by another process. Wait until it is done; if that process died, "
            f"start again {STALE_AFTER.seconds} seconds after its last sign.",
            code="import-running",
        )
    record.refresh_from_db()
    return record


def restart_import(record: Import, at: datetime) -> None:
    """Have an import that was done begin again from its first row."""
    record.problems.all().delete()
    record.rows = record.kept = record.problem_count = 0
    record.state, record.started_at, record.finished_at = Import.State.RUNNING, at, None
    # The counts of last time stay until the first batch is stored: they tell which scores came from
    # votes.
    record.save(
        update_fields=["rows", "kept", "problem_count", "state", "started_at", "finished_at"]
    )


@contextmanager
def stopped_on_error(record: Import) -> Iterator[None]:
    """Mark an import that is broken off (Ctrl-C, or a fault) as stopped, so that it can be taken up
    at once.
    """
    try:
        yield
    except TakenOverError:
        raise  # its state is the other's now
    except BaseException:
        # In a transaction that is lost anyway nothing can be written; then the silence tells.
        if not connection.needs_rollback:
            Import.objects.filter(pk=record.pk, state=Import.State.RUNNING).update(
                state=Import.State.STOPPED
            )
        raise


def save_progress(*, record: Import, problems: Iterable[Problem] = (), at: datetime) -> None:
    """Store the record, the problems of a batch and a sign of life. Call it in the transaction that
    stores the batch.

    Raises `TakenOverError` when another process has taken the import over: then the batch is rolled
    back.
    """
    found = list(problems)
    room = max(0, MAX_STORED_PROBLEMS - record.problem_count)
    ImportProblem.objects.bulk_create(
        ImportProblem(
            record=record,
            source=problem.path[-300:],
            line=problem.line,
            found=problem.found,
            expected=problem.expected,
            todo=problem.todo,
        )
        for problem in found[:room]
    )
    record.problem_count += len(found)
    # The sign of life is the clock's and not `at`: it tells other processes that this one lives.
    _save(record, sign=max(at, timezone.now()))


def finish_import(*, record: Import, at: datetime) -> None:
    """Mark an import as done. Raises `TakenOverError` as `save_progress` does."""
    record.state, record.finished_at = Import.State.DONE, at
    _save(record, sign=at)


def _save(record: Import, *, sign: datetime) -> None:
    """Write a record whose last sign of life is still this process's own: of two at one import, one
    wins.
    """
    last, record.updated_at = record.updated_at, sign
    values = {
        field.attname: getattr(record, field.attname)
        for field in Import._meta.concrete_fields
        if not field.primary_key
    }
    if not Import.objects.filter(pk=record.pk, updated_at=last).update(**values):
        raise TakenOverError(
            f"{record.source} was taken over by another process, after this one gave no sign for {STALE_AFTER.seconds} seconds, "
            "or other files were loaded instead. Nothing is lost; look at the collection's page before you start again.",
            code="import-taken-over",
        )
