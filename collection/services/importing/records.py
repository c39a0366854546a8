"""How far an import came (stand-in until the whole module joins)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from arqlab.ir.records import Problem
from collection.models import Collection, Import, ImportProblem

Progress = Callable[[int, int | None], None]
KEPT_PROBLEMS = 10_000


def start_import(*, collection: Collection, kind: str, source: str, sha256: str, at: datetime) -> Import:
    """Give the record of an import, new or taken up."""
    fields = {"source": source, "started_at": at, "updated_at": at}
    return Import.objects.get_or_create(collection=collection, kind=kind, sha256=sha256, defaults=fields)[0]


def save_progress(*, record: Import, problems: Iterable[Problem] = (), at: datetime) -> None:
    """Store the record and the problems of a batch."""
    found = list(problems)
    room = max(0, KEPT_PROBLEMS - record.problem_count)
    ImportProblem.objects.bulk_create(
        ImportProblem(
            record=record, source=one.path, line=one.line, found=one.found, expected=one.expected, todo=one.todo
        )
        for one in found[:room]
    )
    record.problem_count += len(found)
    record.updated_at = at
    record.save()


def finish_import(*, record: Import, at: datetime) -> None:
    """Mark an import as done."""
    record.state, record.updated_at, record.finished_at = Import.State.DONE, at, at
    record.save()
