"""Import of labels judged outside ArqLab. They become judgments with a history."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import uuid4

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef

from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.selectors import topic_ids
from arqlab.core.services.audit import record_event
from arqlab.formats.qrels.judgments import JudgedLine, read_judgments
from arqlab.ir.labels import LabelScale
from arqlab.ir.records import FileRefusedError, Problem
from assessment.judging.services.import_names import ImportNames, names_in, unknown_names
from assessment.models import Judgment, PoolInstance, PoolItem, Ticket
from assessment.qrels.selectors.drafts import pooled_instances, task_scale, with_current

# the answer of a ticket that needs no reply
IMPORTED_SINCE = "A label that was judged elsewhere was imported since."
AT_ONCE = 500
"""Rows that one statement names by their keys; SQLite takes no more than 999."""


class ImportedJudgments(NamedTuple):
    """How many labels of a file were new, changed, or already stored."""

    new: int
    changed: int
    unchanged: int


class _Known(NamedTuple):
    """The stored instance and current judgment of a line's item; the judgment may be None."""

    instance: int
    item: int
    is_closed: bool
    judgment: int | None
    label: int | None
    comment: str | None
    assessor: int | None
    active_ms: int | None
    judged_at: datetime | None
    guideline: int | None


_FIELDS = (
    "pk",
    "item",
    "item__pool__closed_at",
    *(
        f"current__{name}"
        for name in (
            "pk",
            "label",
            "comment",
            "assessor",
            "active_ms",
            "judged_at",
            "guideline",
        )
    ),
)


def import_judgments(
    *, task: Task, data: bytes, path: str, at: datetime, by: User | None
) -> ImportedJudgments:
    """Store the labels of a file as judgments of the items of the task's pools.

    `arqlab.formats.qrels.judgments` describes the file. A label that is already stored stays; a
    different one is superseded. Raises `FileRefusedError` with every problem of the file, or
    `UserError` (codes `no-pool`, `judged-meanwhile`), and then stores nothing.
    """
    scale = task_scale(task)
    rows, problems = read_judgments(data, path=path, scale=scale)
    try:
        with transaction.atomic():
            known = _known(task)
            names = names_in(rows, task)
            found, more = _found(rows, task, known, path)
            changes = [(row, one) for row, one in found if not _is_there(row, one, names)]
            problems += [*more, *unknown_names(rows, names, path), *_closed(changes, path)]
            if problems:
                raise FileRefusedError(sorted(problems, key=lambda problem: problem.line or 0))
            made = _store(changes, names, at=at)
            _move_tickets(task, made, scale, at=at)
            counts = _counts(rows, changes)
            if changes:
                digest = hashlib.sha256(data).hexdigest()
                record_event(
                    verb="judgments.import",
                    target=task,
                    lab=task.lab,
                    actor=by,
                    **counts._asdict(),
                    sha256=digest,
                )
    except IntegrityError as error:
        raise _judged_meanwhile() from error
    return counts


def _known(task: Task) -> dict[tuple[str, str], _Known]:
    rows = with_current(pooled_instances(task)).values_list(
        "item__topic__query_id", "doc_id", *_FIELDS
    )
    known = {
        (topic, doc_id): _Known(instance, item, closed_at is not None, *current)
        for topic, doc_id, instance, item, closed_at, *current in rows
    }
    if not known:
        raise UserError(
            f"{task} has no pool, so there is nothing to judge. Build the pool first.",
            code="no-pool",
        )
    return known


def _found(
    rows: Iterable[JudgedLine], task: Task, known: Mapping[tuple[str, str], _Known], path: str
) -> tuple[list[tuple[JudgedLine, _Known]], list[Problem]]:
    topics, found = set(topic_ids(task)), []
    problems: list[Problem] = []
    for row in rows:
        if one := known.get((row.topic, row.item)):
            found.append((row, one))
        elif row.topic not in topics:
            todo = "Correct the topic, or remove its lines."
            problems.append(
                Problem(path, row.line, f"the topic {row.topic}", f"a topic of {task}", todo)
            )
        else:
            what, todo = (
                f"{row.item} of topic {row.topic}",
                "Add the item with a supplement to the pool, or remove the line.",
            )
            problems.append(
                Problem(
                    path,
                    row.line,
                    f"{what}, which is not in a pool",
                    f"an item of {task}'s pools",
                    todo,
                )
            )
    return found, problems


