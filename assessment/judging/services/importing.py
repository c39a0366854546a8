"""Import of labels judged outside ArqLab. They become judgments with a history."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import uuid4

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef

from arqkit.formats.batches import in_slices
from arqkit.formats.qrels.judgments import JudgedLine, read_judgments
from arqkit.formats.turkle import unused_columns
from arqkit.loads import NO_CHOICE, Change, Fate, LoadChanges, LoadChoice
from arqkit.records import FileRefusedError, Problem
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError, require_confirmed
from arqlab.core.models import Task, User
from arqlab.labs.selectors import PSEUDONYM, pseudonym, topic_ids
from assessment.judging.services.late_labels import complete_items
from assessment.models import Judgment, PoolItem
from assessment.qrels.selectors.drafts import LabelSource, task_scale, with_current
from assessment.tickets.services.reports import update_tickets

_GIVEN = tuple(
    field.name
    for field in Judgment._meta.concrete_fields
    if not field.is_relation and JudgedLine._field_defaults.get(field.name, "") is None
)
"""The fields of a judgment that a line may have or leave out."""
_DETAILS = ("assessor_id", "guideline_id", *_GIVEN)

JUDGED_MEANWHILE = (
    "An assessor judged one of these items during the import, so nothing was imported. Import the "
    "file again."
)
AT_ONCE = 500
"""Rows that one statement names by their keys; SQLite takes no more than 999."""


class ImportNames(NamedTuple):
    """The keys of the users and of the versions of the guidelines that the lines name."""

    people: Mapping[str, int]
    versions: Mapping[int, int]

    def details(self, row: JudgedLine) -> dict[str, object]:
        """Return the fields of a judgment that a line has; the default text (0) has no key."""
        fields = {
            "assessor_id": self.people.get(row.assessor or ""),
            "guideline_id": self.versions.get(row.guidelines or 0),
            **{name: getattr(row, name) for name in _GIVEN},
        }
        return {name: value for name, value in fields.items() if value is not None}


def names_in(rows: Iterable[JudgedLine], task: Task) -> ImportNames:
    """Return the users whose user names, email addresses (lower case) or pseudonyms of the lab
    lines have, and the versions of the task whose pool has the items.
    """
    keys = {row.assessor: row.assessor for row in rows if row.assessor}
    keys = {name: name.lower() if "@" in name else name for name in keys}
    people: dict[str, int] = {}
    if keys:
        for pk, username, email in User.objects.values_list("pk", "username", "email"):
            people |= {username: pk, email.lower() or username: pk}
    if any(name.startswith(PSEUDONYM) for name in keys):
        people |= {pseudonym(task.lab, pk): pk for pk in set(people.values())}
    versions = LabelSource(task).judged_in.guidelines.values_list("version", "pk")
    people_by_name = {name: people[key] for name, key in keys.items() if key in people}
    return ImportNames(people_by_name, dict(versions))


def unknown_names(rows: Iterable[JudgedLine], names: ImportNames, path: str) -> Iterable[Problem]:
    """Yield the users and versions that do not exist."""
    todo = "Correct the name, have them sign up, or leave the cell empty."
    elsewhere = "Load the file with the names, as pseudonyms are of one server; or empty the cell."
    for row in rows:
        if row.assessor and row.assessor not in names.people:
            expected = "the user name or email address of an account"
            remedy = elsewhere if row.assessor.startswith(PSEUDONYM) else todo
            yield Problem(path, row.line, f"the assessor {row.assessor[:80]}", expected, remedy)
        if row.guidelines and row.guidelines not in names.versions:
            actual, expected = f"version {row.guidelines}", "a version of the task's guidelines"
            yield Problem(path, row.line, actual, expected, "Correct it, or leave the cell empty.")


class _Known(NamedTuple):
    """The stored instance and current judgment of a line's item; the judgment may be None."""

    instance: int
    item: int
    is_closed: bool
    has_judgments: bool
    judgment: int | None
    label: int | None
    details: dict[str, object]


