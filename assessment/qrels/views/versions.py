"""The pages of qrels: the draft, freezing, the frozen versions, and the differences of two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import polars as pl
from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from arqkit.formats.qrels.read import write_qrels
from arqkit.judgments.qrels import Level, QrelDiff, diff_qrels
from arqkit.labels import LabelScale, ScaleLabel
from arqlab.core.forms.topics import LeftOutTopicsForm
from arqlab.core.models import Task
from arqlab.core.oddities import Ceremony, is_preview, with_left_out
from arqlab.core.permissions import organized_task_or_404, signed_in
from arqlab.core.views.answers import refused, told
from arqlab.web.downloads import exact_response, table_response
from arqlab.web.pages import TASK, Pages
from assessment.models import Judgment, QrelSet
from assessment.qrels.forms import DifferenceListForm, FreezeForm
from assessment.qrels.selectors.drafts import Draft, draft_of, levels_of, mixed_items, task_scale
from assessment.qrels.selectors.frames import adjudicated_judgments
from assessment.qrels.selectors.joining import join_warnings
from assessment.qrels.selectors.oddities import freeze_oddities
from assessment.qrels.selectors.versions import (
    qrel_versions,
    qrels_frame,
    version_topics,
)
from assessment.qrels.services.versions import (
    QrelsChoice,
    choose_current_qrels,
    delete_qrels,
    freeze_qrels,
)
from assessment.qrels.views.labels import label_chart, label_shares, topic_lines
from submissions.forms import LeftOutRunsForm
from submissions.models import Run
from submissions.services.left_out import out_of_competition

pages = Pages(f"{TASK}qrels/", organized_task_or_404, section="qrels")


@pages.form("freeze/", "qrels-freeze")
def qrels_freeze(request: HttpRequest, task: Task) -> HttpResponse:
    """List what is odd about the draft, and freeze it without the topics and runs left out."""
    is_sent = request.method == "POST" and not is_preview(request.POST)
    forms = _forms(with_left_out(request.POST) if request.POST else None, draft_of(task))
    checks = freeze_oddities(task, at=timezone.now())
    ceremony = Ceremony(checks, forms.topics.entered | forms.runs.entered)
    if is_sent and forms.are_valid:
        with refused(forms.version):
            ceremony.require_acknowledged(request.POST)
            return _frozen(request, task, forms.choice)
    context = {"task": task, "lab": task.lab, "ceremony": ceremony}
    refusals = [*forms.topics.messages, *forms.runs.messages]
    context |= {"refusals": refusals, "draft": forms.draft, "form": forms.version}
    context |= {"topics_form": forms.topics, "runs_form": forms.runs}
    status = 422 if is_sent else 200
    return render(request, "assessment/qrels_freeze.html", context, status=status)


@pages.action("<int:version>/delete/", "qrels-delete")
def qrels_delete(request: HttpRequest, task: Task, version: int) -> HttpResponse:
    """Delete a version that nothing uses."""
    versions = QrelSet.objects.select_related("task__lab")
    chosen = get_object_or_404(versions, task=task, version=version)
    with told(request):
        delete_qrels(qrel_set=chosen, by=signed_in(request))
        messages.success(request, f"{chosen.name} was deleted. The audit log keeps its hash.")
        return redirect("assessment:qrels-list", task.lab.slug, task.slug)
    return redirect("assessment:qrels-detail", task.lab.slug, task.slug, version)


@dataclass(frozen=True)
class _Forms:
    """The forms of the page: the version, and the topics and runs left out."""

    draft: Draft
    version: FreezeForm
    topics: LeftOutTopicsForm
    runs: LeftOutRunsForm

    @property
    def are_valid(self) -> bool:
        return all(form.is_valid() for form in (self.version, self.topics, self.runs))

    @property
    def choice(self) -> QrelsChoice:
        return self.version.choice(topics=self.topics.reasons, runs=self.runs.run_reasons)


def _forms(data: QueryDict | None, draft: Draft) -> _Forms:
    """Return the forms as sent, or with what the last version left out."""
    last = draft.task.qrel_sets.order_by("-version").first()
    dropped = last.dropped if last else ()
    reasons = {row["topic"]: row["reason"] for row in dropped if row.get("by_hand")}
    runs, names = Run.objects.valid().filter(task=draft.task), [row.topic for row in draft.topics]
    topics = draft.task.topics.filter(query_id__in=names)
    return _Forms(
        draft,
        FreezeForm(data, task=draft.task),
        LeftOutTopicsForm(data, topics=topics, reasons=reasons),
        LeftOutRunsForm(data, runs=runs, recorded=out_of_competition(runs)),
    )


def _frozen(request: HttpRequest, task: Task, choice: QrelsChoice) -> HttpResponse:
    qrel_set = freeze_qrels(task=task, choice=choice, by=signed_in(request), at=timezone.now())
    messages.success(
        request,
        f"{qrel_set.name} is frozen as version {qrel_set.version}. Runs are being scored against "
        "it. Leaderboards use it when you make it current.",
    )
    return redirect("assessment:qrels-detail", task.lab.slug, task.slug, qrel_set.version)


def changing_judgments(
    task: Task,
    rows: Iterable[Mapping[str, Any]],
    *,
    before: QrelSet | None,
    after: QrelSet | None,
) -> dict[tuple[str, str], Judgment]:
    """Return the newest judgment between two sides that gave each line its new label.

    `rows` have topic, item and after: a label, or None for a removed line, whose judgment has a
    label that is not a judgment, such as Do not know. None as a side is the draft. Lines that
    changed for another reason, such as a loaded file, another pool or a topic left out, have no
    judgment.
    """
    labels = {(row["topic"], row["item"]): row["after"] for row in rows}
    items = {item for _, item in labels}
    chosen = Q(instance__doc_id__in=items) | Q(instance__item__item__in=items)
    limits = {
        **_between(before, after),
        "instance__item__pool__task": task,
        "instance__item__topic__query_id__in": {topic for topic, _ in labels},
    }
    related = ("assessor", "supersedes__ticket", "instance__item__pool__round")
    candidates = [
        judgment
        for judgments in (Judgment.official.all(), adjudicated_judgments(task))
        for judgment in judgments.filter(chosen, **limits).select_related(
            *related, "instance__item__topic"
        )
    ]
    side = after or before
    accepted = side.label_scale.unjudged if side else ()
    changes = {}
    for judgment in sorted(candidates, key=lambda judgment: (judgment.judged_at, judgment.pk)):
        instance = judgment.instance
        for item in (instance.doc_id, instance.item.item):
            key = (instance.item.topic.query_id, item)
            if key not in labels:
                continue
            if judgment.label == labels[key] or (
                labels[key] is None and judgment.label in accepted
            ):
                changes[key] = judgment
    return changes


def _between(before: QrelSet | None, after: QrelSet | None) -> dict[str, datetime]:
    sides = {"judged_at__gt": before, "judged_at__lte": after}
    return {name: side.created_at for name, side in sides.items() if side}


DRAFT = "draft"
# A side of the comparison: a version, or None for the draft.
Side = QrelSet | None


@pages.read("diff/", "qrels-diff")
def qrels_diff(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the differences between two sides; with `format=tsv`, return them as a file."""
    versions = list(QrelSet.objects.filter(task=task).order_by("-version"))
    context: dict[str, Any] = {"task": task, "lab": task.lab, "versions": versions}
    if not versions:
        return render(request, "assessment/qrels_diff.html", context)
    before = _side(request.GET.get("before") or str(versions[0].version), versions)
    after = _side(request.GET.get("after") or DRAFT, versions)
    context |= {"before": before, "after": after}
    if before and after and before.items != after.items:
        return render(request, "assessment/qrels_diff.html", context)
    diff = _diff(task, before, after)
    if request.GET.get("format") == "tsv":
        return _diff_file(diff, task, before, after)
    scales = _scale(before, task), _scale(after, task)
    was, now = ([(str(label.value), label.word) for label in scale] for scale in scales)
    listing = DifferenceListForm(request.GET, diff.rows, was=was, now=now)
    page, frame = listing.page_of_frame(diff.rows)
    rows = frame.to_dicts()
    judgments = changing_judgments(task, rows, before=before, after=after)
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


