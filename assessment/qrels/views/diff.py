"""The page that compares two versions of qrels, or a version with the draft."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from arqkit.judgments.qrels import QrelDiff, diff_qrels
from arqkit.labels import LabelScale, ScaleLabel
from arqlab.core.models import Task
from arqlab.core.permissions import organized_task_or_404
from arqlab.core.views.downloads import table_response
from assessment.models import QrelSet
from assessment.qrels.forms import DifferenceListForm
from assessment.qrels.selectors.changes import changing_judgments
from assessment.qrels.selectors.drafts import draft_of, task_scale
from assessment.qrels.selectors.versions import qrels_frame

DRAFT = "draft"
# A side of the comparison: a version, or None for the draft.
Side = QrelSet | None


@require_safe
def qrels_diff(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show the differences between two sides; with `format=tsv`, return them as a file."""
    found = organized_task_or_404(request.user, lab, task)
    versions = list(QrelSet.objects.filter(task=found).order_by("-version"))
    context: dict[str, Any] = {"task": found, "lab": found.lab, "versions": versions}
    if not versions:
        return render(request, "assessment/qrels_diff.html", context)
    before = _side(request.GET.get("before") or str(versions[0].version), versions)
    after = _side(request.GET.get("after") or DRAFT, versions)
    context |= {"before": before, "after": after}
    if before and after and before.items != after.items:
        return render(request, "assessment/qrels_diff.html", context)
    diff = _diff(found, before, after)
    if request.GET.get("format") == "tsv":
        return _file(diff, found, before, after)
    scales = _scale(before, found), _scale(after, found)
    was, now = ([(str(label.value), label.word) for label in scale] for scale in scales)
    listing = DifferenceListForm(request.GET, diff.rows, was=was, now=now)
    page, frame = listing.page_of_frame(diff.rows)
    rows = frame.to_dicts()
    judgments = changing_judgments(found, rows, before=before, after=after)
    context |= {
        "diff": diff,
        "listing": listing,
        "page": page,
        "rows": [
            _with_labels(row, *scales) | {"judgment": judgments.get((row["topic"], row["item"]))}
            for row in rows
        ],
        "labels": scales[1],
        "steps": _steps(diff, *scales),
    }
    return render(request, "assessment/qrels_diff.html", context)


def _side(text: str, versions: Sequence[QrelSet]) -> Side:
    """Return the side named in the query. Raises `Http404` for an unknown version."""
    if text == DRAFT:
        return None
    for version in versions:
        if text == str(version.version):
            return version
    raise Http404


def _diff(task: Task, before: Side, after: Side) -> QrelDiff:
    """Compare the sides; a draft takes the items and completeness of the other side."""
    model = before or after

    def frame(side: Side) -> pl.DataFrame:
        if side is not None:
            return qrels_frame(side)
        return draft_of(task).qrels_by(
            model.items if model else "", complete=bool(model and model.is_complete)
        )

    return diff_qrels(frame(before), frame(after))


def _scale(side: Side, task: Task) -> LabelScale:
    """Return the labels of a side; those of a version do not change with the task's."""
    return side.label_scale if side else task_scale(task)


def _with_labels(row: dict[str, Any], before: LabelScale, after: LabelScale) -> dict[str, Any]:
    """Return a line with its labels instead of their values, or None where it has no label."""
    sides = {"before": before, "after": after}
    labels = {
        name: None if row[name] is None else scale.of(row[name]) for name, scale in sides.items()
    }
    return row | labels


def _steps(
    diff: QrelDiff, before: LabelScale, after: LabelScale
) -> list[tuple[ScaleLabel | None, list[tuple[int | None, int]]]]:
    """Return the matrix of label changes: labels before in rows, values after in cells.

    None means that the line is missing on one side.
    """
    rows: list[ScaleLabel | None] = [*before, None]
    values = [*after.values, None]

    def count(label: ScaleLabel | None, value: int | None) -> int:
        return diff.steps.get((None if label is None else label.value, value), 0)

    return [(label, [(value, count(label, value)) for value in values]) for label in rows]


def _file(diff: QrelDiff, task: Task, before: Side, after: Side) -> HttpResponse:
    names = "-".join(side.name if side else DRAFT for side in (before, after))
    return table_response(diff.rows, f"qrels-{task.lab.slug}-{task.slug}-diff-{names}.tsv")
