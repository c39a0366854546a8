"""The pages of qrels: the draft and the frozen versions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from arqkit.formats.qrels.read import write_qrels
from arqkit.judgments.qrels import JudgedTopic, Level
from arqkit.labels import LabelScale
from arqlab.core.models import Task
from arqlab.core.views import signed_in, told
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import (
    FILE,
    ROWS,
    TASK,
    Column,
    Empty,
    Pages,
    Tab,
    Table,
    answer,
    cells,
    exact_response,
    organizers,
    to,
)
from assessment.models import QrelSet
from assessment.qrels.selectors.drafts import DraftTopics, LabelSource
from assessment.qrels.selectors.joining import join_warnings
from assessment.qrels.selectors.versions import qrel_versions, qrels_frame, version_topics
from assessment.qrels.services.versions import choose_current_qrels, delete_qrels
from assessment.qrels.views.labels import LabelShare, label_chart, label_columns, label_shares

pages = Pages(f"{TASK}qrels/", organized_task_or_404, section="qrels")

BY_HAND = " (left out by hand)"


@dataclass(frozen=True)
class QrelsPage:
    """The draft of the qrels, with its numbers of pooled and of labelled items."""

    draft: DraftTopics
    total: int
    labelled: int
    mixed: int
    shares: list[LabelShare]
    levels: tuple[Level, ...]
    adds: bool


@dataclass(frozen=True)
class VersionPage:
    """A version of the qrels with the shares of its labels, and what may be wrong with it."""

    shown: QrelSet
    shares: list[LabelShare]
    labels: LabelScale
    warnings: list[str]


@pages.action("<number:version>/delete/", "qrels-delete")
def qrels_delete(request: HttpRequest, task: Task, version: int) -> HttpResponse:
    """Delete a version that nothing uses."""
    versions = QrelSet.objects.select_related("task__lab")
    qrel_set = get_object_or_404(versions, task=task, version=version)
    with told(request):
        delete_qrels(qrel_set=qrel_set, by=signed_in(request))
        messages.success(request, f"{qrel_set.name} was deleted. The audit log keeps its hash.")
        return redirect("assessment:qrels-list", task.lab.slug, task.slug)
    return redirect("assessment:qrels-detail", task.lab.slug, task.slug, version)


@pages.read("", "qrels-list", tabs=(Tab("task", "Qrels", 70, organizers),), api=ROWS)
def qrels_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the draft and the versions of the qrels."""
    source = LabelSource(task)
    draft = source.topics()
    page = QrelsPage(
        draft,
        total=sum(topic.total for topic in draft.topics),
        labelled=sum(topic.labelled for topic in draft.topics),
        mixed=source.mixed,
        shares=label_shares(draft.topics, draft.scale),
        levels=source.levels,
        adds=source.adds,
    )
    tables = _versions_table(task), _topics_table(draft.topics, draft.scale, is_draft=True)
    return answer(request, "assessment/qrels_list.html", vars(page), *tables)


class DroppedTopic(TypedDict):
    """A topic that a version leaves out, as `QrelSet.dropped` records it."""

    topic: str
    relevant: int
    reason: str
    by_hand: NotRequired[bool]


def _versions_table(task: Task) -> Table[QrelSet]:
    return Table[QrelSet](
        "versions",
        [
            Column(
                "Name",
                lambda row: row.name,
                link=to(
                    "assessment:qrels-detail", task.lab.slug, task.slug, of=lambda row: row.version
                ),
                is_head=True,
            ),
            Column("Version", lambda row: row.version, cells.COUNT),
            Column(
                "Items",
                lambda qrels: (
                    f"{qrels.get_items_display()}{', complete' * qrels.is_complete}"
                    f"{f', {qrels.group}' if qrels.group else ''}"
                ),
                css="nowrap",
            ),
            Column("", lambda row: row.is_current, name="current"),
            Column("Lines", lambda row: row.lines, cells.COUNT),
            Column("Topics", lambda row: row.topics, cells.COUNT),
            Column("Created", lambda row: row.created_at, cells.TIME),
            Column("By", lambda row: row.made_by and row.made_by.name),
            Column("SHA-256", lambda row: row.sha256, cells.HASH),
            Column(
                "State",
                lambda qrels: cells.chip("done", "current") if qrels.is_current else None,
                name=None,
            ),
            Column(
                "Actions",
                template="assessment/_version_actions.html",
                hides_heading=True,
                name=None,
            ),
        ],
        qrel_versions(task),
        empty=Empty(
            "No versions yet",
            "A version is frozen from the judgments and never changes. Leaderboards, scores and "
            "downloads refer to a version.",
        ),
        css="qrels-table",
    )