def _closed(changes: Iterable[tuple[JudgedLine, _Known]], path: str) -> Iterable[Problem]:
    for row, one in changes:
        if one.is_closed:
            found = f"another label for {row.item} of topic {row.topic}, whose pool is closed"
            yield Problem(
                path,
                row.line,
                found,
                "an open pool",
                "Open the pool for judging, or remove the line.",
            )


def _is_there(row: JudgedLine, one: _Known, names: ImportNames) -> bool:
    """Return whether the stored label equals the line in every field of the line."""
    imported = (
        row.comment,
        names.people.get(row.assessor or ""),
        row.active_ms,
        row.judged_at,
        names.guideline(row),
    )
    stored = (one.comment, one.assessor, one.active_ms, one.judged_at, one.guideline)
    return row.label == one.label and all(
        new is None or new == old for new, old in zip(imported, stored, strict=True)
    )


def _store(
    changes: Sequence[tuple[JudgedLine, _Known]], names: ImportNames, *, at: datetime
) -> list[Judgment]:
    items = sorted({one.item for _, one in changes})
    for part in _parts(items):
        # Make submits for other instances of these items wait: otherwise neither would see the item
        # complete.
        list(
            PoolItem.objects.select_for_update()
            .filter(pk__in=part)
            .order_by("pk")
            .values_list("pk")
        )
    superseded = [one.judgment for _, one in changes if one.judgment is not None]
    retired = sum(
        Judgment.objects.filter(pk__in=part, is_current=True).update(is_current=False)
        for part in _parts(superseded)
    )
    if retired != len(superseded):
        raise _judged_meanwhile()
    made = Judgment.objects.bulk_create(
        (_judgment(row, one, names, at) for row, one in changes), batch_size=AT_ONCE
    )
    unjudged = PoolInstance.objects.filter(item=OuterRef("pk")).exclude(judgments__is_current=True)
    for part in _parts(items):
        waiting = PoolItem.objects.filter(pk__in=part, done_at=None)
        waiting.exclude(Exists(unjudged)).update(done_at=at, leased_to=None, leased_until=None)
    return made


def _move_tickets(task: Task, made: Iterable[Judgment], scale: LabelScale, *, at: datetime) -> None:
    """Move the open ticket of a label to the label that replaces it, or close it if not needed."""
    newer = {judgment.supersedes_id: judgment for judgment in made}
    waiting = Ticket.objects.filter(judgment__instance__in=pooled_instances(task), answered_at=None)
    for ticket, judgment in waiting.values_list("pk", "judgment"):
        if new := newer.get(judgment):
            is_kept = new.label in scale.unjudged
            change = {"judgment": new} if is_kept else {"answer": IMPORTED_SINCE, "answered_at": at}
            Ticket.objects.filter(pk=ticket, answered_at=None).update(**change)


def _judgment(row: JudgedLine, one: _Known, names: ImportNames, at: datetime) -> Judgment:
    assessor, guideline = names.people.get(row.assessor or ""), names.guideline(row)
    details = {"assessor_id": assessor, "guideline_id": guideline, **_details(row)}
    kept = {"assessor_id": one.assessor, "guideline_id": one.guideline, **_details(one)}
    kept = kept if row.label == one.label else {}
    known = {name: value for name, value in details.items() if value is not None}
    return Judgment(
        instance_id=one.instance,
        label=row.label,
        key=uuid4(),
        supersedes_id=one.judgment,
        is_imported=True,
        **{"comment": "", "judged_at": at} | kept | known,
    )


def _details(source: JudgedLine | _Known) -> dict[str, Any]:
    return {"comment": source.comment, "active_ms": source.active_ms, "judged_at": source.judged_at}


def _counts(
    rows: Sequence[JudgedLine], changes: Sequence[tuple[JudgedLine, _Known]]
) -> ImportedJudgments:
    new = sum(one.judgment is None for _, one in changes)
    return ImportedJudgments(new, len(changes) - new, len(rows) - len(changes))


def _parts(keys: Sequence[Any]) -> Iterable[Sequence[Any]]:
    return (keys[start : start + AT_ONCE] for start in range(0, len(keys), AT_ONCE))


def _judged_meanwhile() -> UserError:
    return UserError(
        "An assessor judged one of these items during the import, so nothing was imported. "
        "Import the file again.",
        code="judged-meanwhile",
    )
