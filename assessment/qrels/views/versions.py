"""The pages of qrels: the draft, freezing, the frozen versions, and the differences of two."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from arqkit.formats.qrels.read import write_qrels
from arqkit.judgments.qrels import JudgedTopic, Level, QrelDiff, diff_qrels
from arqkit.labels import LabelScale, ScaleLabel
from arqlab.core.caches import cached_value, key_of
from arqlab.core.forms.topics import LeftOutTopicsForm
from arqlab.core.models import Task
from arqlab.core.oddities import Ceremony, is_preview, with_left_out
from arqlab.core.permissions import organized_task_or_404, signed_in
from arqlab.core.views.answers import refused, told
from arqlab.web.cells import COUNT, HASH, ID, PROSE, TIME, CellKind, chip
from arqlab.web.cells import label as label_html
from arqlab.web.downloads import exact_response
from arqlab.web.lists import Filter
from arqlab.web.pages import FILE, ROWS, TASK, Pages
from arqlab.web.tables import Column, Empty, Table, answer, to
from arqlab.web.tabs import Tab, organizers
from assessment.models import Judgment, QrelSet
from assessment.qrels.forms import FreezeForm
from assessment.qrels.selectors.drafts import (
    DraftTopics,
    adds_labels,
    draft_of,
    draft_topics,
    kept_by_judgments,
    levels_of,
    mixed_items,
)
from assessment.qrels.selectors.frames import adjudicated_judgments, second_judgments
from assessment.qrels.selectors.joining import join_warnings
from assessment.qrels.selectors.oddities import freeze_oddities
from assessment.qrels.selectors.versions import READING, qrel_versions, qrels_frame, version_topics
from assessment.qrels.services.versions import (
    QrelsChoice,
    choose_current_qrels,
    delete_qrels,
    freeze_qrels,
)
from assessment.qrels.views.labels import label_chart, label_columns, label_shares
from submissions.forms import LeftOutRunsForm
from submissions.models import Run
from submissions.services.left_out import out_of_competition

pages = Pages(f"{TASK}qrels/", organized_task_or_404, section="qrels")

BY_HAND = " (left out by hand)"
DRAFT = "draft"
# A side of the comparison: a version, or None for the draft.
Side = QrelSet | None


@pages.form("freeze/", "qrels-freeze")
def qrels_freeze(request: HttpRequest, task: Task) -> HttpResponse:
    """List what is odd about the draft, and freeze it without the topics and runs left out."""
    is_sent = request.method == "POST" and not is_preview(request.POST)
    forms = _forms(with_left_out(request.POST) if request.POST else None, task)
    checks = freeze_oddities(task, at=timezone.now())
    ceremony = Ceremony(checks, forms.topics.entered | forms.runs.entered)
    if is_sent and forms.are_valid:
        with refused(forms.version):
            ceremony.require_acknowledged(request.POST)
            return _frozen(request, task, forms.choice)
    context: dict[str, Any] = {"ceremony": ceremony}
    refusals = [*forms.topics.messages, *forms.runs.messages]
    context |= {"refusals": refusals, "draft": forms.draft, "form": forms.version}
    context |= {"topics_form": forms.topics, "runs_form": forms.runs}
    status = 422 if is_sent else 200
    return render(request, "assessment/qrels_freeze.html", context, status=status)


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


@dataclass(frozen=True)
class _Forms:
    """The forms of the page: the version, and the topics and runs left out."""

    draft: DraftTopics
    version: FreezeForm
    topics: LeftOutTopicsForm
    runs: LeftOutRunsForm

    @property
    def are_valid(self) -> bool:
        return all(form.is_valid() for form in (self.version, self.topics, self.runs))

    @property
    def choice(self) -> QrelsChoice:
        return self.version.choice(topics=self.topics.reasons, runs=self.runs.run_reasons)


def _forms(data: QueryDict | None, task: Task) -> _Forms:
    """Return the forms as sent, or with what the last version left out."""
    draft, last = draft_topics(task), task.qrel_sets.order_by("-version").first()
    dropped = last.dropped if last else ()
    reasons = {row["topic"]: row["reason"] for row in dropped if row.get("by_hand")}
    runs, names = Run.objects.valid().filter(task=task), [row.topic for row in draft.topics]
    topics = task.topics.filter(query_id__in=names)
    return _Forms(
        draft,
        FreezeForm(data, task=task),
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
    task: Task, rows: Iterable[Mapping[str, Any]], *, before: QrelSet | None, after: QrelSet | None
) -> dict[tuple[str, str], Judgment]:
    """Return the newest judgment between two sides that gave each line its new label.

    `rows` have topic, item and after: a label, or None for a removed line, whose judgment has a
    label that is not a judgment, such as Do not know; the newest of both where labels of two
    assessors are added. None as a side is the draft. Lines that changed for another reason, such as
    a loaded file, another pool or a topic left out, have no judgment.
    """
    labels = {(row["topic"], row["item"]): row["after"] for row in rows}
    items = {item for _, item in labels}
    of_items = Q(instance__doc_id__in=items) | Q(instance__item__item__in=items)
    sides = {"judged_at__gt": before, "judged_at__lte": after}
    limits = {
        **{name: side.created_at for name, side in sides.items() if side},
        "instance__item__pool__task": task,
        "instance__item__topic__query_id__in": {topic for topic, _ in labels},
    }
    related = ("assessor", "supersedes__ticket", "instance__item__pool__round")
    adds = adds_labels(task)
    sources = [Judgment.official.all(), adjudicated_judgments(task)]
    candidates = [
        judgment
        for judgments in [*sources, *([second_judgments(task)] if adds else [])]
        for judgment in judgments.filter(of_items, **limits).select_related(
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
            is_label = judgment.label == labels[key]
            if adds or is_label or (labels[key] is None and judgment.label in accepted):
                changes[key] = judgment
    return changes


@pages.read("diff/", "qrels-diff")
def qrels_diff(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the differences between two sides, or return them as a file."""
    versions = list(QrelSet.objects.filter(task=task).order_by("-version"))
    context: dict[str, Any] = {"versions": versions}
    if not versions:
        return render(request, "assessment/qrels_diff.html", context)
    before = _side(request.GET.get("before") or str(versions[0].version), versions)
    after = _side(request.GET.get("after") or DRAFT, versions)
    context |= {"before": before, "after": after}
    if before and after and before.items != after.items:
        return render(request, "assessment/qrels_diff.html", context)
    diff, scales = _diff(task, before, after), (_scale(before, task), _scale(after, task))
    context |= {"diff": diff, "steps": _steps_table(diff, *scales)}
    changes = _changes_table(request, task, diff, (before, after), scales)
    return answer(request, "assessment/qrels_diff.html", context, changes)


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
    model, sides = before or after, [side and (side.pk, side.sha256) for side in (before, after)]

    def frame(side: Side) -> pl.DataFrame:
        if side is not None:
            return qrels_frame(side)
        return draft_of(task).qrels_by(
            model.items if model else "", complete=bool(model and model.is_complete)
        )

    def compute() -> QrelDiff:
        return diff_qrels(frame(before), frame(after))

    if before and after:
        work = READING * (before.lines + after.lines)
        return cached_value(key_of("qrels-diff-1", sides), compute, work=work)
    return kept_by_judgments("draft-diff-1", task, compute, sides).value