def _topics_table(
    topics: Sequence[JudgedTopic], labels: LabelScale, *, is_draft: bool
) -> Table[JudgedTopic]:
    """Return the label counts of each topic, and why the draft leaves it out."""
    pooled = Column[JudgedTopic]("In pool", lambda row: row.total, cells.COUNT)
    reason = Column[JudgedTopic]("Reason left out", lambda row: row.reason, css="reason")
    counts: list[Column[JudgedTopic]] = label_columns(labels, lambda row: row.labels)
    return Table[JudgedTopic](
        "topics",
        [
            Column("Topic", lambda row: row.topic, is_head=True, css="nowrap"),
            Column("Labels", lambda row: row.labelled, cells.COUNT),
            *([pooled] if is_draft else []),
            *counts,
            Column("Relevant", lambda row: row.relevant, cells.COUNT),
            *([reason] if is_draft else []),
        ],
        topics,
        chart=label_chart(((topic.topic, topic.labels) for topic in topics), labels),
        has_tools=True,
        css="topics-table",
    )


@pages.read("draft/", "qrels-draft", api=FILE)
def qrels_draft(request: HttpRequest, task: Task) -> HttpResponse:
    """Return the draft as a file, by instance or with `level=visual` by formula.

    `complete` includes the labels that are not judgments.
    """
    source, level_name = LabelSource(task), request.GET.get("level", Level.INSTANCES)
    if level_name not in source.levels:
        raise Http404
    level, complete = Level(level_name), "complete" in request.GET

    def compute() -> bytes:
        return write_qrels(source.draft().qrels(level, complete=complete))

    file = source.kept("draft-file", compute, level, complete).value
    return _file(file, task, "draft" if level == Level.INSTANCES else f"draft-{level}")


@pages.read("<number:version>/", "qrels-detail", api=ROWS)
def qrels_detail(request: HttpRequest, task: Task, version: int) -> HttpResponse:
    """Show a version: its facts, labels per topic and dropped topics.

    With `format=tsv`, return its file.
    """
    qrel_set = get_object_or_404(qrel_versions(task), version=version)
    if request.GET.get("format") == "tsv":
        return _file(write_qrels(qrels_frame(qrel_set)), task, qrel_set.name)
    topics, labels = version_topics(qrel_set), qrel_set.label_scale
    page = VersionPage(
        qrel_set, label_shares(topics, labels), labels, warnings=join_warnings(qrel_set)
    )
    dropped = Table[DroppedTopic](
        "dropped",
        [
            Column("Topic", lambda row: row["topic"], is_head=True, css="nowrap"),
            Column("Relevant", lambda row: row["relevant"], cells.COUNT),
            Column("Reason", lambda row: row["reason"] + BY_HAND * bool(row.get("by_hand"))),
        ],
        qrel_set.dropped,
    )
    tables = (_topics_table(topics, labels, is_draft=False), dropped)
    return answer(request, "assessment/qrels_detail.html", vars(page), *tables)


@pages.action("<number:version>/current/", "qrels-current")
def qrels_current(request: HttpRequest, task: Task, version: int) -> HttpResponse:
    """Make a version the current one."""
    qrel_set = get_object_or_404(
        QrelSet.objects.select_related("task__lab"), task=task, version=version
    )
    choose_current_qrels(qrel_set=qrel_set, by=signed_in(request))
    messages.success(
        request, f"{qrel_set.name} is now the current version. Leaderboards use it by default."
    )
    return redirect("assessment:qrels-list", lab=task.lab.slug, task=task.slug)


def _file(file: bytes, task: Task, name: str) -> HttpResponse:
    return exact_response(file, f"qrels-{task.lab.slug}-{task.slug}-{name}.tsv")