@dataclass(frozen=True)
class _Import:
    task: Task
    path: str
    choice: LoadChoice
    changes: LoadChanges
    problems: list[Problem]


def import_judgments(
    *,
    task: Task,
    data: bytes,
    path: str,
    at: datetime,
    by: User | None,
    choice: LoadChoice = NO_CHOICE,
) -> LoadChanges:
    """Store the labels of a file as judgments of the items of the task's pools.

    `arqkit.formats.qrels.judgments` describes the file. The judgments of an export that are not
    current become the history of items without judgments. A label that is already stored stays, and
    so does a newer one unless the choice is to take older ones; a different one is superseded.
    Raises `UnconfirmedLoadError` if a stored label would change, `FileRefusedError` with every
    problem of the file, or `UserError` (codes `no-pool`, `judged-meanwhile`), and then stores
    nothing.
    """
    scale = task_scale(task)
    rows, problems = read_judgments(data, path=path, scale=scale)
    importing = _Import(task, path, choice, LoadChanges(), problems)
    importing.changes.unused = unused_columns(data.decode(errors="replace"))
    try:
        with transaction.atomic():
            names = names_in(rows, task)
            stored = _to_store(importing, _found(importing, rows, _known(task)), names)
            problems += unknown_names(rows, names, path)
            if problems:
                raise FileRefusedError(sorted(problems, key=lambda problem: problem.line or 0))
            require_confirmed(importing.changes, choice.confirmed)
            judgments = _store(stored, names, at=at)
            update_tickets(
                [judgment for judgment in judgments if judgment.is_current],
                scale=scale,
                in_round=False,
                answer="A label that was judged elsewhere was imported since.",
                at=at,
            )
            if stored:
                record_event(
                    "judgments.import",
                    task,
                    by,
                    **importing.changes.counts,
                    sha256=hashlib.sha256(data).hexdigest(),
                )
    except IntegrityError as error:
        raise UserError(JUDGED_MEANWHILE, code="judged-meanwhile") from error
    return importing.changes


def _known(task: Task) -> dict[tuple[str, str], _Known]:
    fields = ("item__topic__query_id", "doc_id", "pk", "item", "item__pool__closed_at", "has_any")
    has_any = Exists(Judgment.objects.filter(instance=OuterRef("pk")))
    current = (f"current__{name}" for name in ("pk", "label", *_DETAILS))
    instances = with_current(LabelSource(task).pooled().annotate(has_any=has_any))
    rows = instances.values_list(*fields, *current)
    instances_by_id = {
        (topic, doc_id): _Known(
            *(instance, item, closed_at is not None, has_any, judgment, label),
            dict(zip(_DETAILS, details, strict=True)),
        )
        for topic, doc_id, instance, item, closed_at, has_any, judgment, label, *details in rows
    }
    if not instances_by_id:
        raise UserError(
            f"{task} has no pool, so there is nothing to judge. Build the pool first.",
            code="no-pool",
        )
    return instances_by_id


def _found(
    importing: _Import,
    rows: Iterable[JudgedLine],
    instances_by_id: Mapping[tuple[str, str], _Known],
) -> list[tuple[JudgedLine, _Known]]:
    """Return the lines with their stored items; the others are left out, or become problems."""
    topics, pairs = set(topic_ids(importing.task)), []
    for row in rows:
        if stored := instances_by_id.get((row.topic, row.item)):
            pairs.append((row, stored))
            continue
        if importing.choice.leaves_out:
            importing.changes.add("labels", Fate.OUTSIDE, Change(f"{row.topic} {row.item}"))
            continue
        actual, expected = f"the topic {row.topic}", f"a topic of {importing.task}"
        todo = "Correct the topic, remove its lines, or load only those that are in the pool."
        if row.topic in topics:
            actual = f"{row.item} of topic {row.topic}, which is not in a pool"
            expected = f"an item of {importing.task}'s pools"
            todo = (
                "Add the item with a supplement to the pool, remove the line, or load only those "
                "that are in the pool."
            )
        importing.problems.append(Problem(importing.path, row.line, actual, expected, todo))
    return pairs


