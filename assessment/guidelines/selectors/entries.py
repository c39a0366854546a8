"""Queries on the examples and cases of the guidelines."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Q, QuerySet

from arqlab.core.models import Task
from assessment.guidelines.selectors.versions import current_guideline
from assessment.models import Guideline, GuidelineEntry


class EntryChanges(NamedTuple):
    """The entries that a version has and another one lacks, and the reverse."""

    added: list[GuidelineEntry]
    removed: list[GuidelineEntry]

    @property
    def labels(self) -> list[int]:
        """Return the labels of these entries, highest first."""
        found = {entry.label for entry in (*self.added, *self.removed)}
        return sorted((label for label in found if label is not None), reverse=True)


def version_of(guideline: Guideline | None) -> int:
    """Return the number of a version; 0 is the default text."""
    return guideline.version if guideline else 0


def entries_of(task: Task, version: int) -> QuerySet[GuidelineEntry]:
    """Return the examples and cases of a version."""
    return task.guideline_entries.filter(_holds(version)).select_related("decided_by")


def changed_entries(task: Task, *, before: int, version: int) -> EntryChanges:
    """Return the entries that differ between two versions, in one query."""
    either = task.guideline_entries.filter(_holds(before) | _holds(version))
    found = list(either.select_related("decided_by"))
    return EntryChanges(
        [entry for entry in found if _has(entry, version) and not _has(entry, before)],
        [entry for entry in found if _has(entry, before) and not _has(entry, version)],
    )


def waiting_entries(task: Task) -> EntryChanges:
    """Return the entries that the next version adds and removes."""
    newest = version_of(current_guideline(task))
    return changed_entries(task, before=newest, version=newest + 1)


def has_waiting_entries(task: Task, newest: int) -> bool:
    """Return whether the version after the newest one adds or removes an entry."""
    return task.guideline_entries.filter(Q(since=newest + 1) | Q(until=newest + 1)).exists()


def _holds(version: int) -> Q:
    return Q(since__lte=version) & (Q(until=None) | Q(until__gt=version))


def _has(entry: GuidelineEntry, version: int) -> bool:
    return entry.since <= version and (entry.until is None or entry.until > version)
