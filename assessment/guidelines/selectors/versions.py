"""Queries on the guidelines for assessors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from difflib import unified_diff
from html import escape
from itertools import islice
from typing import NamedTuple

from django.db.models import Case, Count, F, IntegerField, Max, OuterRef, QuerySet, Value, When

from arqkit.judgments.guidelines import default_guideline
from arqkit.labels import LabelScale
from arqkit.records import TaskKind
from arqkit.texts.posts.text import plain_text
from arqlab.core.models import Task, User
from assessment.models import Guideline, Judgment
from assessment.qrels.selectors.drafts import task_scale


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
    return default_guideline(
        TaskKind(task.kind),
        task.lab.protocol,
        scale=task_scale(task),
        relevant_from=task.protocol.relevant_from,
    )


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
        for label in (each.word for each in scale)
        if not re.search(rf"(?<!\w){re.escape(label.casefold())}(?!\w)", words)
    ]


def changed_lines(before: str, after: str) -> list[tuple[str, str]]:
    """Compare two versions line by line and yield pairs of a mark and a line.

    The mark is `added`, `removed`, `same`, or `gap` between changes.
    """
    kinds = {"+": "added", "-": "removed", " ": "same", "@": "gap"}
    lines = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
    return [
        (kinds[line[0]], "…" if line[0] == "@" else line[1:]) for line in islice(lines, 2, None)
    ][1:]


class ChangedGuideline(NamedTuple):
    """The current guidelines of a task, and the newest version that a person judged with."""

    guideline: Guideline
    followed: int


def followed_versions(user: User, tasks: Collection[Task]) -> dict[int, int]:
    """Return the newest version that a person judged with by task, in one query.

    0 is the default text. Tasks in which the person has not judged are omitted.
    """
    own = Judgment.objects.filter(
        assessor=user, instance__item__topic__task__in=tasks, is_imported=False
    ).order_by()
    by = own.values("instance__item__topic__task").annotate(last=Max("guideline__version"))
    return {task: last or 0 for task, last in by.values_list("instance__item__topic__task", "last")}


def followed_version(user: User, task: Task) -> int | None:
    """Return the newest version of a task that a person judged with, or None.

    Judgments with the default text are not considered: this query reads no items.
    """
    own = Judgment.objects.filter(assessor=user, guideline__task=task)
    found: int | None = own.aggregate(last=Max("guideline__version"))["last"]
    return found


def changed_guidelines(user: User, tasks: Collection[Task]) -> list[ChangedGuideline]:
    """Return the current guidelines that a person has not followed yet, in two queries.

    Only tasks in which the person has judged are included.
    """
    newest = Guideline.objects.filter(task=OuterRef("task")).order_by("-version").values("pk")[:1]
    current = Guideline.objects.filter(task__in=tasks, pk=newest).select_related("task__lab")
    followed = followed_versions(user, tasks)
    found = (ChangedGuideline(one, followed.get(one.task_id, one.version)) for one in current)
    return [one for one in found if one.followed < one.guideline.version]


def current_versions(tasks: Collection[Task]) -> dict[int, int]:
    """Return the current guideline version by task, without tasks that have none."""
    found = (
        Guideline.objects.filter(task__in=tasks)
        .order_by()
        .values("task")
        .annotate(newest=Max("version"))
    )
    return dict(found.values_list("task", "newest"))


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
    keys = ("guideline__version", "is_imported")
    by = labels_of(task).order_by().values(*keys).annotate(count=Count("pk"))
    counts: Counter[int | None] = Counter()
    for version, is_imported, count in by.values_list(*keys, "count"):
        counts[0 if version is None and not is_imported else version] += count
    return counts


def labels_before(counts: Mapping[int | None, int], version: int) -> int:
    """Return the number of labels whose assessors followed an earlier version."""
    return sum(count for other, count in counts.items() if other is not None and other < version)