def _to_store(
    importing: _Import, pairs: Iterable[tuple[JudgedLine, _Known]], names: ImportNames
) -> list[tuple[JudgedLine, _Known]]:
    """Return the lines to store; count all, and add a problem for those of a closed pool."""
    to_store = []
    for row, stored in pairs:
        fate = _fate(row, stored, names, importing.choice)
        old = "" if stored.label is None or not row.is_current else str(stored.label)
        what = "labels" if row.is_current else "earlier labels"
        importing.changes.add(what, fate, Change(f"{row.topic} {row.item}", old, str(row.label)))
        if fate in (Fate.UNCHANGED, Fate.OLDER):
            continue
        to_store.append((row, stored))
        if stored.is_closed:
            text = f"another label for {row.item} of topic {row.topic}, whose pool is closed"
            todo = "Open the pool for judging, or remove the line."
            importing.problems.append(Problem(importing.path, row.line, text, "an open pool", todo))
    return to_store


def _fate(row: JudgedLine, instance: _Known, names: ImportNames, choice: LoadChoice) -> Fate:
    if not row.is_current:  # only an item without a history gets one
        return Fate.UNCHANGED if instance.has_judgments else Fate.NEW
    if instance.judgment is None:
        return Fate.NEW
    is_same = names.details(row).items() <= instance.details.items()
    if row.label == instance.label and is_same:
        return Fate.UNCHANGED
    judged_at = instance.details["judged_at"]
    if row.judged_at is None or not isinstance(judged_at, datetime) or row.judged_at >= judged_at:
        return Fate.CHANGED
    return Fate.REPLACED if choice.takes_older else Fate.OLDER


def _store(
    changes: Sequence[tuple[JudgedLine, _Known]], names: ImportNames, *, at: datetime
) -> list[Judgment]:
    items = sorted({instance.item for _, instance in changes})
    for part in in_slices(items, size=AT_ONCE):
        # Make submits for other instances of these items wait: otherwise neither would see the item
        # complete.
        locked = PoolItem.objects.select_for_update().filter(pk__in=part)
        list(locked.order_by("pk").values_list("pk"))
    superseded = [instance.judgment for _, instance in changes if instance.judgment is not None]
    retired = sum(
        Judgment.objects.filter(pk__in=part, is_current=True).update(is_current=False)
        for part in in_slices(superseded, size=AT_ONCE)
    )
    if retired != len(superseded):
        raise UserError(JUDGED_MEANWHILE, code="judged-meanwhile")
    judgments = Judgment.objects.bulk_create(
        (_judgment(row, instance, names, at) for row, instance in changes), batch_size=AT_ONCE
    )
    _link(changes, judgments)
    for part in in_slices(items, size=AT_ONCE):
        complete_items(part, at)
    return judgments


def _link(changes: Sequence[tuple[JudgedLine, _Known]], judgments: Sequence[Judgment]) -> None:
    """Store which judgment of the file supersedes which other of its item."""
    numbered = {row.number: new for (row, _), new in zip(changes, judgments, strict=True)}
    later = []
    for (row, _), new in zip(changes, judgments, strict=True):
        old = row.supersedes and numbered.get(row.supersedes)
        if old and old.instance_id == new.instance_id and old is not new and not new.supersedes_id:
            new.supersedes = old
            later.append(new)
    Judgment.objects.bulk_update(later, ["supersedes"], batch_size=AT_ONCE)


def _judgment(row: JudgedLine, instance: _Known, names: ImportNames, at: datetime) -> Judgment:
    details = instance.details if row.label == instance.label else {}
    return Judgment(
        instance_id=instance.instance,
        label=row.label,
        key=uuid4(),
        supersedes_id=instance.judgment,
        is_imported=row.is_imported,
        is_current=row.is_current,
        **{"comment": "", "judged_at": at} | details | names.details(row),
    )