def _diff_file(diff: QrelDiff, task: Task, before: Side, after: Side) -> HttpResponse:
    names = "-".join(side.name if side else DRAFT for side in (before, after))
    return table_response(diff.rows, f"qrels-{task.lab.slug}-{task.slug}-diff-{names}.tsv")


@pages.read("", "qrels-list")
def qrels_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the draft and the versions of the qrels."""
    context = _draft_context(draft_of(task)) | {"versions": qrel_versions(task)}
    return render(request, "assessment/qrels_list.html", {"task": task, "lab": task.lab, **context})


@pages.read("draft/", "qrels-draft")
def qrels_draft(request: HttpRequest, task: Task) -> HttpResponse:
    """Return the draft as a file, by instance or with `level=visual` by formula.

    `complete` includes the labels that are not judgments.
    """
    wanted = request.GET.get("level", Level.INSTANCES)
    if wanted not in levels_of(task):
        raise Http404
    frame = draft_of(task).qrels(Level(wanted), complete="complete" in request.GET)
    return _file(frame, task, "draft" if wanted == Level.INSTANCES else f"draft-{wanted}")


@pages.read("<int:version>/", "qrels-detail")
def qrels_detail(request: HttpRequest, task: Task, version: int) -> HttpResponse:
    """Show a version: its facts, labels per topic and dropped topics.

    With `format=tsv`, return its file.
    """
    qrel_set = get_object_or_404(qrel_versions(task), version=version)
    if request.GET.get("format") == "tsv":
        return _file(qrels_frame(qrel_set), task, qrel_set.name)
    topics, labels = version_topics(qrel_set), qrel_set.label_scale
    context = {
        "shares": label_shares(topics, labels),
        "lines": topic_lines(topics, labels),
        "chart": label_chart(((topic.topic, topic.labels) for topic in topics), labels),
        "labels": labels,
        "warnings": join_warnings(qrel_set),
    }
    return render(
        request,
        "assessment/qrels_detail.html",
        {"task": task, "lab": task.lab, "shown": qrel_set, **context},
    )


@pages.action("<int:version>/current/", "qrels-current")
def qrels_current(request: HttpRequest, task: Task, version: int) -> HttpResponse:
    """Make a version the current one."""
    chosen = get_object_or_404(
        QrelSet.objects.select_related("task__lab"), task=task, version=version
    )
    choose_current_qrels(qrel_set=chosen, by=signed_in(request))
    messages.success(
        request, f"{chosen.name} is now the current version. Leaderboards use it by default."
    )
    return redirect("assessment:qrels-list", lab=task.lab.slug, task=task.slug)


def _draft_context(draft: Draft) -> dict[str, Any]:
    labels = draft.scale
    return {
        "draft": draft,
        "total": sum(topic.total for topic in draft.topics),
        "mixed": mixed_items(draft.task),
        "labelled": sum(topic.labelled for topic in draft.topics),
        "labels": labels,
        "shares": label_shares(draft.topics, labels),
        "lines": topic_lines(draft.topics, labels),
        "chart": label_chart(((topic.topic, topic.labels) for topic in draft.topics), labels),
        "levels": levels_of(draft.task),
    }


def _file(frame: pl.DataFrame, task: Task, name: str) -> HttpResponse:
    return exact_response(write_qrels(frame), f"qrels-{task.lab.slug}-{task.slug}-{name}.tsv")
