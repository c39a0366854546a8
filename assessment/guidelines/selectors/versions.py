"""Queries on the guidelines for assessors."""

import re
from collections.abc import Collection, Mapping
from difflib import unified_diff
from html import escape
from itertools import islice
from typing import Any, NamedTuple

from django.db.models import Case, Count, F, IntegerField, Max, OuterRef, Q, QuerySet, Value, When

from arqkit.judgments.guidelines import default_guideline
from arqkit.labels import LabelScale
from arqkit.records import TaskKind
from arqkit.texts.posts.text import plain_text
from arqlab.core.models import Task, User
from assessment.models import Guideline, GuidelineEntry, Judgment
from assessment.qrels.selectors.drafts import task_scale


class EntryChanges(NamedTuple):
    """The entries that one version has and another lacks, and the reverse."""

    added: list[GuidelineEntry]
    removed: list[GuidelineEntry]


def version_of(guideline: Guideline | None) -> int:
    """Return the number of a version; 0 is the default text."""
    return guideline.version if guideline else 0


def entries_of(task: Task, version: int) -> QuerySet[GuidelineEntry]:
    """Return the examples and cases of a version."""
    return task.guideline_entries.filter(_holds(version)).select_related("decided_by")


def changed_entries(task: Task, *, before: int, version: int) -> EntryChanges:
    """Return the entries that differ between two versions, in one query."""
    either = task.guideline_entries.filter(_holds(before) | _holds(version))
    entries = list(either.select_related("decided_by"))
    return EntryChanges(
        [entry for entry in entries if _has(entry, version) and not _has(entry, before)],
        [entry for entry in entries if _has(entry, before) and not _has(entry, version)],
    )


def waiting_entries(task: Task) -> EntryChanges:
    """Return the entries that the next version adds and removes."""
    newest = version_of(current_guideline(task))
    return changed_entries(task, before=newest, version=newest + 1)


def _holds(version: int) -> Q:
    return Q(since__lte=version) & (Q(until=None) | Q(until__gt=version))


def _has(entry: GuidelineEntry, version: int) -> bool:
    return entry.since <= version and (entry.until is None or entry.until > version)


def current_guideline(task: Task) -> Guideline | None:
    """Return the newest version of a task's guidelines, or None if it uses the default text."""
    return task.guidelines.order_by("-version").first()


def version_numbered(task: Task, version: int) -> Guideline | None:
    """Return a version of a task's guidelines, or None if it has no such version, as for 0."""
    return task.guidelines.select_related("written_by").filter(version=version).first()


def guideline_text(task: Task, guideline: Guideline | None) -> str:
    """Return the source of a version, or without one the protocol's default text for the task."""
    if guideline:
        return guideline.text
    kind, scale, rules = TaskKind(task.kind), task_scale(task), task.protocol
    relevant_from = rules.relevant_in(scale)
    return default_guideline(kind, task.lab.protocol, scale=scale, relevant_from=relevant_from)


def guideline_source(task: Task, guideline: Guideline | None, scale: LabelScale) -> str:
    """Return the definitions of labels and the text of a version, as HTML with LaTeX."""
    definitions = guideline.definitions if guideline else {}
    return label_table(definitions, scale) + guideline_text(task, guideline)


def label_table(definitions: Mapping[str, str], scale: LabelScale) -> str:
    """Return a table of the labels that have a definition (plain text with LaTeX), as HTML."""
    rows = "".join(
        f"<tr><td>{label.value}</td><td><strong>{escape(label.word)}</strong></td>"
        f"<td>{escape(definitions[str(label.value)])}</td></tr>\n"
        for label in scale
        if str(label.value) in definitions
    )
    head = "<thead><tr><th>Score</th><th>Label</th><th>Definition</th></tr></thead>"
    return f"<table>\n{head}\n<tbody>\n{rows}</tbody>\n</table>\n" if rows else ""


def undefined_labels(source: str, scale: LabelScale) -> list[str]:
    """Return the words of the labels that the source of guidelines does not contain."""
    words = " ".join(plain_text(source).casefold().split())
    return [
        label
        for label in (scale_label.word for scale_label in scale)
        if not re.search(rf"(?<!\w){re.escape(label.casefold())}(?!\w)", words)
    ]


def changed_lines(before: str, after: str) -> list[tuple[str, str]]:
    """Return the lines of two versions, as `added`, `removed` or `same`, or a `gap` of them."""
    kinds = {"+": "added", "-": "removed", " ": "same", "@": "gap"}
    lines = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
    return [
        (kinds[line[0]], "…" if line[0] == "@" else line[1:]) for line in islice(lines, 2, None)
    ][1:]


def followed_versions(user: User, tasks: Collection[Task]) -> dict[int, int]:
    """Return the newest version that a person judged with, or 0 for the default text, by task."""
    judgments = Judgment.objects.filter(
        assessor=user, instance__item__topic__task__in=tasks, is_imported=False
    ).order_by()
    by = judgments.values_list("instance__item__topic__task").annotate(Max("guideline__version"))
    return {task: last or 0 for task, last in by}


def followed_version(user: User, task: Task) -> int | None:
    """Return the newest version, but not the default text, that a person judged with, or None."""
    judgments = Judgment.objects.filter(assessor=user, guideline__task=task)
    version: int | None = judgments.aggregate(last=Max("guideline__version"))["last"]
    return version


def changed_guidelines(user: User, tasks: Collection[Task]) -> list[tuple[Guideline, int]]:
    """Return the current guidelines that a judge has not followed yet, and the version they did."""
    newest = Guideline.objects.filter(task=OuterRef("task")).order_by("-version").values("pk")[:1]
    current = Guideline.objects.filter(task__in=tasks, pk=newest).select_related("task__lab")
    followed = followed_versions(user, tasks)
    return [
        (guideline, followed[guideline.task_id])
        for guideline in current
        if followed.get(guideline.task_id, guideline.version) < guideline.version
    ]


def current_versions(tasks: Collection[Task]) -> dict[int, int]:
    """Return the current guideline version by task, without tasks that have none."""
    versions = Guideline.objects.filter(task__in=tasks).order_by().values_list("task")
    return dict(versions.annotate(Max("version")))


def labels_of(task: Task) -> QuerySet[Judgment]:
    """Return the current official labels of a task with the `version` that assessors followed.

    0 is the default text; the version of labels judged elsewhere may be unknown (null).
    """
    default = When(guideline=None, is_imported=False, then=Value(0))
    version = Case(default, default=F("guideline__version"), output_field=IntegerField())
    current = Judgment.official.filter(instance__item__pool__task=task, is_current=True)
    return current.annotate(version=version)


def counts_by_version(task: Task) -> dict[int | None, int]:
    """Return the number of current official labels of a task by the version of the guidelines."""
    labels: Any = labels_of(task)
    return dict(labels.order_by().values_list("version").annotate(Count("pk")))
