"""Lists of judgments for organizers: of an item, by guidelines, and affected by visual ids."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, Protocol, TypedDict
from urllib.parse import urlencode

import polars as pl
from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.defaultfilters import linebreaksbr
from django.urls import reverse
from django.utils.html import format_html, format_html_join

from arqkit.texts.html.rendering import render_formula
from arqlab.core.models import Lab, Task
from arqlab.core.views import signed_in
from arqlab.labs.permissions import organized_lab_or_404, organized_task_or_404
from arqlab.web import (
    LAB,
    Column,
    Empty,
    Filter,
    Pages,
    Prepared,
    Table,
    answer,
    cells,
    choice_column,
    counted,
    number_of,
    task_url,
)
from assessment.guidelines.selectors.versions import current_guideline, labels_of, version_of
from assessment.judging.selectors.related import judgments_of_item
from assessment.judging.services.judged_list import JudgedRow, judged_list
from assessment.judging.services.judgments import return_for_judging
from assessment.models import Judgment, PoolInstance, PoolItem
from assessment.pools.services.texts import thread_url
from assessment.qrels.selectors.drafts import task_scale
from assessment.qrels.selectors.rejudging import affected_judgments
from collection.models import VisualMap
from collection.selectors.collections import collection_of
from collection.selectors.threads import posts_of
from collection.selectors.visual_maps import formula_latex

pages = Pages(LAB, organized_task_or_404, section="judging")
RELATED = ("instance__item__topic", "assessor", "guideline")
USERNAME = "assessor__username"

POSITION = "instance__item__topic__position"


@pages.read(
    "visual-ids/<number:version>/judged/",
    "affected-judgment-list",
    shows="affected-judgments",
    access=organized_lab_or_404,
    section="collection",
)
def affected_judgment_list(request: HttpRequest, lab: Lab, version: int) -> HttpResponse:
    """Show the judgments whose formulas a version of the visual ids merged or split."""
    versions = VisualMap.objects.select_related("collection")
    visual_map = get_object_or_404(versions, collection=collection_of(lab), version=version)
    rows = affected_judgments(lab, visual_map)
    rows = rows.with_columns(
        latex=formula_latex(visual_map, rows["visual_id_after"]),
        version=pl.format("{}, {}", "task", "qrels"),
    )
    context = {"version": visual_map, "count": rows.height}
    table = _affected_table(request, lab, visual_map, rows)
    return answer(request, "assessment/affected_judgment_list.html", context, table)


class AffectedJudgment(TypedDict):
    """A row of `affected_judgments`, with the formula, and the qrels with their task."""

    task: str
    qrels: str
    topic: str
    formula_id: str
    visual_id_before: str
    visual_id_after: str
    label: int
    why: str
    latex: str
    version: str


def _formula_links(lab: Lab, ids: str) -> str:
    """Return links to the formulas with these visual ids, which are separated by commas."""
    pairs = ((reverse("collection:formula-detail", args=[lab.slug, i]), i) for i in ids.split(", "))
    return format_html_join(" ", '<a href="{}">{}</a>', pairs)


def _affected_table(
    request: HttpRequest, lab: Lab, visual_map: VisualMap, rows: pl.DataFrame
) -> Table[AffectedJudgment]:
    def visual_ids(
        when: str, value: Callable[[AffectedJudgment], str], name: str
    ) -> Column[AffectedJudgment]:
        kind = cells.CellKind(partial(_formula_links, lab), "id")
        return Column(f"Visual id {when}", value, kind, name=name, order=when, by=name)

    return Table[AffectedJudgment](
        "judgments",
        [
            Column("", lambda row: row["task"], name="task"),
            Column("", lambda row: row["qrels"], name="qrels"),
            Column("Topic", lambda row: row["topic"], cells.ID, name="topic", order="topic"),
            Column("Formula", lambda row: row["latex"], cells.CellKind(render_formula), name=None),
            Column(
                "Formula id",
                lambda row: row["formula_id"],
                cells.ID,
                name="formula_id",
                order="formula",
                by="formula_id",
            ),
            visual_ids("before", lambda row: row["visual_id_before"], "visual_id_before"),
            visual_ids("now", lambda row: row["visual_id_after"], "visual_id_after"),
            Column("Label", lambda row: row["label"], cells.COUNT, name="label", order="label"),
            Column("Reason", lambda row: row["why"], name="why"),
            Column("Qrels", lambda row: row["version"], name=None, order="qrels", by="place"),
        ],
        rows,
        asked=request.GET,
        order="qrels",
        searched=("topic", "formula_id", "visual_id_before", "visual_id_after", "latex", "why"),
        filters=[Filter(name, name.capitalize(), name) for name in ("topic", "label")]
        + [Filter("qrels", "Qrels", "version")],
        file=f"{lab.slug}-visual-ids-{visual_map.version}-judged",
        empty=Empty(
            "No judged formulas changed",
            "This page lists judgments of formulas that a version of the visual ids merged or "
            "split. This version affects none.",
            reverse("collection:visual-map-detail", args=[lab.slug, visual_map.version]),
            "View version",
        ),
    )


@pages.read("tasks/<slug:task>/topics/<str:query_id>/judgments/<path:doc_id>/", "item-judgments")
def item_judgments(request: HttpRequest, task: Task, query_id: str, doc_id: str) -> HttpResponse:
    """Show the judgments of an item with their comments and history, for organizers."""
    topic = get_object_or_404(task.topics, query_id=query_id)
    items = PoolItem.official.filter(pool__task=task, topic=topic)
    if not items.filter(Q(item=doc_id) | Q(instances__doc_id=doc_id)).exists():
        raise Http404
    judgments = list(judgments_of_item(task, query_id, doc_id))
    context = {
        "topic": topic,
        "doc_id": doc_id,
        "count": len(judgments),
        "people": len({judgment.assessor_id for judgment in judgments if judgment.assessor_id}),
    }
    table = _item_table(task, judgments)
    return answer(request, "assessment/item_judgments.html", context, table)


class JudgmentRow(NamedTuple):
    """A judgment with the address of its post in a thread, if there is one."""

    judgment: Judgment
    url: str


def with_threads(lab: Lab, judgments: Sequence[Judgment]) -> list[JudgmentRow]:
    """Return judgments with the addresses of their posts in threads, if any, in one query."""
    posts = posts_of(lab, {judgment.instance.post_id for judgment in judgments})

    def url(instance: PoolInstance) -> str:
        if instance.post_id not in posts:
            return ""
        return thread_url(instance.item, instance.doc_id, instance.post_id, lab.slug)

    return [JudgmentRow(judgment, url(judgment.instance)) for judgment in judgments]


def _assessor(row: JudgmentRow | JudgedRow) -> str:
    return row.judgment.assessor.name if row.judgment.assessor else ""


class _Threaded(Protocol):
    """A row with a judgment, and the address of its post in a thread."""

    @property
    def judgment(self) -> Judgment: ...

    @property
    def url(self) -> str: ...


def _of_formula(row: _Threaded) -> str:
    instance = row.judgment.instance
    if instance.item.item == instance.doc_id:
        return ""
    return f"formula {instance.item.item}, post {instance.post_id}"


ITEM = Column[_Threaded](
    "Item",
    lambda row: row.judgment.instance.doc_id,
    cells.ID,
    link=lambda row: row.url,
    note=_of_formula,
    is_head=True,
)
"""The item of a row of `with_threads`."""


def _item_table(task: Task, judgments: Sequence[Judgment]) -> Table[JudgmentRow]:
    address = [task.lab.slug, task.slug]

    def version_url(row: JudgmentRow) -> str:
        version = row.judgment.guidelines
        return "" if version is None else task_url("assessment:guideline-detail", task, version)

    return Table[JudgmentRow](
        "judgments",
        [
            ITEM,
            Column("Label", lambda row: row.judgment.scale_label, cells.LABEL),
            Column("State", _state, note=lambda row: row.judgment.instance.item.pool.round),
            Column("Assessor", lambda row: _assessor(row) or "An import"),
            Column(
                "Comment", lambda row: row.judgment.comment, cells.EXCERPT, note=_changed(task.lab)
            ),
            Column("Seconds", lambda row: row.judgment.active_ms, cells.SECONDS),
            Column("Judged", lambda row: row.judgment.judged_at, cells.TIME),
            Column(
                "Guidelines",
                lambda row: row.judgment.guidelines,
                cells.COUNT,
                link=version_url,
                spoken=lambda row: f"Guidelines, version {row.judgment.guidelines}",
            ),
        ],
        with_threads(task.lab, judgments),
        empty=Empty(
            "Not judged yet",
            "This item is in the pool. Its judgments appear here when an assessor has judged it.",
            reverse("assessment:pool-list", args=address),
            "View pools",
        ),
    )


def _state(row: JudgmentRow) -> str:
    judgment = row.judgment
    if judgment.is_current:
        return "current"
    late = getattr(judgment, "late", None)
    return f"late, {late.get_decision_display().lower()}" if late else "replaced"


def _changed(lab: Lab) -> Callable[[JudgmentRow], str]:
    def note(row: JudgmentRow) -> str:
        judgment, ticket = row.judgment, getattr(row.judgment, "ticket", None)
        reason = (
            format_html("Changed: {}", linebreaksbr(judgment.reason)) if judgment.reason else ""
        )
        if ticket is None:
            return reason
        url = reverse("assessment:ticket-detail", args=[lab.slug, ticket.pk])
        return format_html('{} <a href="{}">{}</a>', reason, url, ticket)

    return note


@pages.form("tasks/<slug:task>/guidelines/judgments/", "guideline-judgment-list")
def guideline_judgment_list(request: HttpRequest, task: Task) -> HttpResponse:
    """List the current labels of a task with the versions that the assessors followed.

    `before` keeps those given before a version. A POST request returns the items of `judgments` to
    be judged again.
    """
    if request.method != "POST":
        table = _labels_table(request, task)
        return answer(request, "assessment/guideline_judgment_list.html", {}, table)
    sent = map(number_of, request.POST.getlist("judgments"))
    selected = {number for number in sent if number is not None}
    count, refused = return_for_judging(task=task, judgments=selected, by=signed_in(request))
    if count:
        words = "1 label no longer counts" if count == 1 else f"{count} labels no longer count"
        messages.success(request, f"{words}. The items are back in their topics.")
    elif not selected:
        messages.error(request, "Select the labels to judge again.")
    if refused:
        messages.error(
            request,
            f"{counted(refused, 'label')} not returned: the pool is closed, the label has an open "
            "ticket or no longer counts.",
        )
    return redirect(request.get_full_path())


def _topic(row: JudgedRow) -> str:
    return row.item.topic.query_id


def _post_url(row: JudgedRow, task: Task) -> str:
    """Return the address of a row's post, with its formula marked."""
    instance = row.judgment.instance
    if not instance.post_id:
        return ""
    address = reverse("collection:post-detail", args=[task.lab.slug, instance.post_id])
    is_formula = row.item.kind == PoolItem.Kind.VISUAL_IDS
    return f"{address}?{urlencode({'formula': instance.doc_id})}" if is_formula else address


