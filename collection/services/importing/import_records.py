"""The record of an import: start or resume, progress with heartbeat and problems, end.

Each batch stores `Import.rows`, the number of rows read, together with the time. An import without
a heartbeat for `STALE_AFTER` counts as dead, and another process can resume it.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from django.db import connection
from django.db.models import Q
from django.utils import timezone

from arqkit.formats.batches import in_slices
from arqkit.formats.dumps.records import Window
from arqkit.formats.dumps.sources import dump_files
from arqkit.loads import Change, Fate, LoadChanges
from arqkit.records import Problem
from arqlab.core.errors import UserError
from arqlab.core.models import Job
from arqlab.jobs.services.jobs import add_problems, clear_problems
from collection.models import STALE_AFTER, Author, Collection, Import, Post

# SQLite allows 32,766 parameters in one statement, and a row may need four.
IDS_PER_STATEMENT = 5_000

FORMULA_KINDS = ("latex", "slt", "opt")
FORMAT = "1"
"""The version of the stored columns of formulas. Raise it when they change, so that files are read
again.
"""
WHOLE = Window(None, None, False)
Progress = Callable[[int, int | None], None]
"""A callback after each batch: rows done, and an estimate of all rows, None if unknown."""


def stored_ids(
    collection: Collection, ids: Iterable[str], *, model: type[Post | Author] = Post
) -> set[str]:
    """Return the ids that are posts (or authors) of the collection."""
    name = "post_id" if model is Post else "author_id"
    rows = model._default_manager.filter(collection=collection)
    return {
        row_id
        for part in in_slices(set(ids), size=IDS_PER_STATEMENT)
        for row_id in rows.filter(**{f"{name}__in": part}).values_list(name, flat=True)
    }


class TakenOverError(UserError):
    """Another process resumed or deleted this import, so this process must stop writing to it."""


def file_digest(path: Path, *options: object) -> str:
    """Return the sha256 of a file, or of all files below a folder, and of the import options."""
    below = sorted(file_path for file_path in path.rglob("*") if file_path.is_file())
    whole = hashlib.sha256(repr(options).encode())
    for file_path in below if path.is_dir() else [path]:
        with file_path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()


def import_digest(kind: str, path: Path, window: Window) -> str:
    """Return the sha256 of a file and of the options with which a kind is imported."""
    if kind in FORMULA_KINDS:
        return file_digest(path, kind, FORMAT)
    options = {Import.Kind.POSTS: ("posts", *window), Import.Kind.DOCUMENTS: ("documents",)}
    return file_digest(path, *options.get(Import.Kind(kind), (kind, window)))


def add_import_changes(
    changes: LoadChanges, *, slug: str, files: Mapping[str, Path], window: Window = WHOLE
) -> None:
    """Add what an import of files (by kind) would replace in a collection.

    Rows are compared when they are read; here, a file is compared with the last one of its kind.
    """
    for kind, path in files.items():
        path = dump_files(path).get(kind, path) if path.is_dir() else path
        imports = Import.objects.filter(collection__slug=slug, kind=kind)
        same = imports.filter(sha256=import_digest(kind, path, window)).first()
        last = imports.filter(kept__gt=0).order_by("-finished_at", "-pk").first()
        name, fate = Import.Kind(kind).label, Fate.NEW
        if same is not None and not is_overtaken(same):
            fate = Fate.UNCHANGED
        elif last is not None:
            fate = Fate.CHANGED
        old = f"{last.source} ({last.kept:,} rows)" if last else ""
        changes.add("files of the collection", fate, Change(name, old, path.name))


def start_import(
    *, collection: Collection, kind: str, source: str, sha256: str, at: datetime
) -> Import:
    """Return the record of an import: new, resumed or done. Raise `UserError` if one runs."""
    fields = {"kind": kind, "source": source[-300:], "state": Import.State.RUNNING}
    times = {"created_at": at, "updated_at": timezone.now()}
    record, is_new = Import.objects.get_or_create(
        collection=collection, sha256=sha256, defaults=fields | times
    )
    if is_new or record.state == Import.State.DONE:
        return record
    resting = Q(state=Import.State.STOPPED) | Q(
        state=Import.State.RUNNING, updated_at__lt=timezone.now() - STALE_AFTER
    )
    claimed = Job.objects.filter(resting, pk=record.pk)
    if not claimed.update(state=Import.State.RUNNING, updated_at=timezone.now()):
        raise UserError(
            f"Another process is importing {source}. Wait until it finishes. If that process "
            f"died, try again {STALE_AFTER.seconds} seconds after its last progress.",
            code="import-running",
        )
    record.refresh_from_db()
    return record


def is_overtaken(record: Import) -> bool:
    """Return whether a file of the same name with other contents or window was imported later."""
    others = record.collection.imports.filter(kind=record.kind, source=record.source)
    is_done = record.state == Import.State.DONE
    return is_done and others.filter(finished_at__gt=record.finished_at).exists()


def open_import(
    collection: Collection,
    kind: str,
    path: Path,
    *,
    at: datetime,
    window: Window = WHOLE,
    starts_over: Callable[[Import], bool] = is_overtaken,
) -> Import:
    """Return the record of the import of a file, to be read from its start if it `starts_over`."""
    digest = import_digest(kind, path, window)
    record = start_import(collection=collection, kind=kind, source=path.name, sha256=digest, at=at)
    if starts_over(record):
        clear_problems(record)
        record.rows = record.kept = 0
        record.state, record.created_at, record.finished_at = Import.State.RUNNING, at, None
        # The old counts stay until the first batch is stored: they show which scores are of votes.
        record.save()
    return record


@contextmanager
def stopped_on_error(record: Import) -> Iterator[None]:
    """Mark an import as stopped if Ctrl-C or an error ends it, so that it can resume at once."""
    is_in_transaction = connection.in_atomic_block
    try:
        yield
    except TakenOverError:
        raise  # the other process owns the state now
    except BaseException:
        # Ctrl-C while Django begins or commits leaves a transaction that nobody would end.
        if connection.in_atomic_block and not is_in_transaction:
            connection.close()
            connection.connect()
        # A broken transaction allows no writes. The import then becomes stale.
        if not connection.needs_rollback:
            running = Job.objects.filter(pk=record.pk, state=Import.State.RUNNING)
            running.update(state=Import.State.STOPPED)
        raise


def add_counts(record: Import, added: Mapping[str, int]) -> None:
    """Add counts of rows kept and skipped to a record; the caller saves it."""
    counts = Counter(record.counts)
    counts.update(added)
    record.counts = dict(counts)


def finish_import(*, record: Import, at: datetime) -> None:
    """Mark an import as done. Raise `TakenOverError` as `save_progress` does."""
    record.state, record.finished_at = Import.State.DONE, at
    save_progress(record=record, at=at)


def save_progress(*, record: Import, problems: Iterable[Problem] = (), at: datetime) -> None:
    """Store the record with a heartbeat, and the problems of a batch.

    Call this in the transaction that stores the batch. Raise `TakenOverError` if another process
    took over the import, so that the batch is rolled back.
    """
    add_problems(record, problems)
    # The current time and not `at` shows that this process is alive. Of two processes, one wins:
    # that of the last heartbeat.
    last, record.updated_at = record.updated_at, max(at, timezone.now())
    names = ("state", "problem_count", "problem_groups", "updated_at")
    changes = {name: getattr(record, name) for name in names}
    if not Job.objects.filter(pk=record.pk, updated_at=last).update(**changes):
        raise TakenOverError(
            f"Another process took over the import of {record.source} because this process made "
            f"no progress for {STALE_AFTER.seconds} seconds, or other files were loaded instead. "
            "Nothing is lost. Check the collection's page before you run the command again.",
            code="import-taken-over",
        )
    Import.objects.filter(pk=record.pk).update(
        rows=record.rows, kept=record.kept, counts=record.counts, finished_at=record.finished_at
    )