def _scale(side: Side, task: Task) -> LabelScale:
    """Return the labels of a side; those of a version do not change with the task's."""
    return side.label_scale if side else draft_topics(task).scale


def _steps_table(diff: QrelDiff, before: LabelScale, after: LabelScale) -> Table:
    """Return the matrix of label changes: labels before in rows, labels after in columns.

    None stands for a missing line.
    """

    def column(heading: str, value: int | None) -> Column:
        def count(label: ScaleLabel | None) -> int | None:
            step = label.value if label else None
            return None if step == value else diff.steps.get((step, value), 0)

        return Column(heading, count, COUNT, cell_css=lambda label: "" if count(label) else "same")

    return Table(
        "steps-table",
        [
            Column("Before", lambda label: label_html(label) if label else "Added", is_head=True),
            *(column(label_html(label, "short"), label.value) for label in after),
            column("Removed", None),
        ],
        [*before, None],
        caption="Number of changed lines by label before (row) and after (column)",
        css="steps-table",
    )


def _changes_table(
    request: HttpRequest,
    task: Task,
    diff: QrelDiff,
    sides: tuple[Side, Side],
    scales: tuple[LabelScale, LabelScale],
) -> Table:
    """Return the lines that differ, with the judgments that changed those on the page."""
    names = "-".join(side.name if side else DRAFT for side in sides)
    was, now = ([(str(label.value), label.word) for label in scale] for scale in scales)
    kinds = [_label_kind(scale) for scale in scales]

    def with_judgments(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        judgments = changing_judgments(task, rows, before=sides[0], after=sides[1])
        return [row | {"judgment": judgments.get((row["topic"], row["item"]))} for row in rows]

    return Table(
        "changes",
        [
            Column("Topic", "topic", name="topic", by="place", is_head=True),
            Column("Item", "item", ID, name="item", by="item"),
            Column("Change", "change", name="change", by="change"),
            Column("Before", "before", kinds[0], name="before", order="was", by="before"),
            Column("After", "after", kinds[1], name="after", order="now", by="after"),
            Column("Changed by", _changed_by, name=None, note=_changed_at(task)),
            Column("Reason", _reason, PROSE, name=None),
        ],
        diff.rows,
        asked=request.GET,
        order="topic",
        searched=("topic", "item"),
        filters=[
            Filter("topic", "Topic", "topic"),
            Filter("change", "Change", "change"),
            Filter("was", "Label before", "before", was),
            Filter("now", "Label after", "after", now),
        ],
        prepare=with_judgments,
        row_css="change",
        css="diff-table",
        file=f"qrels-{task.lab.slug}-{task.slug}-diff-{names}",
    )


def _label_kind(scale: LabelScale) -> CellKind:
    return CellKind(lambda value: label_html(scale.of(value)))


def _changed_by(row: dict[str, Any]) -> str | None:
    judgment = row["judgment"]
    if judgment and not judgment.is_imported:
        return judgment.assessor.name if judgment.assessor else "unknown"
    return "an imported file" if judgment else None


def _changed_at(task: Task) -> Callable[[dict[str, Any]], str]:
    """Return what links the day of a line's judgment to the judgments of its item."""
    address = [task.lab.slug, task.slug]

    def day(row: dict[str, Any]) -> str:
        if not row["judgment"]:
            return ""
        url = reverse("assessment:item-judgments", args=[*address, row["topic"], row["item"]])
        return format_html('<a href="{}">{}</a>', url, f"{row['judgment'].judged_at:%Y-%m-%d}")

    return day


def _reason(row: dict[str, Any]) -> str:
    judgment = row["judgment"]
    if judgment is None:
        return ""
    earlier = judgment.supersedes
    parts = (
        f"{round_.get_kind_display()}." if (round_ := judgment.instance.item.pool.round) else "",
        f"After ticket {earlier.ticket.pk}." if hasattr(earlier, "ticket") else "",
        judgment.reason or judgment.comment,
    )
    return " ".join(filter(None, parts))


@pages.read("", "qrels-list", tabs=(Tab("task", "Qrels", 70, organizers),), api=ROWS)
def qrels_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the draft and the versions of the qrels."""
    draft = draft_topics(task)
    context = {
        "draft": draft,
        "total": sum(topic.total for topic in draft.topics),
        "mixed": mixed_items(task),
        "labelled": sum(topic.labelled for topic in draft.topics),
        "shares": label_shares(draft.topics, draft.scale),
        "levels": levels_of(task),
        "adds": adds_labels(task),
    }
    topics = _topics_table(draft.topics, draft.scale, is_draft=True)
    return answer(request, "assessment/qrels_list.html", context, _versions_table(task), topics)


def _versions_table(task: Task) -> Table:
    return Table(
        "versions",
        [
            Column(
                "Name",
                "name",
                link=to("assessment:qrels-detail", task.lab.slug, task.slug, of="version"),
                is_head=True,
            ),
            Column("Version", "version", COUNT),
            Column(
                "Items",
                lambda qrels: (
                    f"{qrels.get_items_display()}{', complete' * qrels.is_complete}"
                    f"{f', {qrels.group}' if qrels.group else ''}"
                ),
                css="nowrap",
            ),
            Column("", "is_current", name="current"),
            Column("Lines", "lines", COUNT),
            Column("Topics", "topics", COUNT),
            Column("Created", "created_at", TIME),
            Column("By", "made_by.name"),
            Column("SHA-256", "sha256", HASH),
            Column(
                "State",
                lambda qrels: chip("done", "current") if qrels.is_current else None,
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


def _topics_table(topics: Sequence[JudgedTopic], labels: LabelScale, *, is_draft: bool) -> Table:
    """Return the label counts of each topic, and why the draft leaves it out."""
    return Table(
        "topics",
        [
            Column("Topic", "topic", is_head=True, css="nowrap"),
            Column("Labels", "labelled", COUNT),
            *([Column("In pool", "total", COUNT)] if is_draft else []),
            *label_columns(labels, "labels"),
            Column("Relevant", "relevant", COUNT),
            *([Column("Reason left out", "reason", css="reason")] if is_draft else []),
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
    level_name = request.GET.get("level", Level.INSTANCES)
    if level_name not in levels_of(task):
        raise Http404
    level, complete = Level(level_name), "complete" in request.GET

    def compute() -> bytes:
        return write_qrels(draft_of(task).qrels(level, complete=complete))

    file = kept_by_judgments("draft-file-1", task, compute, level, complete).value
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
    context = {
        "shown": qrel_set,
        "shares": label_shares(topics, labels),
        "labels": labels,
        "warnings": join_warnings(qrel_set),
    }
    dropped = Table(
        "dropped",
        [
            Column("Topic", "topic", is_head=True, css="nowrap"),
            Column("Relevant", "relevant", COUNT),
            Column("Reason", lambda row: row["reason"] + BY_HAND * bool(row.get("by_hand"))),
        ],
        qrel_set.dropped,
    )
    tables = (_topics_table(topics, labels, is_draft=False), dropped)
    return answer(request, "assessment/qrels_detail.html", context, *tables)


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