def _labels_table(request: HttpRequest, task: Task) -> Table[JudgedRow]:
    versions = [(str(n), str(n)) for n in range(version_of(current_guideline(task)) + 1)]
    topics = task.topics.order_by("position").values_list("query_id", "query_id")
    labels = [(str(label.value), label.word) for label in task_scale(task)]
    return Table[JudgedRow](
        "labels",
        [
            Column("Topic", _topic, cells.ID, is_head=True, order="topic", by=POSITION),
            choice_column(
                *("labels", "judgments"),
                lambda row: row.judgment.pk,
                spoken=lambda row: f"{_topic(row)}, {row.judgment.instance.doc_id}",
            ),
            Column(
                "Item",
                lambda row: row.judgment.instance.doc_id,
                cells.ID,
                link=lambda row: _post_url(row, task),
            ),
            Column("Text", lambda row: row.html, css="wrap"),
            Column("Label", lambda row: row.label, cells.LABEL, order="label"),
            Column("Guidelines", lambda row: row.judgment.guidelines, cells.COUNT, order="version"),
            Column("Assessor", _assessor, order="assessor", by=USERNAME),
            Column(
                "Judged",
                lambda row: row.judgment.judged_at,
                cells.TIME,
                order="judged",
                by="judged_at",
            ),
            Column("Comment", lambda row: row.judgment.comment, cells.EXCERPT),
        ],
        Prepared(
            labels_of(task).select_related(*RELATED).defer("guideline__text"),
            lambda page: judged_list(page, lab=task.lab, scale=task_scale(task)),
        ),
        asked=request.GET,
        order="-judged",
        searched=("comment", "reason", "instance__doc_id", "instance__item__item"),
        filters=[
            Filter("before", "Before version", "version__lt", versions[1:]),
            Filter("version", "Version", "version", versions),
            Filter("label", "Label", "label", labels),
            Filter("topic", "Topic", "instance__item__topic__query_id", topics),
            Filter("assessor", "Assessor", USERNAME),
        ],
        has_tools=True,
        empty=Empty("No labels yet", "Labels appear here as soon as assessors judge items."),
    )
